"""Queries that found nothing, on DynamoDB, table `records`: `commonplace.reference.ports.GapStore`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from commonplace.identity.roles import is_organisation
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, key, names, typed
from commonplace.kernel.table import answering, holds, query
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
        self._client = client
        self._table = records
        self._most = most
        self._clock = clock
        self._sleep = sleep

    def count(self, organisation: str, query: str, type: EntryType | None, note: str | None) -> int | None:
        """How often it has been reported, this time included; None if the list is full. Raises Unavailable."""
        where = key(_room(organisation), digest(query, type))
        told = {"note": note} if note else {}
        for _ in range(ATTEMPTS):
            count = self._write(where, "attribute_exists(pk) AND #expiresAt > :now", told)
            if count is not None:
                return count
            if self._full(organisation):
                return None
            first: dict[str, Any] = {"query": query, "firstAt": self._now(), "count": 1, "type": type, "note": note}
            if self._write(where, "attribute_not_exists(pk) OR #expiresAt <= :now", first):
                return 1
        raise Unavailable("The list of gaps is busy just now.")

    def gaps(self, organisation: str, limit: int) -> Sequence[Gap]:
        """The most reported first, of equals the latest. Raises Unavailable."""
        found = [gap for item in self._items(organisation) if (gap := decoded(Gap, item))]
        latest = sorted(found, key=lambda gap: gap.last_at, reverse=True)
        return sorted(latest, key=lambda gap: -gap.count)[:limit]

    def _write(self, where: Item, condition: str, values: dict[str, Any]) -> int | None:
        """The count after the change; None if the condition does not hold."""
        given = values | {"lastAt": self._now(), "expiresAt": int(self._clock()) + GAP_SECONDS}
        put = {name: value for name, value in given.items() if value is not None}
        gone = [name for name, value in given.items() if value is None]
        change = "SET " + ", ".join(f"#{name} = :{name}" for name in put)
        change += "" if "count" in values else " ADD #count :one"
        change += " REMOVE " + ", ".join(f"#{name}" for name in gone) if gone else ""
        used = {f":{name}": typed(value) for name, value in put.items()} | {":now": typed(int(self._clock()))}
        used |= {} if "count" in values else {":one": typed(1)}
        asked: Any = {
            "TableName": self._table,
            "Key": where,
            "UpdateExpression": change,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names("count", "expiresAt", *given),
            "ExpressionAttributeValues": used,
            "ReturnValues": "UPDATED_NEW",
        }
        written: list[Any] = []
        held = holds(self._table, lambda: written.append(self._client.update_item(**asked)), sleep=self._sleep)
        return int(written[-1]["Attributes"]["count"]["N"]) if held else None

    def _full(self, organisation: str) -> bool:
        with answering(self._table):
            return sum(1 for _ in self._items(organisation, ProjectionExpression="pk")) >= self._most

    def _items(self, organisation: str, **more: Any) -> list[Item]:
        pk = _room(organisation)
        live: Any = {":pk": {"S": pk}, ":now": typed(int(self._clock()))}
        return list(
            query(
                self._client,
                self._table,
                pk,
                FilterExpression="#expiresAt > :now",
                ExpressionAttributeNames=names("expiresAt"),
                ExpressionAttributeValues=live,
                **more,
            )
        )

    def _now(self) -> str:
        return datetime.fromtimestamp(int(self._clock()), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _room(organisation: str) -> str:
    """Raises ValueError for what cannot name an organisation."""
    if not is_organisation(organisation):
        raise ValueError("no organisation, no list of gaps")
    return f"{organisation}#reference#gaps"
