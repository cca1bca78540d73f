"""What the laptop cloud reads from moto's memory instead of asking over HTTP: how busy it is, and nothing else."""

from collections.abc import Iterator
from typing import Any

from local.cloud.environment import ACCOUNT, REGION


def _backend(service: Any) -> Any:
    from moto.backends import get_backend

    return get_backend(service)[ACCOUNT][REGION]


def _messages(queue: str) -> list[Any]:
    found = _backend("sqs").queues.get(queue)
    return list(found._messages) if found is not None else []


def messages(queue: str) -> int:
    """Every message of the queue: visible, delayed, and in somebody's hands."""
    return len(_messages(queue))


def seconds_until_a_message(queue: str) -> float | None:
    """Zero when a message can be received now; the wait for the first that will come back; `None` without any."""
    from moto.core.utils import unix_time

    due = [max(message.visible_at, message.delayed_until) for message in _messages(queue)]
    return max(0.0, min(due) / 1000 - unix_time()) if due else None


def _executions() -> Iterator[Any]:
    for machine in list(_backend("stepfunctions").state_machines):
        yield from list(machine.executions)


def running_executions() -> list[str]:
    return [execution.name for execution in _executions() if execution.status == "RUNNING"]


def stop_executions() -> None:
    """Abort what runs, so that the interpreter's threads end before the servers they call do."""
    from moto.core.utils import utcnow

    for execution in _executions():
        if execution.status == "RUNNING":
            execution.stop(stop_date=utcnow(), error="", cause="The laptop cloud is stopping.")


def forget_everything() -> None:
    """Empty every service: moto keeps its state for the whole process, a cloud for its own life."""
    from moto.core.base_backend import BackendDict

    BackendDict.reset()
