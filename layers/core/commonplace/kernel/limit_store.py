"""Counters of rate limits on DynamoDB, table `activity`: `pk = counter#{key}`, `sk = counter`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]


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
