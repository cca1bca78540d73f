"""A search that answers what a test wants told, page by page where it is asked by words alone."""

from dataclasses import replace
from typing import Any

from commonplace.search.model import (
    Expectation,
    Explanation,
    Hit,
    HitTrace,
    LegShare,
    Position,
    RecordId,
    SearchRequest,
    SearchResults,
    Standing,
)
from tests.fakes.library import garden
from tests.fakes.search import FakeSearch

GARDEN = {document.ref: document for document in garden()}

EXPLANATION = Explanation(
    engine="embedded",
    index=None,
    model="local",
    reranker=None,
    fusion="min-max",
    filters={"tags_all": ("roles",), "date_from": None},
    lexical_hits=2,
    vector_hits=1,
    named_hits=0,
    candidates=2,
    hits=(
        HitTrace(
            id=RecordId("pattern/rotating-stewardship"),
            rank=1,
            score=0.75,
            lexical=LegShare(rank=1, score=3.5, share=1.0),
            vector=None,
            named=None,
            rerank_score=None,
        ),
    ),
    timings_ms={"embed": 0.5, "candidates": 1.25, "whole": 2.5},
    expectation=None,
)


class ToldSearch(FakeSearch):
    """`told` are members of every answer."""

    def __init__(self, *hits: Hit, **told: Any) -> None:
        super().__init__(*hits)
        self.told = told

    def search(self, request: SearchRequest) -> SearchResults:
        found = super().search(request)
        if request.mode == "lexical":
            found = self._page(request, found)
        if request.documents:
            whole = [replace(hit, document=GARDEN.get(_ref(hit), hit.document)) for hit in found.results]
            found = replace(found, results=tuple(whole))
        if request.explain:
            found = replace(found, explanation=replace(EXPLANATION, expectation=_expectation(request.expect)))
        return replace(found, **self.told)

    def _page(self, request: SearchRequest, found: SearchResults) -> SearchResults:
        refs = [_ref(hit) for hit in self.hits]
        start = refs.index(request.after.id) + 1 if request.after else 0
        shown = self.hits[start : start + request.limit]
        more = start + request.limit < len(refs)
        after = Position(shown[-1].score, RecordId(_ref(shown[-1]))) if more else None
        return replace(found, results=shown, after=after)


def _expectation(record: RecordId | None) -> Expectation | None:
    if record is None:
        return None
    standing = Standing(lexical=(31, 0.25), vector=None, below_floor=0.125, held=4, admitted=True)
    return Expectation(record, "below-limit", f"{record} is number 31.", standing)


def _ref(hit: Hit) -> Any:
    return f"{hit.content_type}/{hit.id}"
