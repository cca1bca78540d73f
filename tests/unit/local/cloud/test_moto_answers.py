"""Items come back from the laptop cloud as they were written, whatever they hold."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from commonplace_local.cloud import moto_patches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ITEM: dict[str, Any] = {
    "pk": {"S": "p"},
    "sk": {"S": "s"},
    "empty": {"S": ""},
    "looksLikeOne": {"M": {"S": {"S": "a field named as a kind"}, "N": {"N": "1"}}},
    "number": {"N": "3.25"},
    "true": {"BOOL": True},
    "false": {"BOOL": False},
    "nothing": {"NULL": True},
    "bytes": {"B": b"\x00\xff"},
    "list": {"L": [{"S": "one"}, {"L": [{"N": "2"}]}, {"M": {}}]},
    "texts": {"SS": ["a", "b"]},
}


@pytest.fixture
def dynamodb() -> "Iterator[DynamoDBClient]":
    moto_patches.patch_answers()
    with mock_aws():
        client: Any = boto3.session.Session("1", "x", region_name="us-east-1").client("dynamodb")
        client.create_table(
            TableName="records",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


def test_every_kind_of_value_comes_back_as_it_was_written(dynamodb: "DynamoDBClient") -> None:
    dynamodb.put_item(TableName="records", Item=ITEM)
    key = {name: ITEM[name] for name in ("pk", "sk")}
    (many,) = dynamodb.batch_get_item(RequestItems={"records": {"Keys": [key]}})["Responses"]["records"]
    (queried,) = dynamodb.query(
        TableName="records", KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "p"}}
    )["Items"]
    for found in (dynamodb.get_item(TableName="records", Key=key)["Item"], many, queried):
        assert {name: found[name] for name in ITEM if name != "texts"} == {
            name: ITEM[name] for name in ITEM if name != "texts"
        }
        assert sorted(found["texts"]["SS"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"S": "x"}, True),
        ({"N": "1"}, True),
        ({"BOOL": False}, True),
        ({"N": 1}, False),
        ({"B": b"x"}, False),
        ({"S": "x", "N": "1"}, False),
        ({"M": {}}, True),
        ({"M": {"S": {"S": "x"}, "list": {"L": [{"M": {}}]}}}, True),
        ({"M": {"bytes": {"B": b"x"}}}, False),
        ({"L": [{"S": "x"}, {"L": []}]}, True),
        ({"L": [{"S": "x"}, {"B": b"x"}]}, False),
        ({}, False),
        ("S", False),
    ],
)
def test_only_what_is_in_the_form_of_an_answer_already_is_left_as_it_is(value: Any, plain: bool) -> None:
    assert moto_patches.is_plain(value) is plain
