"""Counters of rate limits on DynamoDB, table `activity`: `pk = counter#{key}`, `sk = counter`.

Slots on DynamoDB, table `activity`: one item that is replaced as a whole, by conditional writes.

Item: `pk = slots#{what}`, `sk = slots`, `mark` a new one with each write, `slots` a list of `{name, holder, until}`.
Importing this loads no botocore: it is only for who listens now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from botocore.exceptions import ClientError

from commonplace.kernel.items import Item, key, plain, typed
from commonplace.kernel.limits import Slot

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def utc_now() -> datetime:
    return datetime.now(UTC)


class DynamoCounters:
    """Counters that expire, for rate limits: every addition is atomic."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def add(self, key: str, amount: int, expires_at: int) -> int:
        """Adds and returns the new total. `expires_at` is in epoch seconds; an expired counter starts again at zero."""
        now, amount_value, until = (
            {"N": str(int(self._clock().timestamp()))},
            {"N": str(amount)},
            {"N": str(expires_at)},
        )
        live = self._update(
            key,
            "SET expiresAt = :until ADD used :amount",
            "attribute_not_exists(pk) OR expiresAt > :now",
            {":until": until, ":amount": amount_value, ":now": now},
        )
        if live is not None:
            return live
        again = self._update(
            key,
            "SET expiresAt = :until, used = :amount",
            "expiresAt <= :now",
            {":until": until, ":amount": amount_value, ":now": now},
        )
        # Somebody else has started it again in between: it is live now.
        return again if again is not None else self.add(key, amount, expires_at)

    def _update(self, key: str, change: str, condition: str, values: Item) -> int | None:
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key={"pk": {"S": f"counter#{key}"}, "sk": {"S": "counter"}},
                UpdateExpression=change,
                ConditionExpression=condition,
                ExpressionAttributeValues=values,
                ReturnValues="UPDATED_NEW",
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                return None
            raise
        return int(answer["Attributes"]["used"]["N"])


LISTENS = "slots#listens"
"""Partition of who holds a function open to listen for changes."""

NEVER_WRITTEN = ""


class DynamoSlots:
    """`commonplace.kernel.limits.SlotStore`."""

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
