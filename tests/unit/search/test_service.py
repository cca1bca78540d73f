"""A whole search, over the embedded engine."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import RecordId, Reranked, SearchRequest
from commonplace.search.rerank import RERANK_TTL_SECONDS, MemoryRerankCache
from commonplace.search.service import MAX_QUERY_CHARACTERS, SearchService
from tests.contracts.test_engine import ODD_QUERIES
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import indexed, record


class LongestTitleFirst:
    """A reranker whose opinion is easy to foresee."""

    name = "longest-title"

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[RecordId]]] = []
        self.failing = False

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        self.calls.append((query, [name for name, _ in passages]))
        if self.failing:
            raise Unavailable("The reranker does not answer.")
        return [Reranked(name, float(len(text.split("\n")[0]))) for name, text in passages]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 0.25
        return self.now


@pytest.fixture
def engine(tmp_path: Path, provider: FakeEmbeddings) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "index.sqlite", provider)
    records = [
        record("concept/tide", "The sea rises and falls.", title="Tide", description="Twice a day."),
        record("concept/spring-tide", "The tide at full moon: tide, tide, tide.", title="Spring tide"),
        record("concept/moon", "It pulls the sea, and so makes the tide.", title="The moon above the tide"),
        record("note/same", "One of two.", title="Twins"),
        record("note/again", "Two of two.", title="Twins"),
    ]
    engine.write(indexed(provider, *records), ())
    yield engine
    engine.close()


def titles(service: SearchService, query: str, limit: int = 5) -> list[str]:
    return [hit.title for hit in service.search(SearchRequest(query, limit=limit)).results]


def test_an_exact_title_comes_first_however_often_others_say_it(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    service = SearchService(engine, provider)

    for title in ("Tide", "Spring tide", "The moon above the tide", "Twins"):
        assert titles(service, title)[0] == title
    assert titles(service, "Twins")[:2] == ["Twins", "Twins"]


def test_an_exact_title_comes_first_in_every_way_of_fusing(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    for fusion in (Fusion("rrf"), Fusion(lexical_weight=0), Fusion(vector_weight=0)):
        assert titles(SearchService(engine, provider, fusion=fusion), "tide")[0] == "Tide"


def test_a_hit_shows_its_passage_and_where_it_stands(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    long = "# Shore\n\n## Pools\n\n" + "wind " * 200 + "crabs live here " + "wind " * 60
    engine.write(indexed(provider, record("note/long", long, title="Walk", tags=["a"], date="2024-01-01")), ())

    (hit,) = SearchService(engine, provider).search(SearchRequest("crabs", Filters(tags_all=("a",)))).results

    assert (hit.id, hit.content_type, hit.heading, hit.tags) == ("long", "note", "Shore › Pools", ("a",))
    assert "crabs live here" in hit.snippet
    assert 250 < len(hit.snippet) < 320
    assert 0 < hit.score <= 1


def test_a_document_without_text_shows_its_description(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    engine.write(indexed(provider, record("note/empty", "", title="Void", description="There is nothing.")), ())

    hit = SearchService(engine, provider).search(SearchRequest("void")).results[0]

    assert (hit.title, hit.snippet, hit.heading) == ("Void", "There is nothing.", None)


def test_a_failing_model_leaves_a_lexical_answer_that_says_so(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    provider.failing = True

    found = SearchService(engine, provider).search(SearchRequest("full moon"))

    assert (found.fallback, found.results[0].title) == (True, "Spring tide")


def test_no_model_is_a_fallback_and_a_model_is_none(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    assert SearchService(engine, None).search(SearchRequest("tide")).fallback is True
    assert SearchService(engine, provider).search(SearchRequest("tide")).fallback is False


def test_an_index_of_another_model_is_a_fallback(engine: EmbeddedEngine, tmp_path: Path) -> None:
    other = FakeEmbeddings(revision="2")
    reader = EmbeddedEngine(tmp_path / "index.sqlite", other, read_only=True)

    found = SearchService(reader, other).search(SearchRequest("tide"))
    reader.close()

    assert (found.fallback, found.results[0].title) == (True, "Tide")


def test_a_query_is_embedded_once_and_a_failure_is_not_remembered(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    service = SearchService(engine, provider)
    provider.asked.clear()
    provider.failing = True
    service.search(SearchRequest("tide"))
    provider.failing = False

    found = [service.search(SearchRequest(query)) for query in ("tide", " tide ", "tide")]

    assert provider.asked == ["tide"]
    assert not any(answer.fallback for answer in found)


def test_any_query_gets_an_answer(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    service = SearchService(engine, provider)

    for query in ODD_QUERIES:
        found = service.search(SearchRequest(query))
        assert found.query == query
        assert found.total >= len(found.results), query


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\x00", "\u200b"])
def test_a_query_without_a_visible_character_finds_nothing(
    engine: EmbeddedEngine, provider: FakeEmbeddings, query: str
) -> None:
    found = SearchService(engine, provider).search(SearchRequest(query))

    assert (found.results, found.total, found.fallback) == ((), 0, False)


@pytest.mark.parametrize(
    "request_",
    [
        SearchRequest("x" * (MAX_QUERY_CHARACTERS + 1)),
        SearchRequest("\ufdfa" * MAX_QUERY_CHARACTERS),  # 18 characters each as it is read
        SearchRequest("x", limit=0),
        SearchRequest("x", limit=101),
    ],
)
def test_what_is_out_of_bounds_is_refused(
    engine: EmbeddedEngine, provider: FakeEmbeddings, request_: SearchRequest
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        SearchService(engine, provider).search(request_)

    assert refusal.value.hint


def test_the_time_it_took_is_the_clocks_and_its_stages_lie_in_it(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    clock = Clock()
    service = SearchService(engine, provider, LongestTitleFirst(), clock=clock)
    before = clock.now

    found = service.search(SearchRequest("tide", explain=True))

    assert found.explanation is not None
    timings = dict(found.explanation.timings_ms)
    assert timings.pop("whole") == found.took_ms == (clock.now - before - 0.25) * 1000
    assert timings.keys() == {"embed", "candidates", "fuse", "tokens", "fetch", "rerank"}
    assert all(took >= 250 for took in timings.values())
    assert sum(timings.values()) < found.took_ms


def test_the_limit_cuts_the_results_and_not_the_total(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    found = SearchService(engine, provider).search(SearchRequest("tide", limit=1))

    assert (len(found.results), found.total) == (1, 3)


def test_the_reranker_orders_what_is_relevant_in_one_call_and_names_stay_first(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    reranker = LongestTitleFirst()
    service = SearchService(engine, provider, reranker)

    found = service.search(SearchRequest("tide", limit=2))

    assert [hit.title for hit in found.results] == ["Tide", "The moon above the tide"]
    assert [hit.rerank_score for hit in found.results] == [4.0, 23.0]
    assert (found.reranked, len(reranker.calls), len(reranker.calls[0][1])) == (True, 1, 3)


def test_a_failing_reranker_leaves_the_fused_order(engine: EmbeddedEngine, provider: FakeEmbeddings) -> None:
    reranker = LongestTitleFirst()
    reranker.failing = True

    found = SearchService(engine, provider, reranker).search(SearchRequest("tide"))

    assert [hit.title for hit in found.results] == titles(SearchService(engine, provider), "tide")
    assert (found.reranked, found.results[0].rerank_score) == (False, None)


def test_an_order_is_remembered_for_an_hour_and_forgotten_with_an_edit(
    engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    reranker, clock = LongestTitleFirst(), Clock()
    service = SearchService(engine, provider, reranker, rerank_cache=MemoryRerankCache(clock=clock))

    first = service.search(SearchRequest("tide"))
    second = service.search(SearchRequest("tide"))
    assert (second.results, second.reranked, len(reranker.calls)) == (first.results, True, 1)

    clock.now += RERANK_TTL_SECONDS
    service.search(SearchRequest("tide"))
    assert len(reranker.calls) == 2

    edited = record("concept/moon", "It pulls the tide.", title="The moon, its light, and the tide", generation=2)
    engine.write(indexed(provider, edited), ())
    assert service.search(SearchRequest("tide")).results[1].title == edited.title
    assert len(reranker.calls) == 3


def test_the_memory_of_orders_is_bounded() -> None:
    cache = MemoryRerankCache(capacity=2)
    for key in ("a", "b", "a", "c"):
        cache.put(key, [Reranked(RecordId(key), 1.0)])

    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]


def test_an_index_that_cannot_be_read_is_told_as_unavailable(tmp_path: Path, provider: FakeEmbeddings) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"This is no database. " * 200)
    service = SearchService(EmbeddedEngine(path, provider, read_only=True), provider)

    with pytest.raises(Unavailable):
        service.search(SearchRequest("tide"))
    with pytest.raises(Unavailable):
        service.check()


def test_an_index_that_is_not_there_yet_finds_nothing(tmp_path: Path, provider: FakeEmbeddings) -> None:
    service = SearchService(EmbeddedEngine(tmp_path / "later" / "index.sqlite", provider, read_only=True), provider)

    service.check()
    assert service.search(SearchRequest("tide")).total == 0
