"""What the index function does with several models, and how a step answers."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.indexer import Indexer
from commonplace.search.migration import Migration, Target
from commonplace.search.model import IndexMismatch
from commonplace.search.operations import MOST_IDLE_ROUNDS, Operations, stretch
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import document, message, publish, versions

Deploy = Callable[..., Operations]


@pytest.fixture
def store() -> FakeObjectStore:
    store = FakeObjectStore()
    publish(store, [document(f"note/n{at}", f"weather {at}") for at in range(4)], generation=1)
    return store


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    cluster = FakeCluster(tmp_path)
    yield cluster
    cluster.close()


@pytest.fixture
def deploy(store: FakeObjectStore, cluster: FakeCluster) -> Deploy:
    """The index function with models of these revisions."""

    def deploy(*revisions: str) -> Operations:
        models = [FakeEmbeddings(revision) for revision in revisions]
        sides = [FakeGenerations(cluster, model) for model in models]
        pairs = list(zip(sides, models, strict=True))
        indexers = [
            Indexer(StoredDocuments(store), side.shared_engine(), model, rebuilds=False) for side, model in pairs
        ]
        return Operations(
            indexers, Migration(StoredDocuments(store), [Target(*pair) for pair in pairs], records_per_write=2)
        )

    return deploy


def held(cluster: FakeCluster, role: str) -> dict[str, int]:
    return {str(record): version for record, version in versions(cluster.engine(cluster.roles[role], None)).items()}  # type: ignore[index]


def test_the_first_look_makes_an_index(deploy: Deploy, cluster: FakeCluster) -> None:
    assert deploy("1").reconcile().indexed == 4
    assert len(held(cluster, "current")) == 4


def test_a_model_to_come_without_an_index_is_passed_over(
    deploy: Deploy, store: FakeObjectStore, cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    deploy("1").reconcile()
    publish(store, [document("note/n0", "thaw", generation=2)], generation=2)

    assert deploy("1", "2").take([message("m", "note/n0")]) == []

    assert held(cluster, "current")["note/n0"] == 2
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_writes_without_any_fitting_index_come_again_and_the_log_says_what_to_do(
    deploy: Deploy, cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    deploy("1").reconcile()
    promoted_too_early = deploy("2")

    for refused in (promoted_too_early.reconcile, lambda: promoted_too_early.take([message("m", "note/n0")])):
        caplog.clear()
        with pytest.raises(IndexMismatch):
            refused()
        (told,) = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert "Rebuild the index" in told.__dict__["hint"]


def test_messages_that_one_model_could_not_index_come_again_for_all(
    deploy: Deploy, store: FakeObjectStore, cluster: FakeCluster
) -> None:
    operations = deploy("1", "2")
    operations.reconcile()
    operations.step({"step": "build"})
    store.put("content/note/n1.json", b"{")

    failed = operations.take([message("good", "note/n0"), message("bad", "note/n1")])

    assert failed == ["bad"]


def test_an_index_that_does_not_answer_is_no_refusal(deploy: Deploy, store: FakeObjectStore) -> None:
    class Down:
        def get(self, key: str) -> None:
            raise Unavailable("The store does not answer.")

        def get_if_changed(self, key: str, etag: str | None) -> None:
            raise Unavailable("The store does not answer.")

    operations = Operations(
        [], Migration(StoredDocuments(Down()), [Target(FakeGenerations(FakeCluster(Path()), None), None)])
    )

    with pytest.raises(Unavailable):
        operations.step({"step": "plan"})


def test_every_answer_is_json_with_an_action_and_a_message(deploy: Deploy) -> None:
    operations = deploy("1", "2")
    deploy("1").reconcile()

    for step in ("plan", "verify", "begin", "build", "verify", "swap", "status", "rollback", "drop", "dance"):
        answer = json.loads(json.dumps(operations.step({"step": step})))
        assert answer["message"] and answer["action"]
        assert answer["action"] != "refused" or answer["hint"]


def test_an_unknown_step_names_the_known_ones(deploy: Deploy) -> None:
    answer = deploy("1").step({"step": "dance"})

    assert answer["action"] == "refused"
    assert "rollback" in answer["hint"]


def test_a_stretch_that_leaves_as_much_as_before_waits_and_in_the_end_gives_up(
    deploy: Deploy, store: FakeObjectStore, cluster: FakeCluster
) -> None:
    failing = FakeEmbeddings("2")
    failing.failing = True
    operations = Operations([], Migration(StoredDocuments(store), [Target(FakeGenerations(cluster, failing), failing)]))
    actions, progress = [], None
    for _ in range(MOST_IDLE_ROUNDS + 1):
        answer = operations.step({"step": "build", "progress": progress})
        actions.append(answer["action"])
        progress = answer["progress"]

    assert actions == ["build", *["wait"] * (MOST_IDLE_ROUNDS - 1), "stuck"]


def test_an_index_in_one_file_is_rebuilt_and_has_no_steps(
    store: FakeObjectStore, cluster: FakeCluster, deploy: Deploy
) -> None:
    model = FakeEmbeddings()
    one_file = Operations([Indexer(StoredDocuments(store), cluster.engine("file", model), model)], None)

    assert one_file.rebuild().indexed == 4
    assert one_file.step({"step": "plan"})["action"] == "refused"
    with pytest.raises(InvalidInput) as error:
        deploy("1").rebuild()
    assert error.value.details["step"] == "build-anew"


def test_the_schedule_goes_on_another_time_when_the_time_is_used_up(deploy: Deploy, cluster: FakeCluster) -> None:
    operations = deploy("1")
    operations.step({"step": "begin"})
    operations.step({"step": "swap"})
    cluster.engine(cluster.roles["current"], FakeEmbeddings("1")).replace([])

    report = operations.reconcile(lambda: True)

    assert (report.indexed, report.remaining) == (2, 2)
    assert operations.reconcile().remaining == 0
    assert len(held(cluster, "current")) == 4


def test_half_of_a_functions_time_is_for_building_or_less_when_asked() -> None:
    seconds = iter([100.0, 129.0, 130.0, 100.0, 109.0, 110.0])

    enough = stretch(60, None, seconds.__next__)
    assert [enough(), enough()] == [False, True]
    asked = stretch(60, 10, seconds.__next__)
    assert [asked(), asked()] == [False, True]
    assert not stretch(None, 10, seconds.__next__)()
