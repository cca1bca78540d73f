"""Names are remembered for an hour, by all functions together, and told to nobody who reads the table."""

from typing import TYPE_CHECKING

from botocore.exceptions import EndpointConnectionError

from commonplace.identity.name_cache import RememberedNames
from commonplace.identity.wallets import NAMELESS, Named
from tests.aws_fixture import TABLE
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
NAMED = Named(name="alice.eth", avatar="https://example.org/a.png", github="alice")
KEY = b"k" * 64


class Names:
    """Asks nobody; None is an answer that did not come."""

    def __init__(self, named: Named | None = NAMED) -> None:
        self.named = named
        self.asks = 0

    def lookup(self, address: str) -> Named | None:
        self.asks += 1
        return self.named


def _function(names: Names, client: "DynamoDBClient", clock: Clock) -> RememberedNames:
    return RememberedNames(names, client, TABLE, key=lambda: KEY, clock=clock)


def test_a_name_is_asked_for_once_an_hour_for_every_function(dynamodb: "DynamoDBClient") -> None:
    names, clock = Names(), Clock()
    one, other = _function(names, dynamodb, clock), _function(names, dynamodb, clock)
    assert [one.of(ALICE), one.of(ALICE), other.of(ALICE)] == [NAMED] * 3
    assert names.asks == 1
    clock.forward(3_600)
    names.named = NAMELESS
    assert [one.of(ALICE), other.of(ALICE)] == [NAMELESS] * 2
    assert names.asks == 2


def test_having_no_name_is_remembered_too(dynamodb: "DynamoDBClient") -> None:
    names = Names(NAMELESS)
    assert [_function(names, dynamodb, Clock()).of(ALICE) for _ in range(2)] == [NAMELESS] * 2
    assert names.asks == 1


def test_a_name_that_could_not_be_found_out_is_asked_for_again(dynamodb: "DynamoDBClient") -> None:
    names = Names(None)
    remembered = _function(names, dynamodb, Clock())
    assert remembered.of(ALICE) == NAMELESS
    names.named = NAMED
    assert remembered.of(ALICE) == NAMED


def test_the_table_tells_neither_who_nor_what_they_are_called(dynamodb: "DynamoDBClient") -> None:
    _function(Names(), dynamodb, Clock()).of(ALICE)
    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    assert item["pk"]["S"].startswith("ens#")
    assert item["sk"] == {"S": "ens"}
    told = repr(item).lower()
    assert not [word for word in (ALICE[2:].lower(), "alice", "example.org") if word in told]


def test_an_item_that_another_key_made_is_none(dynamodb: "DynamoDBClient") -> None:
    names = Names()
    _function(names, dynamodb, Clock()).of(ALICE)
    (item,) = dynamodb.scan(TableName=TABLE)["Items"]
    dynamodb.put_item(TableName=TABLE, Item={**item, "sealed": {"B": b"x" * 60}})
    assert _function(names, dynamodb, Clock()).of(ALICE) == NAMED
    assert names.asks == 2


def test_a_table_that_does_not_answer_is_an_empty_one() -> None:
    names = Names()
    remembered = _function(names, _Gone(), Clock())  # type: ignore[arg-type]
    assert [remembered.of(ALICE), remembered.of(ALICE)] == [NAMED] * 2
    assert names.asks == 1


class _Gone:
    """A client whose table is out of reach."""

    def get_item(self, **asked: object) -> object:
        raise EndpointConnectionError(endpoint_url="https://dynamodb")

    put_item = get_item
