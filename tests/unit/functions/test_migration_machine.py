"""The state machine of a migration: its shape, and whole runs in moto's interpreter over the function's own steps."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

from commonplace.documents.index_source import StoredDocuments
from commonplace.kernel.errors import Unavailable
from commonplace.search.indexer import Indexer, never
from commonplace.search.migration import Migration, Target
from commonplace.search.operations import MOST_IDLE_ROUNDS, Operations
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.generations import FakeCluster, FakeGenerations
from tests.fakes.store import FakeObjectStore
from tests.unit.functions import machine as machines
from tests.unit.functions.machine import reachable, targets
from tests.unit.search.records import document, publish, versions

MACHINE = Path(__file__).parents[3] / "functions" / "index" / "migration.asl.json"
INDEX_ARN = "arn:aws:lambda:us-east-1:123456789012:function:index"
LONGEST_FUNCTION_SECONDS = 900
DOCUMENTS = 7

State = dict[str, Any]


def definition() -> State:
    text = MACHINE.read_text().replace("${IndexArn}", INDEX_ARN)
    assert "${" not in text
    machine: State = json.loads(text)
    return machine


def tasks() -> list[tuple[str, State]]:
    return [(name, state) for name, state in definition()["States"].items() if state["Type"] == "Task"]


def test_every_target_exists_and_every_state_is_reached() -> None:
    machine = definition()
    assert reachable(machine) == set(machine["States"])


def test_every_path_can_end() -> None:
    states = definition()["States"]
    ends = {name for name, state in states.items() if state["Type"] in ("Succeed", "Fail")}
    for _ in states:
        ends |= {name for name, state in states.items() if targets(state) & ends}
    assert ends == set(states)


def test_a_state_goes_on_or_ends_and_never_both() -> None:
    for name, state in definition()["States"].items():
        ends = state["Type"] in ("Succeed", "Fail")
        assert ends != ("Next" in state or "Choices" in state), name


def test_every_task_is_retried_while_something_does_not_answer_and_outlasts_any_function() -> None:
    for name, task in tasks():
        (schedule,) = task["Retry"]
        assert (schedule["IntervalSeconds"], schedule["BackoffRate"], schedule["MaxAttempts"]) == (30, 2, 5), name
        assert {"Unavailable", "States.Timeout", "Sandbox.Timedout"} <= set(schedule["ErrorEquals"]), name
        assert not {"States.ALL", "States.TaskFailed", "IndexMismatch"} & set(schedule["ErrorEquals"]), name
        assert task["TimeoutSeconds"] > LONGEST_FUNCTION_SECONDS, name


def test_the_one_function_is_called_as_an_operator_does() -> None:
    for name, task in tasks():
        assert task["Parameters"]["FunctionName"] == INDEX_ARN, name
        assert task["Parameters"]["Payload"]["source"] == "commonplace.operator", name
    steps = {task["Parameters"]["Payload"]["step"] for _, task in tasks()}
    assert steps == {"plan", "begin", "build", "verify", "swap"}


def test_the_swap_stands_behind_a_verification_and_nowhere_else() -> None:
    leading = {name for name, state in definition()["States"].items() if "Swap" in targets(state)}
    assert leading == {"VerifyDecision"}


def test_nothing_is_used_that_the_laptop_or_aws_lacks() -> None:
    text = json.dumps(definition())
    for word in ("JSONata", "Assign", "EXPRESS", "Jitter"):
        assert word not in text


class IndexFunction:
    """The function's own steps over generations in files; `box` is how many writes fit into one call."""

    def __init__(self, folder: Path) -> None:
        self.store = FakeObjectStore()
        documents = [document(f"note/n{at}", f"weather number {at}") for at in range(DOCUMENTS)]
        publish(self.store, documents, generation=1)
        self.cluster = FakeCluster(folder)
        self.old, self.new = FakeEmbeddings("1"), FakeEmbeddings("2")
        Indexer(
            StoredDocuments(self.store), FakeGenerations(self.cluster, self.old).shared_engine(), self.old
        ).reconcile()
        pairs = [(FakeGenerations(self.cluster, model), model) for model in (self.old, self.new)]
        indexers = [
            Indexer(StoredDocuments(self.store), side.shared_engine(), model, rebuilds=False) for side, model in pairs
        ]
        migration = Migration(StoredDocuments(self.store), [Target(*pair) for pair in pairs], records_per_write=2)
        self.operations = Operations(indexers, migration)
        self.failures: list[str] = []
        self.steps: list[str] = []
        self.before: dict[str, Callable[[], None]] = {}

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        event = json.loads(Payload)
        self.steps.append(event["step"])
        self.before.get(event["step"], lambda: None)()
        error = self.failures.pop(0) if self.failures else None
        try:
            answer = (
                None if error else self.operations.step(event, (lambda: True) if event["step"] == "build" else never)
            )
        except Unavailable as unavailable:
            error = type(unavailable).__name__
        if error:
            body = json.dumps({"errorType": error, "errorMessage": "", "stackTrace": []}).encode()
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": io.BytesIO(body)}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}

    def serving(self) -> str:
        (model,) = {self.cluster.indexes[self.cluster.roles["current"]].model}
        return model


Execute = Callable[..., dict[str, Any]]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexFunction]:
    function = IndexFunction(tmp_path)
    monkeypatch.setattr(lambda_eval_utils, "boto_client_for", lambda **_: function)
    yield function
    function.cluster.close()


@pytest.fixture(scope="module")
def waits() -> list[float]:
    return []


@pytest.fixture(scope="module")
def machine(session: boto3.session.Session, waits: list[float]) -> Iterator[machines.Execute]:
    with machines.executing(session, definition(), waits) as execute:
        yield execute


@pytest.fixture
def execute(machine: machines.Execute, waits: list[float]) -> Execute:
    waits.clear()
    return lambda given=None: machine(given or {})


def test_a_migration_builds_in_stretches_verifies_and_swaps(index: IndexFunction, execute: Execute) -> None:
    assert execute()["status"] == "SUCCEEDED"

    assert index.steps == ["plan", "begin", *["build"] * 4, "verify", "swap"]
    assert index.serving() == "fake@2/64"
    assert len(versions(index.cluster.engine(index.cluster.roles["current"], index.new))) == DOCUMENTS


def test_an_index_as_the_settings_say_takes_one_call(index: IndexFunction, execute: Execute) -> None:
    execute()
    index.steps.clear()

    assert execute()["status"] == "SUCCEEDED"
    assert index.steps == ["plan"]


def test_an_index_as_the_settings_say_is_built_again_when_asked_to(index: IndexFunction, execute: Execute) -> None:
    execute()
    before = index.cluster.roles["current"]

    assert execute({"anew": True})["status"] == "SUCCEEDED"
    assert index.cluster.roles["previous"] == before
    assert index.serving() == "fake@2/64"


def test_a_migration_stops_before_the_swap_when_asked_to(index: IndexFunction, execute: Execute) -> None:
    assert execute({"swap": False})["status"] == "SUCCEEDED"

    assert index.steps[-1] == "verify"
    assert index.serving() == "fake@1/64"


def test_calls_that_fail_for_a_while_are_made_again(index: IndexFunction, execute: Execute, waits: list[float]) -> None:
    index.failures = ["Unavailable", "Sandbox.Timedout", "Unavailable"]

    assert execute()["status"] == "SUCCEEDED"
    assert waits[:3] == [30, 60, 120]
    assert index.serving() == "fake@2/64"


def test_an_error_of_the_program_ends_the_migration_and_another_one_goes_on(
    index: IndexFunction, execute: Execute
) -> None:
    index.before["verify"] = lambda: index.failures.append("ZeroDivisionError")
    failed = execute()
    assert (failed["status"], failed["error"]) == ("FAILED", "ZeroDivisionError")
    written = list(index.cluster.writes)

    index.before.clear()
    assert execute()["status"] == "SUCCEEDED"
    assert index.cluster.writes == written


def test_a_model_that_does_not_answer_ends_the_migration_as_stuck(index: IndexFunction, execute: Execute) -> None:
    index.new.failing = True

    failed = execute()

    assert (failed["status"], failed["error"]) == ("FAILED", "BuildStuck")
    assert "remain" in failed["cause"]
    assert index.steps.count("build") <= DOCUMENTS + MOST_IDLE_ROUNDS
    assert index.serving() == "fake@1/64"


def test_differences_end_the_migration_before_the_swap(index: IndexFunction, execute: Execute) -> None:
    def damage() -> None:
        index.store.put("content/note/n3.json", b"{")
        index.cluster.engine(index.cluster.roles["next"], index.new).replace([])

    index.before["verify"] = damage
    failed = execute()

    assert (failed["status"], failed["error"]) == ("FAILED", "IndexDiffers")
    assert "1 unreadable" in failed["cause"]
    assert index.serving() == "fake@1/64"


def test_an_index_in_one_file_refuses_the_migration(index: IndexFunction, execute: Execute) -> None:
    index.operations = Operations([], None)

    failed = execute()

    assert (failed["status"], failed["error"]) == ("FAILED", "StepRefused")
    assert "one file" in failed["cause"]
