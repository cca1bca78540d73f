"""What models have answered before, on DynamoDB: vectors for ninety days, rerank orders for an hour.

Items: `pk = vector#{key}`, `sk = vector` and `pk = rerank#{key}`, `sk = order`, both with `expiresAt` in epoch seconds.
A cache that does not answer is an empty one: nothing here fails its caller.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.search.model import RecordId, Reranked
from commonplace.search.reranking import RERANK_TTL_SECONDS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.search.model import Vector, VectorMemory

logger = logging.getLogger(__name__)

VECTOR_TTL_SECONDS = 90 * 24 * 3_600

KEYS_PER_READ, ITEMS_PER_WRITE = 100, 25
"""BatchGetItem and BatchWriteItem take so many."""

ROUNDS = 5
"""How often what the table left undone is asked for again, after 0.05, 0.1, 0.2 and 0.4 s."""

Item = dict[str, Any]


class DynamoVectorMemory:
    """Vectors by key, as 32-bit floats: a text that was embedded before calls no model, whichever index it is for."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._sleep = sleep

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are at hand; a table that does not answer knows none of the rest."""
        found: dict[str, Vector] = {}
        try:
            for part in _parts(list(dict.fromkeys(keys)), KEYS_PER_READ):
                found |= self._read([_key("vector", key, "vector") for key in part])
        except (ClientError, BotoCoreError) as error:
            logger.warning("known vectors could not be read", extra={"error": type(error).__name__})
        return found

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        expires = int(self._clock()) + VECTOR_TTL_SECONDS
        items = [
            _key("vector", key, "vector") | {"vector": {"B": _packed(vector)}, "expiresAt": {"N": str(expires)}}
            for key, vector in vectors.items()
        ]
        try:
            for part in _parts(items, ITEMS_PER_WRITE):
                self._write(part)
        except (ClientError, BotoCoreError) as error:
            logger.warning("new vectors could not be kept", extra={"error": type(error).__name__})

    def _read(self, keys: Sequence[Item]) -> dict[str, Vector]:
        wanted: Any = {self._table: {"Keys": list(keys)}}
        now = self._clock()
        found: dict[str, Vector] = {}
        for _ in self._rounds():
            answer = self._client.batch_get_item(RequestItems=wanted)
            for item in answer.get("Responses", {}).get(self._table, []):
                if int(item["expiresAt"]["N"]) > now:
                    found[item["pk"]["S"].removeprefix("vector#")] = _unpacked(item["vector"]["B"])
            wanted = answer.get("UnprocessedKeys")
            if not wanted:
                break
        return found

    def _write(self, items: Sequence[Item]) -> None:
        wanted: Any = {self._table: [{"PutRequest": {"Item": item}} for item in items]}
        for _ in self._rounds():
            wanted = self._client.batch_write_item(RequestItems=wanted).get("UnprocessedItems")
            if not wanted:
                return
        logger.warning("the table left new vectors undone", extra={"vectors": len(wanted[self._table])})

    def _rounds(self) -> Iterator[int]:
        for attempt in range(ROUNDS):
            if attempt:
                self._sleep(0.05 * 2 ** (attempt - 1))
            yield attempt


class MemoryBehind:
    """A memory, and a second one that is asked for what the first does not know and keeps everything that is new."""

    def __init__(self, first: VectorMemory, second: VectorMemory) -> None:
        self._first = first
        self._second = second

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        found = dict(self._first.known(keys))
        missing = [key for key in keys if key not in found]
        return found | dict(self._second.known(missing)) if missing else found

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        self._first.remember(vectors)
        self._second.remember(vectors)


class DynamoRerankCache:
    """Orders for an hour, for every reader of the table. The table removes items late, so expiry is checked here."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def get(self, key: str) -> list[Reranked] | None:
        try:
            item = self._client.get_item(TableName=self._table, Key=_key("rerank", key, "order")).get("Item")
        except (ClientError, BotoCoreError) as error:
            logger.warning("a rerank order could not be read", extra={"error": type(error).__name__})
            return None
        if item is None or int(item["expiresAt"]["N"]) <= self._clock():
            return None
        return [Reranked(RecordId(record), float(score)) for record, score in json.loads(item["order"]["S"])]

    def put(self, key: str, ranked: Iterable[Reranked]) -> None:
        item: Item = _key("rerank", key, "order") | {
            "order": {"S": json.dumps([[each.id, each.score] for each in ranked])},
            "expiresAt": {"N": str(int(self._clock()) + RERANK_TTL_SECONDS)},
        }
        try:
            self._client.put_item(TableName=self._table, Item=item)
        except (ClientError, BotoCoreError) as error:
            logger.warning("a rerank order could not be kept", extra={"error": type(error).__name__})


def _key(kind: str, key: str, sort: str) -> Item:
    return {"pk": {"S": f"{kind}#{key}"}, "sk": {"S": sort}}


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _packed(vector: Vector) -> bytes:
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _unpacked(raw: bytes) -> Vector:
    numbers = array("f", raw)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
