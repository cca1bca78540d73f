"""Orders that a reranker has answered before, on DynamoDB for an hour.

Items: `pk = rerank#{key}`, `sk = order`, with `expiresAt` in epoch seconds. A cache that does not answer is an empty
one: nothing here fails its caller.

Vectors computed before, of each organisation apart, on DynamoDB for ninety days.

Items: `pk = {organisation}#vectors`, `sk = {key}` as `search.embedding.vector_key` makes it, `vector` (32-bit floats),
`expiresAt` in epoch seconds. A cache that does not answer is an empty one: only counting and clearing it say so.

A note that records of a collection wait for vectors.

Table `activity`: `pk = index#{collection}`, `sk = incomplete`, `at` in epoch seconds.

The change feed of the documents on DynamoDB, table `activity`: many writers, many readers, a day's memory.

One item tells up to 500 changes: `pk = change#documents`, `sk = {epoch milliseconds, 15 digits}#{id of the item}`.
Clocks of writers differ a little, and a write takes its time, so a reader looks again at the last two seconds it has
read and leaves out the items it knows. Importing this loads no botocore: it is only for who listens now and then.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import key
from commonplace.search.model import Reranked
from commonplace.search.models.values import packed, unpacked
from commonplace.search.records import RecordId
from commonplace.search.rerank import RERANK_TTL_SECONDS
from commonplace.search.source import Change, batches, notes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.search.model import Vector, VectorMemory


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


VECTOR_TTL_SECONDS = 90 * 24 * 3_600

KEYS_PER_READ, ITEMS_PER_WRITE = 100, 25
"""BatchGetItem and BatchWriteItem take so many."""

ROUNDS = 5
"""How often what the table left undone is asked for again, after 0.05, 0.1, 0.2 and 0.4 s."""

KEYS_PER_PAGE = 1_000
"""Of a query; of long vectors fewer come, for DynamoDB reads 1 MB for a page."""


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


_LOST = "ConditionalCheckFailedException"


class DynamoNote:
    """`commonplace.search.indexer.Note`. Its time is kept to the millisecond."""

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


PARTITION = "change#documents"

TTL_SECONDS = 24 * 3_600

OVERLAP_MILLISECONDS = 2_000

NOTES_PER_ANSWER = 50
"""At most 25,000 changes."""

_POSITION = re.compile(r"[0-9]{15}(?:,[0-9]{15}#[0-9a-f]{12})*")


class DynamoChanges:
    """Tells and hears changes: `commonplace.search.source.ChangeLog` and `ChangeFeed`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since the epoch."""
        self._client = client
        self._table = table
        self._clock = clock

    def append(self, changes: Sequence[Change]) -> None:
        """One write for each 500 changes; raises what the client raises."""
        for note in notes(changes):
            now = self._clock()
            item: Item = {
                "pk": {"S": PARTITION},
                "sk": {"S": f"{_padded(now)}#{uuid4().hex[:12]}"},
                "changes": {"S": json.dumps([_row(change) for change in note], separators=(",", ":"))},
                "expiresAt": {"N": str(int(now) + TTL_SECONDS)},
            }
            self._client.put_item(TableName=self._table, Item=item)

    def position(self) -> str:
        """Here and now: what others tell from now on comes after it, even if their clocks are a little behind."""
        start = _padded(self._clock() - OVERLAP_MILLISECONDS / 1_000)
        return ",".join([start, *(key for key, _ in self._told(start, ()))])

    def since(self, position: str) -> tuple[list[Change], str]:
        """At most 50 items of changes, and where to go on."""
        if _POSITION.fullmatch(position) is None:
            raise ValueError("this is no position in the change feed")
        start, *known = position.split(",")
        found: list[tuple[str, Item]] = []
        for place, item in self._told(start, known):
            found.append((place, item))
            if len(found) == NOTES_PER_ANSWER:
                break
        return [change for _, item in found for change in _changes(item)], _moved(
            start, known, [key for key, _ in found]
        )

    def _told(self, start: str, known: Sequence[str]) -> Iterator[tuple[str, Item]]:
        """The items from `start` on but for those that are known. Raises Unavailable."""
        from botocore.exceptions import BotoCoreError, ClientError

        passed = frozenset(known)
        try:
            for page in self._pages(start):
                yield from ((item["sk"]["S"], item) for item in page if item["sk"]["S"] not in passed)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("The change feed does not answer.") from error

    def _pages(self, start: str) -> Iterator[list[Item]]:
        asked: Any = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND sk >= :start",
            "ExpressionAttributeValues": {":pk": {"S": PARTITION}, ":start": {"S": start}},
            "ConsistentRead": True,
        }
        while asked:
            answer = self._client.query(**asked)
            yield [dict(item) for item in answer["Items"]]
            last = answer.get("LastEvaluatedKey")
            asked = asked | {"ExclusiveStartKey": last} if last else None


def _moved(start: str, known: Sequence[str], found: Sequence[str]) -> str:
    """The position after `found`: it begins a little before the last item, and names those it has passed since."""
    if not found:
        return ",".join([start, *known])
    last = int(max(found)[:15])
    begin = max(start, f"{last - OVERLAP_MILLISECONDS:015d}")
    return ",".join([begin, *sorted(key for key in {*known, *found} if key >= begin)])


def _padded(seconds: float) -> str:
    return f"{int(seconds * 1_000):015d}"


def _row(change: Change) -> list[Any]:
    return [change.record, change.kind, change.version, change.added]


def _changes(item: Item) -> list[Change]:
    rows = json.loads(item["changes"]["S"])
    return [Change(RecordId(record), kind, version, added) for record, kind, version, added in rows]
