"""The search page: the same search as REST and MCP, narrowed by what the documents found have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.documents.content import facets
from commonplace.documents.content.document import DocumentRef, Entry
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.filter_values import resolved, unknown
from commonplace.documents.content.intents import Listing
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.findings import MAX_HITS, find, intent, published, settle, with_spares
from commonplace.documents.pages.services import Services, Window, page_number
from commonplace.documents.views import highlighted
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.repository.slugs import slug
from commonplace.search.filters import Filters
from commonplace.search.model import SearchRequest
from commonplace.search.service import MAX_QUERY_CHARACTERS
from commonplace.web.middleware import error_headers
from commonplace.web.representations import HTML, NO_STORE, PROTECTED, Page

PER_PAGE = 10
MAX_VALUE_CHARACTERS = 200
MAX_TAGS = 20
ONE_OF = ("type", "group", "release", "status", "author")  # Filters of one value
FIELDS = {"type": "content_type"}  # The names that a document has for them, where these differ
OPTIONS = 8  # Values of a facet that are offered
POPULAR = 12
Facts = dict[str, Any]
BRIEFLY = {"cache-control": "public, max-age=30"}  # Results follow the index, which follows the documents


@dataclass(frozen=True, slots=True)
class Question:
    """What the address asks for."""

    q: str = ""
    type: str = ""
    group: str = ""
    release: str = ""
    status: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    page: int = 1

    @classmethod
    def of(cls, parameters: QueryParams) -> Question:
        """Raises InvalidInput. Parameters of other names are ignored."""
        q, tags = parameters.get("q", "").strip(), tuple(filter(None, parameters.getlist("tag")))
        if len(q) > MAX_QUERY_CHARACTERS:
            told = f"The query has {len(q)} characters; at most {MAX_QUERY_CHARACTERS} are read."
            raise InvalidInput(told, hint="Ask for the subject in a sentence or a few words.")
        if len(tags) > MAX_TAGS:
            raise InvalidInput(f"At most {MAX_TAGS} tags narrow a search.")
        one = {name: parameters.get(name, "").strip() for name in ONE_OF}
        for name, value in [*one.items(), *(("tag", tag) for tag in tags)]:
            if len(value) > MAX_VALUE_CHARACTERS:
                raise InvalidInput(f"{name} must be at most {MAX_VALUE_CHARACTERS} characters long.")
        if one["type"]:
            ONTOLOGY.expand(one["type"])
        return cls(q=q, tags=tags, page=page_number(parameters), **one)

    @property
    def narrowed(self) -> bool:
        return bool(self.tags) or any(getattr(self, name) for name in ONE_OF)

    def filters(self, catalogue: Catalogue) -> Filters:
        """Return the conditions, read as REST and MCP read them."""
        type_, group, release, status, author = ((value,) if (value := getattr(self, name)) else () for name in ONE_OF)
        wanted = Filters(
            content_types=type_, groups=group, releases=release, statuses=status, authors=author, tags_all=self.tags
        )
        return resolved(catalogue, wanted)

    def parameters(self) -> dict[str, str | list[str]]:
        page = str(self.page) if self.page > 1 else ""
        one = {name: getattr(self, name) for name in ("q", *ONE_OF)}
        return {**one, "tag": list(self.tags), "page": page}


@dataclass(frozen=True, slots=True)
class Option:
    """A value by which results are narrowed, or, where they are, widened."""

    name: str
    count: int
    url: str
    active: bool


@dataclass(frozen=True, slots=True)
class Result:
    entry: Entry
    heading: str | None
    passage: str  # HTML, escaped


def routes(services: Services) -> list[Route]:
    async def get_search(request: Request) -> Response:
        asked = Question.of(request.query_params)
        edition = services.library.edition()
        catalogue = edition.catalogue
        wanted = SearchRequest(asked.q, asked.filters(catalogue), with_spares(MAX_HITS))
        meant = intent(catalogue, wanted)
        if isinstance(meant, Listing):
            key = ("search", services.urls.search(**asked.parameters()))

            def build() -> Page:
                """Return the documents of the filters, or those of them that the query requests in words."""
                window = Window(asked.page, len(meant.entries), PER_PAGE)
                window.check()
                shown = meant.entries[window.start : window.end]
                values = _values(services, asked, catalogue) | {
                    "results": [Result(entry, None, highlighted(entry.description or "", ())) for entry in shown],
                    "listed": meant.sentence if asked.q else None,
                    "window": window,
                    "facets": _facets(services, asked, meant.entries),
                }
                return services.page(request, "search.html", **values)

            return services.pages.page(edition.etag, key, build).answer(request)
        try:
            window = Window(asked.page, MAX_HITS, PER_PAGE)
            window.check()
            results = find(services.search.search, services.library, wanted, meant, slice(MAX_HITS))
            known = published(services.library, results)
            settled = settle(results, wanted, known, limit=MAX_HITS)
            hits: list[Result] = []
            for hit in settled.hits:
                entry = known[DocumentRef(f"{hit.content_type}/{hit.id}")]
                hits.append(Result(entry, hit.heading, highlighted(hit.snippet, hit.marks)))
            suggestion = None
            if better := settled.suggestion:
                suggestion = better, services.urls.search(**replace(asked, q=better, page=1).parameters())
            values = _values(services, asked, catalogue) | {
                "settled": settled,
                "results": hits[window.start : window.start + PER_PAGE],
                "window": replace(window, total=len(hits)),
                "facets": _facets(services, asked, [hit.entry for hit in hits]),
                "suggestion": suggestion,
                "near": [] if hits else _near(catalogue, asked.q),
                "reduced": results.fallback,
            }
        except Unavailable as error:
            # The lists of the store go on while the index is away.
            values = _values(services, asked, catalogue) | {
                "results": [],
                "window": Window(1, 0, PER_PAGE),
                "facets": [],
                "near": _near(catalogue, asked.q),
                "error": error,
            }
            body = services.frame.render(request, "search.html", url=services.urls, **values)
            return Response(body, error.status, {**PROTECTED, **NO_STORE, **error_headers(error)}, HTML)
        answer = services.page(request, "search.html", **values).answer(request)
        answer.headers.update(BRIEFLY)
        return answer

    return [Route("/search", get_search)]


def _values(services: Services, asked: Question, catalogue: Catalogue) -> dict[str, Any]:
    return {
        "asked": asked,
        "settled": None,
        "suggestion": None,
        "near": [],
        "hints": unknown(catalogue, asked.filters(catalogue)),
        "reduced": False,
        "listed": None,
        "error": None,
        "popular": catalogue.once(facets.tags)[:POPULAR],
        "wider": services.urls.search(q=asked.q),
        "turned": lambda number: services.urls.search(**replace(asked, page=number).parameters()),
    }


def _near(catalogue: Catalogue, q: str) -> list[Entry]:
    by_ref = catalogue.manifest.by_ref
    return [by_ref[ref] for ref in catalogue.nearest("", slug(q), 5)]


def _facets(services: Services, asked: Question, entries: Sequence[Entry]) -> list[tuple[str, list[Option]]]:
    """Return every way in which these documents can be told apart, and the filters in force."""

    def option(name: str, count: int, active: bool, turned: Question) -> Option:
        return Option(name, count, services.urls.search(**replace(turned, page=1).parameters()), active)

    def one_of(name: str) -> list[Option]:
        def turned(value: str) -> Question:
            told: dict[str, Any] = {name: value}
            return replace(asked, **told)

        if present := getattr(asked, name):
            return [option(present, len(entries), True, turned(""))]
        told = (getattr(each, FIELDS.get(name, name)) for each in entries)
        counted = Counter(value for one in told for value in ([one] if isinstance(one, str) else one or ()))
        return [option(value, count, False, turned(value)) for value, count in _most(counted)]

    counted = Counter(tag for entry in entries for tag in dict.fromkeys(entry.tags))
    active = [
        option(tag, len(entries), True, replace(asked, tags=tuple(other for other in asked.tags if other != tag)))
        for tag in asked.tags
    ]
    more = [
        option(tag, count, False, replace(asked, tags=(*asked.tags, tag)))
        for tag, count in _most(counted)
        if tag not in asked.tags and count < len(entries)
    ]
    found = [*((name.capitalize(), one_of(name)) for name in ONE_OF), ("Tag", [*active, *more][:OPTIONS])]
    return [(name, options) for name, options in found if options]


def _most(counted: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:OPTIONS]
