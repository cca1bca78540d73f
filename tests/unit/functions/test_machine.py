"""The state machine: its shape, and whole runs of it in moto's interpreter with stub functions behind the tasks."""

import io
import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

from tests.unit.functions import machine as machines
from tests.unit.functions.machine import RUN_ARN, definition, levels, reachable, states, targets

PAST = "2026-01-01T00:00:00Z"
Answers = dict[str, Any]


def tasks() -> list[tuple[str, dict[str, Any]]]:
    return [(name, state) for name, state in states(definition()) if state["Type"] == "Task"]


def test_every_target_exists_and_every_state_is_reached() -> None:
    for level in levels(definition()):
        assert reachable(level) == set(level["States"])


def test_every_path_can_end() -> None:
    for level in levels(definition()):
        ends = {
            name for name, state in level["States"].items() if state["Type"] in ("Succeed", "Fail") or "End" in state
        }
        for _ in level["States"]:
            ends |= {name for name, state in level["States"].items() if targets(state) & ends}
        assert ends == set(level["States"])


def test_a_state_goes_on_or_ends_and_never_both() -> None:
    for name, state in states(definition()):
        ends = state["Type"] in ("Succeed", "Fail") or state.get("End") is True
        assert ends != ("Next" in state or "Choices" in state), name


def test_every_task_is_retried_as_the_seed_says_and_outlasts_its_function() -> None:
    for name, task in tasks():
        schedule = task["Retry"][-1]
        assert (schedule["IntervalSeconds"], schedule["BackoffRate"], schedule["MaxAttempts"]) == (30, 2, 5), name
        assert {"RepositoryUnavailable", "States.Timeout", "Sandbox.Timedout"} <= set(schedule["ErrorEquals"]), name
        assert "JitterStrategy" not in schedule
        assert task["TimeoutSeconds"] == (130 if name == "Store" else 630)
        assert task["Catch"][-1]["ErrorEquals"] == ["States.ALL"], name


def test_no_task_retries_what_is_final() -> None:
    retried = {error for _, task in tasks() for rule in task["Retry"] for error in rule["ErrorEquals"]}

    assert not retried & {"States.ALL", "States.TaskFailed", "BlobNotFound", "RepositoryRefused", "UntrustedTree"}


def test_only_publishing_waits_for_the_lease() -> None:
    waiting = [name for name, task in tasks() for rule in task["Retry"] if "LeaseHeld" in rule["ErrorEquals"]]

    assert waiting == ["Publish"]


def test_nothing_is_used_that_the_laptop_or_aws_lacks() -> None:
    text = json.dumps(definition())
    for word in ("JSONata", "Assign", "ItemBatcher", "ResultWriter", "Tolerated", "EXPRESS", "JSONL", "Jitter"):
        assert word not in text


class Functions:
    """Answers each step with the next of the answers a test gives; an exception's name is the function's error."""

    def __init__(self) -> None:
        self.answers: dict[str, Iterator[Any]] = {}
        self.calls: list[tuple[str, Answers]] = []
        self.lock = threading.Lock()

    def will(self, step: str, *answers: Any) -> None:
        """The last answer is given again and again."""
        self.answers[step] = itertools.chain(answers[:-1], itertools.repeat(answers[-1]))

    @property
    def steps(self) -> list[str]:
        return [step for step, _ in self.calls]

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        event = json.loads(Payload)
        step = event["step"] if FunctionName == RUN_ARN else f"store {event['item']['blobs'][0]}"
        with self.lock:
            self.calls.append((step, event))
            answer = next(self.answers[step])
        if isinstance(answer, str):
            body = json.dumps({"errorType": answer, "errorMessage": "", "stackTrace": []}).encode()
            return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": io.BytesIO(body)}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


Execute = Callable[[], dict[str, Any]]


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Functions:
    stub = Functions()
    monkeypatch.setattr(lambda_eval_utils, "boto_client_for", lambda **_: stub)
    stub.will("finish", {"again": False})
    stub.will("fail", {"failed": True})
    return stub


@pytest.fixture(scope="module")
def waits() -> list[float]:
    return []


@pytest.fixture(scope="module")
def machine(session: boto3.session.Session, waits: list[float]) -> Iterator[machines.Execute]:
    """Made once: reading it takes longer than most executions."""
    with machines.executing(session, definition(), waits) as execute:
        s3 = session.client("s3")
        s3.create_bucket(Bucket="content")
        s3.put_object(
            Bucket="content", Key="items.json", Body=json.dumps([{"blobs": ["a"]}, {"blobs": ["b"]}]).encode()
        )
        yield execute


@pytest.fixture
def execute(machine: machines.Execute, waits: list[float]) -> Execute:
    waits.clear()
    return lambda: machine({"source": "helios", "run": "run-1", "reason": "push", "full": False})


def fetch(action: str, **more: Any) -> Answers:
    return {"action": action, "bucket": "content", "items": {"key": "items.json", "count": 2}, "seen": 1} | more


PUBLISHED = {"action": "published", "counts": {}, "pending": 0}
WAIT = {"action": "wait", "waitUntil": PAST, "seen": 1}


def test_an_up_to_date_store_takes_two_calls(functions: Functions, execute: Execute) -> None:
    functions.will("plan", {"action": "done", "seen": 7})

    assert execute()["status"] == "SUCCEEDED"
    assert functions.calls == [
        ("plan", {"step": "plan", "source": "helios", "run": "run-1", "full": False}),
        ("finish", {"step": "finish", "source": "helios", "run": "run-1", "seen": 7}),
    ]


def test_files_are_stored_one_by_one_and_then_published(functions: Functions, execute: Execute) -> None:
    functions.will("plan", fetch("store"))
    functions.will("store a", {"ok": True, "action": "stored"})
    functions.will("store b", {"ok": True, "action": "stored"})
    functions.will("publish", PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    assert functions.steps[0] == "plan"
    assert Counter(functions.steps[1:3]) == Counter(["store a", "store b"])
    assert functions.steps[3:] == ["publish", "finish"]
    event = next(event for step, event in functions.calls if step == "store a")
    assert event == {"source": "helios", "run": "run-1", "item": {"blobs": ["a"]}, "waits": 0}


def test_a_large_change_takes_the_archive_and_leaves_what_it_lacks_to_the_map(
    functions: Functions, execute: Execute
) -> None:
    functions.will("plan", {"action": "archive", "seen": 1})
    functions.will("archive", WAIT, fetch("store"))
    functions.will("store a", {"ok": True, "action": "stored"})
    functions.will("store b", {"ok": True, "action": "stored"})
    functions.will("publish", PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    assert functions.steps[:3] == ["plan", "archive", "archive"]
    assert functions.steps[-2:] == ["publish", "finish"]
    assert len(functions.steps) == 7


def test_a_complete_archive_goes_round_the_map(functions: Functions, execute: Execute) -> None:
    functions.will("plan", {"action": "archive", "seen": 1})
    functions.will("archive", fetch("publish"))
    functions.will("publish", PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    assert functions.steps == ["plan", "archive", "publish", "finish"]


def test_a_file_that_cannot_be_had_does_not_fail_the_run(functions: Functions, execute: Execute) -> None:
    functions.will("plan", fetch("store"))
    functions.will("store a", "RuntimeError")
    functions.will("store b", "RepositoryUnavailable", {"ok": True, "action": "stored"})
    functions.will("publish", PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    assert Counter(functions.steps) == Counter(
        {"plan": 1, "store a": 1, "store b": 2, "publish": 1, "finish": 1},
    )


def test_a_file_waits_as_long_as_github_says_and_counts_its_waits(functions: Functions, execute: Execute) -> None:
    functions.will("plan", fetch("store"))
    functions.will("store a", {"ok": True, "action": "stored"})
    waits = [{"ok": False, "action": "wait", "waitUntil": PAST, "waits": number} for number in (1, 2)]
    functions.will("store b", *waits, {"ok": True, "action": "stored"})
    functions.will("publish", PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    events = [event for step, event in functions.calls if step == "store b"]
    assert [event["waits"] for event in events] == [0, 1, 2]
    assert all(event["item"] == {"blobs": ["b"]} and event["run"] == "run-1" for event in events)


def test_planning_and_publishing_wait_as_long_as_github_says(functions: Functions, execute: Execute) -> None:
    functions.will("plan", WAIT, fetch("publish"))
    functions.will("publish", WAIT, PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    assert functions.steps == ["plan", "plan", "publish", "publish", "finish"]


def test_a_plan_that_another_run_has_overtaken_is_made_again(functions: Functions, execute: Execute) -> None:
    functions.will("plan", fetch("publish"), {"action": "done", "seen": 2})
    functions.will("publish", {"action": "plan"})

    assert execute()["status"] == "SUCCEEDED"
    assert functions.steps == ["plan", "publish", "plan", "finish"]
    assert functions.calls[-1][1]["seen"] == 2


def test_a_hint_that_came_meanwhile_makes_the_run_go_round_again(functions: Functions, execute: Execute) -> None:
    functions.will("plan", {"action": "done", "seen": 1}, {"action": "done", "seen": 2})
    functions.will("finish", {"again": True}, {"again": False})

    assert execute()["status"] == "SUCCEEDED"
    assert [event.get("seen") for _, event in functions.calls] == [None, 1, None, 2]


def test_publishing_waits_for_the_lease_of_another_run(
    functions: Functions, execute: Execute, waits: list[float]
) -> None:
    functions.will("plan", fetch("publish"))
    functions.will("publish", "LeaseHeld", "LeaseHeld", PUBLISHED)

    assert execute()["status"] == "SUCCEEDED"
    assert waits == [15, 15]
    assert functions.steps == ["plan", "publish", "publish", "publish", "finish"]


def test_an_error_that_stays_fails_the_run_whole_and_is_recorded_by_name(
    functions: Functions, execute: Execute
) -> None:
    functions.will("plan", "UntrustedTree")

    answer = execute()
    assert (answer["status"], answer["error"]) == ("FAILED", "UntrustedTree")
    assert functions.calls[1:] == [
        ("fail", {"step": "fail", "source": "helios", "run": "run-1", "error": "UntrustedTree"})
    ]


def test_retries_end(functions: Functions, execute: Execute, waits: list[float]) -> None:
    functions.will("plan", "RepositoryUnavailable")

    assert execute()["error"] == "RepositoryUnavailable"
    assert waits == [30, 60, 120, 240, 480]
    assert functions.steps == ["plan"] * 6 + ["fail"]


def test_a_plan_that_is_not_there_fails_the_run(functions: Functions, execute: Execute) -> None:
    functions.will("plan", fetch("store", items={"key": "absent.json", "count": 1}))

    assert execute()["status"] == "FAILED"
    assert "publish" not in functions.steps


def test_an_action_that_is_not_known_fails_the_run(functions: Functions, execute: Execute) -> None:
    functions.will("plan", {"action": "dance", "seen": 1})

    assert execute()["error"] == "UnknownAction"
    assert functions.steps == ["plan", "fail"]


def test_a_failure_that_cannot_be_recorded_is_a_failure_still(functions: Functions, execute: Execute) -> None:
    functions.will("plan", "RepositoryRefused")
    functions.will("fail", "RuntimeError")

    assert execute()["error"] == "RepositoryRefused"
