"""DynamoDB storage of the search: rerank cache, vector caches, notes of missing vectors, and the change feed.

Table `cache`, by `expiresAt` in epoch seconds; a cache that does not respond counts as empty:
- rerank orders, an hour: `pk = rerank#{key}`, `sk = order`
- vectors of each organisation, ninety days: `pk = {organisation}#vectors`, `sk = {key}` by
  `search.embeddings.vector_key`, `vector` as 32-bit floats. Only counting and clearing them report a failure.
- how many vectors there are, by the day on which they expire: the same `pk`, `sk = #{days since the epoch}`, `n`.
  A vector that two keep at the same moment may count twice until it expires.

Table `activity`:
- records of a collection wait for vectors: `pk = index#{collection}`, `sk = incomplete`, `at` in epoch seconds
- up to 500 changes an item, kept for a day: `pk = change#documents`, `sk = {epoch milliseconds, 15 digits}#{id}`

Clocks of writers differ a little, and a write takes its time, so a reader of changes looks again at the last two
seconds it has read and leaves out the items it knows.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, key
from commonplace.kernel.table import Table, deserialize
from commonplace.search.model import RecordId, Reranked
from commonplace.search.models.values import packed, unpacked
from commonplace.search.rerank import RERANK_TTL_SECONDS
from commonplace.search.source import CHANGES_PER_NOTE, Change, batches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.search.model import Vector, VectorMemory


logger = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3_600
VECTOR_TTL_SECONDS = 90 * DAY_SECONDS

COUNTS = "#"
"""The beginning of the keys of counts, before every key of a vector."""

KEYS_PER_PAGE = 1_000
"""Keys on a page of a query; of long vectors fewer come, for DynamoDB reads 1 MB for a page."""

PARTITION = "change#documents"

TTL_SECONDS = 24 * 3_600

OVERLAP_MILLISECONDS = 2_000

NOTES_PER_ANSWER = 50
"""At most 25,000 changes."""

_POSITION = re.compile(r"[0-9]{15}(?:,[0-9]{15}#[0-9a-f]{12})*")


class DynamoRerankCache:
    """Orders for an hour, for every reader of the table. The table removes items late, so expiry is checked here."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], float] = time.time) -> None:
        self._table = Table(client, table)
        self._clock = clock

    def get(self, key: str) -> list[Reranked] | None:
        try:
            item = self._table.get(_order(key), consistent=False)
        except Unavailable:
            logger.warning("a rerank order could not be read")
            return None
        if item is None or item["expiresAt"] <= self._clock():
            return None
        return [Reranked(RecordId(record), float(score)) for record, score in json.loads(item["order"])]

    def put(self, key: str, ranked: Iterable[Reranked]) -> None:
        order = json.dumps([[each.id, each.score] for each in ranked])
        item = {"order": order, "expiresAt": int(self._clock()) + RERANK_TTL_SECONDS}
        try:
            self._table.write(self._table.put(_order(key), item))
        except Unavailable:
            logger.warning("a rerank order could not be kept")


def _order(name: str) -> Item:
    return key(f"rerank#{name}", "order")


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
        """Return how many vectors are kept for this organisation. Raises Unavailable."""
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
        self._table = Table(client, table, sleep=sleep)
        self._partition = f"{organisation}#vectors"
        self._clock = clock

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are at hand; a table that does not answer knows none of the rest."""
        found: dict[str, Vector] = {}
        wanted, now = [self._key(name) for name in dict.fromkeys(keys)], self._clock()
        try:
            for item in self._table.get_many(wanted, consistent=False):
                if item["expiresAt"] > now:
                    found[item["sk"]] = unpacked(item["vector"])
        except Unavailable:
            logger.warning("known vectors could not be read")
        return found

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        expires = int(self._clock()) + VECTOR_TTL_SECONDS
        known = self.known(list(vectors))
        items = {
            name: {"vector": packed(vector), "expiresAt": expires}
            for name, vector in vectors.items()
            if name not in known
        }
        try:
            left = self._table.write_many(self._table.put(self._key(name), item) for name, item in items.items())
            self._count(expires // DAY_SECONDS, len(items) - left)
        except Unavailable:
            logger.warning("new vectors could not be kept")
            return
        if left:
            logger.warning("the table left new vectors undone", extra={"vectors": left})

    def size(self) -> int:
        """Return how many are kept, each until the end of the day on which it expires. Raises Unavailable."""
        now = self._clock()
        try:
            counts = self._table.query(self._partition, "begins_with(sk, :counts)", {"counts": COUNTS})
            return max(sum(int(one["n"]) for one in counts if one["expiresAt"] > now), 0)
        except Unavailable as error:
            raise _away() from error

    def clear(self) -> int:
        """Forgets all of them and says how many there were. Raises Unavailable: some may be forgotten already."""
        left = 0
        gone: Counter[int] = Counter()
        try:
            behind, now = f"{COUNTS}~", int(self._clock())
            pages = self._table.pages(
                self._partition,
                "sk > :behind",
                {"behind": behind, "now": now},
                filter="#expiresAt > :now",
                ProjectionExpression="sk, expiresAt",
                ConsistentRead=False,
                Limit=KEYS_PER_PAGE,
            )
            for page in ([deserialize(item) for item in page["Items"]] for page in pages):
                left = self._table.write_many(self._table.delete(self._key(item["sk"])) for item in page)
                gone.update(int(item["expiresAt"]) // DAY_SECONDS for item in page[: len(page) - left])
                if left:
                    break
            for day, n in gone.items():
                self._count(day, -n)
        except Unavailable as error:
            raise _away() from error
        if left:
            raise Unavailable("The cache of embeddings is too busy to be cleared now.", retry_after_seconds=5)
        return gone.total()

    def _count(self, day: int, n: int) -> None:
        """Adds to the number of vectors that expire on a day. Raises Unavailable."""
        if n:
            change, end = "SET #expiresAt = :end ADD #n :n", (day + 1) * DAY_SECONDS
            self._table.write(self._table.update(self._key(f"{COUNTS}{day}"), change, end=end, n=n))

    def _key(self, name: str) -> Item:
        return key(self._partition, name)


def _away() -> Unavailable:
    return Unavailable("The cache of embeddings does not answer now.")


class MemoryBehind:
    """A memory with a second one behind it, which is read for what the first lacks and keeps everything that is new."""

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


class DynamoNote:
    """`commonplace.search.indexer.Note`. Its time is kept to the millisecond."""

    def __init__(
        self, client: DynamoDBClient, table: str, collection: str, *, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` gives seconds since the epoch."""
        self._table = Table(client, table)
        self._key = key(f"index#{collection}", "incomplete")
        self._clock = clock

    def put(self) -> None:
        try:
            self._table.write(self._table.put(self._key, {"at": round(self._clock(), 3)}))
        except Unavailable:
            logger.warning("records that wait could not be noted")

    def read(self) -> float | None:
        """Raises Unavailable."""
        item = self._table.get(self._key)
        return float(item["at"]) if item else None

    def clear(self, noted: float) -> None:
        """Raises Unavailable."""
        self._table.write(self._table.delete(self._key, "#at = :noted", noted=round(noted, 3)))


class DynamoChanges:
    """`commonplace.search.source.ChangeLog` and `ChangeFeed`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since the epoch."""
        self._table = Table(client, table)
        self._clock = clock

    def append(self, changes: Sequence[Change]) -> None:
        """One write for each 500 changes. Raises Unavailable."""
        for note in batches(changes, CHANGES_PER_NOTE):
            now = self._clock()
            where = key(PARTITION, f"{_padded(now)}#{uuid4().hex[:12]}")
            rows = json.dumps(
                [[change.record, change.kind, change.version, change.added] for change in note], separators=(",", ":")
            )
            self._table.write(self._table.put(where, {"changes": rows, "expiresAt": int(now) + TTL_SECONDS}))

    def position(self) -> str:
        """Here and now: what others add from now on comes after it, even if their clocks are a little behind."""
        start = _padded(self._clock() - OVERLAP_MILLISECONDS / 1_000)
        return ",".join([start, *(key for key, _ in self._unknown_items(start, ()))])

    def since(self, position: str) -> tuple[list[Change], str]:
        """At most 50 items of changes, and where to go on."""
        if _POSITION.fullmatch(position) is None:
            raise ValueError("this is not a position in the change feed")
        start, *known = position.split(",")
        found: list[tuple[str, Item]] = []
        for place, item in self._unknown_items(start, known):
            found.append((place, item))
            if len(found) == NOTES_PER_ANSWER:
                break
        if not found:
            return [], position
        rows = (row for _, item in found for row in json.loads(item["changes"]))
        changes = [Change(RecordId(record), kind, version, added) for record, kind, version, added in rows]
        # The next position begins a little before the last item, and names those it has passed since.
        places = [place for place, _ in found]
        begin = max(start, f"{int(max(places)[:15]) - OVERLAP_MILLISECONDS:015d}")
        return changes, ",".join([begin, *sorted(place for place in {*known, *places} if place >= begin)])

    def _unknown_items(self, start: str, known: Sequence[str]) -> Iterator[tuple[str, Item]]:
        """The items from `start` on but for those that are known. Raises Unavailable."""
        passed = frozenset(known)
        try:
            for item in self._table.query(PARTITION, "sk >= :start", {"start": start}):
                if item["sk"] not in passed:
                    yield item["sk"], item
        except Unavailable as error:
            raise Unavailable("The change feed does not answer.") from error


def _padded(seconds: float) -> str:
    return f"{int(seconds * 1_000):015d}"
