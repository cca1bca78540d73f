"""Direct reads of moto's memory: how busy the laptop cloud is, and nothing else."""

from collections.abc import Iterator
from threading import Event
from time import monotonic
from typing import Any

from commonplace_local.cloud import moto_patches
from commonplace_local.cloud.environment import ACCOUNT, REGION

BEGIN_SECONDS = 5.0
"""An execution that has not begun after so long will not."""


def _messages(queue: str) -> list[Any]:
    from moto.sqs.models import sqs_backends

    found = sqs_backends[ACCOUNT][REGION].queues.get(queue)
    return list(found._messages) if found is not None else []


def messages(queue: str) -> int:
    """Return how many messages of the queue are work: visible, delayed, or in somebody's hands.

    One that its receiver has put off, for hours it may be, is no work until it is received again.
    """
    return sum(not getattr(message, "put_off", False) for message in _messages(queue))


def seconds_until_a_message(queue: str) -> float | None:
    """Zero when a message can be received now; the wait for the first that will come back; `None` without any."""
    from moto.core.utils import unix_time

    due = [max(message.visible_at, message.delayed_until) for message in _messages(queue)]
    return max(0.0, min(due) / 1000 - unix_time()) if due else None


def objects(bucket: str, prefix: str) -> int:
    """How many objects of the bucket have a key that begins so."""
    from moto.s3.models import s3_backends

    found = s3_backends[ACCOUNT]["aws"].buckets.get(bucket)
    return sum(key.startswith(prefix) for key in list(found.keys)) if found is not None else 0


def _executions() -> Iterator[Any]:
    from moto.stepfunctions.parser.models import stepfunctions_parser_backends

    for machine in list(stepfunctions_parser_backends[ACCOUNT][REGION].state_machines):
        yield from list(machine.executions)


def running_executions() -> list[str]:
    return [execution.name for execution in _executions() if execution.exec_status == "RUNNING"]


def failed_executions() -> dict[str, str]:
    """The name of the error by the name of the execution; causes stay away, for they may quote data."""
    failed = {"FAILED", "TIMED_OUT", "ABORTED"}
    return {run.name: str(run.error or run.exec_status) for run in _executions() if run.exec_status in failed}


def stop_executions() -> None:
    """Abort what runs, so that the interpreter's threads end before the servers they call do."""
    from moto.core.utils import utcnow

    for execution in _executions():
        give_up = monotonic() + BEGIN_SECONDS
        # It can be stopped once its thread has parsed the definition.
        while (waiting := execution.exec_worker is None or execution.exec_worker.env is None) and monotonic() < give_up:
            if execution.exec_status != "RUNNING":
                break
            Event().wait(0.01)
        if execution.exec_status == "RUNNING" and not waiting:
            execution.stop(stop_date=utcnow(), error="", cause="The laptop cloud is stopping.")


def forget_everything() -> None:
    """Empty every service: moto keeps its state for the whole process, a cloud for its own life."""
    from moto.core.base_backend import BackendDict

    BackendDict.reset()
    moto_patches.watch(None)
