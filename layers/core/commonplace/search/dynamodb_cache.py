"""Orders that a reranker has answered before, on DynamoDB for an hour.

Items: `pk = rerank#{key}`, `sk = order`, with `expiresAt` in epoch seconds. A cache that does not answer is an empty
one: nothing here fails its caller.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.search.model import RecordId, Reranked
from commonplace.search.rerank import RERANK_TTL_SECONDS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

Item = dict[str, Any]


class DynamoRerankCache:
    """Orders for an hour, for every reader of the table. The table removes items late, so expiry is checked here."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def get(self, key: str) -> list[Reranked] | None:
        try:
            item = self._client.get_item(TableName=self._table, Key=_key(key)).get("Item")
        except (ClientError, BotoCoreError) as error:
            logger.warning("a rerank order could not be read", extra={"error": type(error).__name__})
            return None
        if item is None or int(item["expiresAt"]["N"]) <= self._clock():
            return None
        return [Reranked(RecordId(record), float(score)) for record, score in json.loads(item["order"]["S"])]

    def put(self, key: str, ranked: Iterable[Reranked]) -> None:
        item: Item = _key(key) | {
            "order": {"S": json.dumps([[each.id, each.score] for each in ranked])},
            "expiresAt": {"N": str(int(self._clock()) + RERANK_TTL_SECONDS)},
        }
        try:
            self._client.put_item(TableName=self._table, Item=item)
        except (ClientError, BotoCoreError) as error:
            logger.warning("a rerank order could not be kept", extra={"error": type(error).__name__})


def _key(key: str) -> Item:
    return {"pk": {"S": f"rerank#{key}"}, "sk": {"S": "order"}}
