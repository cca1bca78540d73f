"""A hive over real stores and a real index: what a deployment has, without its queue."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from ulid import ULID

from commonplace.hive.deployment import DeploymentConfiguration
from commonplace.hive.index_source import StoredItems
from commonplace.hive.model import Contributed, Draft, ItemId, stamp
from commonplace.hive.review import Reviews
from commonplace.hive.search import HiveSearch
from commonplace.hive.service import Hive, Parts
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.audit import Author
from commonplace.kernel.limits import Limiter
from commonplace.redaction.model import Span
from commonplace.redaction.ports import Redactor
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.indexer import Indexer, Message
from commonplace.search.model import Engine
from commonplace.search.store import DynamoVectorCaches
from tests.dynamodb_fixture import dump, new_table
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.web.mcp.world import Counters

START = datetime(2026, 11, 22, tzinfo=UTC)
NAMES = ("Ngozi Adichie", "Maria Gonzalez", "Kenji Watanabe")
"""Which `Names` finds in prose."""


class Names:
    """`redaction.ports.Detector`: finds a few names, so that a test needs no model. Fails when told to."""

    def __init__(self, names: Sequence[str] = NAMES) -> None:
        self.names = names
        self.failing: Exception | None = None

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        if self.failing:
            raise self.failing
        return [list(self._spans(text)) for text in texts]

    def _spans(self, text: str) -> Iterator[Span]:
        for name in self.names:
            start = text.find(name)
            while start >= 0:
                yield Span(start, start + len(name), "NAME", "model", 0.99)
                start = text.find(name, start + 1)


@dataclass
class World:
    """One deployment."""

    client: Any
    engine: Engine
    model: FakeEmbeddings
    redactor: Redactor
    ticks: Iterator[int] = field(default_factory=count)
    per_hour: int = 0

    def __post_init__(self) -> None:
        self.records, self.activity, self.cache = (
            new_table(self.client, kind) for kind in ("records", "activity", "cache")
        )
        self.store = DynamoContributions(self.client, self.records, self.activity, clock=START.timestamp)
        self.caches = DynamoVectorCaches(self.client, self.cache)
        self.deployment = DeploymentConfiguration(self.client, self.records, lambda: stamp(self.clock()))
        self._indexer = Indexer(StoredItems(self.store), self.engine, self.model, lambda of: self.caches.of(of or "-"))
        # Who asks an index that is not there yet remembers for two seconds that there is none.
        self._indexer.reconcile()
        self.deployment.compare(model_fingerprint(self.model), self.engine.model())

    def parts(self) -> Parts:
        """As one of many functions has them."""
        store = DynamoContributions(self.client, self.records, self.activity, clock=START.timestamp)
        return Parts(
            store=store,
            redactor=self.redactor,
            search=HiveSearch(self.engine, [self.model], store, {}),
            limiter=Limiter(Counters(), START.timestamp),
            clock=self.clock,
            new_id=lambda: ItemId(f"hv_{ULID()}"),
            names={},
            kept_model=self._kept,
            per_hour=self.per_hour,
        )

    def _kept(self) -> tuple[str, bool]:
        kept = self.deployment.read()
        return (kept.model, kept.changed) if kept else ("", False)

    def clock(self) -> datetime:
        """A second later each time it is asked."""
        return START + timedelta(seconds=next(self.ticks))

    def hive(self) -> Hive:
        return Hive(self.parts())

    def reviews(self) -> Reviews:
        return Reviews(self.parts())

    def contribute(self, author: Author, content: str, **more: Any) -> Contributed:
        return self.hive().contribute(author, Draft(**{"content": content, "category": "general", **more}))

    def approved(self, author: Author, content: str, *, public: bool = False, **more: Any) -> ItemId:
        """The id of an item that is contributed and approved by its contributor."""
        id = self.contribute(author, content, **more).id
        self.reviews().approve(author, id, public=public)
        return id

    def take(self, organisation: str, ids: Iterable[ItemId]) -> None:
        """Does what the index function does when the table's stream names these items."""
        pk = f"{organisation}#hive#items"
        bodies = [json.dumps({"table": "records", "pk": pk, "sk": id}) for id in sorted(set(ids))]
        failed = self._indexer.take([Message(str(number), body) for number, body in enumerate(bodies)])
        assert failed == []
        self._indexer.complete()

    def settle(self) -> None:
        """Brings the index to what the store says, of everybody."""
        self._indexer.reconcile()

    def written(self) -> str:
        """Everything in every table."""
        return "".join(dump(self.client, table) for table in (self.records, self.activity, self.cache))


def embedded(folder: Path, model: FakeEmbeddings) -> Engine:
    return EmbeddedEngine(folder / "contributions.sqlite", model)
