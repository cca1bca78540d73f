"""A change of generations on a real node, while documents are written and searched without pause."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import InvalidInput
from commonplace.memory.store import DynamoEntries
from commonplace.search.embeddings import FIRST_TEXTS
from commonplace.search.filters import Filters
from commonplace.search.indexer import Indexer
from commonplace.search.migration import Migration, Refused, Swapped, Target
from commonplace.search.model import EmbeddingProvider, IndexMismatch, QueryVector, SearchRequest
from commonplace.search.opensearch.client import connect
from commonplace.search.opensearch.engine import OpenSearchEngine, OpenSearchGenerations
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.query import Query
from commonplace.search.service import SearchService
from commonplace_local import cli
from commonplace_local.deployment import announced, find
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import plain_folder
from tests.acceptance.reindex import Deployed, measure
from tests.acceptance.reindexing import ABSENT, KnowledgeBase, OtherModel, Traffic, Truth, message
from tests.fakes.embeddings import FakeEmbeddings
from tests.integration.cloud.waiting import until
from tests.unit.memory.test_upkeep import AUDIT, entry_of

DOCUMENTS = 120
OTHER_MAPPING = IndexParameters.parse('{"m": 8}')


@pytest.fixture
def base() -> KnowledgeBase:
    base = KnowledgeBase(DOCUMENTS, paragraphs=1)
    base.truth.settled(range(1, DOCUMENTS + 1))
    return base


Deploy = Callable[..., Deployed]


@pytest.fixture
def deploy(opensearch_url: str, base: KnowledgeBase) -> Iterator[Deploy]:
    """The functions with these models over one collection."""
    stem = f"migration-{secrets.token_hex(4)}"
    made: list[Deployed] = []

    def deploy(*models: EmbeddingProvider) -> Deployed:
        made.append(Deployed(opensearch_url, stem, base, list(models)))
        return made[-1]

    yield deploy
    made[0].remove()


@pytest.fixture
def stem(opensearch_url: str) -> Iterator[str]:
    stem = f"migration-{secrets.token_hex(4)}"
    yield stem
    connection = connect(opensearch_url, "none")
    for collection in (stem, f"{stem}-memory"):
        for generation in OpenSearchGenerations(connection, collection, None).all():
            connection.indices.delete(index=generation.name, request_timeout=30)


def test_no_search_fails_and_none_is_wrong_while_another_model_takes_over(opensearch_url: str) -> None:
    outcome = measure(opensearch_url, documents=200, model=FakeEmbeddings(), dies_after=2, searches_between=40)

    assert (outcome.tally.failed, outcome.tally.wrong, outcome.differences) == ([], [], [])
    assert (outcome.deaths, outcome.tally.fallbacks) == (1, 0)
    assert outcome.tally.searches >= 160
    assert outcome.writes > 0


def test_a_writer_that_leaves_the_new_index_out_would_be_noticed(base: KnowledgeBase, deploy: Deploy) -> None:
    old = FakeEmbeddings()
    before, both = deploy(old), deploy(old, OtherModel(old))
    before.operations.reconcile()
    both.migration.build()
    assert isinstance(both.migration.swap(), Swapped)

    with Traffic(base, both.service, before.operations, changes=DOCUMENTS // 2) as traffic:
        traffic.wait_for(150)

    assert traffic.tally.wrong != []


def test_an_edition_is_right_until_the_next_one_is_indexed() -> None:
    truth = Truth()
    assert truth.right(1, 0.0, 1e9) == {ABSENT}

    truth.begins(1, 1)
    assert truth.right(1, 0.0, 1e9) == {ABSENT, 1}

    truth.settled([1])
    assert truth.right(1, 1e9, 2e9) == {1}


def test_what_the_next_index_holds_is_not_written_or_embedded_again(base: KnowledgeBase, deploy: Deploy) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    both = deploy(old, new)
    deploy(old).operations.reconcile()
    first = both.migration.build(lambda: True)
    assert (first.done, first.complete) == (FIRST_TEXTS, False)
    embedded = len(new.asked)

    second = deploy(old, new).migration.build()

    assert (second.index, second.done, second.complete) == (first.index, DOCUMENTS - FIRST_TEXTS, True)
    assert len(new.asked) + embedded >= DOCUMENTS
    assert len(new.asked) == len(set(new.asked))


def test_writes_reach_both_indexes_and_a_rollback_finds_them(base: KnowledgeBase, deploy: Deploy) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    deploy(old).operations.reconcile()
    both = deploy(old, new)
    both.migration.build()
    assert isinstance(both.migration.swap(), Swapped)
    numbers = base.publish({1: 9, 2: ABSENT, DOCUMENTS + 1: 9})
    assert both.operations.take([message(number) for number in numbers]) == []

    assert isinstance(both.migration.rollback(), Swapped)

    names = {generation.role: generation.name for generation in both.generations.all()}
    for role in ("current", "next"):
        assert dict(both.generations.engine(names[role]).versions()) == base.published


def test_a_rollback_without_the_old_model_names_what_is_out_of_date(base: KnowledgeBase, deploy: Deploy) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    deploy(old).operations.reconcile()
    both = deploy(old, new)
    both.migration.build()
    both.migration.swap()
    base.publish({1: 9, 2: ABSENT})

    refused = deploy(new).migration.rollback()

    assert isinstance(refused, Refused)
    assert {(each.kind, each.record) for each in refused.differences} == {("outdated", "note/1"), ("foreign", "note/2")}


def test_a_writer_of_another_model_is_refused_and_a_reader_searches_words(
    base: KnowledgeBase, deploy: Deploy, opensearch_url: str
) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    first = deploy(old)
    first.operations.reconcile()
    promoted_too_early = deploy(new)

    for refused in (promoted_too_early.operations.reconcile, lambda: promoted_too_early.operations.take([message(1)])):
        with pytest.raises(IndexMismatch) as error:
            refused()
        assert "Rebuild the index" in str(error.value.hint)
    found = promoted_too_early.service().search(SearchRequest("mark7"))

    assert found.fallback
    assert found.results[0].id == "7"


def mapped(url: str, stem: str, base: KnowledgeBase, parameters: IndexParameters) -> tuple[Indexer, Target]:
    model = FakeEmbeddings()
    connection = connect(url, "none")
    engine = OpenSearchEngine(connection, stem, model, parameters, refresh="true")
    indexer = Indexer(StoredDocuments(base.store), engine, model, rebuilds=False)
    return indexer, Target(OpenSearchGenerations(connection, stem, model, parameters), model)


def test_another_mapping_is_refused_until_its_index_is_begun(
    base: KnowledgeBase, opensearch_url: str, stem: str
) -> None:
    before, old = mapped(opensearch_url, stem, base, IndexParameters())
    before.reconcile()
    after, new = mapped(opensearch_url, stem, base, OTHER_MAPPING)
    migration = Migration(StoredDocuments(base.store), [old, new])
    with pytest.raises(IndexMismatch) as error:
        after.take([message(1)])
    assert "Rebuild the index" in str(error.value.hint)

    assert migration.plan().changes.keys() == {"mapping"}
    assert migration.build().complete
    assert after.take([message(1)]) == []
    verification = migration.verify()

    assert verification.passed
    assert verification.overlap is not None and verification.overlap > 0.8, "the models are equal"
    assert isinstance(migration.swap(), Swapped)


def test_verification_names_a_document_that_cannot_be_read(base: KnowledgeBase, deploy: Deploy) -> None:
    deploy(FakeEmbeddings("1")).operations.reconcile()
    base.store.put("content/note/5.json", b"{")
    changing = deploy(FakeEmbeddings("1"), FakeEmbeddings("2")).migration
    changing.build()

    refused = changing.swap()

    assert isinstance(refused, Refused)
    assert [(each.kind, each.record) for each in refused.differences] == [("unreadable", "note/5")]


def test_the_index_that_answers_is_not_dropped_and_spare_ones_are(base: KnowledgeBase, deploy: Deploy) -> None:
    served = deploy(FakeEmbeddings())
    served.operations.reconcile()
    for _ in range(2):
        served.migration.build(anew=True)
        assert isinstance(served.migration.swap(), Swapped)
    (current,) = [each.name for each in served.generations.all() if each.role == "current"]

    assert len(served.migration.cleanup()) == 1
    with pytest.raises(InvalidInput):
        served.migration.drop(current)

    assert [each.role for each in served.generations.all()] == ["current", "previous"]


def test_a_search_goes_on_in_words_when_the_model_changes_under_it(
    base: KnowledgeBase, deploy: Deploy, opensearch_url: str
) -> None:
    old, new = FakeEmbeddings("1"), FakeEmbeddings("2")
    before = deploy(old)
    before.operations.reconcile()
    both = deploy(old, new)
    both.migration.build()
    both.migration.swap()
    engine = both.generations.engine(next(each.name for each in both.generations.all() if each.role == "current"))
    (values,) = old.embed(["mark7"])

    answer = engine.candidates(Query.of("mark7"), QueryVector("fake@1/64", values), Filters(), 5)

    assert answer.degraded
    assert [hit.id for hit in answer.lexical] == ["note/7"]
    assert SearchService(engine, old).search(SearchRequest("mark7")).fallback


@pytest.mark.laptop
def test_the_command_line_changes_the_model_of_a_running_laptop(
    opensearch_url: str, stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("tide", "reef"):
        text = f"---\ntitle: The {name}\ntype: article\npublish: true\n---\nAll about the {name} and its crabs.\n"
        (notes / f"{name}.md").write_text(text)
    environment = {
        "SEARCH_ENGINE": "opensearch",
        "OPENSEARCH_ENDPOINT": opensearch_url,
        "OPENSEARCH_INDEX": stem,
        "EMBEDDING_PROVIDER": "none",
        "EMBEDDING_PROVIDER_NEXT": "local",
    }
    data = tmp_path / "data"
    with (
        Laptop(plain_folder(notes, "local/notes"), data, environment=environment) as laptop,
        announced(data, laptop.deployment),
    ):
        laptop.push()
        laptop.wait(120)

        def run(*arguments: str) -> str:
            done = CliRunner().invoke(cli.app, ["index", *arguments, "--data", str(data)])
            assert done.exit_code == 0, done.output
            return done.output

        def search() -> dict[str, Any]:
            answer: dict[str, Any] = httpx.get(f"{laptop.url}/api/v1/search", params={"q": "crabs"}).json()
            return answer

        assert "Differs   model: none, wanted wordllama" in run("plan")
        # The node shows a write after a second, and the reader's process looks for an index every two.
        until(lambda: len(search()["results"]) == 2)
        before = search()
        run("build")
        run("swap")
        # The reader's process knows the alias for two seconds.
        until(lambda: search()["fallback"] is False)
        after = search()
        run("rollback")
        # The memory's index is another one, with commands of its own.
        deployment = find(data)
        tables = deployment.outputs["RecordsTable"], deployment.outputs["ActivityTable"]
        DynamoEntries(deployment.client("dynamodb"), *tables).add("acme", [entry_of("1"), entry_of("2")], AUDIT)
        until(lambda: ", 2 records, model none" in run("status", "--collection", "memory"))
        assert "To write  2 of 2 records" in run("plan", "--collection", "memory")
        run("build", "--collection", "memory")
        assert "--collection memory" in run("swap", "--collection", "memory")
        assert ", 2 records, model wordllama" in run("status", "--collection", "memory").splitlines()[0]
        assert "2 records, model none" in run("status").splitlines()[0]

    assert before["fallback"] is True
    assert {hit["id"] for hit in before["results"]} == {hit["id"] for hit in after["results"]}
    assert len(after["results"]) == 2
