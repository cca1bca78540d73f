import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.core.config import default_user_config

from commonplace.repository.workflow import StepFunctionsWorkflow

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

FOR_EVER = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}}}


@pytest.fixture
def client(aws: None, session: boto3.session.Session, monkeypatch: pytest.MonkeyPatch) -> "SFNClient":
    monkeypatch.setitem(default_user_config, "stepfunctions", {"execute_state_machine": True})
    return session.client("stepfunctions")


@pytest.fixture
def machine(client: "SFNClient") -> str:
    role = "arn:aws:iam::123456789012:role/sync"
    created = client.create_state_machine(name="sync", definition=json.dumps(FOR_EVER), roleArn=role)
    return created["stateMachineArn"]


Stop = Callable[[str], None]


@pytest.fixture
def stop(client: "SFNClient") -> Stop:
    def until(holds: Callable[[], bool], otherwise: str) -> None:
        looked, deadline = threading.Event(), time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline, otherwise
            looked.wait(0.01)

    def waits(arn: str) -> bool:
        events = client.get_execution_history(executionArn=arn)["events"]
        return any(event["type"] == "WaitStateEntered" for event in events)

    def stopped(arn: str) -> bool:
        # The interpreter's threads may overwrite a stop that comes while they change state: say it again.
        client.stop_execution(executionArn=arn)
        return client.describe_execution(executionArn=arn)["status"] != "RUNNING"

    def stop(arn: str) -> None:
        until(lambda: waits(arn), "the execution does not begin")
        until(lambda: stopped(arn), "the execution does not stop")

    return stop


def test_a_run_is_an_execution_of_its_name(client: "SFNClient", machine: str, stop: Stop) -> None:
    workflow = StepFunctionsWorkflow(client, machine)
    workflow.start("run-1", {"run": "run-1", "reason": "push", "full": False})
    execution = client.describe_execution(executionArn=workflow.execution_arn("run-1"))
    assert json.loads(execution["input"]) == {"run": "run-1", "reason": "push", "full": False}
    assert workflow.is_running("run-1")
    stop(execution["executionArn"])


def test_a_start_that_is_repeated_while_it_runs_is_no_error(client: "SFNClient", machine: str, stop: Stop) -> None:
    workflow = StepFunctionsWorkflow(client, machine)
    workflow.start("run-1", {"run": "run-1", "full": False})
    workflow.start("run-1", {"full": False, "run": "run-1"})
    workflow.start("run-1", {"run": "run-1", "full": True})
    assert len(client.list_executions(stateMachineArn=machine)["executions"]) == 1
    stop(workflow.execution_arn("run-1"))


def test_a_name_that_has_been_used_up_is_an_error(client: "SFNClient", machine: str, stop: Stop) -> None:
    workflow = StepFunctionsWorkflow(client, machine)
    workflow.start("run-1", {"run": "run-1"})
    stop(workflow.execution_arn("run-1"))
    assert not workflow.is_running("run-1")
    with pytest.raises(ClientError, match="ExecutionAlreadyExists"):
        workflow.start("run-1", {"run": "run-1"})


def test_a_run_that_never_was_is_not_running(client: "SFNClient", machine: str) -> None:
    assert not StepFunctionsWorkflow(client, machine).is_running("run-9")


def test_a_machine_that_is_not_there_is_an_error(client: "SFNClient", machine: str) -> None:
    with pytest.raises(ClientError, match="StateMachineDoesNotExist"):
        StepFunctionsWorkflow(client, f"{machine}-gone").start("run-1", {"run": "run-1"})
