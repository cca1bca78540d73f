"""A memory of which everything is at hand: stores in memory, a small model, and an index in a file of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from commonplace.kernel.audit import Author
from commonplace.memory import validation
from commonplace.memory.entries import Memory
from commonplace.memory.index_source import record_id, record_of
from commonplace.memory.model import BATCH, Added, EntryId, Found
from commonplace.memory.search import MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.memory.upkeep import carry_on
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records, with_tokens
from commonplace.search.model import EmbeddingProvider, Engine, RecordId, Tombstone
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.identity_stores import Clock
from tests.fakes.memory_stores import MemoryCaches, MemoryCounts, MemoryEntries, MemoryJobs, MemoryUsage

ACME, OTHER = Author(organisation="acme", account="a" * 32), Author(organisation="other", account="b" * 32)

GONE = 2**40
"""Version of the tombstone of an entry that is gone."""


class CountingEmbeddings(FakeEmbeddings):
    """Knows how many calls it had, and of how many texts each."""

    def __init__(self, revision: str = "1") -> None:
        super().__init__(revision)
        self.calls: list[int] = []

    def embed(self, texts: Any, *, query: bool = False) -> Any:
        vectors = super().embed(texts, query=query)
        if not query:
            self.calls.append(len(texts))
        return vectors


@dataclass
class Remembering:
    """One deployment's memory. `settle` does what the index function does with the events of the table."""

    engine: Engine
    embedder: EmbeddingProvider | None
    store: MemoryEntries = field(default_factory=MemoryEntries)
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    counts: MemoryCounts = field(default_factory=MemoryCounts)
    caches: MemoryCaches = field(default_factory=MemoryCaches)
    batch: int = BATCH
    seconds: int = 0
    made: int = 0

    def __post_init__(self) -> None:
        self.usage = MemoryUsage(self.store)
        providers = [self.embedder] if self.embedder else []
        self.memory = Memory(
            store=self.store,
            jobs=self.jobs,
            counts=self.counts,
            caches=self.caches,
            usage=self.usage,
            search_index=MemorySearch(self.engine, providers, self.store),
            embedder=self.embedder,
            clock=self.clock,
            new_id=self.new_id,
            batch=self.batch,
        )

    def clock(self) -> datetime:
        """A second later each time it is asked."""
        self.seconds += 1
        return datetime.fromtimestamp(Clock.now, UTC) + timedelta(seconds=self.seconds)

    def new_id(self) -> str:
        """Ids whose order says nothing, the same in every run."""
        self.made += 1
        return str(UUID(int=(self.made * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128))

    def add(self, content: str, author: Author = ACME, **told: Any) -> EntryId:
        """The id of an entry with this content, there or new."""
        return self.added(content, author, **told).id

    def added(self, content: str, author: Author = ACME, *, key: str | None = None, **told: Any) -> Added:
        new = validation.new_entry(**{"content": content, "entry_type": "fact", "roles": ["dev"], **told})
        return self.memory.add(author, new, idempotency_key=key)

    def search(self, query: str, author: Author = ACME, **told: Any) -> tuple[Found, ...]:
        return self.memory.search(author, validation.asked(query=query, **told)).found

    def contents(self, query: str, author: Author = ACME, **told: Any) -> list[str]:
        return [found.entry.content for found in self.search(query, author, **told)]

    def settle(self) -> None:
        """Brings the index to what the store says, of every organisation."""
        held = dict(self.engine.versions())
        incomplete = set(self.engine.incomplete())
        for organisation in self.store.organisations():
            cards = {record_id(organisation, card.id): card for card in self.store.cards(organisation)}
            stale = [card.id for id, card in cards.items() if held.get(id, 0) < card.revision or id in incomplete]
            records = [record_of(entry) for entry in self.store.get_many(organisation, stale).values()]
            indexed = with_tokens(embed_records(records, self.embedder, self.caches.of(organisation)))
            gone = [Tombstone(id, GONE) for id in self._of(organisation, held) if id not in cards]
            self.engine.write(indexed, gone)

    def carry_on(self, author: Author, handle: str, stretches: int = 1_000) -> None:
        """Has a job carried on, one batch a stretch, as its events would."""
        for _ in range(stretches):
            job = carry_on(self.memory, author.organisation, handle, lambda: True)
            if job is None or job.status != "in_progress":
                return

    @staticmethod
    def _of(organisation: str, held: dict[RecordId, int]) -> Iterator[RecordId]:
        return (id for id in held if id.startswith(f"{organisation}/"))


def memory_over(store: DynamoEntries) -> Memory:
    """A memory of this store that never searches."""
    return Memory(
        store=store,
        jobs=MemoryJobs(),
        counts=MemoryCounts(),
        caches=MemoryCaches(),
        usage=MemoryUsage(MemoryEntries()),
        search_index=MemorySearch(None, [], store),  # type: ignore[arg-type]
        embedder=None,
        clock=lambda: datetime.fromtimestamp(Clock.now, UTC),
        new_id=str,
    )


def remembering(folder: Path, embedder: FakeEmbeddings | None = None) -> Remembering:
    """A memory with an index in this folder, and with a model that counts its calls unless another is given."""
    model = embedder or CountingEmbeddings()
    return Remembering(EmbeddedEngine(folder / "memory.sqlite", model), model)
