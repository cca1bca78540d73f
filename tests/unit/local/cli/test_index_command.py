"""`commonplace index` over generations in files: what it says, and what it tells its user to run next."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from commonplace.documents.index_source import StoredDocuments
from commonplace.memory.index_source import StoredEntries
from commonplace.reference.index_source import StoredCatalogues
from commonplace.search.indexer import Indexer, never
from commonplace.search.migration import Migration, Target
from commonplace.search.operations import Operations
from commonplace_local import cli
from commonplace_local.cli import index
from commonplace_local.cli import index as command
from commonplace_local.cli.index import Place, ask_function, reach
from commonplace_local.deployment import Deployment
from commonplace_local.errors import CommandError
from tests.fakes.catalogues import catalogue, entry
from tests.fakes.catalogues import publish as publish_catalogue
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.memory_stores import MemoryEntries
from tests.fakes.store import FakeObjectStore
from tests.unit.memory.test_upkeep import AUDIT, entry_of
from tests.unit.search.records import document, publish

DOCUMENTS = 5


class Served:
    """An index function over files. `interrupt` is called before a step, with its number."""

    def __init__(self, folder: Path) -> None:
        self.store = FakeObjectStore()
        publish(self.store, [document(f"note/n{at}", f"weather {at}") for at in range(DOCUMENTS)], generation=1)
        self.cluster = FakeCluster(folder)
        self.old, self.new = FakeEmbeddings("1"), FakeEmbeddings("2")
        Indexer(
            StoredDocuments(self.store), FakeGenerations(self.cluster, self.old).shared_engine(), self.old
        ).reconcile()
        targets = [Target(FakeGenerations(self.cluster, model), model) for model in (self.old, self.new)]
        self.operations = Operations([], Migration(StoredDocuments(self.store), targets, records_per_write=2))
        self.events: list[Mapping[str, Any]] = []
        self.interrupt: Callable[[int], None] = lambda _number: None

    def ask(self, event: Mapping[str, Any]) -> dict[str, Any]:
        self.events.append(event)
        self.interrupt(len(self.events))
        enough = (lambda: True) if event["step"] == "build" else never
        answer: dict[str, Any] = json.loads(json.dumps(self.operations.step(event, enough)))
        return answer


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    served = Served(tmp_path)
    monkeypatch.setattr(index, "reach", lambda _place: served.ask)
    monkeypatch.setattr(command, "WAIT_SECONDS", 0)
    yield served
    served.cluster.close()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["index", *arguments])


def test_each_command_names_the_one_to_run_next(served: Served) -> None:
    plan = run("plan")
    assert "Differs   model: fake@1/64, wanted fake@2/64" in plan.output
    assert "To write  5 of 5 records, about 5 chunks to embed" in plan.output
    assert plan.output.splitlines()[-1] == "Next      commonplace index build"

    assert run("build").output.splitlines()[-1] == "Next: commonplace index swap (which verifies first)"
    assert run("plan").output.splitlines()[-1] == "Next      commonplace index swap"
    assert run("verify").output.splitlines()[-1] == "Next: commonplace index swap"
    assert run("swap").output.splitlines()[-1] == "To go back: commonplace index rollback"
    assert "There is nothing to do." in run("plan").output
    assert run("rollback").output == "documents-1 answers now, documents-2 did before.\n"


def test_the_status_tells_every_index_by_its_role(served: Served) -> None:
    run("build")

    roles = [line.split()[:2] for line in run("status").output.splitlines()]

    assert roles == [["Current", "documents-1,"], ["Next", "documents-2,"], ["Previous", "none"]]


def test_ctrl_c_leaves_what_is_built(served: Served) -> None:
    def interrupt(number: int) -> None:
        if number == 4:
            raise KeyboardInterrupt

    served.interrupt = interrupt
    stopped = run("build")
    assert (stopped.exit_code, stopped.output.splitlines()[-1].rpartition(": ")[2]) == (130, "commonplace index build")

    served.interrupt = lambda _number: None
    assert "Building documents-2: 3 records" in run("build").output
    assert run("swap").exit_code == 0


def test_an_index_like_the_settings_is_built_again_only_anew(served: Served) -> None:
    run("build")
    run("swap")

    refused = run("build")
    assert (refused.exit_code, refused.output.splitlines()[-1].rpartition(": ")[2]) == (
        1,
        "commonplace index build --anew",
    )

    assert "Building documents-3: 5 records" in run("build", "--anew").output
    assert run("swap").exit_code == 0


def test_a_swap_with_differences_changes_nothing_and_names_them(served: Served) -> None:
    run("build")
    served.store.put("content/note/n3.json", b"{")
    served.cluster.engine("documents-2", served.new).replace([])

    refused = run("swap")

    assert refused.exit_code == 1
    assert "- unreadable: note/n3. Its object in the store is missing or cannot be read." in refused.output
    assert "Nothing was changed." in refused.output
    assert served.cluster.roles["current"] == "documents-1"


def test_a_build_that_comes_no_further_says_so(served: Served) -> None:
    served.new.failing = True

    stuck = run("build")

    assert stuck.exit_code == 1
    assert "Resume with: commonplace index build" in stuck.output


def test_only_unused_indexes_are_dropped_unless_one_is_named(served: Served) -> None:
    run("build")
    run("swap")
    assert run("drop").output == "Deleted: nothing.\n"

    assert run("drop", "documents-2").exit_code == 1
    assert run("drop", "documents-1").output == "Deleted: documents-1.\n"


def test_answers_are_told_as_json_too(served: Served) -> None:
    plan = json.loads(run("plan", "--json").output)

    assert (plan["documents"], plan["next"]) == (5, "build")
    assert json.loads(run("status", "--json").output)["indexes"][0]["role"] == "current"


def test_an_index_in_one_file_says_that_it_needs_no_migration(served: Served) -> None:
    served.operations = Operations([], None)

    refused = run("plan")

    assert refused.exit_code == 1
    assert "one file" in refused.output


class FakeLambda:
    def __init__(self, answer: object, *, failed: bool = False) -> None:
        self._answer = {"Payload": io.BytesIO(json.dumps(answer).encode())}
        if failed:
            self._answer["FunctionError"] = "Unhandled"  # type: ignore[assignment]
        self.asked: dict[str, Any] = {}

    def invoke(self, **asked: Any) -> dict[str, Any]:
        self.asked = asked
        return self._answer


def deployed(monkeypatch: pytest.MonkeyPatch, function: FakeLambda) -> Deployment:
    monkeypatch.setattr(Deployment, "client", lambda _self, _service, **_options: function)
    return Deployment({"IndexFunction": "arn:index"})


def test_a_step_is_an_event_of_an_operator_to_the_index_function(monkeypatch: pytest.MonkeyPatch) -> None:
    function = FakeLambda({"action": "none"})

    answer = ask_function(deployed(monkeypatch, function))({"step": "plan"})

    assert answer == {"action": "none"}
    assert function.asked["FunctionName"] == "arn:index"
    event = json.loads(function.asked["Payload"])
    assert (event["source"], event["step"]) == ("commonplace.operator", "plan")


def test_a_function_that_fails_is_to_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    function = FakeLambda({"errorType": "Unavailable", "errorMessage": "OpenSearch does not answer."}, failed=True)

    with pytest.raises(CommandError, match=r"OpenSearch does not answer\.") as error:
        ask_function(deployed(monkeypatch, function))({"step": "build"})

    assert error.value.hint.endswith("commonplace index build")


def test_the_memory_has_commands_of_the_same_names(tmp_path: Path, served: Served) -> None:
    store = MemoryEntries()
    store.add("acme", [entry_of(str(number)) for number in range(3)], AUDIT)
    source = StoredEntries(store)
    targets = [Target(FakeGenerations(served.cluster, model), model) for model in (served.old, served.new)]
    for name in list(served.cluster.roles.values()):
        served.cluster.engine(name, served.old).replace([])
    served.operations = Operations([], Migration(source, targets, records_per_write=2), "memory")

    plan = run("plan", "--collection", "memory")
    assert "To write  3 of 3 records, about 3 chunks to embed" in plan.output
    assert plan.output.splitlines()[-1] == "Next      commonplace index build --collection memory"
    built = run("build", "--collection", "memory")
    assert "Building documents-2: 3 records" in built.output
    assert built.output.splitlines()[-1] == "Next: commonplace index swap --collection memory (which verifies first)"
    assert "holds the 3 published records" in run("verify", "--collection", "memory").output
    swapped = run("swap", "--collection", "memory").output.splitlines()
    assert swapped[-1] == "To go back: commonplace index rollback --collection memory"
    refused = run("build", "--collection", "memory")
    assert refused.output.splitlines()[-1].endswith("commonplace index build --anew --collection memory")


def test_an_unknown_collection_is_refused() -> None:
    with pytest.raises(CommandError, match="no collection people"):
        reach(Place(collection="people"))


def test_the_reference_has_commands_of_the_same_names(served: Served) -> None:
    store = FakeObjectStore()
    publish_catalogue(store, catalogue("helios", entry("a"), entry("b")))
    source = StoredCatalogues(store, ["helios"])
    for name in list(served.cluster.roles.values()):
        served.cluster.engine(name, served.old).replace([])
    targets = [Target(FakeGenerations(served.cluster, model), model) for model in (served.old, served.new)]
    served.operations = Operations([], Migration(source, targets, records_per_write=2), "reference")

    assert "Building documents-2: 2 records" in run("build", "--collection", "reference").output
    assert "holds the 2 published records" in run("verify", "--collection", "reference").output
    swapped = run("swap", "--collection", "reference").output.splitlines()
    assert swapped[-1] == "To go back: commonplace index rollback --collection reference"
