"""The function that syncs: steps of a run, as the state machine calls them, with errors named as it retries them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.repository.run import RunSteps

Event = Mapping[str, Any]
Answer = dict[str, Any]


class StoreUnavailable(Exception):
    """S3, DynamoDB or Secrets Manager does not answer: worth a retry by the workflow's schedule."""


class SyncFunction:
    """Answers every event of the two functions. Steps are made anew for each: the count of GitHub calls is its own."""

    def __init__(self, steps_of: Callable[[str], RunSteps]) -> None:
        """`steps_of` makes the steps of a source by its name: empty, or that of a catalogue."""
        self._steps_of = steps_of

    def run(self, event: Event, _context: object) -> Answer:
        """`step` names it: plan, archive, publish, finish or fail. `source` is empty, or the name of a catalogue."""
        steps = self._steps_of(event.get("source") or "")
        calls = {
            "plan": steps.plan,
            "archive": steps.archive,
            "publish": steps.publish,
            "finish": steps.finish,
            "fail": steps.fail,
        }
        step = event.get("step")
        if step not in calls:
            raise ValueError(f"step must be one of: {', '.join(calls)}")
        with _retryable():
            return calls[step](event)

    def store(self, event: Event, _context: object) -> Answer:
        """One item of the Map: a few blobs."""
        with _retryable():
            return self._steps_of(event.get("source") or "").store(event)


@contextmanager
def _retryable() -> Iterator[None]:
    """The workflow retries by name, and AWS's own failures have many."""
    try:
        yield
    except (BotoCoreError, ClientError, Unavailable) as error:
        cause = error.__cause__ if isinstance(error, Unavailable) else error
        if isinstance(cause, ClientError) and not _is_passing(cause):
            raise
        raise StoreUnavailable(type(cause or error).__name__) from error


def _is_passing(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
    code = error.response.get("Error", {}).get("Code", "")
    return status >= 500 or status == 429 or "Throttl" in code or code == "ProvisionedThroughputExceededException"
