"""The home page, and the pages that list documents by type, group, release and tag."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from commonplace.documents.content import facets
from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, Selection, per_catalogue
from commonplace.documents.content.facets import Facet
from commonplace.documents.content.library import Edition
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.pages import tree
from commonplace.documents.pages.services import Services, Window, list_url, page_number
from commonplace.kernel.errors import NotFound
from commonplace.kernel.terms import key
from commonplace.repository.slugs import home_pages
from commonplace.search.filters import Filters
from commonplace.web.pages.declaration import Link

LATEST = 8
LONG_AGO = datetime.fromtimestamp(0, UTC)
FEW = 24  # Groups and tags of the home page
MAX_NAME_CHARACTERS = 200  # Of a name that is compared with others


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to sort documents into lists: by group, by release, by tag."""

    plural: str
    path: str
    facets: Callable[[Catalogue], Sequence[Facet]]
    narrow: Callable[[str], Filters]
    lead: str

    def pages(self, catalogue: Catalogue) -> Sequence[Facet]:
        """Return the values that have a page, `inbox` too where documents bear `inbox/to-read` alone."""
        return catalogue.once(facets.tag_branches if self.facets is facets.tags else self.facets)


KINDS = (
    Kind(
        "Groups",
        "/groups",
        facets.groups,
        lambda name: Filters(groups=(name,)),
        "Documents name the group that they belong to.",
    ),
    Kind(
        "Releases",
        "/releases",
        facets.releases,
        lambda name: Filters(releases=(name,)),
        "Documents name the release that they came with.",
    ),
    Kind("Tags", "/t", facets.tags, lambda name: Filters(tags_all=(name,)), "Most used first."),
)


@per_catalogue
def types(catalogue: Catalogue) -> Sequence[Facet]:
    """Content types in use, in the order of the ontology, each with its count."""
    counts = Counter(entry.content_type for entry in catalogue.entries)
    order = list(ONTOLOGY.types)
    named = sorted(counts, key=lambda name: (order.index(name) if name in order else len(order), name))
    return tuple(Facet(name, counts[name]) for name in named)


def type_named(catalogue: Catalogue, name: str) -> str:
    """Return the type of this name, which may have other letter case or be in the plural. Raises NotFound."""
    known = {facet.name for facet in types(catalogue)} | set(ONTOLOGY.types)
    plain = key(name[:MAX_NAME_CHARACTERS].strip("/"))
    for one in (name, plain, plain.removesuffix("s")):
        if one in known:
            return one
    raise NotFound("There is no such type of document.", hint=f"The types are {', '.join(sorted(known))}.")


def routes(services: Services) -> list[Route]:
    async def get_home(request: Request) -> Response:
        return services.answer(request, "home.html", ("home",), lambda edition: _home(services, edition))

    async def get_types(request: Request) -> Response:
        if folder := request.query_params.get("folder", "").strip("/"):
            return _folder(services, request, folder)
        return services.answer(
            request,
            "types.html",
            ("types",),
            lambda edition: {
                "found": [(facet, _description(facet.name)) for facet in types(edition.catalogue)],
                "kinds": [(kind, len(kind.facets(edition.catalogue))) for kind in KINDS],
                "folders": [
                    tree.folders(edition.catalogue)[path] for path in tree.folders(edition.catalogue)[""].folders
                ],
            },
        )

    async def get_type(request: Request) -> Response:
        name = request.path_params["name"]
        number = page_number(request.query_params)
        if not name.strip("/"):
            return RedirectResponse("/types", 301)
        if (found := type_named(services.library.edition().catalogue, name)) != name:
            return RedirectResponse(list_url("/types", found), 301)

        def build(edition: Edition) -> dict[str, Any]:
            expanded = tuple(ONTOLOGY.expand(name)) if name in ONTOLOGY.types else (name,)
            entries = edition.catalogue.select(Selection(Filters(content_types=expanded)))
            return _window(entries, number) | {
                "title": label(name),
                "here": list_url("/types", name),
                "above": (),
                "description": _description(name),
                "about": None,
            }

        return services.answer(request, "listing.html", ("type", name, str(number)), build)

    return [
        Route("/", get_home),
        Route("/types", get_types),
        Route("/types/{name:path}", get_type),
        *(route for kind in KINDS for route in _kind_routes(services, kind)),
    ]


def _kind_routes(services: Services, kind: Kind) -> list[Route]:
    async def get_all(request: Request) -> Response:
        return services.answer(
            request,
            "facets.html",
            (kind.path,),
            lambda edition: {"kind": kind, "found": kind.facets(edition.catalogue)},
        )

    async def get_one(request: Request) -> Response:
        name, number = request.path_params["name"], page_number(request.query_params)
        found = kind.pages(services.library.edition().catalogue)
        if all(facet.name != name for facet in found):
            # `Mutual Aid` leads to the page of `mutual-aid`.
            wanted = key(name[:MAX_NAME_CHARACTERS].rstrip("/"))
            if not wanted:
                return RedirectResponse(kind.path, 301)
            same = next((facet for facet in found if key(facet.name) == wanted), None)
            if same is None:
                raise NotFound(f"Nothing here is listed under this name in {kind.plural.casefold()}.")
            return RedirectResponse(list_url(kind.path, same.name), 301)

        def build(edition: Edition) -> dict[str, Any]:
            facet = next((one for one in kind.pages(edition.catalogue) if one.name == name), Facet(name, 0))
            entries = edition.catalogue.select(Selection(kind.narrow(name)))
            page = facet.page
            titled = page.title if page and kind.path != "/t" else name
            return _window(entries, number) | {
                "title": titled,
                "here": list_url(kind.path, name),
                "above": ((kind.path, kind.plural),),
                "description": page.description if page else "",
                "about": page,
            }

        return services.answer(request, "listing.html", (kind.path, name, str(number)), build)

    return [Route(kind.path, get_all), Route(f"{kind.path}/{{name:path}}", get_one)]


def _folder(services: Services, request: Request, path: str) -> Response:
    """Return the page of a folder: the folders and documents in it."""
    number = page_number(request.query_params)

    def build(edition: Edition) -> dict[str, Any]:
        known = tree.folders(edition.catalogue)
        if (folder := known.get(path)) is None:
            close = get_close_matches(path[:MAX_NAME_CHARACTERS], known, 3)
            raise NotFound("There is no such folder.", hint=f"Near it are {', '.join(close)}." if close else None)
        return _window(folder.entries, number) | {
            "title": folder.name,
            "here": services.urls.folder(path),
            "above": [(services.urls.folder(each), known[each].name) for each in tree.ancestors(path)[1:-1]],
            "description": folder.front.description if folder.front else "",
            "about": None,
            "folders": [known[each] for each in folder.folders],
        }

    return services.answer(request, "listing.html", ("folder", path, str(number)), build)


def nearest(services: Services, path: str) -> Sequence[Link]:
    """Types, groups, releases and tags with a name like that of a list that is not there."""
    if path.startswith(("/type/", "/types/")):
        used = [facet.name for facet in types(services.library.edition().catalogue)]
        wanted = path.rstrip("/").rpartition("/")[2].casefold()[:MAX_NAME_CHARACTERS]
        return [Link(list_url("/types", name), label(name)) for name in get_close_matches(wanted, used, 5, 0.5)]
    kind = next((kind for kind in KINDS if path.startswith(f"{kind.path}/")), None)
    if kind is None:
        return ()
    names = {key(facet.name): facet.name for facet in kind.pages(services.library.edition().catalogue)}
    wanted = key(path.removeprefix(f"{kind.path}/")[:MAX_NAME_CHARACTERS])
    close = (names[one] for one in get_close_matches(wanted, names, 5))
    return [Link(list_url(kind.path, name), name) for name in close]


def _home(services: Services, edition: Edition) -> dict[str, Any]:
    catalogue, by_path = edition.catalogue, edition.manifest.by_path
    front = next((by_path[path] for path in home_pages(by_path)), None)
    stored = services.library.documents([front])[0] if front else None
    by_date = catalogue.select(Selection(), "-date")
    return {
        "count": len(catalogue.entries),
        "front": front,
        "text": services.renderer.render(front, json.loads(stored.body)["content"]) if front and stored else None,
        "latest": sorted(by_date, key=lambda entry: entry.updated_at or LONG_AGO, reverse=True)[:LATEST],
        "types": types(catalogue),
        "groups": facets.groups(catalogue)[:FEW],
        "releases": facets.releases(catalogue)[:FEW],
        "tags": facets.tags(catalogue)[:FEW],
    }


def _description(name: str) -> str:
    return ONTOLOGY.types[name].description if name in ONTOLOGY.types else ""


def _window(entries: Sequence[Entry], number: int) -> dict[str, Any]:
    window = Window(number, len(entries))
    window.check()
    return {"entries": entries[window.start : window.end], "window": window, "folders": ()}


def label(content_type: str) -> str:
    """Return the type as people write it."""
    return content_type.replace("-", " ").capitalize()
