"""The index follows the store: through messages late, doubled and in disorder, and through reconciliation."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.documents.content.document import Document
from commonplace.documents.content.keys import content_key
from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import Unavailable
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.indexer import Indexer, Message, Report
from commonplace.search.model import EmbeddingProvider, IndexMismatch, RecordId, Tombstone
from commonplace.search.query import Query
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import (
    TEST_EVENT,
    body_of,
    document,
    indexed,
    message,
    notification,
    publish,
    put,
    record,
    versions,
)


@pytest.fixture
def store() -> FakeObjectStore:
    return FakeObjectStore()


@pytest.fixture
def engine(tmp_path: Path, provider: FakeEmbeddings) -> Iterator[EmbeddedEngine]:
    engine = EmbeddedEngine(tmp_path / "index.sqlite", provider)
    yield engine
    engine.close()


@pytest.fixture
def indexer(store: FakeObjectStore, engine: EmbeddedEngine, provider: EmbeddingProvider) -> Indexer:
    return Indexer(StoredDocuments(store), engine, provider, memories=lambda _: engine)


def found(engine: EmbeddedEngine, provider: FakeEmbeddings, query: str) -> set[str]:
    answer = engine.candidates(Query.of(query), asked(provider, query), Filters(), 10)
    return {hit.id for leg in (answer.lexical, answer.vector) for hit in leg}


def test_a_created_document_is_indexed_before_the_manifest_names_it(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, indexer: Indexer
) -> None:
    put(store, document("note/a", "rain", generation=7))

    assert indexer.take([message("m", "note/a")]) == []

    assert versions(engine) == {"note/a": 7}
    assert found(engine, provider, "rain") == {"note/a"}


@pytest.mark.parametrize("event", ["ObjectRemoved:Delete", "ObjectRemoved:DeleteMarkerCreated"])
def test_a_removed_document_leaves_the_index(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer, event: str
) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    indexer.take([message("1", "note/a"), message("2", "note/b")])

    publish(store, [document("note/b", "wind")], generation=2)
    indexer.take([message("3", "note/a", event)])

    assert versions(engine) == {"note/b": 1}


def test_what_happened_is_read_from_the_store_and_not_from_the_message(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    publish(store, [document("note/a", "rain", generation=2)], generation=2)

    indexer.take([message("1", "note/a", "ObjectRemoved:Delete"), message("2", "note/gone", "ObjectCreated:Put")])

    assert versions(engine) == {"note/a": 2}


def test_a_document_that_a_crashed_publication_left_behind_leaves_with_its_object(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    publish(store, [document("note/b", "wind")], generation=1)
    put(store, document("note/a", "rain", generation=2))
    indexer.take([message("1", "note/a"), message("2", "note/b")])
    store.delete([content_key("note", "a")])

    indexer.take([message("3", "note/a", "ObjectRemoved:DeleteMarkerCreated")])

    assert versions(engine) == {"note/b": 1}


def test_only_the_messages_that_failed_come_again(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    put(store, document("note/good", "rain"))
    store.put(content_key("note", "bad"), b'{"id": "bad"')
    store.put(content_key("note", "other"), document("note/good").to_json())
    both = body_of(notification("content/note/good.json"), notification("content/note/bad.json"))

    failed = indexer.take(
        [
            message("bad", "note/bad"),
            message("good", "note/good"),
            message("renamed", "note/other"),
            Message("both", both),
            Message("test", TEST_EVENT),
            Message("foreign", body_of(notification("metadata/manifest.json"))),
            Message("poison", "{}"),
        ]
    )

    assert failed == ["bad", "renamed", "both", "poison"]
    assert versions(engine) == {"note/good": 1}


def test_doubled_messages_are_one_embedding(store: FakeObjectStore, provider: FakeEmbeddings, indexer: Indexer) -> None:
    put(store, document("note/a", "rain"), document("note/b", "rain", title="a", path="a.md"))

    indexer.take([message(str(number), "note/a") for number in range(5)] + [message("b", "note/b")])

    assert len(provider.asked) == 1


def test_unchanged_text_is_never_embedded_again(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, indexer: Indexer
) -> None:
    body = "\n\n".join(f"# Part {number}\n\n" + f"word{number} " * 300 for number in range(4))
    publish(store, [document("note/a", body)], generation=1)
    indexer.take([message("1", "note/a")])
    chunks = len(provider.asked)
    provider.asked.clear()

    publish(store, [document("note/a", body, generation=2, tags=["new"])], generation=2)
    indexer.take([message("2", "note/a")])
    indexer.rebuild()
    assert (chunks, provider.asked, versions(engine)) == (4, [], {"note/a": 2})

    edited = body.replace("word2 ", "changed ", 1)
    publish(store, [document("note/a", edited, generation=3)], generation=3)
    indexer.take([message("3", "note/a")])
    assert len(provider.asked) == 1


def test_a_failing_model_leaves_words_and_reconciling_brings_the_vectors(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, indexer: Indexer
) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    indexer.take([message("1", "note/b")])
    provider.failing = True

    assert indexer.take([message("2", "note/a")]) == []
    assert {hit.id for hit in engine.candidates(Query.of("rain"), None, Filters(), 10).lexical} == {"note/a"}
    assert indexer.reconcile() == Report(indexed=1, incomplete=1)

    provider.failing = False
    assert indexer.reconcile() == Report(indexed=1)
    assert [hit.id for hit in engine.candidates(Query.of("rain"), asked(provider, "rain"), Filters(), 9).vector] == [
        "note/a"
    ]
    assert indexer.reconcile() == Report()


def test_reconciling_mends_what_is_missing_old_or_foreign_and_then_does_nothing(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, indexer: Indexer
) -> None:
    old, foreign = record("note/old", "snow"), record("note/foreign", "hail", generation=9)
    engine.write(indexed(provider, old, foreign), ())
    documents = [document("note/old", "rain", generation=3), document("note/missing", "wind", generation=2)]
    publish(store, documents, generation=3)

    assert indexer.reconcile() == Report(indexed=2, removed=1)

    assert versions(engine) == {"note/old": 3, "note/missing": 2}
    assert found(engine, provider, "snow hail") == set()
    assert indexer.reconcile() == Report()


def test_reconciling_leaves_alone_what_a_publication_under_way_has_written(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    put(store, document("note/new", "wind", generation=2), document("note/a", "snow", generation=2))
    indexer.take([message("1", "note/new"), message("2", "note/a")])

    assert indexer.reconcile() == Report()

    assert versions(engine) == {"note/a": 2, "note/new": 2}


def test_reconciling_brings_back_a_document_that_was_restored_below_its_tombstone(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    engine.write((), [Tombstone(RecordId("note/a"), 4)])
    publish(store, [document("note/a", "rain", generation=2)], generation=5)

    assert indexer.reconcile() == Report(indexed=1)

    assert versions(engine) == {"note/a": 5}
    assert indexer.reconcile() == Report()


def test_a_store_without_a_manifest_empties_no_index(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, indexer: Indexer
) -> None:
    engine.write(indexed(provider, record("note/a", "rain")), ())

    assert indexer.reconcile() == Report()

    assert versions(engine) == {"note/a": 1}


def test_an_unreadable_document_is_counted_and_does_not_hold_up_the_others(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    store.put(content_key("note", "b"), b"{")

    assert indexer.reconcile() == Report(indexed=1, unreadable=1)
    assert versions(engine) == {"note/a": 1}


def test_an_index_of_another_model_is_rebuilt_when_the_next_message_comes(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    put(store, document("note/new", "snow", generation=2))
    indexer.reconcile()
    other = FakeEmbeddings(revision="2")
    successor = EmbeddedEngine(engine.path, other)

    failed = Indexer(StoredDocuments(store), successor, other, memories=lambda _: successor).take(
        [message("1", "note/new")]
    )

    assert (failed, versions(successor)) == ([], {"note/a": 1, "note/b": 1, "note/new": 2})
    assert found(successor, other, "wind") == {"note/b"}
    successor.close()


def test_an_index_of_another_model_is_rebuilt_when_reconciling(
    store: FakeObjectStore, engine: EmbeddedEngine, indexer: Indexer
) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    indexer.reconcile()
    lexical = EmbeddedEngine(engine.path, None)

    report = Indexer(StoredDocuments(store), lexical, None).reconcile()

    assert (report, versions(lexical)) == (Report(indexed=1), {"note/a": 1})
    lexical.close()


def test_a_damaged_file_is_made_anew_from_the_store(
    store: FakeObjectStore, tmp_path: Path, provider: FakeEmbeddings
) -> None:
    path = tmp_path / "damaged.sqlite"
    path.write_bytes(b"This is no database. " * 500)
    publish(store, [document("note/a", "rain")], generation=1)
    engine = EmbeddedEngine(path, provider)

    assert (
        Indexer(StoredDocuments(store), engine, provider, memories=lambda _: engine).take([message("1", "note/a")])
        == []
    )

    assert versions(engine) == {"note/a": 1}
    engine.close()


def test_an_index_that_takes_no_writes_fails_the_whole_batch(store: FakeObjectStore, tmp_path: Path) -> None:
    put(store, document("note/a", "rain"))
    engine = EmbeddedEngine(tmp_path / "index.sqlite", None, read_only=True)

    with pytest.raises(Unavailable):
        Indexer(StoredDocuments(store), engine, None).take([message("1", "note/a")])


STATES = st.lists(st.frozensets(st.sampled_from("abc")), min_size=1, max_size=5)


@settings(max_examples=examples(12, soak=500), deadline=None)
@given(STATES, st.data())
def test_whatever_becomes_of_the_messages_a_reconciliation_ends_at_the_store(
    states: list[frozenset[str]], data: st.DataObject
) -> None:
    """Each state is a publication; its messages are lost, doubled, late and shuffled as Hypothesis likes."""
    store, provider = FakeObjectStore(), FakeEmbeddings()
    with TemporaryDirectory() as folder, closing(EmbeddedEngine(Path(folder) / "index.sqlite", provider)) as index:
        indexer = Indexer(StoredDocuments(store), index, provider, memories=lambda _: index)
        waiting: list[Message] = []
        live: dict[str, Document] = {}
        for generation, names in enumerate(states, 1):
            before = len(store.events)
            live = {
                name: live.get(name) or document(f"note/{name}", f"text {generation}", generation=generation)
                for name in names
            }
            publish(store, list(live.values()), generation=generation)
            waiting += [
                Message(str(number), body_of(notification(event.key)))
                for number, event in enumerate(store.events[before:])
            ]
            taken = data.draw(st.lists(st.sampled_from(waiting), max_size=6))
            assert indexer.take(taken) == []

        indexer.reconcile()

        assert versions(index) == {f"note/{name}": item.generation for name, item in live.items()}
        assert indexer.reconcile() == Report()


@pytest.mark.parametrize(("days", "swept"), [(14, 0), (16, 1)])
def test_markers_of_removed_documents_are_swept_when_no_message_so_old_is_left(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, days: int, swept: int
) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    Indexer(StoredDocuments(store), engine, provider).reconcile()
    publish(store, [document("note/b", "wind")], generation=2)
    Indexer(StoredDocuments(store), engine, provider).take([message("m", "note/a")])

    later = Indexer(StoredDocuments(store), engine, provider, now=lambda: datetime.now(UTC) + timedelta(days=days))

    assert later.reconcile() == Report(swept=swept)
    assert later.reconcile() == Report()


def test_an_indexer_that_does_not_rebuild_refuses_another_model_and_leaves_the_index_alone(
    store: FakeObjectStore, engine: EmbeddedEngine, provider: FakeEmbeddings, indexer: Indexer, tmp_path: Path
) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    indexer.reconcile()
    other = FakeEmbeddings("2")
    with closing(EmbeddedEngine(tmp_path / "index.sqlite", other)) as opened:
        stranger = Indexer(StoredDocuments(store), opened, other, rebuilds=False)

        for refused in (stranger.reconcile, lambda: stranger.take([message("m", "note/a")])):
            with pytest.raises(IndexMismatch) as error:
                refused()
            assert error.value.hint

    assert found(engine, provider, "rain") == {"note/a"}
