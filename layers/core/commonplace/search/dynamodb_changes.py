"""The change feed of the documents on DynamoDB, table `activity`: many writers, many readers, a day's memory.

One item tells up to 500 changes: `pk = change#documents`, `sk = {epoch milliseconds, 15 digits}#{id of the item}`.
Clocks of writers differ a little, and a write takes its time, so a reader looks again at the last two seconds it has
read and leaves out the items it knows. Importing this loads no botocore: it is only for who listens now and then.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from commonplace.kernel.errors import Unavailable
from commonplace.search.changes import Change, notes
from commonplace.search.records import RecordId

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PARTITION = "change#documents"

TTL_SECONDS = 24 * 3_600

OVERLAP_MILLISECONDS = 2_000

NOTES_PER_ANSWER = 50
"""At most 25,000 changes."""

_POSITION = re.compile(r"[0-9]{15}(?:,[0-9]{15}#[0-9a-f]{12})*")

Item = dict[str, Any]


class DynamoChanges:
    """Tells and hears changes: `commonplace.search.changes.ChangeLog` and `ChangeFeed`."""

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
        for key, item in self._told(start, known):
            found.append((key, item))
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
