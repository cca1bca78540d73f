"""Vectors computed before, of each organisation apart, on DynamoDB for ninety days.

Items: `pk = {organisation}#vectors`, `sk = {key}` as `search.embedding.vector_key` makes it, `vector` (32-bit floats),
`expiresAt` in epoch seconds. A cache that does not answer is an empty one: only counting and clearing it say so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.search.models.values import packed, unpacked
from commonplace.search.source import batches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.search.model import Vector, VectorMemory

logger = logging.getLogger(__name__)

VECTOR_TTL_SECONDS = 90 * 24 * 3_600

KEYS_PER_READ, ITEMS_PER_WRITE = 100, 25
"""BatchGetItem and BatchWriteItem take so many."""

ROUNDS = 5
"""How often what the table left undone is asked for again, after 0.05, 0.1, 0.2 and 0.4 s."""

KEYS_PER_PAGE = 1_000
"""Of a query; of long vectors fewer come, for DynamoDB reads 1 MB for a page."""

Item = dict[str, Any]


class DynamoVectorCaches:
    """The vectors of every organisation, in one table (`memory.ports.VectorCaches`)."""

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

    def of(self, organisation: str) -> DynamoVectorMemory:
        return DynamoVectorMemory(self._client, self._table, organisation, clock=self._clock, sleep=self._sleep)

    def clear(self, organisation: str) -> int:
        """Forgets this organisation's vectors and says how many there were. Raises Unavailable."""
        return self.of(organisation).clear()

    def size(self, organisation: str) -> int:
        """How many vectors are kept for this organisation. Raises Unavailable."""
        return self.of(organisation).size()


class DynamoVectorMemory:
    """One organisation's vectors: a text that was embedded before calls no model, whichever index it is for."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        organisation: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._table = table
        self._partition = f"{organisation}#vectors"
        self._clock = clock
        self._sleep = sleep

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are at hand; a table that does not answer knows none of the rest."""
        found: dict[str, Vector] = {}
        try:
            for part in batches(list(dict.fromkeys(keys)), KEYS_PER_READ):
                found |= self._read([self._key(key) for key in part])
        except (ClientError, BotoCoreError) as error:
            logger.warning("known vectors could not be read", extra={"error": type(error).__name__})
        return found

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        expires = int(self._clock()) + VECTOR_TTL_SECONDS
        items = [
            self._key(key) | {"vector": {"B": packed(vector)}, "expiresAt": {"N": str(expires)}}
            for key, vector in vectors.items()
        ]
        try:
            left = sum(self._write([{"PutRequest": {"Item": item}} for item in items]))
        except (ClientError, BotoCoreError) as error:
            logger.warning("new vectors could not be kept", extra={"error": type(error).__name__})
            return
        if left:
            logger.warning("the table left new vectors undone", extra={"vectors": left})

    def size(self) -> int:
        """How many are kept. Raises Unavailable."""
        with _answering():
            return sum(page["Count"] for page in self._pages(Select="COUNT"))

    def clear(self) -> int:
        """Forgets all of them and says how many there were. Raises Unavailable: some may be forgotten already."""
        count = 0
        with _answering():
            for page in self._pages(ProjectionExpression="sk"):
                keys = [item["sk"]["S"] for item in page["Items"]]
                if any(self._write([{"DeleteRequest": {"Key": self._key(key)}} for key in keys])):
                    raise Unavailable("The cache of embeddings is too busy to be cleared now.", retry_after_seconds=5)
                count += len(keys)
        return count

    def _pages(self, **shown: Any) -> Iterator[Any]:
        yield from self._client.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="pk = :pk",
            FilterExpression="expiresAt > :now",
            ExpressionAttributeValues={":pk": {"S": self._partition}, ":now": {"N": str(int(self._clock()))}},
            PaginationConfig={"PageSize": KEYS_PER_PAGE},
            **shown,
        )

    def _read(self, keys: Sequence[Item]) -> dict[str, Vector]:
        wanted: Any = {self._table: {"Keys": list(keys)}}
        now = self._clock()
        found: dict[str, Vector] = {}
        for _ in self._rounds():
            answer = self._client.batch_get_item(RequestItems=wanted)
            for item in answer.get("Responses", {}).get(self._table, []):
                if int(item["expiresAt"]["N"]) > now:
                    found[item["sk"]["S"]] = unpacked(item["vector"]["B"])
            wanted = answer.get("UnprocessedKeys")
            if not wanted:
                break
        return found

    def _write(self, requests: Sequence[Item]) -> Iterator[int]:
        """For each part of the requests, how many of them the table left undone."""
        for part in batches(requests, ITEMS_PER_WRITE):
            wanted: Any = {self._table: list(part)}
            for _ in self._rounds():
                wanted = self._client.batch_write_item(RequestItems=wanted).get("UnprocessedItems")
                if not wanted:
                    break
            yield len(wanted[self._table]) if wanted else 0

    def _rounds(self) -> Iterator[int]:
        for attempt in range(ROUNDS):
            if attempt:
                self._sleep(0.05 * 2 ** (attempt - 1))
            yield attempt

    def _key(self, key: str) -> Item:
        return {"pk": {"S": self._partition}, "sk": {"S": key}}


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


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        logger.warning("the cache of vectors does not answer", extra={"error": type(error).__name__})
        raise Unavailable("The cache of embeddings does not answer now.") from error
