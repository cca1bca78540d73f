import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import RETRY_DELAYS, CircuitBreaker, RetryBudget, Transient, retrying


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def never(seconds: float) -> None:
    pytest.fail(f"nothing was to be waited for, least of all {seconds} seconds")


class Failing:
    """Raises what it was given, one after the other, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


def test_a_call_is_tried_three_more_times_after_one_two_and_four_seconds() -> None:
    waits: list[float] = []
    call = Failing(*[Transient(f"{number}") for number in range(9)])

    with pytest.raises(Transient, match="3"):
        retrying(call, sleep=waits.append)

    assert (call.calls, waits) == (4, [1, 2, 4])
    assert RETRY_DELAYS == (1, 2, 4)


def test_the_first_success_ends_the_schedule() -> None:
    waits: list[float] = []
    call = Failing(Transient("busy"))

    assert retrying(call, sleep=waits.append) == "answer"
    assert (call.calls, waits) == (2, [1])


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        ((0.2, 0.2, 0.2), [1, 2, 4]),
        ((3, 1, 1), [3, 2, 2]),
        ((7, 1), [7]),
        ((2, 2, 3), [2, 2, 3]),
        ((2, 2, 3.5), [2, 2]),
        ((7.5,), []),
        ((3_600,), []),
    ],
)
def test_whoever_asks_for_a_longer_pause_gets_it_as_long_as_the_schedule_lasts(
    asked: tuple[float, ...], waits: list[float]
) -> None:
    waited: list[float] = []
    call = Failing(*[Transient("busy", wait_seconds=seconds) for seconds in asked], Transient("still busy"))

    with pytest.raises(Transient):
        retrying(call, sleep=waited.append)

    assert waited == waits
    assert call.calls == len(waits) + 1


def test_what_will_not_pass_is_not_tried_again() -> None:
    call = Failing(Unavailable("refused"))

    with pytest.raises(Unavailable, match="refused"):
        retrying(call, sleep=never)

    assert call.calls == 1


def test_another_rule_can_say_what_is_worth_another_try() -> None:
    call = Failing(KeyError("x"), ValueError("y"))

    with pytest.raises(ValueError, match="y"):
        retrying(call, retryable=lambda error: isinstance(error, KeyError), sleep=lambda _: None)

    assert call.calls == 2


def test_a_breaker_opens_after_failures_in_a_row_and_says_how_long() -> None:
    clock = Clock()
    breaker = CircuitBreaker("The model", failures=3, open_seconds=30, clock=clock)
    breaker.failed()
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    breaker.failed()
    assert breaker.check() is False
    breaker.failed()
    clock.now += 10.5

    with pytest.raises(Unavailable, match="The model does not answer") as refused:
        breaker.check()

    assert refused.value.retry_after_seconds == 20
    assert breaker.trips == 1


def test_one_trial_call_passes_when_the_time_is_over_and_the_others_wait() -> None:
    clock = Clock()
    breaker = CircuitBreaker("The model", failures=1, open_seconds=30, clock=clock)
    breaker.failed()
    clock.now += 30

    assert breaker.check() is True
    with pytest.raises(Unavailable):
        breaker.check()


def test_a_trial_that_succeeds_closes_the_breaker_and_one_that_fails_opens_it_again() -> None:
    clock = Clock()
    breaker = CircuitBreaker("The model", failures=3, open_seconds=30, clock=clock)
    for _ in range(3):
        breaker.failed()
    clock.now += 30
    breaker.check()
    breaker.failed()
    with pytest.raises(Unavailable):
        breaker.check()
    clock.now += 30
    breaker.check()
    breaker.succeeded()

    assert breaker.check() is False
    breaker.failed()
    assert breaker.check() is False


def test_a_trial_that_never_reports_back_does_not_shut_the_breaker_for_ever() -> None:
    clock = Clock()
    breaker = CircuitBreaker("The model", failures=1, open_seconds=30, clock=clock)
    breaker.failed()
    clock.now += 30
    breaker.check()
    clock.now += 30

    assert breaker.check() is True


def test_a_budget_gives_its_burst_and_then_one_retry_for_five_calls() -> None:
    budget = RetryBudget(ratio=0.2, burst=2)

    assert [budget.spend() for _ in range(3)] == [True, True, False]
    for _ in range(4):
        budget.earn()
    assert not budget.spend()
    budget.earn()
    assert budget.spend()


def test_a_budget_saves_up_no_more_than_its_burst() -> None:
    budget = RetryBudget(ratio=1, burst=2)
    for _ in range(100):
        budget.earn()

    assert [budget.spend() for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(("asked", "seconds"), [(None, 30), (5, 30), (90, 90), (86_400, 300)])
def test_a_dependency_is_left_alone_for_as_long_as_it_asks_within_reason(asked: float | None, seconds: int) -> None:
    clock = Clock()
    breaker = CircuitBreaker("The model", failures=1, open_seconds=30, clock=clock)
    breaker.failed(asked)

    clock.now += seconds - 1
    with pytest.raises(Unavailable):
        breaker.check()
    clock.now += 1
    assert breaker.check()


def test_what_passes_says_when_to_come_back() -> None:
    assert Transient("busy").retry_after_seconds == Unavailable("busy").retry_after_seconds
    assert [Transient("busy", wait_seconds=asked).retry_after_seconds for asked in (0.2, 61.5)] == [1, 62]
