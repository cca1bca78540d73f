"""Calls that nobody waits for: made again as AWS does, and set aside in a queue when they never succeed.

Source of the pauses and of the record: AWS Lambda developer guide, "Understanding retry behavior" and "Capturing
records of Lambda asynchronous invocations".
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local.cloud.calls import Call, Outcome

PAUSES_SECONDS = (60.0, 120.0)
"""Before the second attempt, and before the third."""


@dataclass(frozen=True, slots=True)
class AsyncConfig:
    """How calls of one alias are made again; as AWS does by itself, and nothing is set aside, where none is given."""

    retries: int = 2
    max_age_seconds: float = 21_600
    queue_url: str | None = None
    pauses_seconds: tuple[float, ...] = PAUSES_SECONDS


def see_through(
    config: AsyncConfig,
    call: Call,
    attempt: Callable[[Call], Outcome],
    *,
    pause: Callable[[float], bool],
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> dict[str, Any] | None:
    """Attempts the call until it succeeds; gives the record of one that never does.

    `pause` waits so many seconds, and says whether to go on: what is cut off at the end of the cloud is no failure.
    """
    begun, condition, attempts = clock(), "RetriesExhausted", 1
    outcome = attempt(call)
    for seconds in config.pauses_seconds[: config.retries]:
        if not outcome.failed:
            return None
        if not pause(seconds):
            return None
        if (clock() - begun).total_seconds() > config.max_age_seconds:
            condition = "EventAgeExceeded"
            break
        outcome = attempt(Call(call.payload, call.arn, call.id))
        attempts += 1
    if not outcome.failed or not pause(0):
        return None
    return {
        "version": "1.0",
        "timestamp": clock().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "requestContext": {
            "requestId": call.id,
            "functionArn": call.arn,
            "condition": condition,
            "approximateInvokeCount": attempts,
        },
        "requestPayload": json.loads(call.payload),
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "responsePayload": json.loads(outcome.payload),
    }
