"""A table that tells of its writes: what passes the pipe."""

from typing import Any

import pytest

from commonplace_local.cloud import moto_patches
from commonplace_local.cloud.cloud import Cloud

from .test_events import items

pytestmark = pytest.mark.laptop


def item(pk: str, sk: str = "a") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def put(cloud: Cloud, pk: str, sk: str = "a") -> None:
    cloud.client("dynamodb").put_item(TableName=cloud.table("Told"), Item=item(pk, sk))


def told(cloud: Cloud, pk: str, sk: str = "a") -> list[dict[str, Any]]:
    return items(cloud, f"told {pk} {sk}")


def test_a_write_that_fits_the_filter_reaches_the_function_as_the_template_says(cloud: Cloud) -> None:
    put(cloud, "acme#entries", "one")
    put(cloud, "acme#cards", "one")
    cloud.wait_idle()
    (found,) = told(cloud, "acme#entries", "one")
    assert found["body"] == {"pk": "acme#entries", "sk": "one"}
    assert told(cloud, "acme#cards", "one") == []


def test_every_change_is_told_and_a_deletion_too(cloud: Cloud) -> None:
    dynamodb = cloud.client("dynamodb")
    put(cloud, "changed#entries")
    dynamodb.update_item(
        TableName=cloud.table("Told"),
        Key=item("changed#entries"),
        UpdateExpression="SET n = :n",
        ExpressionAttributeValues={":n": {"N": "1"}},
    )
    dynamodb.delete_item(TableName=cloud.table("Told"), Key=item("changed#entries"))
    cloud.wait_idle()
    assert len(told(cloud, "changed#entries")) == 3


def test_a_transaction_that_is_refused_loses_no_later_change(cloud: Cloud) -> None:
    dynamodb = cloud.client("dynamodb")
    table = cloud.table("Told")
    put(cloud, "first#entries")
    refused = {"TableName": table, "Item": item("first#entries"), "ConditionExpression": "attribute_not_exists(pk)"}
    with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
        dynamodb.transact_write_items(
            TransactItems=[{"Put": {"TableName": table, "Item": item("refused#entries")}}, {"Put": refused}]
        )
    put(cloud, "later#entries")
    cloud.wait_idle()
    assert (len(told(cloud, "first#entries")), len(told(cloud, "later#entries"))) == (1, 1)


def test_more_changes_than_one_call_takes_all_arrive(cloud: Cloud) -> None:
    names = [f"{number:04d}" for number in range(230)]
    for start in range(0, len(names), 25):
        puts = [{"PutRequest": {"Item": item("many#entries", name)}} for name in names[start : start + 25]]
        cloud.client("dynamodb").batch_write_item(RequestItems={cloud.table("Told"): puts})
    cloud.wait_idle()
    assert all(len(told(cloud, "many#entries", name)) == 1 for name in names)


def test_a_stream_forgets_what_was_sent_on(cloud: Cloud) -> None:
    for number in range(20):
        put(cloud, "read#entries", f"{number:02d}")
    assert moto_patches.take_changes(cloud.table("Told")) == []
    cloud.wait_idle()
    assert all(len(told(cloud, "read#entries", f"{number:02d}")) == 1 for number in range(20))
