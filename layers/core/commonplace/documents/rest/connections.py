"""Endpoints of what connects documents: the link graph, groups, releases, tags, attachments."""

import re
from collections.abc import Callable, Sequence
from typing import Annotated, get_args
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents import views
from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content import facets
from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.facets import Facet
from commonplace.documents.rest import models
from commonplace.documents.rest.documents import resolve
from commonplace.documents.rest.examples import EXAMPLES, answers
from commonplace.documents.rest.parameters import Counting, Place, link_header
from commonplace.documents.rest.services import services
from commonplace.kernel.errors import NotFound
from commonplace.web.representations import API, PAGE_BYTES, Page, unchanged
from commonplace.web.rest.models import Answer, leading

router = APIRouter(tags=["Connections"])


@router.get(
    "/graph",
    operation_id="getGraph",
    summary="Get the link graph",
    response_model=models.Graph,
    responses=answers(EXAMPLES["graph"], 404, 422, description="Documents as nodes, links between them as pairs."),
)
async def get_graph(request: Request, asked: Annotated[Place, Query()]) -> Response:
    """All links between published documents, or those near one document. Links of a document to itself are left out."""
    using = services(request)
    edition = using.library.edition()
    around: DocumentRef | None = None
    if asked.around:
        content_type, slash, document_id = asked.around.partition("/")
        if not slash:
            raise NotFound("There is no such document.", hint="Name it as contentType/id.")
        around = resolve(edition.catalogue, content_type, document_id).ref
    key = ("graph", around or "", str(asked.depth) if around else "")

    def build() -> Page:
        graph = using.library.graph()
        wanted = graph.neighbourhood(around, asked.depth) if around else graph
        nodes = leading((models.GraphNode.at(using.addresses, node) for node in wanted.nodes), PAGE_BYTES // 2)
        kept = {node.ref for node in nodes}
        inside = (edge for edge in wanted.edges if edge.source in kept and edge.target in kept)
        links = leading(map(models.GraphLink.of, inside), PAGE_BYTES // 2)
        told = models.Graph(
            nodes=nodes,
            links=links,
            total=models.GraphTotal(nodes=len(wanted.nodes), links=len(wanted.edges)),
            truncated=len(nodes) < len(wanted.nodes) or len(links) < len(wanted.edges),
        )
        return Page.of(told.to_json())

    page = using.pages.page(edition.etag, key, build)
    return page.answer(request)


@router.get(
    "/groups",
    operation_id="listGroups",
    summary="List groups",
    response_model=models.GroupList,
    responses=answers(EXAMPLES["groups"], 422, description="Groups by name, with how many documents each has."),
)
async def list_groups(request: Request, asked: Annotated[Counting, Query()]) -> Response:
    """Every group that documents name, that has a page, or that has a folder under `docs/`."""
    return _counted(request, asked, models.GroupList, facets.groups, views.group)


@router.get(
    "/releases",
    operation_id="listReleases",
    summary="List releases",
    response_model=models.ReleaseList,
    responses=answers(EXAMPLES["releases"], 422, description="Releases by name, with how many documents each has."),
)
async def list_releases(request: Request, asked: Annotated[Counting, Query()]) -> Response:
    """Every release that documents name or that has a page. An empty list means that there is none."""
    return _counted(request, asked, models.ReleaseList, facets.releases, views.release)


@router.get(
    "/tags",
    operation_id="listTags",
    summary="List tags",
    response_model=models.TagList,
    responses=answers(EXAMPLES["tags"], 422, description="Tags, most used first."),
)
async def list_tags(request: Request, asked: Annotated[Counting, Query()]) -> Response:
    """Every tag in use, and the lexicon document that defines it, found by id, title or alias."""
    return _counted(request, asked, models.TagList, facets.tags, views.tag)


def _counted(
    request: Request,
    asked: Counting,
    kind: type[Answer],
    count: Callable[[Catalogue], Sequence[Facet]],
    show: Callable[[Facet, DocumentAddresses], views.Json],
) -> Response:
    using = services(request)
    edition = using.library.edition()
    name, field = next(iter(kind.model_fields.items()))
    (row,) = get_args(field.annotation)

    def build() -> Page:
        found = count(edition.catalogue)
        window = found[asked.offset : asked.offset + asked.limit]
        shown = leading(row.model_validate(show(facet, using.addresses)) for facet in window)
        told = {name: shown, "total": len(found), "limit": asked.limit, "offset": asked.offset}
        links = link_header(f"{API}/{name}", asked, len(shown), len(found))
        return Page.of(kind.model_validate(told).to_json(), headers=links)

    return using.pages.page(edition.etag, (name, asked.query()), build).answer(request)


IMMUTABLE = "public, max-age=31536000, immutable"
OCTETS = "application/octet-stream"
SHOWN = ("image/", "audio/", "video/", "text/plain", "application/pdf")
"""Types that browsers show in place; every other is offered for saving."""
PASSIVE = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "application/pdf", "audio/", "video/")
"""Types that cannot run scripts. Every other is confined to a sandbox without an origin, should a browser open it."""
INERT = re.compile(
    r"(image|audio|video|font)/[\w.+-]+|text/(plain|csv|tab-separated-values|markdown|yaml)|"
    r"application/(pdf|json|zip|gzip|x-tar|rtf|epub\+zip|msword|"
    r"vnd\.(openxmlformats-officedocument|oasis\.opendocument|ms-)[\w.-]+)"
)
"""Types that a page can neither run nor apply as script, module, style sheet or document. A file of any other type is
served as bytes, which with `nosniff` no browser takes for one of those (Fetch Standard, section 3.6)."""
CONFINED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@router.get(
    "/attachments/{name:path}",
    operation_id="getAttachment",
    summary="Get an attachment",
    response_class=Response,
    responses=answers(
        "(the bytes of the file)",
        404,
        413,
        422,
        description="The file, with its type and length.",
        media_type="*/*",
        schema={"type": "string", "format": "binary"},
    ),
)
async def get_attachment(
    request: Request,
    name: Annotated[
        str,
        Path(
            max_length=1000,
            description="The file's own name; with folders before it where several files share it. As in `/manifest`.",
            examples=["Seedlings.png"],
        ),
    ],
    v: Annotated[
        str | None,
        Query(max_length=100, description="The `blobSha` of the manifest: the answer may then be kept for ever."),
    ] = None,
) -> Response:
    """A file as it is in the repository. What a browser could run or apply has no type of its own, or is confined."""
    library = services(request).library
    attachment = library.edition().catalogue.attachment(name)
    if attachment is None:
        raise NotFound("There is no such attachment.", hint="/api/v1/manifest lists them all.")
    headers = {"etag": f'"{attachment.blob_sha}"'}
    if v == attachment.blob_sha:
        headers["cache-control"] = IMMUTABLE
    if unchanged(request, attachment.blob_sha):
        return Response(status_code=304, headers=headers)
    kind = attachment.media_type if INERT.fullmatch(attachment.media_type) else OCTETS
    if not kind.startswith(PASSIVE):
        headers["content-security-policy"] = CONFINED
    placing = "inline" if kind.startswith(SHOWN) else "attachment"
    headers["content-disposition"] = f"{placing}; filename*=UTF-8''{quote(attachment.name.rpartition('/')[2], safe='')}"
    return Response(library.attachment(attachment).body, media_type=kind, headers=headers)
