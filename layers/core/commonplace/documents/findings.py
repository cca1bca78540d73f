"""Searches and lists of documents, reduced to what is published and counted, the same way for every interface."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

from commonplace.documents.content.document import DocumentRef, Entry, Summary, reference
from commonplace.documents.content.document_index import Catalogue, Selection
from commonplace.documents.content.intents import Listing, Part, listing, parts, way_in
from commonplace.documents.content.library import Library
from commonplace.search.model import Hit, Position, RecordId, SearchRequest, SearchResults

MAX_HITS = 20
"""Results of one search. More are no candidates of the reranker, and more whole documents no answer."""

SPARE = 5  # Hits requested beyond the limit, to replace those that are no longer published

OTHERS = 0.5
"""The share that is left of a score of a document of another type than the one that a question asks for."""

CERTAIN = 1.0  # The score of what is listed, and of a newcomer's way in: nothing was compared

Relation = Literal["exact", "candidates"]
Search = Callable[[SearchRequest], SearchResults]
Intent = Listing | Entry | list[Part] | None


class Searcher(Protocol):
    """The search capability. Both raise Unavailable when the index does not answer."""

    def search(self, request: SearchRequest) -> SearchResults: ...

    def check(self) -> None:
        """Return when a search could be answered."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The hits of a search that are shown, and its totals."""

    hits: tuple[Hit, ...]  # Their duplicates are published too
    passed: int  # Hits of the ranking before these ones
    total: int
    relation: Relation
    """`exact`: every document that matches was counted. `candidates`: the ranking ends at those that were compared."""
    suggestion: str | None
    resume: int | None  # Where the ranking goes on after these hits; None where it ends
    hint: str | None = None  # That nothing fits: then the hits, if there are any, are weak


def intent(catalogue: Catalogue, request: SearchRequest) -> Intent:
    """Return what a request means beside a subject. Pages of a ranking, and explanations, are of searches."""
    if request.query.strip() and (request.mode == "lexical" or request.explain):
        return None
    query, filters = request.query, request.filters
    return listing(catalogue, query, filters) or way_in(catalogue, query) or parts(catalogue, query, filters) or None


def find(search: Search, library: Library, request: SearchRequest, wanted: Intent, page: slice) -> SearchResults:
    """Return what a request finds, the way in first; or a page of its list."""
    if isinstance(wanted, Listing):
        total = len(wanted.entries)
        hits = _hits(library, request, wanted.entries[page])
        onward = Position(page.stop, RecordId("")) if page.stop < total else None
        found = SearchResults(request.query, hits, total, fallback=False, reranked=False, took_ms=0)
        return replace(found, hint=wanted.sentence, after=onward, passed=page.start)
    if isinstance(wanted, list):
        return _joined(search, replace(request, shown=page.stop), wanted)
    found = search(replace(request, shown=page.stop))
    if not {_ref(hit) for hit in found.results} <= library.manifest().by_ref.keys():
        found = search(request)  # a spare may take its place
    if wanted is None or wanted not in library.edition().catalogue.select(Selection(request.filters)):
        return found
    hits = (*_hits(library, request, [wanted]), *(hit for hit in found.results if _ref(hit) != wanted.ref))
    total = found.total + len(hits) - len(found.results)
    return replace(found, results=hits[: request.limit], total=total, hint=None)


def _joined(search: Search, request: SearchRequest, asked: Sequence[Part]) -> SearchResults:
    """Return what several questions find as one ranking: by the share of the best score of its own question.

    Documents of the type that a question asks for stand before others that it finds.
    """
    shares: dict[DocumentRef, tuple[float, Hit]] = {}
    results = []
    for part in asked:
        others = search(replace(request, query=part.text, filters=part.filters))
        rankings = [others]
        if part.of_type is not None:
            typed = search(replace(request, query=part.subject, filters=part.of_type))
            fitting = tuple(hit for hit in typed.results if hit.fit != "weak")
            rankings = [replace(typed, results=fitting), others] if fitting else [others]
        results += rankings
        for place, found in enumerate(rankings):
            best = max((hit.score for hit in found.results), default=0) or 1
            for hit in found.results:
                share = hit.score / best * (OTHERS if place else 1)
                if share > shares.get(_ref(hit), (-1.0, hit))[0]:
                    shares[_ref(hit)] = (share, hit)
    ranked = sorted(shares.values(), key=lambda one: -one[0])
    top = max((found.results[0].score for found in results if found.results), default=0)
    hits = tuple(replace(hit, score=share * top) for share, hit in ranked)[: request.limit]
    return replace(
        results[0],
        query=request.query,
        results=hits,
        total=max(len(shares), *(found.total for found in results)),
        fallback=any(found.fallback for found in results),
        took_ms=sum(found.took_ms for found in results),
        suggestion=next((found.suggestion for found in results if found.suggestion), None),
        hint=None if any(hit.fit != "weak" for hit in hits) else next((one.hint for one in results if one.hint), None),
    )


def _hits(library: Library, request: SearchRequest, entries: Sequence[Entry]) -> tuple[Hit, ...]:
    """Return documents with their descriptions, as they are shown where nothing was compared."""
    bodies = library.read([entry.ref for entry in entries]) if request.documents else [None] * len(entries)
    same: dict[str, Any] = {"heading": None, "score": CERTAIN, "rerank_score": None, "fit": "strong"}
    alike = {field.name for field in fields(Hit)} & Summary.model_fields.keys()
    facts = [same | {name: getattr(entry, name) for name in alike} | {"tags": (*entry.tags,)} for entry in entries]
    pairs = zip(facts, bodies, strict=True)
    return tuple(Hit(**one, snippet=one["description"] or "", document=body) for one, body in pairs)


def with_spares(limit: int, start: int = 0) -> int:
    """Return how many hits to ask for, so that `limit` of them from `start` on can be shown."""
    return min(start + limit + SPARE, MAX_HITS)


def published(library: Library, results: SearchResults) -> Mapping[DocumentRef, Entry]:
    """What is published. The index may know of a document before the manifest at hand does, which is then read anew."""
    by_ref = library.manifest().by_ref
    if all(reference(hit.content_type, hit.id) in by_ref for hit in results.results):
        return by_ref
    return library.edition(fresh=True).manifest.by_ref


def settle(
    found: SearchResults, asked: SearchRequest, known: Mapping[DocumentRef, Entry] | None, *, limit: int, start: int = 0
) -> Findings:
    """Leaves out what is not published any more, whatever the index says; `known` None lets everything pass."""
    if (passed := found.passed) is not None:
        onward = int(found.after.score) if found.after else None
        return Findings(found.results, passed, found.total, "exact", None, onward)
    live = [(rank, hit) for rank, hit in enumerate(found.results) if known is None or _ref(hit) in known]
    gone = len(found.results) - len(live)
    ahead = [(rank, hit) for rank, hit in live if rank >= start]
    # Where every spare was needed, the ranking goes on at the end of the requested hits.
    requested = len(found.results)
    end = requested if requested == asked.limit < min(found.total, MAX_HITS) else None
    hits = [hit for _, hit in ahead[:limit]]
    if known is not None:
        shown = [[record for record in hit.duplicates if DocumentRef(record) in known] for hit in hits]
        hits = [replace(hit, duplicates=tuple(kept)) for hit, kept in zip(hits, shown, strict=True)]
    return Findings(
        hits=tuple(hits),
        passed=len(live) - len(ahead),
        total=max(found.total - gone, 0),
        relation="exact" if asked.mode == "lexical" or found.fallback else "candidates",
        # It was made from words of the index, and this index is behind the store.
        suggestion=None if gone else found.suggestion,
        resume=ahead[limit][0] if len(ahead) > limit else end,
        hint=found.hint,
    )


def _ref(hit: Hit) -> DocumentRef:
    return reference(hit.content_type, hit.id)
