"""The index of the product reference on a real node, beside that of the documents."""

import pytest

from commonplace.documents.index_source import StoredDocuments
from commonplace.reference.index_source import StoredCatalogues, Upkeep, record_id
from commonplace.reference.model import Asked, Catalogue, EntryType, Placed
from commonplace.reference.search import VectorMeaning
from commonplace.search.indexer import Indexer, Message, Report
from commonplace.search.migration import Migration, Target
from commonplace.search.opensearch.client import OpenSearchClient
from commonplace.search.opensearch.engine import OpenSearchEngine, OpenSearchGenerations
from commonplace.search.opensearch.indices import Aliases
from commonplace.search.operations import Operations
from commonplace.search.settings import RetrievalSettings
from tests.fakes.catalogues import catalogue, entry
from tests.fakes.catalogues import publish as publish_catalogue
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.store import FakeObjectStore
from tests.unit.memory.test_upkeep import Note
from tests.unit.search.records import body_of, document, notification, publish, versions

pytestmark = pytest.mark.opensearch

OLD, NEW = FakeEmbeddings("1"), FakeEmbeddings("2")
NAMES = ("helios", "tidebook")
MANIFEST = Message("m", body_of(notification("reference/helios/manifest.json")))
TYPES: tuple[EntryType, ...] = ("command", "guide", "setting")


@pytest.fixture
def store() -> FakeObjectStore:
    made = FakeObjectStore()
    publish_catalogue(made, helios(1))
    publish_catalogue(made, catalogue("tidebook", entry("tides", summary="How tides are read."), generation=9))
    return made


def helios(generation: int, *, changed: tuple[int, ...] = (), without: tuple[int, ...] = ()) -> Catalogue:
    placed = [
        Placed(
            entry=entry(
                f"e{number:02}",
                type=TYPES[number % 3],
                summary=f"Lesson {number} about users.",
                category="users" if number % 2 else "files",
                subcategory="teams" if number % 5 == 0 else None,
            ),
            path="entries.json",
            generation=generation if number in changed else 1,
        )
        for number in range(60)
        if number not in without
    ]
    return catalogue("helios", *placed, generation=generation)


def engine(connection: OpenSearchClient, stem: str, model: FakeEmbeddings) -> OpenSearchEngine:
    return OpenSearchEngine(connection, stem, model, refresh="true", directory=Aliases(connection, stem))


def deployed(connection: OpenSearchClient, stem: str, store: FakeObjectStore, *models: FakeEmbeddings) -> Operations:
    source = StoredCatalogues(store, NAMES)
    indexers = [Indexer(source, engine(connection, stem, model), model, rebuilds=False) for model in models]
    targets = [Target(OpenSearchGenerations(connection, stem, model), model) for model in models]
    return Operations(indexers, Migration(source, targets), "reference")


def test_documents_and_reference_share_a_node_and_nothing_else(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: FakeObjectStore
) -> None:
    objects = FakeObjectStore()
    publish(objects, [document("note/a", "Lesson about users.")], generation=1)
    stem, own = opensearch_settings.opensearch_index, opensearch_settings.collection("reference").opensearch_index
    documents = engine(opensearch, stem, OLD)
    Indexer(StoredDocuments(objects), documents, OLD, rebuilds=False).reconcile()
    upkeep = Upkeep(deployed(opensearch, own, store, OLD), Note())
    assert upkeep.take([MANIFEST]) == []

    entries = engine(opensearch, own, OLD)

    assert versions(documents) == {"note/a": 1}
    assert len(versions(entries)) == 61
    assert own.removesuffix("-reference") == stem.removesuffix("-documents")


def test_meaning_is_compared_under_the_conditions_of_a_search(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: FakeObjectStore
) -> None:
    stem = opensearch_settings.collection("reference").opensearch_index
    deployed(opensearch, stem, store, OLD).reconcile()
    meaning = VectorMeaning(engine(opensearch, stem, OLD), [OLD])

    def found(asked: Asked) -> set[str]:
        near = meaning.near(asked, 100)
        assert near is not None
        return {f"{one.catalogue}/{one.id}" for one in near}

    every = {f"helios/e{number:02}" for number in range(60)}
    assert found(Asked("lesson users")) >= every
    assert found(Asked("lesson", type="command")) == {id for id in every if int(id[-2:]) % 3 == 0}
    assert found(Asked("lesson", category="users")) == {id for id in every if int(id[-2:]) % 2}
    assert found(Asked("lesson", category="teams")) == {id for id in every if int(id[-2:]) % 5 == 0}


def test_another_model_takes_over_with_what_was_published_meanwhile(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: FakeObjectStore
) -> None:
    stem = opensearch_settings.collection("reference").opensearch_index
    deployed(opensearch, stem, store, OLD).reconcile()
    both = deployed(opensearch, stem, store, OLD, NEW)
    answer = both.step({"step": "build"}, lambda: True)
    assert answer["message"].endswith("32 records written, 29 remain.")

    publish_catalogue(store, helios(2, changed=(7,), without=(3,)))
    assert Upkeep(both, Note()).take([MANIFEST]) == []
    while (answer := both.step({"step": "build", "progress": answer["progress"]}))["action"] == "build":
        pass
    assert both.step({"step": "swap"})["action"] == "swapped"

    names = {each.role: each.name for each in OpenSearchGenerations(opensearch, stem, NEW).all()}
    published = StoredCatalogues(store, NAMES).published()
    assert published is not None
    wanted = published.versions
    assert (wanted[record_id("helios", "e07")], record_id("helios", "e03") in wanted) == (2, False)
    assert dict(OpenSearchGenerations(opensearch, stem, NEW).engine(names["current"]).versions()) == wanted
    assert dict(OpenSearchGenerations(opensearch, stem, OLD).engine(names["previous"]).versions()) == wanted


def test_what_comes_back_after_it_was_gone_is_indexed_again(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: FakeObjectStore
) -> None:
    stem = opensearch_settings.collection("reference").opensearch_index
    operations = deployed(opensearch, stem, store, OLD)
    operations.reconcile()
    for generation, without in ((2, (3,)), (3, ()), (4, (3,)), (5, ())):
        publish_catalogue(store, helios(generation, without=without))
        operations.reconcile()

    assert len(versions(engine(opensearch, stem, OLD))) == 61
    assert operations.reconcile().indexed == 0


def test_entries_that_waited_for_the_model_get_their_vectors_from_the_schedule(
    opensearch: OpenSearchClient, opensearch_settings: RetrievalSettings, store: FakeObjectStore
) -> None:
    stem, model, note = opensearch_settings.collection("reference").opensearch_index, FakeEmbeddings("1"), Note()
    operations = deployed(opensearch, stem, store, model)
    note.put()
    upkeep = Upkeep(operations, note, lambda: note.now)
    model.failing = True
    upkeep.take([MANIFEST])
    entries = engine(opensearch, stem, model)
    assert len(list(entries.incomplete())) == 61

    model.failing = False
    assert upkeep.finish() == Report(indexed=61)

    assert list(entries.incomplete()) == []
