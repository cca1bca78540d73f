"""Endpoints of documents: lists, one by type and id, one by source path, and the links of one."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents.content.document import Entry, reference
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.filter_values import unknown
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.rest import models
from commonplace.documents.rest.examples import EXAMPLES, PATH, answers
from commonplace.documents.rest.parameters import Listing, PathId, PathType, link_header
from commonplace.documents.rest.services import Services, computed, etag, services
from commonplace.documents.views import markdown
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.kernel.objects import StoredObject
from commonplace.repository.headings import fragment_of, place_in_file
from commonplace.web.representations import API, MARKDOWN, PAGE_BYTES, Page, encode, fitting, unchanged
from commonplace.web.rest.documentation import STRING
from commonplace.web.rest.models import leading

router = APIRouter(tags=["Documents"])

Choose = Callable[[Catalogue], Entry | None]

LINKS_BYTES = PAGE_BYTES // 4
"""The most bytes of each of the four lists of links; a document linked from more places says `truncated`."""


@router.get(
    "/entries",
    operation_id="listEntries",
    summary="List documents",
    response_model=models.EntryList,
    responses=answers(EXAMPLES["entries"], 422, description="A page of documents."),
)
async def list_entries(request: Request, asked: Annotated[Listing, Query()]) -> Response:
    """Documents filtered, sorted and paged; with `include=body` their texts too.

    Values of filters match in any letter case; one that no document has is named in `hints`.
    """
    using = services(request)
    edition = using.library.edition()

    def build() -> Page:
        selection = asked.selection(edition.catalogue)
        matching = edition.catalogue.select(selection, asked.sort)
        window = matching[asked.offset : asked.offset + asked.limit]
        if asked.body:
            # No more are read than can be shown.
            window = fitting(window, lambda entry: entry.size)
        bodies = using.library.documents(window) if asked.body else [None] * len(window)

        def rows() -> Iterator[models.ListedEntry]:
            for entry, stored in zip(window, bodies, strict=True):
                fields = vars(entry) | computed(using, entry)
                fields["content"] = json.loads(stored.body)["content"] if stored else None
                yield models.ListedEntry.model_construct(**{name: fields[name] for name in asked.members})

        shown = leading(rows())
        total = len(matching)
        told = models.EntryList(entries=shown, total=total, limit=asked.limit, offset=asked.offset)
        if hints := unknown(edition.catalogue, selection.filters):
            told.hints = hints
        return Page.of(told.to_json(), headers=link_header(f"{API}/entries", asked, len(shown), total))

    return using.pages.page(edition.etag, ("entries", asked.query()), build).answer(request)


@router.get(
    "/entries/by-path",
    operation_id="getEntryByPath",
    summary="Get a document by its place in the repository",
    response_model=models.Entry,
    responses=answers(EXAMPLES["document"], 404, 413, 422, description="The document that is there."),
)
async def get_entry_by_path(
    request: Request,
    path: Annotated[
        str,
        Query(
            max_length=1000,
            description="Source path (`docs/garden/index.md`, with or without `.md`), permalink, or folder: then its "
            "`index.md`, else its `README.md`. Case matters.",
            examples=[PATH],
        ),
    ],
) -> Response:
    """The document itself; `Content-Location` says its lasting address."""
    using = services(request)
    entry = using.library.edition().catalogue.at_path(path)
    if entry is None:
        raise NotFound("There is no published document at this path.", hint="Paths are those of the repository.")
    return _document(request, using, entry, lambda catalogue: catalogue.at_path(path), canonical=False)


@router.get(
    "/entries/{contentType}/{id}.md",
    operation_id="getEntryMarkdown",
    summary="Get a document as Markdown",
    response_class=Response,
    responses=answers(
        EXAMPLES["markdown"],
        404,
        413,
        422,
        description="The body exactly as in the file, after a minimal frontmatter. Not sanitised.",
        media_type="text/markdown",
        schema=STRING,
    ),
)
async def get_entry_markdown(request: Request, content_type: PathType, document_id: PathId) -> Response:
    """The text of a document, for people who read and programs that render. Sanitise what you render."""
    using = services(request)
    entry, renamed = _resolve(using.library.edition().catalogue, content_type, document_id)
    headers = {"content-location": f"{models.entry_url(entry)}.md"} if renamed else {}
    tag = f"{etag(entry.etag, computed(using, entry))}-md"
    if unchanged(request, tag):
        return Response(status_code=304, headers={"etag": f'"{tag}"'} | headers)
    entry, stored = _open(using, lambda catalogue: resolve(catalogue, content_type, document_id))
    body = markdown(entry, using.addresses.of(entry), json.loads(stored.body)["content"])
    tag = f"{etag(stored.etag, computed(using, entry))}-md"
    return Response(body, media_type=MARKDOWN, headers={"etag": f'"{tag}"'} | headers)


@router.get(
    "/entries/{contentType}/{id}",
    operation_id="getEntry",
    summary="Get a document",
    response_model=models.Entry | models.RenderedEntry,
    responses=answers(
        EXAMPLES["document"], 404, 413, 422, description="The document, as it is stored, and where people read it."
    ),
)
async def get_entry(
    request: Request,
    content_type: PathType,
    document_id: PathId,
    form: Annotated[
        Literal["markdown", "html"],
        Query(alias="format", description="`html`: `html`, `headings` and `truncated` in place of `content`."),
    ] = "markdown",
) -> Response:
    """The whole document. Names it had earlier, and types as filters take them, answer too; `Content-Location` says the
    present name."""
    using = services(request)
    edition = using.library.edition()
    entry, renamed = _resolve(edition.catalogue, content_type, document_id)
    if form == "html":

        def build() -> Page:
            found, stored = _open(using, lambda catalogue: catalogue.manifest.by_ref.get(entry.ref))
            document = json.loads(stored.body)
            rendered = using.renderer.render(found, document.pop("content"))
            headings = [{"level": each.level, "id": each.id, "text": each.text} for each in rendered.headings]
            body = _outside(computed(using, found)) | document
            body |= {"html": rendered.html, "headings": headings, "truncated": rendered.truncated}
            place = {"content-location": f"{models.entry_url(found)}?format=html"} if renamed else {}
            return Page.of(encode(body), headers=place)

        return using.pages.page(edition.etag, ("html", entry.ref, str(renamed)), build).answer(request)
    return _document(
        request, using, entry, lambda catalogue: resolve(catalogue, content_type, document_id), canonical=not renamed
    )


@router.get(
    "/entries/{contentType}/{id}/links",
    operation_id="getEntryLinks",
    summary="Get the links of a document",
    tags=["Connections"],
    response_model=models.EntryLinks,
    responses=answers(
        EXAMPLES["links"], 404, 422, description="Its links as written, and the documents at their ends."
    ),
)
async def get_entry_links(request: Request, content_type: PathType, document_id: PathId) -> Response:
    """What it links to, what links to it, and which of its links lead to nothing published."""
    using = services(request)
    edition = using.library.edition()
    entry = resolve(edition.catalogue, content_type, document_id)

    def build() -> Page:
        graph = using.library.graph()
        catalogue = using.library.edition().catalogue
        by_ref = catalogue.manifest.by_ref
        links: list[models.WrittenLink] = []
        for link in graph.authored.get(entry.path, ()):
            document = catalogue.manifest.by_path.get(link.path or "")
            attachment = catalogue.attachment_at(link.path or "")
            url = None
            if document:
                url = using.addresses.of(document) + fragment_of(link.fragment)
            elif attachment:
                url = using.addresses.of_attachment(attachment) + place_in_file(link.fragment)
            same = {name: getattr(link, name) for name in ("written", "kind", "text", "line", "field")}
            ends = {"ref": document.ref if document else None, "attachment": attachment.name if attachment else None}
            links.append(models.WrittenLink(**same, **ends, url=url))
        out, back = (
            [models.Pointer.at(using.addresses, found) for node in nodes if (found := by_ref.get(node.ref))]
            for nodes in (graph.out(entry.ref), graph.back(entry.ref))
        )
        broken = [models.BrokenLink.of(link) for link in graph.broken_of(entry.ref)]
        found_of: dict[str, list[Any]] = {"links": links, "out": out, "back": back, "broken": broken}
        shown_of: dict[str, Any] = {name: leading(found, LINKS_BYTES) for name, found in found_of.items()}
        truncated = any(len(shown_of[name]) < len(found) for name, found in found_of.items())
        return Page.of(models.EntryLinks(ref=entry.ref, **shown_of, truncated=truncated).to_json())

    return using.pages.page(edition.etag, ("links", entry.ref), build).answer(request)


def resolve(catalogue: Catalogue, content_type: str, document_id: str) -> Entry:
    """The document, by a former name too, and by a type as filters take it. Raises NotFound, naming the nearest."""
    if (found := catalogue.resolve(content_type, document_id)) is not None:
        return found.entry
    try:
        types = ONTOLOGY.expand(content_type)
    except InvalidInput as error:
        raise NotFound("There is no such content type.", validTypes=list(ONTOLOGY.types), hint=error.hint) from None
    if (found := catalogue.resolve_any(types, document_id)) is not None:
        return found.entry
    nearest = catalogue.nearest(types[0], document_id)
    hint = f"Did you mean {' or '.join(nearest)}?" if nearest else "Search for it: /api/v1/search?q="
    raise NotFound("There is no such document.", nearest=nearest, hint=hint)


def _resolve(catalogue: Catalogue, content_type: str, document_id: str) -> tuple[Entry, bool]:
    """Return the document, and whether it has another name now than the one in the request."""
    entry = resolve(catalogue, content_type, document_id)
    return entry, entry.ref != reference(content_type, document_id)


def _document(request: Request, using: Services, entry: Entry, choose: Choose, *, canonical: bool) -> Response:
    headers = {} if canonical else {"content-location": models.entry_url(entry)}
    told = computed(using, entry)
    tag = etag(entry.etag, told)
    if unchanged(request, tag):
        return Response(status_code=304, headers={"etag": f'"{tag}"'} | headers)
    found, stored = _open(using, choose)
    if found is not entry:
        told = computed(using, found)
    # Spliced, not parsed: what is stored stays as it is, to the byte.
    body = encode(_outside(told))[:-1] + b"," + stored.body[1:]
    return Page(body, etag(stored.etag, told), headers=headers).answer(request)


def _outside(told: Mapping[str, str | None]) -> dict[str, str | None]:
    return {to_camel(name): value for name, value in told.items()}


def _open(using: Services, choose: Choose) -> tuple[Entry, StoredObject]:
    found = using.library.find(choose)
    if found is None:
        raise NotFound("There is no such document.")
    return found
