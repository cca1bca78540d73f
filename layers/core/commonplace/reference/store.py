"""Queries that found nothing, counted for each organisation, on DynamoDB, table `records`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, key
from commonplace.kernel.table import Table
from commonplace.reference.model import GAP_SECONDS, MAX_GAPS, Gap, digest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.reference.model import EntryType

ATTEMPTS = 3
"""A gap that is new to several at once is new to one of them."""


class DynamoGaps:
    """One item a gap: every addition is atomic. What is past its time counts as gone, whenever it is removed."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        *,
        most: int = MAX_GAPS,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`most` is how many gaps an organisation has; several at once may exceed it by as many as they are. `clock`
        gives epoch seconds."""
        self._table = Table(client, records, sleep=sleep)
        self._most = most
        self._clock = clock

    def count(self, organisation: str, query: str, type: EntryType | None, note: str | None) -> int | None:
        """Return how often it has been reported, this time included; None if the list is full. Raises Unavailable.

        `query` and `note` come cleaned, masked and cut. Queries that differ in case or spaces only are one.
        """
        where = key(_room(organisation), digest(query, type))
        for _ in range(ATTEMPTS):
            count = self._write(where, "attribute_exists(pk) AND #expiresAt > :now", {"note": note} if note else {})
            if count is not None:
                return count
            pages = self._table.pages(_room(organisation), Select="COUNT", **self._live())
            counts: Iterator[int] = (page["Count"] for page in pages)
            if sum(counts) >= self._most:
                return None
            first = {"query": query, "firstAt": self._now(), "count": 1, "type": type, "note": note}
            if self._write(where, "attribute_not_exists(pk) OR #expiresAt <= :now", first):
                return 1
        raise Unavailable("The list of gaps is busy just now.")

    def gaps(self, organisation: str, limit: int) -> Sequence[Gap]:
        """The most reported first, of equals the latest. Raises Unavailable."""
        items = self._table.query(_room(organisation), **self._live())
        found = [gap for item in items if (gap := decoded(Gap, item))]
        latest = sorted(found, key=lambda gap: gap.last_at, reverse=True)
        return sorted(latest, key=lambda gap: -gap.count)[:limit]

    def _write(self, where: Item, condition: str, values: dict[str, Any]) -> int | None:
        """The count after the change; None if the condition does not hold. Values without a count add one to it."""
        now = int(self._clock())
        given = values | {"lastAt": self._now(), "expiresAt": now + GAP_SECONDS}
        change = "SET " + ", ".join(f"#{name} = :{name}" for name in given)
        if "count" not in values:
            change, given = f"{change} ADD #count :one", given | {"one": 1}
        written = self._table.write(self._table.update(where, change, condition, now=now, **given))
        return written["count"] if written else None

    def _live(self) -> dict[str, Any]:
        return {"values": {"now": int(self._clock())}, "filter": "#expiresAt > :now"}

    def _now(self) -> str:
        return datetime.fromtimestamp(int(self._clock()), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _room(organisation: str) -> str:
    """Raises ValueError for what cannot name an organisation."""
    if not is_organisation(organisation):
        raise ValueError("no organisation, no list of gaps")
    return f"{organisation}#reference#gaps"
