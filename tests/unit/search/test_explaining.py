"""Why a search found what it found, and why not what was expected."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.explanation import NOTHING_PUBLISHED
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import Expectation, Explanation, RecordId, SearchRequest, Tombstone
from commonplace.search.query import Query
from commonplace.search.service import SearchService
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record
from tests.unit.search.test_service_stages import POEM, Order


class Published:
    def __init__(self, generations: Mapping[str, int]) -> None:
        self.generations = dict(generations)

    def version(self) -> str | None:
        return None

    def generation_of(self, record: RecordId) -> int | None:
        return self.generations.get(record)


@pytest.fixture
def engine(tmp_path: Path, provider: FakeEmbeddings) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "index.sqlite", provider)
    records = [
        record("concept/tide", "The sea rises.", title="Tide", tags=["sea", "time"], group="shore", date="2025-01-01"),
        *(record(f"note/n{at}", "tide " * (at + 1), title=f"Note {at}") for at in range(4)),
        *(record(f"note/poem{at}", f"{POEM} ending{at}", title="Poem") for at in range(2)),
        record("note/wind", "Nothing but gusts.", title="Wind"),
    ]
    engine.write(indexed(provider, *records), ())
    yield engine
    engine.close()


@pytest.fixture
def published(engine: EmbeddedEngine) -> Published:
    return Published({**dict(engine.versions())})


def trace(service: SearchService, query: str, **told: object) -> Explanation:
    found = service.search(SearchRequest(query, explain=True, **told))  # type: ignore[arg-type]
    assert found.explanation is not None
    return found.explanation


def verdict(service: SearchService, query: str, expect: str, **told: object) -> Expectation:
    expectation = trace(service, query, expect=RecordId(expect), **told).expectation
    assert expectation is not None
    assert expectation.id == expect
    return expectation


def test_nothing_is_explained_that_was_not_asked_for(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    assert SearchService(engine, provider).search(SearchRequest("tide")).explanation is None


def test_a_trace_tells_what_each_leg_gave_each_hit(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    service = SearchService(engine, provider, Order(), fusion=Fusion.parse("rrf:1,3"))

    told = trace(service, "tide", filters=Filters(content_types=("concept", "note")), limit=3)

    assert (told.engine, told.index, told.model, told.reranker) == (
        "embedded",
        None,
        model_fingerprint(provider),
        "order",
    )
    assert told.fusion == "reciprocal ranks, constant 60; words 1, meaning 3"
    assert told.filters == {"contentType": "concept, note"}
    assert (told.named_hits, len(told.hits), told.candidates) == (1, 3, 6)
    first = told.hits[0]
    assert (first.id, first.rank, first.named, first.rerank_score) == ("concept/tide", 1, 0.95, 0.5)
    for hit in told.hits:
        for leg in (hit.lexical, hit.vector):
            assert leg is not None
            assert leg.share == pytest.approx(61 / (60 + leg.rank))
    fused = trace(service, "tide", filters=Filters(content_types=("concept", "note")), limit=3, rerank=False)
    relevant = fused.hits[1]
    assert relevant.lexical is not None
    assert relevant.vector is not None
    assert relevant.score == pytest.approx(0.8 * (relevant.lexical.share + 3 * relevant.vector.share) / 4, abs=1e-5)


def test_a_search_by_words_is_traced_too(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    told = trace(SearchService(engine, provider, Order()), "tide", mode="lexical", limit=2)

    assert (told.model, told.reranker, told.fusion) == (None, None, "words alone")
    assert [hit.rank for hit in told.hits] == [1, 2]
    assert told.timings_ms.keys() == {"candidates", "fetch", "tokens", "whole"}


def test_what_is_shown_is_told_with_its_place(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    told = verdict(SearchService(engine, provider, publication=published), "tide", "concept/tide")

    assert (told.verdict, told.sentence) == ("shown", "It is result 1 of 5.")
    assert told.standing is not None
    assert told.standing.lexical is not None


def test_what_was_collapsed_names_what_stands_for_it(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    service = SearchService(engine, provider, publication=published)
    shown = {f"{hit.content_type}/{hit.id}" for hit in service.search(SearchRequest("ending0 ending1 sea")).results}
    (hidden,) = {"note/poem0", "note/poem1"} - shown
    (best,) = {"note/poem0", "note/poem1"} & shown

    told = verdict(service, "ending0 ending1 sea", hidden)

    assert told.verdict == "collapsed"
    assert best in told.sentence


def test_what_comes_after_the_limit_is_told_with_its_number(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    for reranker in (None, Order()):
        service = SearchService(engine, provider, reranker, publication=published)
        order = [f"{hit.content_type}/{hit.id}" for hit in service.search(SearchRequest("tide", limit=20)).results]

        told = verdict(service, "tide", order[3], limit=2)

        assert (told.verdict, told.sentence) == ("below-limit", "It is number 4 of 6 candidates, and 2 are shown.")


def test_what_comes_after_a_page_by_words_is_told_with_its_rank(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    service = SearchService(engine, provider, publication=published)
    order = [hit.id for hit in engine.page(Query.of("tide"), Filters(), 9).hits]

    told = verdict(service, "tide", order[-1], mode="lexical", limit=2)

    assert (told.verdict, told.sentence) == (
        "below-limit",
        f"It is number {len(order)} of {len(order)} by words, and this page shows 2.",
    )
    assert verdict(service, "tide", "note/wind", mode="lexical").verdict == "not-matched"


def test_what_stands_too_low_in_its_legs_is_told_with_its_ranks(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    crowd = [record(f"link/l{at:03}", "tide tide tide", title="Low") for at in range(230)]
    engine.write(indexed(provider, *crowd, record("link/lone", "tide " + "rain snow hail wind " * 3)), ())
    service = SearchService(engine, provider)

    below_legs = verdict(service, "tide", "link/lone", limit=5)
    below_depth = verdict(service, "tide", "link/l150", limit=5)

    assert below_legs.verdict == below_depth.verdict == "below-candidates"
    assert "by words" in below_legs.sentence
    assert "too far down in each leg" in below_legs.sentence
    assert "the ranking ends at 50" in below_depth.sentence


def test_what_has_no_word_and_is_not_near_is_not_matched(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    told = verdict(SearchService(engine, provider, publication=published), "tide", "note/wind")

    assert told.verdict == "not-matched"
    assert told.standing is not None
    assert told.standing.below_floor is not None
    assert f"similarity of {told.standing.below_floor:.3f}" in told.sentence
    by_words = verdict(SearchService(engine, None, publication=published), "tide", "note/wind")
    assert (by_words.verdict, "meaning was not compared" in by_words.sentence) == ("not-matched", True)


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        (Filters(content_types=("note", "link")), ["contentType = note, link"]),
        (Filters(tags_all=("sea", "moon")), ["tags = moon"]),
        (Filters(tags_any=("moon",), groups=("inland",)), ["group = inland", "tagsAny = moon"]),
        (Filters(date_from="2025-06-01"), ["dateFrom = 2025-06-01"]),
        (Filters(date_to="2024", tags_all=("sea",)), ["dateTo = 2024"]),
        (
            Filters(path_prefix="docs", statuses=("done",), releases=("r1",)),
            ["release = r1", "status = done", "pathPrefix = docs"],
        ),
    ],
)
def test_what_the_filters_leave_out_names_those_that_do(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published, filters: Filters, named: list[str]
) -> None:
    service = SearchService(engine, provider, publication=published)

    told = verdict(service, "tide", "concept/tide", filters=filters)

    assert (told.verdict, told.sentence) == ("filtered-out", f"It does not match {' and '.join(named)}.")


def test_what_is_published_and_not_indexed_yet_is_told_with_both_generations(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    service = SearchService(engine, provider, publication=published)
    published.generations |= {"note/new": 7, "note/wind": 7}

    missing, older = verdict(service, "tide", "note/new"), verdict(service, "tide", "note/wind")

    assert (missing.verdict, older.verdict) == ("not-indexed", "not-indexed")
    assert missing.sentence == "It is published at generation 7, and the index does not hold it."
    assert older.sentence == "It is published at generation 7, and the index still holds generation 1."


def test_what_is_not_published_and_what_never_was_are_told_alike(
    engine: EmbeddedEngine, provider: FakeEmbeddings, published: Published
) -> None:
    service = SearchService(engine, provider, publication=published)
    # Taken back a moment ago: the index still holds it.
    del published.generations["note/wind"]
    engine.write((), [Tombstone(RecordId("note/n0"), 5)])
    del published.generations["note/n0"]

    told = [verdict(service, "tide", name) for name in ("note/wind", "note/n0", "note/never")]

    assert {(one.verdict, one.sentence, one.standing) for one in told} == {("not-published", NOTHING_PUBLISHED, None)}


def test_without_the_store_an_absent_record_is_not_indexed(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    told = verdict(SearchService(engine, provider), "tide", "note/never")

    assert (told.verdict, told.sentence) == ("not-indexed", "The index does not hold it.")


def test_an_empty_query_explains_nothing(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    found = SearchService(engine, provider).search(SearchRequest(" ", explain=True, expect=RecordId("note/n0")))

    assert found.explanation is None
