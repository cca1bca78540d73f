"""The page of one document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, Selection
from commonplace.documents.content.graph import Graph
from commonplace.documents.pages.services import HERE, Services
from commonplace.kernel.errors import NotFound
from commonplace.search.filters import Filters
from commonplace.web.pages.declaration import Link
from commonplace.web.representations import Page

CONFINED = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
"""For a drawing that could run scripts, should somebody open it by itself."""
RELATED = 6
MANY = 200
"""Documents that bear a tag beyond which it says little about any of them."""


def routes(services: Services) -> list[Route]:
    async def get_document(request: Request) -> Response:
        content_type, document_id = request.path_params["type"], request.path_params["id"]
        found = services.library.edition().catalogue.resolve(content_type, document_id)
        if found is None:
            raise NotFound("There is no such document.")
        if found.former:
            return RedirectResponse(services.urls.document(found.entry), 301)
        entry = found.entry
        return services.kept(request, ("document", entry.ref), lambda _edition: _page(services, request, entry))

    async def get_logo(request: Request) -> Response:
        catalogue = services.library.edition().catalogue
        logo = catalogue.attachment_at(services.logo) if services.logo else None
        if logo is None or not logo.media_type.startswith("image/"):
            raise NotFound("There is no logo.", hint="siteLogo is the path of an image in the repository.")
        page = Page(services.library.attachment(logo).body, logo.blob_sha, logo.media_type, CONFINED)
        return page.answer(request)

    return [Route("/d/{type}/{id}", get_document), Route("/logo", get_logo)]


def nearest(services: Services, path: str) -> Sequence[Link]:
    """Documents whose place in the repository, permalink or name is like this path."""
    catalogue = services.library.edition().catalogue
    bare = path.strip("/")
    here = catalogue.at_path(bare) if bare else None
    content_type, _, document_id = bare.removeprefix("d/").rpartition("/")
    name = document_id.removesuffix(".html").removesuffix(".md")
    refs = catalogue.nearest(content_type, name, 5)
    by_ref = catalogue.manifest.by_ref
    entries = dict.fromkeys([entry.ref for entry in (here,) if entry] + refs)
    return [Link(HERE.of(by_ref[ref]), by_ref[ref].title) for ref in entries]


def _page(services: Services, request: Request, entry: Entry) -> Page:
    found = services.library.find(
        lambda catalogue: one.entry if (one := catalogue.resolve(entry.content_type, entry.id)) else None
    )
    if found is None:
        raise NotFound("There is no such document.")
    entry, stored = found
    catalogue, graph = services.library.edition().catalogue, services.library.graph()
    by_ref = catalogue.manifest.by_ref
    out, back = (
        [by_ref[node.ref] for node in nodes if node.ref in by_ref]
        for nodes in (graph.out(entry.ref), graph.back(entry.ref))
    )
    manifest, banner = catalogue.manifest, catalogue.banner(entry)
    rendered = services.renderer.render(entry, json.loads(stored.body)["content"])
    return services.page(
        request,
        "document.html",
        entry=entry,
        rendered=rendered,
        banner=banner if banner and banner.media_type.startswith("image/") else None,
        banner_in_text=banner is not None and f'src="{services.urls.attachment(banner)}"' in rendered.html,
        out=out,
        back=back,
        related=related(catalogue, graph, entry),
        address=services.addresses.of(entry),
        citation=_citation(services, entry, manifest.commit_sha),
        edit_url=_edit_url(entry, manifest.branch),
    )


def related(catalogue: Catalogue, graph: Graph, entry: Entry) -> list[Entry]:
    """Documents that share tags with this one, rare tags counting most, and are not linked with it already."""
    linked = {node.ref for node in (*graph.out(entry.ref), *graph.back(entry.ref))} | {entry.ref}
    scores: Counter[str] = Counter()
    known: dict[str, Entry] = {}
    for tag in dict.fromkeys(entry.tags):
        bearing = catalogue.select(Selection(Filters(tags_all=(tag,))))
        if len(bearing) > MANY:
            continue
        for other in bearing:
            if other.ref not in linked:
                known[other.ref] = other
                scores[other.ref] += 1000 // len(bearing) + (1 if other.group and other.group == entry.group else 0)
    best = sorted(scores, key=lambda ref: (-scores[ref], known[ref].title.casefold(), ref))
    return [known[ref] for ref in best[:RELATED]]


def _citation(services: Services, entry: Entry, commit: str) -> str:
    """Title, site, date, address, and the commit at which it said so."""
    changed = entry.updated_at.date().isoformat() if entry.updated_at else None
    dated = entry.date or changed
    parts = (f"“{entry.title}”", services.frame.name, dated, services.addresses.of(entry))
    return f"{'. '.join(part for part in parts if part)} (commit {commit[:12]})."


def _edit_url(entry: Entry, branch: str) -> str | None:
    """Where the file is edited on GitHub; None where there is no such repository."""
    at_commit = f"/blob/{entry.commit_sha}/"
    if not entry.source_url or at_commit not in entry.source_url:
        return None
    return entry.source_url.replace(at_commit, f"/edit/{quote(branch)}/", 1)
