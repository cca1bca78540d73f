"""Slots on DynamoDB, table `activity`: one item that is replaced as a whole, by conditional writes.

Item: `pk = slots#{what}`, `sk = slots`, `mark` a new one with each write, `slots` a list of `{name, holder, until}`.
Importing this loads no botocore: it is only for who listens now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from commonplace.kernel.items import Item, key, plain, typed
from commonplace.kernel.slots import Slot

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LISTENS = "slots#listens"
"""Partition of who holds a function open to listen for changes."""

NEVER_WRITTEN = ""


class DynamoSlots:
    """`commonplace.kernel.slots.SlotStore`."""

    def __init__(self, client: DynamoDBClient, table: str, partition: str = LISTENS) -> None:
        self._client = client
        self._table = table
        self._key = key(partition, "slots")

    def read(self) -> tuple[Sequence[Slot], str]:
        item = self._client.get_item(TableName=self._table, Key=self._key, ConsistentRead=True).get("Item")
        if item is None:
            return [], NEVER_WRITTEN
        return [Slot(**one) for one in plain(item["slots"])], plain(item["mark"])

    def replace(self, slots: Sequence[Slot], mark: str) -> bool:
        from botocore.exceptions import ClientError

        item: Item = self._key | {
            "mark": typed(uuid4().hex),
            "slots": typed([{"name": one.name, "holder": one.holder, "until": one.until} for one in slots]),
        }
        condition: Item = {"ConditionExpression": "attribute_not_exists(pk)"}
        if mark != NEVER_WRITTEN:
            condition = {
                "ConditionExpression": "#mark = :mark",
                "ExpressionAttributeNames": {"#mark": "mark"},
                "ExpressionAttributeValues": {":mark": typed(mark)},
            }
        try:
            self._client.put_item(TableName=self._table, Item=item, **condition)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                return False
            raise
        return True
