"""Roles are remembered for five minutes at most, by all functions together; an outage is remembered by none."""

from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import EndpointConnectionError

from commonplace.identity.accounts import Worn
from commonplace.identity.role_cache import RememberedHats
from commonplace.kernel.errors import Unavailable
from tests.aws_fixture import TABLE
from tests.fakes.ethereum import FakeHats
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
KEY = b"k" * 64
PATHS = ("30.3.1", "30.3.5")


class Function:
    """One process: a memory of its own, before the table that all share."""

    def __init__(self, hats: FakeHats, client: "DynamoDBClient", *, paths: tuple[str, ...] = PATHS, seconds: int = 300):
        self.memory = RememberedHats(
            hats,
            client,
            TABLE,
            key=lambda: KEY,
            chain_id=10,
            contract="0x3bc1A0Ad72417f2d411118085256fC53CBdDd137",
            paths=paths,
            seconds=seconds,
            clock=hats.clock,
        )

    def hats(self, address: str = ALICE, *, fresh: bool = False) -> set[str]:
        return set(self.memory.worn(address, fresh=fresh).hats)


@pytest.fixture
def hats() -> FakeHats:
    return FakeHats(Clock(), {ALICE.lower(): {"30.3.1"}})


def test_the_chain_is_asked_once_for_every_function_together(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    one, other = Function(hats, dynamodb), Function(hats, dynamodb)
    assert [one.hats(), one.hats(), other.hats(), other.hats()] == [{"30.3.1"}] * 4
    assert hats.asked == 1


def test_having_no_hats_is_remembered_too(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    hats.held.clear()
    assert [Function(hats, dynamodb).hats(), Function(hats, dynamodb).hats()] == [set(), set()]
    assert hats.asked == 1


def test_a_hat_that_was_taken_is_gone_after_the_life_of_the_memory(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    one, other = Function(hats, dynamodb), Function(hats, dynamodb)
    assert one.hats() == {"30.3.1"}
    hats.held.clear()
    hats.clock.forward(299)
    assert [one.hats(), other.hats()] == [{"30.3.1"}] * 2
    hats.clock.forward(1)
    # The second function's memory of the first one's answer is as old as the answer.
    assert [other.hats(), one.hats()] == [set()] * 2


def test_a_fresh_reading_passes_every_memory_and_renews_them(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    one, other = Function(hats, dynamodb), Function(hats, dynamodb)
    one.hats()
    hats.held.clear()
    hats.clock.forward(1)
    assert other.hats(fresh=True) == set()
    assert Function(hats, dynamodb).hats() == set()
    assert hats.asked == 2


def test_an_older_answer_that_comes_late_does_not_replace_a_newer_one(
    hats: FakeHats, dynamodb: "DynamoDBClient"
) -> None:
    early, late = Function(hats, dynamodb), Function(hats, dynamodb)
    hats.before_answer = lambda: late.hats(fresh=True)  # read later, and written first
    hats.old = Worn(hats=frozenset({"30.3.5"}), read_at=int(hats.clock()) - 10)
    early.hats(fresh=True)
    assert Function(hats, dynamodb).hats() == {"30.3.1"}


def test_unavailable_is_never_remembered(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    function = Function(hats, dynamodb)
    hats.down = True
    for fresh in (False, True):
        with pytest.raises(Unavailable):
            function.hats(fresh=fresh)
    hats.down = False
    assert function.hats() == {"30.3.1"}
    assert dynamodb.scan(TableName=TABLE)["Count"] == 1


def test_a_fresh_reading_that_fails_leaves_what_was_known(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    function = Function(hats, dynamodb)
    function.hats()
    hats.down = True
    with pytest.raises(Unavailable):
        function.hats(fresh=True)
    assert function.hats() == {"30.3.1"}


def test_one_account_is_known_by_any_spelling_of_its_address(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    function = Function(hats, dynamodb)
    assert function.hats(ALICE) == function.hats(ALICE.lower()) == {"30.3.1"}
    assert hats.asked == 1


def test_other_hats_are_another_question(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    Function(hats, dynamodb).hats()
    Function(hats, dynamodb, paths=("30.3.1",)).hats()
    assert hats.asked == 2


def test_without_a_life_nothing_is_remembered(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    function = Function(hats, dynamodb, seconds=0)
    function.hats()
    function.hats()
    assert hats.asked == 2
    assert dynamodb.scan(TableName=TABLE)["Count"] == 0


def test_the_table_tells_nobodys_address(hats: FakeHats, dynamodb: "DynamoDBClient") -> None:
    Function(hats, dynamodb).hats()
    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert item["pk"]["S"].startswith("roles#")
    assert item["sk"] == {"S": "roles"}
    assert ALICE[2:].lower() not in repr(item).lower()
    assert int(item["expiresAt"]["N"]) == int(hats.clock()) + 300


@pytest.mark.parametrize("damage", [{"hats": {"N": "1"}}, {"readAt": {"N": "9999999999"}}])
def test_an_item_that_cannot_be_is_none(
    damage: dict[str, dict[str, str]], hats: FakeHats, dynamodb: "DynamoDBClient"
) -> None:
    Function(hats, dynamodb).hats()
    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    dynamodb.put_item(TableName=TABLE, Item={**item, **damage})
    assert Function(hats, dynamodb).hats() == {"30.3.1"}
    assert hats.asked == 2


def test_a_table_that_does_not_answer_is_an_empty_one(hats: FakeHats) -> None:
    function = Function(hats, _Gone())  # type: ignore[arg-type]
    assert [function.hats(), function.hats()] == [{"30.3.1"}] * 2
    assert hats.asked == 1


class _Gone:
    """A client whose table is out of reach."""

    def get_item(self, **asked: object) -> object:
        raise EndpointConnectionError(endpoint_url="https://dynamodb")

    put_item = get_item
