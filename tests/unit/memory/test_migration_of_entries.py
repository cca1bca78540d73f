"""A change of model of the memory's index, while entries come, change and go."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.memory.index_source import StoredEntries
from commonplace.memory.model import EntryId
from commonplace.search.indexer import Indexer, Message
from commonplace.search.migration import Migration, Role, Swapped, Target
from commonplace.search.model import VectorMemory
from commonplace.search.operations import Operations
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.memory_stores import MemoryCaches, MemoryEntries
from tests.unit.memory.test_upkeep import AUDIT, entry_of
from tests.unit.search.records import versions


class Deployed:
    """The index function with these models; the last one is to come."""

    def __init__(self, store: MemoryEntries, cluster: FakeCluster, *models: FakeEmbeddings) -> None:
        source, self.caches = StoredEntries(store), MemoryCaches()
        sides = [(FakeGenerations(cluster, model), model) for model in models]
        indexers = [Indexer(source, side.shared_engine(), model, self.memory, rebuilds=False) for side, model in sides]
        self.migration = Migration(source, [Target(*side, self.memory) for side in sides], records_per_write=2)
        self.operations = Operations(indexers, self.migration, "memory")
        self._store = store

    def memory(self, organisation: str | None) -> VectorMemory:
        return self.caches.of(organisation or "nobody")

    def deliver(self) -> None:
        told, self._store.announced = self._store.announced, []
        bodies = [f'{{"table": "records", "pk": "{body["pk"]}", "sk": "{body["sk"]}"}}' for body in told]
        assert self.operations.take([Message(str(number), body) for number, body in enumerate(bodies)]) == []


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    made = FakeCluster(tmp_path)
    yield made
    made.close()


@pytest.fixture
def store() -> MemoryEntries:
    made = MemoryEntries()
    for organisation in ("acme", "globex"):
        made.add(organisation, [entry_of(str(number), organisation=organisation) for number in range(4)], AUDIT)
    return made


def held(cluster: FakeCluster, role: Role, model: FakeEmbeddings) -> dict[str, int]:
    return {str(record): version for record, version in versions(cluster.engine(cluster.roles[role], model)).items()}


def test_an_index_of_another_model_takes_over_with_everything_that_came_meanwhile(
    store: MemoryEntries, cluster: FakeCluster
) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    Deployed(store, cluster, old).deliver()
    deployed = Deployed(store, cluster, old, new)

    deployed.migration.build(lambda: True)
    store.add("acme", [entry_of("late")], AUDIT)
    store.delete("globex", EntryId("2"), AUDIT)
    store.touch("acme", [EntryId("1")])
    deployed.deliver()
    while not deployed.migration.build().complete:
        pass
    assert isinstance(deployed.migration.swap(), Swapped)

    current = held(cluster, "current", new)
    assert current == StoredEntries(store).published().versions
    assert current == held(cluster, "previous", old)
    assert (current["acme/1"], "globex/2" in current) == (2, False)


def test_an_index_that_is_ahead_of_a_restored_table_may_not_take_over(
    store: MemoryEntries, cluster: FakeCluster
) -> None:
    model = FakeEmbeddings("1")
    deployed = Deployed(store, cluster, model)
    store.touch("acme", [EntryId("1")])
    deployed.migration.build()
    kept = store.kept["acme"].entries[EntryId("1")]
    store.kept["acme"].entries[EntryId("1")] = replace(kept, revision=1)

    verification = deployed.migration.verify()

    assert dict(verification.counts) == {"ahead": 1}


def test_an_empty_memory_can_have_its_index_built(cluster: FakeCluster) -> None:
    deployed = Deployed(MemoryEntries(), cluster, FakeEmbeddings("1"))

    assert deployed.migration.build().complete
    assert isinstance(deployed.migration.swap(), Swapped)


def test_vectors_of_a_build_come_from_each_organisations_own_cache(store: MemoryEntries, cluster: FakeCluster) -> None:
    model = FakeEmbeddings("1")
    deployed = Deployed(store, cluster, model)

    assert deployed.migration.plan().work.chunks == 8
    deployed.migration.build()

    assert (deployed.caches.size("acme"), deployed.caches.size("globex")) == (4, 4)
    assert len(model.asked) == 8
