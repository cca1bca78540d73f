from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from mypy_boto3_dynamodb import DynamoDBClient

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.kernel.table import Contended
from commonplace.repository.run_state import DynamoSyncState
from tests.aws_fixture import TABLE
from tests.fakes.one_at_a_time import OneAtATime

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **amount: int) -> None:
        self.now += timedelta(**amount)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(dynamodb: DynamoDBClient, clock: Clock) -> DynamoSyncState:
    return DynamoSyncState(dynamodb, TABLE, "octo/notes", "main", clock=clock, sleep=lambda _: None)


def test_branches_do_not_share_state(dynamodb: DynamoDBClient, state: DynamoSyncState) -> None:
    other = DynamoSyncState(dynamodb, TABLE, "octo/notes", "draft")
    state.poke()
    state.claim("run-1")

    assert (other.read().pokes, other.read().running) == (0, None)
    assert other.claim("run-2")


def test_a_delivery_is_remembered_for_thirty_days_and_then_new_again(state: DynamoSyncState, clock: Clock) -> None:
    assert state.poke("guid") == 1
    clock.advance(days=29)
    assert state.delivery("guid") == 1
    clock.advance(days=2)

    assert state.delivery("guid") is None
    assert state.poke("guid") == 2
    assert state.delivery("guid") == 2


def test_a_delivery_carries_its_expiry_for_the_table_to_remove_it(
    dynamodb: DynamoDBClient, state: DynamoSyncState
) -> None:
    state.poke("guid")

    key = {"pk": {"S": "sync#octo/notes#main"}, "sk": {"S": "delivery#guid"}}
    item = dynamodb.get_item(TableName=TABLE, Key=key)["Item"]
    assert item["expiresAt"] == {"N": str(int((START + timedelta(days=30)).timestamp()))}


@pytest.fixture
def shared(dynamodb: DynamoDBClient, clock: Clock) -> DynamoSyncState:
    """A state that several threads use."""
    client: Any = OneAtATime(dynamodb)
    return DynamoSyncState(client, TABLE, "octo/notes", "main", clock=clock, sleep=lambda _: None)


def test_one_delivery_poking_from_many_threads_is_one_hint(shared: DynamoSyncState) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = set(pool.map(shared.poke, ["guid"] * 16))

    assert numbers == {1}
    assert shared.read().pokes == 1


def test_many_deliveries_from_many_threads_are_as_many_hints(shared: DynamoSyncState) -> None:
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(shared.poke, [f"guid-{number}" for number in range(12)]))

    assert sorted(numbers) == list(range(1, 13))


def test_of_runs_that_race_for_the_claim_one_gets_it(shared: DynamoSyncState) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(shared.claim, [f"run-{number}" for number in range(16)])) == 1


def test_of_runs_that_race_for_a_dead_one_one_replaces_it(shared: DynamoSyncState) -> None:
    shared.claim("dead-1")

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda number: shared.claim(f"run-{number}", replacing="dead-1"), range(16)))
    assert sum(won) == 1


def test_a_hint_that_races_with_the_end_of_a_run_is_never_lost(shared: DynamoSyncState) -> None:
    for number in range(10):
        run, seen = f"run-{number}", shared.poke()
        shared.claim(run)
        with ThreadPoolExecutor(2) as pool:
            ended, poked = pool.submit(shared.finish, run, seen), pool.submit(shared.poke)
        state = shared.read()
        assert state.pokes == poked.result()
        assert (state.running is None) == ended.result()
        assert state.done == seen < state.pokes
        if not ended.result():
            assert shared.finish(run, state.pokes)


def test_a_hint_that_comes_between_reading_and_writing_is_not_lost(
    dynamodb: DynamoDBClient, state: DynamoSyncState, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact, intruders = dynamodb.transact_write_items, iter([True, True])

    def late(**arguments: object) -> object:
        if next(intruders, False):
            state.poke()
        return transact(**arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(dynamodb, "transact_write_items", late)

    assert state.poke("guid") == 3
    assert state.read().pokes == 3


def test_a_transaction_that_never_gets_through_says_so(
    dynamodb: DynamoDBClient, state: DynamoSyncState, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(**_: object) -> None:
        reasons = [{"Code": "TransactionConflict"}, {"Code": "None"}]
        details = {"Error": {"Code": "TransactionCanceledException", "Message": ""}, "CancellationReasons": reasons}
        raise ClientError(details, "TransactWriteItems")  # type: ignore[arg-type]

    monkeypatch.setattr(dynamodb, "transact_write_items", cancelled)

    with pytest.raises(Contended):
        state.poke("guid")


def test_another_reason_for_a_cancelled_transaction_is_not_retried(
    dynamodb: DynamoDBClient, state: DynamoSyncState, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def cancelled(**_: object) -> None:
        calls.append(1)
        reasons = [{"Code": "ThrottlingError"}, {"Code": "None"}]
        details = {"Error": {"Code": "TransactionCanceledException", "Message": ""}, "CancellationReasons": reasons}
        raise ClientError(details, "TransactWriteItems")  # type: ignore[arg-type]

    monkeypatch.setattr(dynamodb, "transact_write_items", cancelled)

    with pytest.raises(Unavailable) as raised:
        state.poke("guid")
    assert isinstance(raised.value.__cause__, ClientError)
    assert len(calls) == 1


def test_a_write_that_meets_a_transaction_is_tried_again(
    dynamodb: DynamoDBClient, state: DynamoSyncState, monkeypatch: pytest.MonkeyPatch
) -> None:
    update, conflicts = dynamodb.update_item, iter([True, True])

    def busy(**arguments: object) -> object:
        if next(conflicts, False):
            raise ClientError({"Error": {"Code": "TransactionConflictException", "Message": ""}}, "UpdateItem")
        return update(**arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(dynamodb, "update_item", busy)

    assert state.poke() == 1


def test_the_claim_says_since_when(state: DynamoSyncState, clock: Clock) -> None:
    state.claim("run-1")

    assert state.read().running_since == START


def test_an_expired_lease_goes_to_the_next_run(state: DynamoSyncState, clock: Clock) -> None:
    first = state.lease("run-1", 60)
    clock.advance(seconds=61)

    assert state.lease("run-2", 60) > first


def test_counters_add_up_and_start_again_after_their_time(dynamodb: DynamoDBClient, clock: Clock) -> None:
    counters = DynamoCounters(dynamodb, TABLE, clock=clock)
    until = int(START.timestamp()) + 60

    assert [counters.add("reads#192.0.2.1", amount, until) for amount in (1, 2, 3)] == [1, 3, 6]
    assert counters.add("reads#192.0.2.2", 1, until) == 1
    clock.advance(seconds=60)
    assert counters.add("reads#192.0.2.1", 5, until + 60) == 5
