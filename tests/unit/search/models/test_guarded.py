from collections.abc import Sequence
from threading import Barrier, Lock

import pytest

from commonplace.kernel import aws
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import RETRY_DELAYS, CircuitBreaker, Transient
from commonplace.search import providers
from commonplace.search.model import RecordId, Reranked, Vector
from commonplace.search.models.guarded import RERANK_DELAYS, GuardedEmbeddings, GuardedReranker
from tests.unit.kernel.test_resilience import Clock, never

REST_TIMEOUT_SECONDS = 29
INDEX_TIMEOUT_SECONDS = 120


class Model:
    """Embeds a text as its length, as many texts a call as it is told; fails as it is told."""

    name, revision, dimension = "lengths", "1", 1

    def __init__(self, batch: int | None = None) -> None:
        self.batch = batch
        self.calls: list[list[str]] = []
        self.failures: list[Exception] = []
        self.down = False
        self.lock = Lock()

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]:
        size = self.batch or len(texts)
        return [texts[start : start + size] for start in range(0, len(texts), size)]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        with self.lock:
            self.calls.append([*texts, "?"] if query else list(texts))
            if self.failures:
                raise self.failures.pop(0)
        if self.down:
            raise Transient("down")
        return [[float(len(text))] for text in texts]


class Judge:
    name = "judge"

    def __init__(self) -> None:
        self.calls = 0
        self.down = True

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        self.calls += 1
        if self.down:
            raise Transient("down")
        return [Reranked(record, 0.5) for record, _ in passages]


def test_a_guarded_model_keeps_its_facts() -> None:
    guarded = GuardedEmbeddings(Model())
    assert (guarded.name, guarded.revision, guarded.dimension) == ("lengths", "1", 1)


def test_vectors_come_in_order_however_many_calls_they_take() -> None:
    model = Model(batch=3)
    texts = ["x" * length for length in range(20)]

    assert GuardedEmbeddings(model).embed(texts) == [[float(length)] for length in range(20)]
    assert sorted(map(len, model.calls)) == [2, 3, 3, 3, 3, 3, 3]
    assert GuardedEmbeddings(model).embed([]) == []


def test_a_query_is_embedded_as_a_query() -> None:
    model = Model()
    GuardedEmbeddings(model).embed(["why"], query=True)
    assert model.calls == [["why", "?"]]


def test_only_the_call_that_failed_is_made_again() -> None:
    model = Model(batch=1)
    model.failures = [Transient("busy")]
    waits: list[float] = []

    vectors = GuardedEmbeddings(model, calls_at_once=1, sleep=waits.append).embed(["a", "bb"])

    assert (vectors, model.calls, waits) == ([[1.0], [2.0]], [["a"], ["a"], ["bb"]], [1])


def test_calls_are_made_side_by_side_but_only_so_many() -> None:
    class Meeting(Model):
        """Answers only when three calls are under way."""

        barrier = Barrier(3, timeout=60)

        def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
            self.barrier.wait()
            return super().embed(texts, query=query)

    model = Meeting(batch=1)
    assert len(GuardedEmbeddings(model, calls_at_once=3).embed(["a"] * 6)) == 6


def test_an_outage_costs_one_schedule_of_retries_and_not_one_per_request() -> None:
    clock, waits = Clock(), list[float]()
    model = Model()
    model.down = True
    guarded = GuardedEmbeddings(model, CircuitBreaker("m", failures=1, clock=clock), sleep=waits.append)

    for _ in range(50):
        with pytest.raises(Unavailable):
            guarded.embed(["query"], query=True)

    assert (len(model.calls), waits) == (4, [1, 2, 4])


def test_afterwards_one_single_call_per_period_asks_whether_it_is_back() -> None:
    clock, waits = Clock(), list[float]()
    model = Model()
    model.down = True
    guarded = GuardedEmbeddings(
        model, CircuitBreaker("m", failures=1, open_seconds=30, clock=clock), sleep=waits.append
    )
    for _ in range(3):
        with pytest.raises(Unavailable):
            guarded.embed(["query"])
        clock.now += 30
    assert (len(model.calls), len(waits)) == (4 + 1 + 1, 3)

    model.down = False
    assert guarded.embed(["query"]) == [[5.0]]
    assert guarded.embed(["query"]) == [[5.0]]


def test_a_refusal_is_no_outage() -> None:
    model = Model()
    model.failures = [Unavailable("access denied") for _ in range(5)]
    guarded = GuardedEmbeddings(model, sleep=never)

    for _ in range(5):
        with pytest.raises(Unavailable, match="access denied"):
            guarded.embed(["query"])

    assert guarded.embed(["query"]) == [[5.0]]


def test_whoever_waits_to_try_again_stops_when_another_has_given_up() -> None:
    breaker = CircuitBreaker("m", failures=1)
    model = Model()
    model.down = True
    guarded = GuardedEmbeddings(model, breaker, sleep=lambda _: breaker.failed())

    with pytest.raises(Unavailable, match="left alone"):
        guarded.embed(["query"])

    assert len(model.calls) == 1


def test_a_batch_that_fails_ends_the_batches_behind_it() -> None:
    model = Model(batch=1)
    model.down = True

    with pytest.raises(Unavailable):
        GuardedEmbeddings(model, calls_at_once=1, sleep=lambda _: None).embed(["text"] * 100)

    assert len(model.calls) == 4


def test_a_reranker_gets_one_more_try_and_is_then_left_alone() -> None:
    judge, waits = Judge(), list[float]()
    guarded = GuardedReranker(judge, sleep=waits.append)

    for _ in range(10):
        with pytest.raises(Unavailable):
            guarded.rerank("query", [(RecordId("note/a"), "text")])

    assert (guarded.name, judge.calls, waits) == ("judge", 2, list(RERANK_DELAYS))


def test_a_reranker_that_answers_is_passed_through() -> None:
    judge = Judge()
    judge.down = False
    assert GuardedReranker(judge).rerank("query", [(RecordId("note/a"), "")]) == [Reranked(RecordId("note/a"), 0.5)]


def longest(delays: Sequence[float], read_seconds: float) -> float:
    attempt = aws.MODEL_CONNECT_TIMEOUT_SECONDS + read_seconds
    return (len(delays) + 1) * attempt + sum(delays)


def test_every_wait_of_a_search_together_stays_below_the_gateways_patience() -> None:
    embedding = longest(RETRY_DELAYS, providers.QUERY_READ_SECONDS)
    reranking = longest(RERANK_DELAYS, providers.RERANK_READ_SECONDS)
    cache = 2 * 2 * providers.CACHE_SECONDS  # reading and keeping an order, each with connecting and waiting

    assert (embedding, reranking, cache) == (4 * 2.5 + 7, 2 * 3 + 0.5, 2)
    assert REST_TIMEOUT_SECONDS - embedding - reranking - cache >= 3  # left for the index and the store


def test_an_outage_leaves_the_index_function_time_to_write_the_words() -> None:
    assert longest(RETRY_DELAYS, providers.INDEX_READ_SECONDS) == 4 * 16 + 7
    assert INDEX_TIMEOUT_SECONDS - longest(RETRY_DELAYS, providers.INDEX_READ_SECONDS) >= 40
