"""Calls that nobody waits for: how often they are made, and what is left of those that never succeed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from commonplace_local.cloud.lambda_host import PAUSES_SECONDS, AsyncConfig, see_through
from commonplace_local.cloud.runtime import Call, Outcome

ARN = "arn:aws:lambda:us-east-1:123456789012:function:commonplace-dev-webhook:live"
FAILED = Outcome(b'{"errorType": "Throttled", "errorMessage": "too much"}', failed=True)
DONE = Outcome(b"null")


class World:
    """Time passes while a call waits for its next attempt."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        self.outcomes = list(outcomes)
        self.attempts: list[Call] = []
        self.pauses: list[float] = []
        self.stopping = False

    def attempt(self, call: Call) -> Outcome:
        self.attempts.append(call)
        return self.outcomes.pop(0)

    def pause(self, seconds: float) -> bool:
        self.now += timedelta(seconds=seconds)
        self.pauses += [seconds] if seconds else []
        return not self.stopping


def seen_through(world: World, config: AsyncConfig | None = None) -> dict[str, object] | None:
    call = Call(b'{"source": "aws.events"}', ARN, "request")
    clock: Callable[[], datetime] = lambda: world.now  # noqa: E731
    return see_through(config or AsyncConfig(), call, world.attempt, pause=world.pause, clock=clock)


def test_a_call_that_succeeds_is_made_once_and_leaves_nothing() -> None:
    world = World(DONE)
    assert seen_through(world) is None
    assert (len(world.attempts), world.pauses) == (1, [])


def test_a_call_that_fails_is_made_again_after_a_minute_and_after_two_more() -> None:
    world = World(FAILED, FAILED, DONE)
    assert seen_through(world) is None
    assert world.pauses == list(PAUSES_SECONDS) == [60, 120]
    assert {(call.id, call.payload, call.arn) for call in world.attempts} == {
        ("request", b'{"source": "aws.events"}', ARN)
    }


def test_a_call_that_never_succeeds_leaves_what_was_sent_and_what_came_of_it() -> None:
    world = World(FAILED, FAILED, FAILED)
    assert seen_through(world) == {
        "version": "1.0",
        "timestamp": "2026-01-02T03:07:05.000Z",
        "requestContext": {
            "requestId": "request",
            "functionArn": ARN,
            "condition": "RetriesExhausted",
            "approximateInvokeCount": 3,
        },
        "requestPayload": {"source": "aws.events"},
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "responsePayload": {"errorType": "Throttled", "errorMessage": "too much"},
    }


def test_a_call_is_made_as_often_as_its_alias_says() -> None:
    world = World(FAILED)
    record = seen_through(world, AsyncConfig(retries=0))
    assert record is not None
    assert len(world.attempts) == 1


def test_a_call_that_has_become_too_old_is_not_made_again() -> None:
    world = World(FAILED, FAILED)
    record = seen_through(world, AsyncConfig(max_age_seconds=100))
    assert record is not None
    context = record["requestContext"]
    assert isinstance(context, dict)
    assert (context["condition"], context["approximateInvokeCount"]) == ("EventAgeExceeded", 2)


def test_a_call_that_is_cut_off_because_the_cloud_ends_is_no_failure() -> None:
    world = World(FAILED)
    world.stopping = True
    assert seen_through(world) is None
