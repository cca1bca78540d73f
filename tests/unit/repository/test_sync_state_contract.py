"""What every run state does: DynamoDB and the fake that stands for it."""

from datetime import datetime, timedelta
from typing import Protocol

import pytest

from commonplace.repository.ports import LeaseHeld, SyncState
from commonplace.repository.run_state import DynamoSyncState
from tests.aws_fixture import TABLE
from tests.fakes.state import FakeSyncState


class TimedState(SyncState, Protocol):
    """A run state whose clock the test moves."""

    now: datetime


class TimedDynamoSyncState(DynamoSyncState):
    now = datetime.fromisoformat("2026-01-01T00:00:00+00:00")


@pytest.fixture(params=["DynamoDB", "fake"])
def state(request: pytest.FixtureRequest) -> TimedState:
    if request.param == "fake":
        return FakeSyncState()
    client = request.getfixturevalue("dynamodb")
    timed = TimedDynamoSyncState(client, TABLE, "octo/notes", "main", clock=lambda: timed.now, sleep=lambda _: None)
    return timed


def test_a_new_branch_has_an_empty_state(state: TimedState) -> None:
    found = state.read()
    assert (found.pokes, found.done, found.running, found.running_since, found.generation) == (0, 0, None, None, 0)


def test_hints_are_counted(state: TimedState) -> None:
    assert [state.poke(), state.poke("guid"), state.poke()] == [1, 2, 3]
    assert state.read().pokes == 3


def test_a_delivery_keeps_the_number_of_its_hint(state: TimedState) -> None:
    assert state.delivery("guid") is None
    state.poke()
    assert state.poke("guid") == 2
    state.poke("other")
    assert state.delivery("guid") == 2
    assert state.poke("guid") == 2
    assert state.read().pokes == 3


def test_attempts_never_repeat(state: TimedState) -> None:
    assert len({state.next_attempt() for _ in range(5)}) == 5


def test_one_run_holds_the_claim(state: TimedState) -> None:
    assert state.claim("run-1")
    assert not state.claim("run-2")
    assert state.claim("run-1")
    found = state.read()
    assert (found.running, found.running_since) == ("run-1", state.now)


def test_a_claim_is_taken_over_only_from_the_run_that_is_named(state: TimedState) -> None:
    state.claim("run-1")
    assert not state.claim("run-3", replacing="run-2")
    assert state.claim("run-3", replacing="run-1")
    assert not state.claim("run-4", replacing="run-1")
    assert state.read().running == "run-3"


def test_a_claim_that_replaces_nothing_is_an_ordinary_one(state: TimedState) -> None:
    assert state.claim("run-2", replacing="run-1")


def test_a_run_that_has_seen_every_hint_is_finished(state: TimedState) -> None:
    seen = state.poke()
    state.claim("run-1")
    assert state.finish("run-1", seen)
    found = state.read()
    assert (found.done, found.running, found.running_since) == (1, None, None)


def test_a_hint_during_the_run_makes_it_go_round_again(state: TimedState) -> None:
    seen = state.poke()
    state.claim("run-1")
    state.poke()
    assert not state.finish("run-1", seen)
    assert (state.read().done, state.read().running) == (1, "run-1")
    assert state.finish("run-1", 2)
    assert (state.read().done, state.read().running) == (2, None)


def test_a_run_without_any_hint_is_finished_too(state: TimedState) -> None:
    state.claim("run-1")
    assert state.finish("run-1", 0)
    assert state.read().running is None


def test_a_run_that_lost_its_claim_ends_and_changes_nothing(state: TimedState) -> None:
    state.poke()
    state.claim("run-1")
    state.claim("run-2", replacing="run-1")
    assert state.finish("run-1", 1)
    assert (state.read().done, state.read().running) == (0, "run-2")


def test_what_is_done_never_grows_less(state: TimedState) -> None:
    state.poke()
    state.claim("run-1")
    state.finish("run-1", 1)
    state.claim("run-2")
    state.finish("run-2", 0)
    assert state.read().done == 1


def test_a_failed_run_gives_up_its_claim_and_leaves_its_hints_open(state: TimedState) -> None:
    state.poke()
    state.claim("run-1")
    state.release("run-1")
    assert (state.read().running, state.read().done) == (None, 0)
    assert state.claim("run-2")


def test_only_the_holder_releases_a_claim(state: TimedState) -> None:
    state.claim("run-1")
    state.release("run-2")
    assert state.read().running == "run-1"


def test_every_lease_has_a_greater_generation(state: TimedState) -> None:
    first = state.lease("run-1", 60)
    state.end_lease("run-1")
    second = state.lease("run-2", 60)
    third = state.lease("run-2", 60)
    assert first < second < third == state.read().generation


def test_one_run_publishes_at_a_time(state: TimedState) -> None:
    state.lease("run-1", 60)
    with pytest.raises(LeaseHeld):
        state.lease("run-2", 60)
    state.end_lease("run-2")
    with pytest.raises(LeaseHeld):
        state.lease("run-2", 60)
    state.end_lease("run-1")
    assert state.lease("run-2", 60) == 2


def test_a_lease_ends_with_its_time(state: TimedState) -> None:
    state.lease("run-1", 60)
    state.now += timedelta(seconds=59)
    with pytest.raises(LeaseHeld):
        state.lease("run-2", 60)
    state.now += timedelta(seconds=1)
    assert state.lease("run-2", 60) == 2
    state.end_lease("run-1")
    with pytest.raises(LeaseHeld):
        state.lease("run-3", 60)
