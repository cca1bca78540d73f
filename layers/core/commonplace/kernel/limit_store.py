"""Rate limits and slots on DynamoDB, table `activity`.

Counters: `pk = counter#{key}`, `sk = counter`. Slots are one item that is replaced as a whole, by conditional writes:
`pk = slots#{what}`, `sk = slots`, `mark` a new one with each write, `slots` a list of `{name, holder, until}`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from commonplace.kernel.items import key
from commonplace.kernel.limits import Slot
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.settings import Limited

LISTENS = "slots#listens"
"""Partition of who holds a function open to listen for changes."""

NEVER_WRITTEN = ""


def utc_now() -> datetime:
    return datetime.now(UTC)


class DynamoCounters:
    """Counters that expire, for rate limits: every addition is atomic."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._table = Table(client, table)
        self._clock = clock

    def add(self, key: str, amount: int, expires_at: int) -> int:
        """Adds and returns the new total. `expires_at` is in epoch seconds; an expired counter starts again at zero.

        Raises Unavailable.
        """
        where = {"pk": f"counter#{key}", "sk": "counter"}
        values = {"now": int(self._clock().timestamp()), "amount": amount, "until": expires_at}
        live = "attribute_not_exists(pk) OR expiresAt > :now"
        added = self._table.write(
            self._table.update(where, "SET expiresAt = :until ADD used :amount", live, **values)
        ) or self._table.write(
            self._table.update(where, "SET expiresAt = :until, used = :amount", "expiresAt <= :now", **values)
        )
        # Without an answer somebody else has started it again in between: it is live now.
        return int(added["used"]) if added else self.add(key, amount, expires_at)


def counters_of(settings: Limited) -> DynamoCounters:
    """Return the counters of a function: one short try, for a caller waits, and without an answer nobody is refused."""
    from commonplace.kernel import aws

    return DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), settings.activity_table)


class DynamoSlots:
    """`commonplace.kernel.limits.SlotStore`. Raises Unavailable."""

    def __init__(self, client: DynamoDBClient, table: str, partition: str = LISTENS) -> None:
        self._table = Table(client, table)
        self._key = key(partition, "slots")

    def read(self) -> tuple[Sequence[Slot], str]:
        item = self._table.get(self._key)
        return ([Slot(**slot) for slot in item["slots"]], item["mark"]) if item else ([], NEVER_WRITTEN)

    def replace(self, slots: Sequence[Slot], mark: str) -> bool:
        item = {"mark": uuid4().hex, "slots": [asdict(slot) for slot in slots]}
        if mark == NEVER_WRITTEN:
            return self._table.write(self._table.new(self._key, item)) is not None
        return self._table.write(self._table.put(self._key, item, "#mark = :mark", mark=mark)) is not None
