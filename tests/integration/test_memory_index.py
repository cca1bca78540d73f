"""The index of the memory on a real node, beside that of the documents."""

import json
from dataclasses import replace

import pytest

from commonplace.documents.index_source import StoredDocuments
from commonplace.memory.index_source import StoredEntries
from commonplace.memory.model import EntryId
from commonplace.search.filters import Filters
from commonplace.search.indexer import Indexer, Message, Report
from commonplace.search.migration import Migration, Swapped, Target
from commonplace.search.opensearch.client import OpenSearchClient
from commonplace.search.opensearch.engine import OpenSearchEngine, OpenSearchGenerations
from commonplace.search.opensearch.indices import Aliases
from commonplace.search.operations import Operations
from commonplace.search.query import NOTHING, Query
from commonplace.search.settings import RetrievalSettings
from tests.fakes.embeddings import FakeEmbeddings, asked
from tests.fakes.memory_stores import MemoryEntries
from tests.fakes.store import FakeObjectStore
from tests.unit.memory.test_upkeep import AUDIT, entry_of
from tests.unit.search.records import document, publish, versions

pytestmark = pytest.mark.opensearch

OLD, NEW = FakeEmbeddings("1"), FakeEmbeddings("2")


@pytest.fixture
def store() -> MemoryEntries:
    made = MemoryEntries()
    for organisation in ("acme", "globex"):
        texts = [f"{organisation} learned lesson {number} about deployments" for number in range(30)]
        made.add(organisation, [entry_of(str(at), text, organisation) for at, text in enumerate(texts)], AUDIT)
    return made


def engine(connection: OpenSearchClient, stem: str, model: FakeEmbeddings) -> OpenSearchEngine:
    return OpenSearchEngine(connection, stem, model, refresh="true", directory=Aliases(connection, stem))


def deployed(connection: OpenSearchClient, stem: str, store: MemoryEntries, *models: FakeEmbeddings) -> Operations:
    source = StoredEntries(store)
    indexers = [Indexer(source, engine(connection, stem, model), model, rebuilds=False) for model in models]
    targets = [Target(OpenSearchGenerations(connection, stem, model), model) for model in models]
    return Operations(indexers, Migration(source, targets), "memory")


def deliver(operations: Operations, store: MemoryEntries) -> None:
    told, store.announced = store.announced, []
    messages = [Message(str(number), json.dumps(body)) for number, body in enumerate(told)]
    assert operations.take(messages) == []


def test_documents_and_memory_share_a_node_and_nothing_else(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: MemoryEntries
) -> None:
    objects = FakeObjectStore()
    publish(objects, [document("note/a", "lesson about deployments")], generation=1)
    stem, own = opensearch_settings.opensearch_index, opensearch_settings.collection("memory").opensearch_index
    documents = engine(opensearch, stem, OLD)
    Indexer(StoredDocuments(objects), documents, OLD, rebuilds=False).reconcile()
    deliver(deployed(opensearch, own, store, OLD), store)

    entries = engine(opensearch, own, OLD)
    found = entries.candidates(Query.of("lesson deployments"), asked(OLD, "lesson"), Filters(organisation="acme"), 100)

    assert versions(documents) == {"note/a": 1}
    assert len(versions(entries)) == 60
    assert {hit.id.split("/")[0] for hit in (*found.lexical, *found.vector)} == {"acme"}
    assert found.total == 30


def test_another_model_takes_over_with_what_was_added_and_deleted_meanwhile(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: MemoryEntries
) -> None:
    stem = opensearch_settings.collection("memory").opensearch_index
    deliver(deployed(opensearch, stem, store, OLD), store)
    both = deployed(opensearch, stem, store, OLD, NEW)
    answer = both.step({"step": "build"}, lambda: True)
    assert answer["message"].endswith("50 records written, 10 remain.")

    store.add("acme", [entry_of("late", "late")], AUDIT)
    store.delete("globex", EntryId("2"), AUDIT)
    kept = store.kept["acme"].entries[EntryId("1")]
    store.replace("acme", replace(kept, confidence=0.1, revision=2), kept, AUDIT)
    deliver(both, store)
    while (answer := both.step({"step": "build", "progress": answer["progress"]}))["action"] == "build":
        pass
    assert both.step({"step": "swap"})["action"] == "swapped"

    names = {each.role: each.name for each in OpenSearchGenerations(opensearch, stem, NEW).all()}
    wanted = StoredEntries(store).published().versions
    assert dict(OpenSearchGenerations(opensearch, stem, NEW).engine(names["current"]).versions()) == wanted
    assert dict(OpenSearchGenerations(opensearch, stem, OLD).engine(names["previous"]).versions()) == wanted


def test_entries_that_waited_for_the_model_get_their_vectors(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: MemoryEntries
) -> None:
    stem = opensearch_settings.collection("memory").opensearch_index
    model = FakeEmbeddings("1")
    operations = deployed(opensearch, stem, store, model)
    model.failing = True
    deliver(operations, store)
    entries = engine(opensearch, stem, model)
    acme = Filters(organisation="acme")
    assert (len(list(entries.incomplete())), entries.candidates(Query.of("lesson"), None, acme, 5).total) == (60, 30)

    model.failing = False
    assert operations.complete() == Report(indexed=60)

    assert list(entries.incomplete()) == []
    assert len(entries.candidates(NOTHING, asked(model, "acme learned lesson"), acme, 100).vector) == 30


def test_the_first_index_of_an_empty_memory_is_built_and_answers(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings
) -> None:
    stem = opensearch_settings.collection("memory").opensearch_index
    store = MemoryEntries()
    source = StoredEntries(store)
    migration = Migration(source, [Target(OpenSearchGenerations(opensearch, stem, OLD), OLD)])

    assert migration.build().complete
    assert isinstance(migration.swap(), Swapped)
    store.add("acme", [entry_of("1")], AUDIT)
    deliver(deployed(opensearch, stem, store, OLD), store)

    assert versions(engine(opensearch, stem, OLD)) == {"acme/1": 1}
