"""The index of the memory on a real node, beside that of the documents."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace

import pytest

from commonplace.adapters.opensearch.connection import Connection, connect
from commonplace.adapters.opensearch.directory import Aliases
from commonplace.adapters.opensearch.engine import OpenSearchEngine
from commonplace.adapters.opensearch.generations import OpenSearchGenerations
from commonplace.content.filters import Filters
from commonplace.memory.entries import EntryId
from commonplace.memory.sources import StoredEntries
from commonplace.search.indexing import Indexer, Message, Report
from commonplace.search.migration import Migration, Swapped, Target
from commonplace.search.operations import Operations
from commonplace.search.stored import StoredDocuments
from commonplace.settings import RetrievalSettings
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.fakes.memory_stores import MemoryEntries
from tests.fakes.store import FakeObjectStore
from tests.unit.memory.test_upkeep import AUDIT, entry_of
from tests.unit.search.records import document, publish, versions

pytestmark = pytest.mark.opensearch

OLD, NEW = FakeEmbeddings("1"), FakeEmbeddings("2")


@pytest.fixture
def connection(opensearch_url: str) -> Iterator[Connection]:
    made = connect(opensearch_url, "none")
    yield made
    made.close()


@pytest.fixture
def settings(connection: Connection, opensearch_url: str) -> Iterator[RetrievalSettings]:
    stem = f"memory-{secrets.token_hex(4)}-documents"
    made = RetrievalSettings(search_engine="opensearch", opensearch_endpoint=opensearch_url, opensearch_index=stem)
    yield made
    for name in (stem, made.collection("memory").opensearch_index):
        for index in Aliases(connection, name).roles().every:
            connection.call("DELETE", f"/{index}", timeout=30)


@pytest.fixture
def store() -> MemoryEntries:
    made = MemoryEntries()
    for organisation in ("acme", "globex"):
        texts = [f"{organisation} learned lesson {number} about deployments" for number in range(30)]
        made.add(organisation, [entry_of(str(at), text, organisation) for at, text in enumerate(texts)], AUDIT)
    return made


def engine(connection: Connection, stem: str, model: FakeEmbeddings) -> OpenSearchEngine:
    return OpenSearchEngine(connection, stem, model, refresh="true", directory=Aliases(connection, stem))


def deployed(connection: Connection, stem: str, store: MemoryEntries, *models: FakeEmbeddings) -> Operations:
    source = StoredEntries(store)
    indexers = [Indexer(source, engine(connection, stem, model), model, rebuilds=False) for model in models]
    targets = [Target(OpenSearchGenerations(connection, stem, model), model) for model in models]
    return Operations(indexers, Migration(source, targets), "memory")


def deliver(operations: Operations, store: MemoryEntries) -> None:
    told, store.announced = store.announced, []
    messages = [Message(str(number), json.dumps(body)) for number, body in enumerate(told)]
    assert operations.take(messages) == []


def test_documents_and_memory_share_a_node_and_nothing_else(
    connection: Connection, settings: RetrievalSettings, store: MemoryEntries
) -> None:
    objects = FakeObjectStore()
    publish(objects, [document("note/a", "lesson about deployments")], generation=1)
    stem, own = settings.opensearch_index, settings.collection("memory").opensearch_index
    documents = engine(connection, stem, OLD)
    Indexer(StoredDocuments(objects), documents, OLD, rebuilds=False).reconcile()
    deliver(deployed(connection, own, store, OLD), store)

    entries = engine(connection, own, OLD)
    found = entries.candidates("lesson deployments", asked(OLD, "lesson"), Filters(organisation="acme"), 100)

    assert versions(documents) == {"note/a": 1}
    assert len(versions(entries)) == 60
    assert {hit.id.split("/")[0] for hit in (*found.lexical, *found.vector)} == {"acme"}
    assert found.total == 30


def test_another_model_takes_over_with_what_was_added_and_deleted_meanwhile(
    connection: Connection, settings: RetrievalSettings, store: MemoryEntries
) -> None:
    stem = settings.collection("memory").opensearch_index
    deliver(deployed(connection, stem, store, OLD), store)
    both = deployed(connection, stem, store, OLD, NEW)
    answer = both.step({"step": "build"}, lambda: True)
    assert answer["message"].endswith("50 entries written, 10 remain.")

    store.add("acme", [entry_of("late", "late")], AUDIT)
    store.delete("globex", EntryId("2"), AUDIT)
    kept = store.kept["acme"].entries[EntryId("1")]
    store.replace("acme", replace(kept, confidence=0.1, revision=2), kept, AUDIT)
    deliver(both, store)
    while (answer := both.step({"step": "build", "progress": answer["progress"]}))["action"] == "build":
        pass
    assert both.step({"step": "swap"})["action"] == "swapped"

    names = {each.role: each.name for each in OpenSearchGenerations(connection, stem, NEW).all()}
    wanted = StoredEntries(store).published().versions
    assert dict(OpenSearchGenerations(connection, stem, NEW).engine(names["current"]).versions()) == wanted
    assert dict(OpenSearchGenerations(connection, stem, OLD).engine(names["previous"]).versions()) == wanted


def test_entries_that_waited_for_the_model_get_their_vectors(
    connection: Connection, settings: RetrievalSettings, store: MemoryEntries
) -> None:
    stem = settings.collection("memory").opensearch_index
    model = FakeEmbeddings("1")
    operations = deployed(connection, stem, store, model)
    model.failing = True
    deliver(operations, store)
    entries = engine(connection, stem, model)
    acme = Filters(organisation="acme")
    assert (len(list(entries.incomplete())), entries.candidates("lesson", None, acme, 5).total) == (60, 30)

    model.failing = False
    assert operations.complete() == Report(indexed=60)

    assert list(entries.incomplete()) == []
    assert len(entries.candidates("", asked(model, "acme learned lesson"), acme, 100).vector) == 30


def test_the_first_index_of_an_empty_memory_is_built_and_answers(
    connection: Connection, settings: RetrievalSettings
) -> None:
    stem = settings.collection("memory").opensearch_index
    store = MemoryEntries()
    source = StoredEntries(store)
    migration = Migration(source, [Target(OpenSearchGenerations(connection, stem, OLD), OLD)])

    assert migration.build().complete
    assert isinstance(migration.swap(), Swapped)
    store.add("acme", [entry_of("1")], AUDIT)
    deliver(deployed(connection, stem, store, OLD), store)

    assert versions(engine(connection, stem, OLD)) == {"acme/1": 1}
