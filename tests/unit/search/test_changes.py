"""What an index has taken is told: once it is found, only what is new, and never at the indexer's cost."""

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.documents.content.keys import content_key
from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import Unavailable
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.indexer import Indexer
from commonplace.search.migration import Migration, Target
from commonplace.search.model import RecordId, Tombstone
from commonplace.search.source import Change
from tests.fakes.changes import FakeChanges
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import document, indexed, message, publish, put, record, versions


@pytest.fixture
def store() -> FakeObjectStore:
    return FakeObjectStore()


@pytest.fixture
def engine(tmp_path: Path, provider: FakeEmbeddings) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "index.sqlite", provider)
    yield engine
    engine.close()


@pytest.fixture
def changes() -> FakeChanges:
    return FakeChanges()


@pytest.fixture
def indexer(store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, changes: FakeChanges) -> Indexer:
    return Indexer(StoredDocuments(store), engine, provider, changes=changes)


def written(ref: str, version: int, *, added: bool) -> Change:
    return Change(RecordId(ref), "written", version, added)


def removed(ref: str, version: int) -> Change:
    return Change(RecordId(ref), "removed", version)


def test_a_new_document_a_newer_one_and_a_removed_one_are_told(
    store: FakeObjectStore, indexer: Indexer, changes: FakeChanges
) -> None:
    publish(store, [document("note/a"), document("note/b")], generation=1)
    indexer.take([message("1", "note/a"), message("2", "note/b")])
    publish(store, [document("note/a", "newer", generation=2)], generation=2)
    indexer.take([message("3", "note/a"), message("4", "note/b", "ObjectRemoved:Delete")])

    assert changes.told == [
        written("note/a", 1, added=True),
        written("note/b", 1, added=True),
        written("note/a", 2, added=False),
        removed("note/b", 2),
    ]


def test_a_message_that_comes_twice_tells_nothing_new(
    store: FakeObjectStore, indexer: Indexer, changes: FakeChanges
) -> None:
    publish(store, [document("note/a")], generation=1)
    indexer.take([message("1", "note/a")])
    publish(store, [], generation=2)
    indexer.take([message("2", "note/a")])
    told = list(changes.told)

    indexer.take([message("1", "note/a"), message("2", "note/a")])
    indexer.reconcile()

    assert changes.told == told


def test_vectors_that_are_made_good_later_are_no_change(
    store: FakeObjectStore, indexer: Indexer, provider: FakeEmbeddings, changes: FakeChanges
) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    provider.failing = True
    indexer.take([message("1", "note/a")])
    provider.failing = False

    assert indexer.reconcile().indexed == 1
    assert changes.told == [written("note/a", 1, added=True)]


def test_a_change_is_told_after_the_index_has_taken_it(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings
) -> None:
    class Looking(FakeChanges):
        def append(self, changes: object) -> None:
            seen.append(versions(engine))

    seen: list[dict[RecordId, int]] = []
    put(store, document("note/a", generation=3))

    Indexer(StoredDocuments(store), engine, provider, changes=Looking()).take([message("1", "note/a")])

    assert seen == [{"note/a": 3}]


def test_what_an_index_did_not_take_is_not_told(
    store: FakeObjectStore,
    indexer: Indexer,
    engine: EmbeddedEngine,
    changes: FakeChanges,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise Unavailable("The index does not take writes.")

    put(store, document("note/a"))
    monkeypatch.setattr(engine, "write", refuse)

    with pytest.raises(Unavailable):
        indexer.take([message("1", "note/a")])
    assert changes.told == []


def test_a_feed_that_fails_is_logged_and_fails_nobody(
    store: FakeObjectStore,
    indexer: Indexer,
    engine: EmbeddedEngine,
    changes: FakeChanges,
    caplog: pytest.LogCaptureFixture,
) -> None:
    changes.unreachable = True
    publish(store, [document("note/a"), document("note/b")], generation=1)

    assert indexer.take([message("1", "note/a")]) == []
    assert indexer.reconcile().indexed == 1

    assert versions(engine) == {"note/a": 1, "note/b": 1}
    assert [entry.levelno for entry in caplog.records if "could not be told" in entry.message] == [logging.ERROR] * 2


def test_what_a_reconciliation_mends_is_told(
    store: FakeObjectStore, indexer: Indexer, engine: EmbeddedEngine, provider: FakeEmbeddings, changes: FakeChanges
) -> None:
    engine.write(indexed(provider, record("note/old"), record("note/gone")), ())
    publish(store, [document("note/old", generation=5), document("note/new", generation=4)], generation=5)

    indexer.reconcile()

    assert set(changes.told) == {
        written("note/old", 5, added=False),
        written("note/new", 4, added=True),
        removed("note/gone", 5),
    }


def test_a_document_that_comes_back_from_under_a_tombstone_is_told_once(
    store: FakeObjectStore, indexer: Indexer, engine: EmbeddedEngine, changes: FakeChanges
) -> None:
    engine.write((), [Tombstone(RecordId("note/a"), 8)])
    publish(store, [document("note/a", generation=3)], generation=9)

    indexer.mend([RecordId("note/a")])

    assert changes.told == [written("note/a", 9, added=True)]


def test_an_index_that_is_rebuilt_tells_no_change(
    store: FakeObjectStore, indexer: Indexer, changes: FakeChanges
) -> None:
    publish(store, [document("note/a"), document("note/b")], generation=1)

    indexer.rebuild()

    assert changes.told == []


def test_an_indexer_without_a_feed_tells_nobody(store: FakeObjectStore, engine: EmbeddedEngine) -> None:
    put(store, document("note/a"))

    assert Indexer(StoredDocuments(store), engine, None).take([message("1", "note/a")]) == []


def test_a_build_beside_the_current_index_tells_nothing_and_keeping_up_tells_what_was_missing(
    store: FakeObjectStore, tmp_path: Path, changes: FakeChanges
) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    cluster = FakeCluster(tmp_path)
    try:
        publish(store, [document("note/a", "rain on the roof")], generation=1)
        Indexer(StoredDocuments(store), FakeGenerations(cluster, old).shared_engine(), old, rebuilds=False).reconcile()
        targets = [Target(FakeGenerations(cluster, model), model) for model in (old, new)]
        migration = Migration(StoredDocuments(store), targets, changes=changes, clock=itertools.count().__next__)

        migration.build()
        migration.swap()
        assert changes.told == []

        store.put(content_key("note", "b"), document("note/b", "wind").to_json())
        publish(store, [document("note/a", "rain on the roof"), document("note/b", "wind")], generation=2)
        migration.keep_up()
        assert changes.told == [written("note/b", 1, added=True)]
    finally:
        cluster.close()
