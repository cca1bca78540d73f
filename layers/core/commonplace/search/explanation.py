"""Explanations for operators: why a search found what it found, and why not what was expected."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commonplace.search.candidates import Ranked
from commonplace.search.filters import Filters
from commonplace.search.fitness import gate_of, measures
from commonplace.search.fusion import Fusion
from commonplace.search.model import (
    Engine,
    Expectation,
    Explanation,
    HitTrace,
    LegHit,
    LegShare,
    Publication,
    RecordId,
    SearchRequest,
    SearchResults,
    Standing,
    Verdict,
)
from commonplace.search.models.tokens import Likeness
from commonplace.search.query import NOTHING, Query

NOTHING_PUBLISHED = "Nothing of this name is published."
"""For what is unpublished and for what never was: the answer does not distinguish them."""

_FILTER_NAMES = {
    "content_types": "contentType",
    "groups": "group",
    "releases": "release",
    "statuses": "status",
    "authors": "author",
    "aliases": "alias",
    "tags_all": "tags",
    "tags_any": "tagsAny",
    "path_prefix": "pathPrefix",
    "date_from": "dateFrom",
    "date_to": "dateTo",
}


@dataclass(frozen=True, slots=True)
class Stages:
    """The results of the stages of one search."""

    ranked: Ranked
    order: Sequence[RecordId]
    """The final order, of which the results are the beginning."""
    likeness: Mapping[RecordId, Likeness] = field(default_factory=dict)


class Explainer:
    """Accounts for the searches of one service."""

    def __init__(self, engine: Engine, fusion: Fusion, reranker: str | None, publication: Publication | None) -> None:
        self._engine = engine
        self._fusion = fusion
        self._reranker = reranker
        self._publication = publication

    def explain(
        self, query: Query, request: SearchRequest, found: SearchResults, stages: Stages, timings: Mapping[str, float]
    ) -> Explanation:
        """The trace of a search. Asks the engine again only for a record that was expected. Raises Unavailable."""
        candidates = stages.ranked.candidates
        lexical = _shares(candidates.lexical, self._fusion.lexical_shares(candidates.lexical))
        vector = _shares(candidates.vector, self._fusion.vector_shares(candidates.vector))
        named = {hit.id: hit.score for hit in candidates.named}
        traces: list[HitTrace] = []
        for rank, (record, hit) in enumerate(zip(stages.order, found.results, strict=False), 1):
            shares = (lexical.get(record), vector.get(record), named.get(record))
            traces.append(HitTrace(record, rank, hit.score, *shares, rerank_score=hit.rerank_score))
        expected = self._expected(request.expect, query, request, found, stages) if request.expect else None
        return Explanation(
            engine=type(self._engine).__name__.removesuffix("Engine").lower(),
            index=candidates.index,
            model=stages.ranked.vector.model if stages.ranked.vector else None,
            reranker=self._reranker if found.reranked else None,
            fusion=str(self._fusion) if request.mode == "hybrid" else "words alone",
            filters=in_words(request.filters),
            lexical_hits=len(candidates.lexical),
            vector_hits=len(candidates.vector),
            named_hits=len(candidates.named),
            candidates=len(stages.ranked.best.ranking),
            hits=tuple(traces),
            timings_ms={name: round(took, 3) for name, took in timings.items()},
            expectation=expected,
        )

    def _expected(
        self, record: RecordId, query: Query, request: SearchRequest, found: SearchResults, stages: Stages
    ) -> Expectation:
        verdict = _seen(record, found, stages)
        published = self._publication.generation_of(record) if self._publication and verdict is None else None
        if verdict is None and self._publication and published is None:
            return Expectation(record, "not-published", NOTHING_PUBLISHED, standing=None)
        standing = self._engine.ranks(record, query, stages.ranked.vector, request.filters)
        told = f"It is published at generation {published}, and the" if published is not None else "The"
        if verdict is None and standing.held is None:
            verdict = "not-indexed", f"{told} index does not hold it."
        elif standing.held is not None and published is not None and standing.held < published:
            verdict = "not-indexed", f"{told} index still holds generation {standing.held}."
        elif verdict is None and not standing.admitted:
            excluding = [
                f"{name} = {value}"
                for one in _one_by_one(request.filters)
                if not self._engine.ranks(record, NOTHING, None, one).admitted
                for name, value in in_words(one).items()
            ]
            verdict = "filtered-out", f"It does not match {' and '.join(excluding) or 'the filters together'}."
        return Expectation(record, *(verdict or _ranked_below(record, request, found, stages, standing)), standing)


def _shares(leg: Sequence[LegHit], shares: Mapping[RecordId, float]) -> dict[RecordId, LegShare]:
    return {hit.id: LegShare(rank, hit.score, shares[hit.id]) for rank, hit in enumerate(leg, 1)}


def in_words(filters: Filters) -> dict[str, object]:
    """The filters in force, under the names that callers give them."""
    kept = {name: getattr(filters, field) for field, name in _FILTER_NAMES.items()}
    return {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in kept.items() if value}


def _one_by_one(filters: Filters) -> Iterator[Filters]:
    for name in _FILTER_NAMES:
        value = getattr(filters, name)
        if value and name == "tags_all":
            yield from (Filters(tags_all=(tag,)) for tag in value)
        elif value:
            yield replace(Filters(), **{name: value})


def _seen(record: RecordId, found: SearchResults, stages: Stages) -> tuple[Verdict, str] | None:
    shown = list(stages.order[: len(found.results)])
    if record in shown:
        return "shown", f"It is result {shown.index(record) + 1} of {len(shown)}."
    best = stages.ranked.best.stands_for(record)
    if best is None:
        return None
    where = f"result {shown.index(best) + 1}" if best in shown else "which is not among the results"
    return "collapsed", f"It is nearly the same text as {best}, {where}, and was collapsed into it."


def _ranked_below(
    record: RecordId, request: SearchRequest, found: SearchResults, stages: Stages, standing: Standing
) -> tuple[Verdict, str]:
    shown = len(found.results)
    if found.hint is not None:
        needed = gate_of(stages.ranked).least(stages.ranked.candidates.records)
        best = max(measures(stages.ranked, stages.order, stages.likeness).values(), default=0.0)
        return "not-matched", f"Nothing fits the query: its best candidate fits by {best:.2f} of {needed:.2f}."
    if request.mode == "lexical" and standing.lexical:
        rank = standing.lexical[0]
        return "below-limit", f"It is number {rank} of {found.total} by words, and this page shows {shown}."
    depth = len(stages.ranked.best.ranking)
    order = stages.order if record in stages.order else [other for other, _ in stages.ranked.best.ranking]
    if record in order:
        return "below-limit", f"It is number {order.index(record) + 1} of {depth} candidates, and {shown} are shown."
    ranks = " and ".join(
        f"number {place[0]} by {leg}"
        for leg, place in (("words", standing.lexical), ("meaning", standing.vector))
        if place
    )
    fused = [other for other, _ in stages.ranked.fused]
    if record in fused:
        place = fused.index(record) + 1
        by = f" ({ranks})" if ranks else ""
        return "below-candidates", f"It is number {place} of both legs together{by}, and the ranking ends at {depth}."
    if ranks:
        return "below-candidates", f"It is {ranks}: too far down in each leg to become a candidate."
    meaning = "meaning was not compared" if stages.ranked.by_words else "no vector that is near"
    if standing.below_floor is not None:
        meaning = f"its similarity of {standing.below_floor:.3f} is below the floor"
    return "not-matched", f"It has none of the query's words, and {meaning}."
