"""The page of one document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, Selection
from commonplace.documents.content.graph import Graph
from commonplace.documents.content.library import NOTHING_PUBLISHED
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.pages import diagrams, tree
from commonplace.documents.pages.home import type_named
from commonplace.documents.pages.services import HERE, Services, list_url
from commonplace.kernel.errors import InvalidInput, NotFound, Unavailable
from commonplace.repository.slugs import slug, without_suffix
from commonplace.search.filters import Filters
from commonplace.web.pages.declaration import Link
from commonplace.web.representations import Page
from commonplace.web.stack import admitted

CONFINED = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
"""For a drawing that could run scripts, should somebody open it by itself."""
RELATED = 6
MANY = 200  # Documents that bear a tag beyond which it says little about any of them


def routes(services: Services) -> list[Route]:
    async def get_document(request: Request) -> Response:
        content_type, document_id = request.path_params["type"], request.path_params["id"]
        entry = _named(services.library.edition().catalogue, content_type, document_id)
        if entry is None:
            raise NotFound("There is no such document.")
        if (entry.content_type, entry.id) != (content_type, document_id):
            return RedirectResponse(services.urls.document(entry), 301)
        return services.kept(request, ("document", entry.ref), lambda _edition: _page(services, request, entry))

    async def get_logo(request: Request) -> Response:
        catalogue = services.library.edition().catalogue
        logo = catalogue.attachment_at(services.logo) if services.logo else None
        if logo is None or not logo.media_type.startswith("image/"):
            raise NotFound("There is no logo.", hint="siteLogo is the path of an image in the repository.")
        page = Page(services.library.attachment(logo).body, logo.blob_sha, logo.media_type, CONFINED)
        return page.answer(request)

    return [Route("/d/{type}/{id}", get_document), Route("/logo", get_logo)]


class Moved(Route):
    """The redirect of an address that no other route has: the path of a file, or a page's with a slash at the end."""

    def __init__(self, services: Services) -> None:
        self._services = services
        super().__init__("/{path:path}", self._redirect)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or scope["method"] != "GET" or self._has_page(scope, scope["path"]):
            return Match.NONE, {}
        return super().matches(scope)

    def _has_page(self, scope: Scope, path: str) -> bool:
        others = (one for one in scope["app"].routes if one is not self)
        return any(one.matches({**scope, "path": path})[0] is not Match.NONE for one in others)

    async def _redirect(self, request: Request) -> Response:
        """Redirect to a page of this site, whatever the path looks like. Raises NotFound."""
        bare = request.scope["path"].strip("/")
        if bare and admitted(request.scope):
            kind, _, rest = bare.partition("/")
            try:
                catalogue = self._services.library.edition().catalogue
            except Unavailable:
                catalogue = Catalogue(NOTHING_PUBLISHED)
            if kind == "type":
                return RedirectResponse(list_url("/types", type_named(catalogue, rest)), 301)
            entry = _named(catalogue, *rest.split("/", 1)) if kind == "d" and "/" in rest else None
            if kind != "d" and self._has_page(request.scope, f"/{bare}"):
                query = request.scope["query_string"].decode("latin-1")
                return RedirectResponse(f"/{quote(bare)}{'?' if query else ''}{query}", 301)
            if entry := entry or catalogue.at_path(bare) or catalogue.once(_places).get(_place(bare)):
                return RedirectResponse(HERE.of(entry), 301)
            if bare in tree.folders(catalogue):
                return RedirectResponse(self._services.urls.folder(bare), 301)
        raise NotFound("There is nothing at this address.")


def _named(catalogue: Catalogue, content_type: str, document_id: str) -> Entry | None:
    """Return the document of this type and id, in any letter case, or the one that answered to them earlier."""
    found = catalogue.resolve(content_type, document_id)
    with suppress(InvalidInput):
        found = found or catalogue.resolve_any(ONTOLOGY.expand(content_type), document_id)
    return found.entry if found else None


def _places(catalogue: Catalogue) -> dict[str, Entry | None]:
    """Return the documents by their files' paths and by their folders', None where several are alike."""
    found: dict[str, Entry | None] = {}
    by_path = catalogue.manifest.by_path
    for path, entry in by_path.items():
        found[_place(path)] = None if _place(path) in found else entry
    return {_place(folder): by_path[path] for folder, path in catalogue.fronts.items()} | found


def _place(path: str) -> str:
    """The path without suffix as other publishers write it: `Low tide.md`, `Low+tide` and `low-tide.html` share one."""
    return "/".join(slug(part) or part for part in without_suffix(path).removesuffix(".html").split("/"))


def nearest(services: Services, path: str) -> Sequence[Link]:
    """Return documents whose name is like the last part of this path."""
    catalogue = services.library.edition().catalogue
    bare = path.strip("/")
    content_type, _, document_id = bare.removeprefix("d/").rpartition("/")
    name = document_id.removesuffix(".html").removesuffix(".md")
    by_ref = catalogue.manifest.by_ref
    return [Link(HERE.of(by_ref[ref]), by_ref[ref].title) for ref in catalogue.nearest(content_type, name, 5)]


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
    changed = entry.updated_at.date().isoformat() if entry.updated_at else None
    dated = entry.date or changed
    commit = "" if manifest.working_copy else f" (commit {manifest.commit_sha[:12]})"
    parts = (f"“{entry.title}”", services.frame.name, dated, services.addresses.of(entry))
    # The file is edited on GitHub, where it lies in a repository there.
    edit_url, at_commit = None, f"/blob/{entry.commit_sha}/"
    if entry.source_url and at_commit in entry.source_url:
        edit_url = entry.source_url.replace(at_commit, f"/edit/{quote(manifest.branch)}/", 1)
    page = services.page(
        request,
        "document.html",
        entry=entry,
        rendered=rendered,
        banner=banner if banner and banner.media_type.startswith("image/") else None,
        banner_in_text=banner is not None and f'src="{services.urls.attachment(banner)}"' in rendered.html,
        out=out,
        back=back,
        related=related(catalogue, graph, entry),
        tree=tree.way(catalogue, entry),
        neighbours=tree.neighbours(catalogue, entry),
        address=services.addresses.of(entry),
        citation=f"{'. '.join(part for part in parts if part)}{commit}.",
        edit_url=edit_url,
        diagrams=diagrams.shown(rendered.html),
    )
    return diagrams.framing(page, rendered.html)


def related(catalogue: Catalogue, graph: Graph, entry: Entry) -> list[Entry]:
    """Return documents that share tags with this one, rare tags counting most, and are not linked with it already."""
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
