"""A note that records of a collection wait for vectors.

Table `activity`: `pk = index#{collection}`, `sk = incomplete`, `at` in epoch seconds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

_LOST = "ConditionalCheckFailedException"


class DynamoNote:
    """`commonplace.search.waiting.Note`. Its time is kept to the millisecond."""

    def __init__(
        self, client: DynamoDBClient, table: str, collection: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` gives seconds since the epoch."""
        self._client = client
        self._table = table
        self._key = key(f"index#{collection}", "incomplete")
        self._clock = clock

    def put(self) -> None:
        try:
            self._client.put_item(TableName=self._table, Item=self._key | {"at": {"N": f"{self._clock():.3f}"}})
        except (BotoCoreError, ClientError) as error:
            logger.warning("records that wait could not be noted", extra={"error": type(error).__name__})

    def read(self) -> float | None:
        try:
            item = self._client.get_item(TableName=self._table, Key=self._key, ConsistentRead=True).get("Item")
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("The note of records that wait cannot be read.") from error
        return float(item["at"]["N"]) if item else None

    def clear(self, noted: float) -> None:
        try:
            self._client.delete_item(
                TableName=self._table,
                Key=self._key,
                ConditionExpression="#at = :noted",
                ExpressionAttributeNames={"#at": "at"},
                ExpressionAttributeValues={":noted": {"N": f"{noted:.3f}"}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != _LOST:
                raise Unavailable("The note of records that wait cannot be taken away.") from error
        except BotoCoreError as error:
            raise Unavailable("The note of records that wait cannot be taken away.") from error
