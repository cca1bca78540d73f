"""The sync's state machine, read from its file: placeholders filled, retries hurried, its shape walked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MACHINE = Path(__file__).parents[3] / "functions" / "sync" / "machine.asl.json"
RUN_ARN = "arn:aws:lambda:us-east-1:123456789012:function:run"
STORE_ARN = "arn:aws:lambda:us-east-1:123456789012:function:store"

State = dict[str, Any]


def definition() -> State:
    text = MACHINE.read_text().replace("${SyncRunArn}", RUN_ARN).replace("${SyncStoreArn}", STORE_ARN)
    assert "${" not in text
    machine: State = json.loads(text)
    return machine


def hurried(machine: State) -> State:
    """The same machine, its retries one second apart at most: the one change that the laptop makes, too."""
    text = json.dumps(machine)
    for seconds in (30, 15):
        text = text.replace(f'"IntervalSeconds": {seconds}', '"IntervalSeconds": 1')
    hurry: State = json.loads(text.replace('"BackoffRate": 2', '"BackoffRate": 1'))
    return hurry


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
