"""Resilience around a model provider: scheduled retries behind a circuit breaker, several calls at once."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar, runtime_checkable

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import RETRY_DELAYS, CircuitBreaker, Transient, retrying
from commonplace.search.model import EmbeddingProvider, RecordId, Reranked, Reranker, Vector

CALLS_AT_ONCE = 4

RERANK_DELAYS = (0.5,)
"""A reader waits, and the fused order already stands: one more try against a passing refusal, no schedule."""

T = TypeVar("T")


@runtime_checkable
class Splits(Protocol):
    """A provider that takes so much in one call; each batch is retried by itself."""

    def batches(self, texts: Sequence[str]) -> list[Sequence[str]]: ...


class Guard:
    """Runs calls to one dependency. Safe for threads.

    A schedule of retries that comes to nothing opens the breaker; whoever waits to try again then stops, too. So an
    outage costs one schedule, and afterwards one single call per `open_seconds`.
    """

    def __init__(
        self, breaker: CircuitBreaker, *, delays: Sequence[float], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._breaker = breaker
        self._delays = delays
        self._sleep = sleep

    def run(self, call: Callable[[], T]) -> T:
        """Return what `call` answers. Raises Unavailable: at once while the breaker is open."""
        trial = self._breaker.check()
        trips = self._breaker.trips

        def attempt() -> T:
            if self._breaker.trips != trips:
                raise self._breaker.refusal()
            return call()

        try:
            answer = retrying(attempt, delays=() if trial else self._delays, sleep=self._sleep)
        except Transient as error:
            self._breaker.failed(error.wait_seconds)
            raise
        except Unavailable:
            if self._breaker.trips == trips:
                self._breaker.succeeded()  # it answered, if only to refuse
            raise
        self._breaker.succeeded()
        return answer


class GuardedEmbeddings:
    """An embedding provider behind a guard: three retries at 1, 2 and 4 s for each of its calls."""

    def __init__(
        self,
        provider: EmbeddingProvider,
        breaker: CircuitBreaker | None = None,
        *,
        delays: Sequence[float] = RETRY_DELAYS,
        calls_at_once: int = CALLS_AT_ONCE,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._provider = provider
        self.name, self.revision, self.dimension = provider.name, provider.revision, provider.dimension
        self._calls_at_once = calls_at_once
        breaker = breaker or CircuitBreaker(f"The embedding model {provider.name}", failures=1)
        self._guard = Guard(breaker, delays=delays, sleep=sleep)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector per text, in order. Raises Unavailable when one of the calls comes to nothing."""
        if not texts:
            return []
        batches = self._provider.batches(texts) if isinstance(self._provider, Splits) else [texts]
        if len(batches) == 1:
            return self._call(texts, query)
        pool = ThreadPoolExecutor(min(self._calls_at_once, len(batches)), thread_name_prefix="embed")
        try:
            answers = list(pool.map(lambda batch: self._call(batch, query), batches))
        finally:
            pool.shutdown(cancel_futures=True)
        return [vector for answer in answers for vector in answer]

    def _call(self, texts: Sequence[str], query: bool) -> list[Vector]:
        return self._guard.run(lambda: self._provider.embed(texts, query=query))


class GuardedReranker:
    """A reranker behind a guard: one retry, then without it until it answers again."""

    def __init__(
        self,
        reranker: Reranker,
        breaker: CircuitBreaker | None = None,
        *,
        delays: Sequence[float] = RERANK_DELAYS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reranker = reranker
        self.name = reranker.name
        breaker = breaker or CircuitBreaker(f"The reranker {reranker.name}", failures=1)
        self._guard = Guard(breaker, delays=delays, sleep=sleep)

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        """A score per passage. Raises Unavailable."""
        return self._guard.run(lambda: self._reranker.rerank(query, passages))
