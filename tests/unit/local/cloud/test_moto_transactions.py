"""A transaction on the laptop cloud does all or nothing, and copies no table for it."""

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from commonplace_local.cloud import moto_patches
from tests.dynamodb_fixture import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "records"


@pytest.fixture
def table() -> "Iterator[DynamoDBClient]":
    moto_patches.patch_transactions()
    with mock_aws():
        session = boto3.session.Session("1", "x", region_name="us-east-1")
        client: Any = session.client("dynamodb")
        client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )
        yield client


def key(name: str) -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": name}}


def put(name: str, value: str, condition: str | None = None) -> Any:
    part: dict[str, Any] = {"TableName": TABLE, "Item": key(name) | {"v": {"S": value}}}
    return {"Put": part | ({"ConditionExpression": condition} if condition else {})}


def told(client: "DynamoDBClient") -> list[tuple[str, str]]:
    shard: Any = dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].tables[TABLE].stream_shard
    records = (item.record for item in shard.items)
    return [(record["eventName"], record["dynamodb"]["Keys"]["sk"]["S"]) for record in records]


CHANGES: list[Any] = [
    put("new", "n"),
    put("there", "changed"),
    {"Delete": {"TableName": TABLE, "Key": key("gone")}},
    {
        "Update": {
            "TableName": TABLE,
            "Key": key("grown"),
            "UpdateExpression": "SET v = :v",
            "ExpressionAttributeValues": {":v": {"S": "x"}},
        }
    },
    {"ConditionCheck": {"TableName": TABLE, "Key": key("there"), "ConditionExpression": "attribute_exists(pk)"}},
]


def test_a_transaction_that_fails_leaves_everything_as_it_was(table: "DynamoDBClient") -> None:
    table.transact_write_items(TransactItems=[put(name, "old") for name in ("there", "gone", "grown")])
    before, announced = dump(table, TABLE), told(table)
    for last in (put("there2", "x", "attribute_exists(pk)"), put("new", "twice")):
        with pytest.raises(ClientError):
            table.transact_write_items(TransactItems=[*CHANGES[:4], last])

        assert sorted(dump(table, TABLE)) == sorted(before)
        assert told(table) == announced


def test_a_transaction_that_goes_through_is_done_and_announced(table: "DynamoDBClient") -> None:
    table.transact_write_items(TransactItems=[put(name, "old") for name in ("there", "gone", "grown")])
    table.transact_write_items(TransactItems=CHANGES[:4])

    items = table.scan(TableName=TABLE)["Items"]
    assert {item["sk"]["S"]: item["v"]["S"] for item in items} == {"there": "changed", "grown": "x", "new": "n"}
    assert told(table)[3:] == [("INSERT", "new"), ("MODIFY", "there"), ("REMOVE", "gone"), ("MODIFY", "grown")]


def test_no_table_is_copied_for_a_transaction(table: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.dynamodb.models.table import Table

    def refuse(self: Table, memo: Any) -> Table:
        raise AssertionError("a table was copied")

    monkeypatch.setattr(Table, "__deepcopy__", refuse, raising=False)
    table.transact_write_items(TransactItems=[put("one", "1")])
    assert len(table.scan(TableName=TABLE)["Items"]) == 1
