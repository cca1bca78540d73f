"""Slots over each store: how many there are for one and for all, and when they come free."""

from typing import Any

import pytest

from commonplace.kernel.limit_store import LISTENS, DynamoSlots
from commonplace.kernel.limits import ATTEMPTS, MARGIN_SECONDS, Slots, SlotStore
from tests.aws_fixture import TABLE
from tests.fakes.slots import FakeSlots


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest) -> SlotStore:
    return FakeSlots() if request.param == "memory" else DynamoSlots(request.getfixturevalue("dynamodb"), TABLE)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def processes(store: SlotStore, clock: Clock, *, each: int = 2, together: int = 5) -> list[Slots]:
    return [Slots(store, clock, each=each, together=together) for _ in range(2)]


def test_one_holder_has_no_more_than_its_share_whichever_process_it_asks(store: SlotStore, clock: Clock) -> None:
    one, other = processes(store, clock)
    taken = [process.take("rosa", 20) for process in (one, other, one, other)]
    assert [slot is not None for slot in taken] == [True, True, False, False]
    assert other.take("anton", 20) is not None


def test_all_together_have_no_more_than_there_are(store: SlotStore, clock: Clock) -> None:
    one, other = processes(store, clock)
    taken = [process.take(f"holder {number}", 20) for number in range(4) for process in (one, other)]
    assert sum(slot is not None for slot in taken) == 5


def test_a_slot_that_is_given_back_is_free_at_once(store: SlotStore, clock: Clock) -> None:
    one, other = processes(store, clock, each=1)
    slot = one.take("rosa", 20)
    assert slot is not None
    assert other.take("rosa", 20) is None
    other.release("another")
    assert other.take("rosa", 20) is None
    one.release(slot)
    assert other.take("rosa", 20) is not None


def test_a_slot_whose_holder_crashed_comes_free_by_itself(store: SlotStore, clock: Clock) -> None:
    one, other = processes(store, clock, each=1, together=1)
    assert one.take("rosa", 20) is not None
    clock.now += 20
    assert other.take("anton", 20) is None
    clock.now += MARGIN_SECONDS
    assert other.take("anton", 20) is not None


def test_a_state_that_has_changed_is_not_written_over(store: SlotStore, clock: Clock) -> None:
    _, before = store.read()
    assert Slots(store, clock, each=1, together=1).take("rosa", 20) is not None
    held, _ = store.read()
    assert not store.replace([], before)
    assert store.read()[0] == held


@pytest.mark.parametrize(("each", "together"), [(0, 5), (2, 0)])
def test_without_slots_nobody_gets_one_and_the_store_is_not_asked(each: int, together: int) -> None:
    store = FakeSlots()
    assert Slots(store, Clock(), each=each, together=together).take("rosa", 20) is None
    assert store.calls == 0


def test_whoever_is_overtaken_looks_again(clock: Clock) -> None:
    store = FakeSlots()
    slow, fast = processes(store, clock, each=1, together=1)
    store.meanwhile = [lambda: fast.take("anton", 20)]
    assert slow.take("rosa", 20) is None
    assert len(store.slots) == 1


def test_whoever_is_overtaken_without_end_gets_none(clock: Clock) -> None:
    store = FakeSlots()

    def overtake() -> None:
        store.writes += 1

    store.meanwhile = [overtake] * ATTEMPTS
    assert Slots(store, clock, each=2, together=5).take("rosa", 20) is None


def test_a_store_that_does_not_answer_gives_none_and_is_no_failure(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeSlots()
    slots = Slots(store, clock, each=2, together=5)
    slot = slots.take("rosa", 20)
    assert slot is not None
    store.unreachable = True
    assert slots.take("rosa", 20) is None
    slots.release(slot)
    assert {record.getMessage() for record in caplog.records} == {"slots cannot be counted, and none is given"}
    assert "rosa" not in caplog.text


def test_a_table_that_is_not_there_gives_none(dynamodb: Any, clock: Clock) -> None:
    assert Slots(DynamoSlots(dynamodb, "nowhere"), clock, each=2, together=5).take("rosa", 20) is None


def test_what_is_stored_names_no_holder_and_depends_on_the_secret(dynamodb: Any, clock: Clock) -> None:
    store = DynamoSlots(dynamodb, TABLE)
    for secret in (b"one", b"two"):
        assert Slots(store, clock, each=1, together=2, secret=secret).take("rosa", 20) is not None
    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert item["pk"] == {"S": LISTENS}
    assert "rosa" not in str(item)
