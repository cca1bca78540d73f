"""Queries of the laptop cloud find what they found before, and look at one partition."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models.table import Table

from commonplace_local.cloud import moto_patches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def dynamodb() -> "Iterator[DynamoDBClient]":
    moto_patches.patch_queries()
    with mock_aws():
        client: Any = boto3.session.Session("1", "x", region_name="us-east-1").client("dynamodb")
        client.create_table(
            TableName="records",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        for partition in ("a", "b"):
            for number in reversed(range(25)):
                item: Any = {"pk": {"S": partition}, "sk": {"S": f"{number:03d}"}, "n": {"N": str(number)}}
                client.put_item(TableName="records", Item=item)
        yield client


def keys(client: "DynamoDBClient", condition: str = "pk = :pk", partition: str = "a", **more: Any) -> list[str]:
    values = {":pk": {"S": partition}} | more.pop("values", {})
    pages = client.get_paginator("query").paginate(
        TableName="records", KeyConditionExpression=condition, ExpressionAttributeValues=values, **more
    )
    return [item["sk"]["S"] for page in pages for item in page["Items"]]


def test_the_items_of_the_partition_come_in_order_page_by_page(dynamodb: "DynamoDBClient") -> None:
    everything = [f"{number:03d}" for number in range(25)]
    assert keys(dynamodb) == everything
    assert keys(dynamodb, PaginationConfig={"PageSize": 4}) == everything
    assert keys(dynamodb, ScanIndexForward=False, PaginationConfig={"PageSize": 7}) == everything[::-1]
    assert keys(dynamodb, partition="nobody") == []


def test_conditions_and_filters_count_as_before(dynamodb: "DynamoDBClient") -> None:
    between = {":first": {"S": "010"}, ":last": {"S": "014"}}
    assert keys(dynamodb, "pk = :pk AND sk BETWEEN :first AND :last", values=between) == [
        "010", "011", "012", "013", "014",
    ]  # fmt: skip
    small: Any = {":most": {"N": "2"}}
    assert keys(dynamodb, FilterExpression="n < :most", values=small) == ["000", "001"]
    dynamodb.delete_item(TableName="records", Key={"pk": {"S": "a"}, "sk": {"S": "000"}})
    assert keys(dynamodb)[0] == "001"


def test_a_query_does_not_go_through_the_table(dynamodb: "DynamoDBClient", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "all_items", lambda _: pytest.fail("every item of the table was looked at"))
    assert len(keys(dynamodb)) == 25
    assert keys(dynamodb, partition="nobody") == []
