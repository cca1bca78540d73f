"""State machines: the sync's read from its file, its shape walked, and runs of one in moto's interpreter."""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.core.config import DefaultConfig, default_user_config
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction

MACHINE = Path(__file__).parents[3] / "functions" / "sync" / "machine.asl.json"
RUN_ARN = "arn:aws:lambda:us-east-1:123456789012:function:run"
STORE_ARN = "arn:aws:lambda:us-east-1:123456789012:function:store"

DEADLINE_SECONDS = 60

State = dict[str, Any]
Execute = Callable[[State], dict[str, Any]]
"""What became of an execution with this input."""


def definition() -> State:
    text = MACHINE.read_text().replace("${SyncRunArn}", RUN_ARN).replace("${SyncStoreArn}", STORE_ARN)
    assert "${" not in text
    machine: State = json.loads(text)
    return machine


@contextmanager
def executing(session: boto3.session.Session, machine: State, waits: list[float]) -> Iterator[Execute]:
    """Executes a machine with a clock on which no wait takes any time: `waits` are the seconds asked for."""
    config: DefaultConfig = {"stepfunctions": {"execute_state_machine": True}}
    with pytest.MonkeyPatch.context() as patch, mock_aws(config=config):
        patch.setitem(default_user_config, "stepfunctions", config["stepfunctions"])
        patch.setattr(retrier_decl, "time", SimpleNamespace(sleep=waits.append))
        patch.setattr(WaitFunction, "_wait_interval", lambda _, env, wait_seconds: waits.append(wait_seconds))
        client = session.client("stepfunctions")
        role = "arn:aws:iam::123456789012:role/machine"
        arn = client.create_state_machine(name="machine", definition=json.dumps(machine), roleArn=role)
        names = (f"execution-{number}" for number in itertools.count(1))

        def execute(given: State) -> dict[str, Any]:
            run = client.start_execution(
                stateMachineArn=arn["stateMachineArn"], name=next(names), input=json.dumps(given)
            )["executionArn"]
            waited, deadline = threading.Event(), time.monotonic() + DEADLINE_SECONDS
            while (answer := client.describe_execution(executionArn=run))["status"] == "RUNNING":
                assert time.monotonic() < deadline, "the execution does not end"
                waited.wait(0.01)
            return dict(answer)

        yield execute


def levels(machine: State) -> Iterator[State]:
    """The machine, and the machine inside each of its Maps."""
    yield machine
    for state in machine["States"].values():
        if state["Type"] == "Map":
            yield from levels(state["ItemProcessor"])


def states(machine: State) -> Iterator[tuple[str, State]]:
    for level in levels(machine):
        yield from level["States"].items()


def targets(state: State) -> set[str]:
    """Where a state may go next."""
    found = {state[name] for name in ("Next", "Default") if name in state}
    return found | {way["Next"] for way in (*state.get("Choices", []), *state.get("Catch", []))}


def reachable(machine: State) -> set[str]:
    found: set[str] = set()
    waiting = {machine["StartAt"]}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= targets(machine["States"][name]) - found
    return found
