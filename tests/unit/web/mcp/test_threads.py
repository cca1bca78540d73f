"""Tools run in threads, and one that is given up goes on while the next call begins: interleaved here by barriers."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commonplace.documents.content.document_index import Catalogue, Selection
from commonplace.documents.content.library import Library
from commonplace.kernel.byte_cache import ByteCache
from commonplace.kernel.deferred import Deferred, deferred
from commonplace.kernel.limits import Limiter, Quota
from commonplace.kernel.objects import StoredObject
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embedded.published import PublishedEngine
from commonplace.search.filters import Filters
from commonplace.search.model import SearchRequest
from commonplace.search.query import Query
from commonplace.search.rerank import MemoryRerankCache
from commonplace.search.service import SearchService
from commonplace.web.mcp.calls import in_thread
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.library import FakeLibrary, garden, make
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import indexed, record

SECONDS = 30
"""The longest that anything here waits before it fails."""
MANY = 8


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(MANY) as threads:
        yield threads


def together(threads: ThreadPoolExecutor, *work: Callable[[], Any]) -> list[Any]:
    """What each gives, when all have begun at once."""
    begun = threading.Barrier(len(work))

    def begin(run: Callable[[], Any]) -> Any:
        begun.wait(SECONDS)
        return run()

    return [done.result(SECONDS) for done in [threads.submit(begin, run) for run in work]]


class Slow(FakeLibrary):
    """A store whose first look at the manifest takes as long as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = False
        self.looking = threading.Event()
        self.answer = threading.Event()

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        found: StoredObject | None = super().get_if_changed(key, etag)
        if self.slow:
            self.slow = False
            self.looking.set()
            assert self.answer.wait(SECONDS)
        return found


def test_a_look_that_took_long_does_not_bring_back_an_older_edition(threads: ThreadPoolExecutor) -> None:
    store = Slow()
    store.publish(garden()[:2])
    library = Library(store, max_age_seconds=0)
    store.slow = True
    late: Future[Any] = threads.submit(library.edition)
    assert store.looking.wait(SECONDS)
    store.publish(garden())
    newest = library.edition()
    store.answer.set()
    assert len(late.result(SECONDS).manifest.documents) == len(newest.manifest.documents) == 11
    assert library._edition is newest


def test_nobody_waits_for_anothers_look_at_the_manifest(threads: ThreadPoolExecutor) -> None:
    store = Slow()
    store.publish(garden())
    library = Library(store, max_age_seconds=0)
    store.slow = True
    late = threads.submit(library.edition)
    assert store.looking.wait(SECONDS)
    assert len(library.manifest().documents) == 11  # while the other still waits
    store.answer.set()
    late.result(SECONDS)


def test_documents_that_others_push_out_of_the_cache_meanwhile_are_not_gone(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [make("file", f"d-{number}", f"d-{number}.md", content="x" * 400) for number in range(2 * MANY)]
    store = FakeLibrary(documents)
    store.publish(documents)
    monkeypatch.setattr("commonplace.documents.content.library.DOCUMENT_CACHE_BYTES", 8_000)
    library = Library(store)
    wanted = [f"file/d-{number}" for number in range(2 * MANY)]

    def read(first: int) -> bool:
        for turn in range(20):
            names = [wanted[(first + turn + step) % len(wanted)] for step in range(5)]
            found = library.read(names)
            if [document and f"file/{document.id}" for document in found] != names:
                return False
        return True

    assert all(together(threads, *(partial(read, first) for first in range(MANY))))


def test_a_cache_of_bytes_keeps_its_bound_and_its_count(threads: ThreadPoolExecutor) -> None:
    cache: ByteCache[int, bytes] = ByteCache(1_000, len)

    def use(seed: int) -> bool:
        for step in range(300):
            key = (seed * 7 + step * 3) % 40
            cache.put(key, bytes([key]) * (10 + key))
            found = cache.get((key + seed) % 40)
            if found is not None and set(found) != {(key + seed) % 40}:
                return False
        return True

    assert all(together(threads, *(partial(use, seed) for seed in range(MANY))))
    assert cache._bytes == sum(map(len, cache._held.values())) <= 1_000


def test_indexes_of_a_catalogue_are_the_same_for_all_who_ask_first(threads: ThreadPoolExecutor) -> None:
    store = FakeLibrary()
    store.publish(garden())
    manifest = Library(store).manifest()
    asked = [Selection(Filters(tags_all=("governance",))), Selection(Filters(date_from="2025-01-01"))]
    expected = _selected(Catalogue(manifest), asked)
    for _ in range(20):
        catalogue = Catalogue(manifest)
        select = partial(_selected, catalogue, asked)
        assert together(threads, *[select] * MANY) == [expected] * MANY


def _selected(catalogue: Catalogue, asked: list[Selection]) -> list[list[str]]:
    return [[entry.ref for entry in catalogue.select(each, "-date")] for each in asked]


class Meeting:
    """A counter store that answers nobody before `parties` have asked."""

    def __init__(self, parties: int) -> None:
        self.totals: dict[str, int] = {}
        self._lock = threading.Lock()
        self._meeting = threading.Barrier(parties)
        self._asked = 0

    def add(self, key: str, amount: int, expires_at: int) -> int:
        with self._lock:
            self._asked += 1
            first = self._asked <= self._meeting.parties
            total = self.totals[key] = self.totals.get(key, 0) + amount
        if first:
            self._meeting.wait(SECONDS)
        return total


def test_callers_side_by_side_spend_a_quota_exactly(threads: ThreadPoolExecutor) -> None:
    """All of them lease from the counter at the same moment, which would stand still if a lock were held."""
    limiter = Limiter(Meeting(MANY), lambda: 1_000_020.0)
    quota = Quota("mcp-reads", 100)

    def spend() -> int:
        taken = [limiter.take(quota, "somebody") for _ in range(20)]
        return sum(allowance.allowed for allowance in taken if allowance)

    assert sum(together(threads, *[spend] * MANY)) == 100


def test_a_function_that_runs_past_an_iterator_fails_and_does_not_hang() -> None:
    with pytest.raises(RuntimeError, match="past the end"):
        asyncio.run(in_thread(next, iter(())))


def test_a_function_in_a_thread_knows_the_context_of_its_call() -> None:
    spoken: ContextVar[str] = ContextVar("spoken", default="nothing")

    async def ask() -> str:
        spoken.set("a word")
        return await in_thread(spoken.get)

    assert asyncio.run(ask()) == "a word"


def test_a_part_is_built_once_whoever_comes_first(threads: ThreadPoolExecutor) -> None:
    built: list[object] = []

    def build() -> object:
        built.append(object())
        return built[-1]

    found = together(threads, *[Deferred(build)] * MANY)
    assert len(built) == 1
    assert set(map(id, found)) == {id(built[0])}


def test_a_part_that_could_not_be_built_is_built_at_the_next_call() -> None:
    attempts: list[str] = []

    def build() -> str:
        attempts.append("there")
        if len(attempts) == 1:
            raise OSError("away")
        return attempts[-1]

    part = deferred(build)
    with pytest.raises(OSError, match="away"):
        part.upper()
    assert part.upper() == "THERE"


class Stuck(FakeObjectStore):
    """A store that keeps one caller waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck = False
        self.waiting = threading.Event()
        self.answer = threading.Event()

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        if self.stuck:
            self.stuck = False
            self.waiting.set()
            assert self.answer.wait(SECONDS)
        return super().get_if_changed(key, etag)


def test_a_search_goes_on_while_another_waits_for_the_store(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    store, seconds = Stuck(), iter(range(100))
    writer = PublishedEngine(store, "index", None, folder=tmp_path)
    writer.write(indexed(None, record("file/one", "apples")), ())
    reader = PublishedEngine(store, "index", None, folder=tmp_path, clock=lambda: float(next(seconds) * 10))
    assert reader.page(Query.of("apples"), Filters(), 5).total == 1
    writer.write(indexed(None, record("file/two", "apples too")), ())
    store.stuck = True
    late = threads.submit(reader.page, Query.of("apples"), Filters(), 5)
    assert store.waiting.wait(SECONDS)
    assert reader.page(Query.of("apples"), Filters(), 5).total >= 1
    store.answer.set()
    assert late.result(SECONDS).total == 2
    writer.close()
    reader.close()


def test_searches_side_by_side_find_what_each_finds_alone(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    model = FakeEmbeddings()
    engine = EmbeddedEngine(tmp_path / "index.sqlite", model)
    words = ["apple", "bread", "cider", "dough", "elder", "flour", "grape", "honey"]
    engine.write(indexed(model, *(record(f"file/{word}", f"{word} and more") for word in words)), ())
    service = SearchService(engine, model, rerank_cache=MemoryRerankCache())

    def ask(word: str) -> str:
        return service.search(SearchRequest(query=word)).results[0].id

    alone = [ask(word) for word in words]
    for _ in range(5):
        assert together(threads, *(partial(ask, word) for word in words)) == alone
    engine.close()
