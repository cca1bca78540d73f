"""The shapes of a search's answer and of its explanation; see `shapes.py`."""

from typing import Any, Literal

from pydantic import Field

from commonplace.documents.rest.shapes import Entry, Shape


class SearchHit(Shape):
    id: str
    content_type: str
    title: str
    description: str | None
    snippet: str = Field(description="The passage that matched, as plain text.")
    heading: str | None = Field(description="Where in the document the passage is.")
    score: float
    rerank_score: float | None
    url: str | None
    source_url: str | None = Field(description="The file on GitHub, at the commit it was read at.")
    path: str
    group: str | None
    tags: list[str]
    date: str | None
    duplicates: list[str] = Field(description="`contentType/id` of documents with nearly the same text, left out.")
    highlight: str | None = Field(
        None, description="With `highlight`: the snippet as HTML, escaped, with `<mark>` round what was found."
    )
    document: Entry | None = Field(
        None, description="With `include=documents`: the whole document; null when it has gone, or did not fit."
    )


class LegShare(Shape):
    rank: int = Field(description="From 1.")
    score: float = Field(description="As the engine gave it.")
    share: float = Field(description="From 0 to 1: what it counts for in the fusion, before weighing.")


class HitTrace(Shape):
    """Why a result stands where it stands."""

    id: str = Field(description="`contentType/id`.")
    rank: int
    score: float
    lexical: LegShare | None = Field(description="Its place by words.")
    vector: LegShare | None = Field(description="Its place by meaning.")
    named: float | None = Field(description="How exactly the query names it, from 0 to 1.")
    rerank_score: float | None


class Standing(Shape):
    """Where one document stands in each ranking, however deep: rank and score."""

    lexical: tuple[int, float] | None
    vector: tuple[int, float] | None
    below_floor: float | None = Field(description="Its similarity, when that is too small to count as found.")
    held: int | None = Field(description="The generation that the index holds of it.")
    admitted: bool = Field(description="Whether it passes the filters.")


class Expectation(Shape):
    """Why the expected document is shown, or is not."""

    id: str
    verdict: Literal[
        "shown",
        "collapsed",
        "below-limit",
        "below-candidates",
        "not-matched",
        "filtered-out",
        "not-indexed",
        "not-published",
    ]
    sentence: str
    standing: Standing | None


class Explanation(Shape):
    """How a ranking came about."""

    engine: str
    index: str | None
    model: str | None
    reranker: str | None
    fusion: str
    filters: dict[str, Any] = Field(description="Those in force.")
    lexical_hits: int
    vector_hits: int
    named_hits: int
    candidates: int
    hits: list[HitTrace]
    timings_ms: dict[str, float]
    expectation: Expectation | None


class SearchAnswer(Shape):
    query: str
    results: list[SearchHit]
    total: int = Field(description="How many were found: see `totalRelation`.")
    total_relation: Literal["exact", "candidates"] = Field(
        description="`exact`: `total` counts every document that matches. `candidates`: it counts those that were "
        "compared in words and in meaning; the ranking ends there."
    )
    next_cursor: str | None = Field(description="With `mode=lexical`: where the next page begins; null on the last.")
    suggestion: str | None = Field(description="Did you mean: `q` with misspelt words put right; it finds something.")
    fallback: bool = Field(description="True when meaning could not be compared and only words were.")
    reranked: bool
    took_ms: int
    documents_left_out: list[str] | None = Field(
        None, description="With `include=documents`: `contentType/id` of those that did not fit into the answer."
    )
    explanation: Explanation | None = Field(None, description="With `explain`.")
