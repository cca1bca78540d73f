"""Several indexes with roles, each a real embedded engine in a file of its own: a cluster without a node."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from commonplace.kernel.errors import InvalidInput
from commonplace.search.chunks import CHUNKER_VERSION
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embedded.tables import LEXICAL_ONLY
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.migration import Facts, Generation, Role, mismatch
from commonplace.search.model import (
    Candidates,
    EmbeddingProvider,
    Engine,
    Found,
    IndexedRecord,
    Page,
    Position,
    QueryVector,
    RecordId,
    Standing,
    Tombstone,
)
from commonplace.search.query import Query
from tests.fakes.store import Crash

WITH_A_ROLE: tuple[Role, ...] = ("current", "next", "previous")


class FakeCluster:
    """What all processes share. `crash_after` counts writes to any index down to a Crash, as that of the fake store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.indexes: dict[str, Facts] = {}
        self.roles: dict[Role, str] = {}
        self.settled: list[str] = []
        self.crash_after: int | None = None
        self.writes: list[tuple[str, int]] = []
        """Index and number of records of each write that had any."""
        self._made = 0
        self._engines: dict[tuple[str, str], EmbeddedEngine] = {}

    def create(self, facts: Facts) -> str:
        self._made += 1
        name = f"documents-{self._made}"
        self.indexes[name] = facts
        return name

    def role_of(self, name: str) -> Role:
        return next((role for role, holder in self.roles.items() if holder == name), "spare")

    def engine(self, name: str, provider: EmbeddingProvider | None) -> EmbeddedEngine:
        key = (name, model_fingerprint(provider) if provider else LEXICAL_ONLY)
        if key not in self._engines:
            self._engines[key] = EmbeddedEngine(self.folder / f"{name}.sqlite", provider, journal="delete")
        return self._engines[key]

    def drop(self, name: str) -> None:
        for key in [key for key in self._engines if key[0] == name]:
            self._engines.pop(key).close()
        (self.folder / f"{name}.sqlite").unlink(missing_ok=True)
        del self.indexes[name]
        self.roles = {role: holder for role, holder in self.roles.items() if holder != name}

    def count_down(self, name: str, records: int) -> None:
        """Before a write."""
        if self.crash_after == 0:
            self.crash_after = None
            raise Crash
        if self.crash_after is not None:
            self.crash_after -= 1
        if records:
            self.writes.append((name, records))

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()


class FakeGenerations:
    """The indexes as one process sees them, with its model and its mapping."""

    def __init__(self, cluster: FakeCluster, provider: EmbeddingProvider | None, mapping: str = "m1") -> None:
        self._cluster = cluster
        self._provider = provider
        model = model_fingerprint(provider) if provider else LEXICAL_ONLY
        self._facts = Facts(schema="1", chunker=CHUNKER_VERSION, model=model, mapping=mapping)

    def wanted(self) -> Facts:
        return self._facts

    def all(self) -> Sequence[Generation]:
        order = [*(name for role in WITH_A_ROLE if (name := self._cluster.roles.get(role))), *self._cluster.indexes]
        return [
            Generation(name, self._cluster.role_of(name), self._cluster.indexes[name], self._documents(name))
            for name in dict.fromkeys(order)
        ]

    def create_next(self, *, anew: bool = False) -> Generation:
        cluster = self._cluster
        coming = cluster.roles.get("next")
        if coming and (anew or cluster.indexes[coming] != self._facts):
            cluster.drop(coming)
            coming = None
        if coming is None:
            cluster.roles["next"] = coming = cluster.create(self._facts)
        return next(generation for generation in self.all() if generation.name == coming)

    def engine(self, name: str) -> Engine:
        return _OneIndex(self._cluster, lambda: [name], name, self._provider, self._facts)

    def settle(self, name: str) -> None:
        self._cluster.settled.append(name)

    def swap(self) -> tuple[str | None, str]:
        roles = self._cluster.roles
        if "next" not in roles:
            raise InvalidInput("There is no next index.")
        old, new = roles.pop("current", None), roles.pop("next")
        roles["current"] = new
        if old:
            roles["previous"] = old
        return old, new

    def rollback(self) -> tuple[str, str]:
        roles = self._cluster.roles
        if "previous" not in roles:
            raise InvalidInput("There is no previous index.")
        old, new = roles["current"], roles.pop("previous")
        roles["current"], roles["next"] = new, old
        return old, new

    def drop(self, name: str) -> None:
        if self._cluster.roles.get("current") == name:
            raise InvalidInput("This index answers searches.")
        self._cluster.drop(name)

    def shared_engine(self) -> Engine:
        """As functions open it: reads whichever index is current, writes to all that are like its own."""
        cluster = self._cluster

        def targets() -> list[str]:
            if not cluster.roles:
                cluster.roles["current"] = cluster.create(self._facts)
            return [name for name in cluster.roles.values() if cluster.indexes[name] == self._facts]

        return _OneIndex(cluster, targets, None, self._provider, self._facts)

    def _documents(self, name: str) -> int:
        return sum(1 for _ in self._cluster.engine(name, self._provider).versions())


class _OneIndex:
    """An `Engine` that reads one index, the current one unless named, and writes to all that `targets` names."""

    def __init__(
        self,
        cluster: FakeCluster,
        targets: Callable[[], list[str]],
        name: str | None,
        provider: EmbeddingProvider | None,
        facts: Facts,
    ) -> None:
        self._cluster, self._targets, self._name = cluster, targets, name
        self._provider, self._facts = provider, facts

    def write(self, upserts: Sequence[IndexedRecord], tombstones: Sequence[Tombstone]) -> None:
        names = [name for name in self._targets() if self._cluster.indexes[name] == self._facts]
        if not names:
            roles = self._cluster.roles
            raise mismatch(self._cluster.indexes[self._name or roles.get("current") or roles["next"]], self._facts)
        for name in names:
            self._cluster.count_down(name, len(upserts) + len(tombstones))
            self._cluster.engine(name, self._provider).write(upserts, tombstones)

    def replace(self, records: Sequence[IndexedRecord]) -> None:
        raise NotImplementedError("a generation is built beside the one that answers")

    def model(self) -> str | None:
        return self._reading().model()

    def state(self) -> str | None:
        reading = self._reading()
        return f"{id(reading)} {reading.state()}"

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        return self._reading().candidates(query, vector, filters, size)

    def page(self, query: Query, filters: Filters, size: int, after: Position | None = None) -> Page:
        return self._reading().page(query, filters, size, after)

    def fetch(
        self, wanted: Sequence[tuple[RecordId, int | None]], query: Query, vector: QueryVector | None = None
    ) -> dict[RecordId, Found]:
        return self._reading().fetch(wanted, query, vector)

    def tokens(self, wanted: Sequence[RecordId]) -> dict[RecordId, tuple[bytes, ...]]:
        return self._reading().tokens(wanted)

    def ranks(self, record: RecordId, query: Query, vector: QueryVector | None, filters: Filters) -> Standing:
        return self._reading().ranks(record, query, vector, filters)

    def versions(self) -> Iterator[tuple[RecordId, int]]:
        return self._reading().versions()

    def held(self, ids: Sequence[RecordId]) -> dict[RecordId, int]:
        found: dict[RecordId, int] = {}
        for name in self._targets() or [self._name or self._cluster.roles["current"]]:
            for record, version in self._cluster.engine(name, self._provider).held(ids).items():
                found[record] = max(version, found.get(record, 0))
        return found

    def incomplete(self) -> Iterator[RecordId]:
        return self._reading().incomplete()

    def sweep(self, before: datetime) -> int:
        return sum(self._cluster.engine(name, self._provider).sweep(before) for name in self._targets())

    def _reading(self) -> EmbeddedEngine:
        name = self._name or self._cluster.roles.get("current") or self._targets()[0]
        return self._cluster.engine(name, self._provider)
