"""Clients, metadata documents and single uses on DynamoDB: `identity.ports.ClientStore`.

`client#{id}`/`client`, `document#{sha256 of its URL}`/`document`, and `once#{kind}`/`{sha256 of the value}`. A single
use is one conditional write; whatever has expired counts as absent, however late the table deletes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from commonplace.identity.records import Client
from commonplace.kernel.audit import Audit, Lost
from commonplace.kernel.audit_store import audit_writes
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_ID_BYTES = 1_000
"""A longer id is none of ours, and no key of the table's."""


class DynamoClients:
    """Reads consistently, writes conditionally."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        activity_table: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds; `activity_table` is where audit records go."""
        self._table = Table(client, table, sleep=sleep)
        self._activity = activity_table
        self._clock = clock

    def client(self, client_id: str) -> Client | None:
        if len(client_id.encode("utf-8", "replace")) > MAX_ID_BYTES:
            return None
        found = decoded(Client, self._table.get(_client(client_id)))
        return found if found and self._lives(found.expires_at) else None

    def add_client(self, client: Client, audit: Audit = ()) -> None:
        new = self._table.new(_client(client.id), encode(client))
        self._table.transact([new, *audit_writes(self._activity, audit)])

    def renew_client(self, client_id: str, expires_at: int) -> None:
        # What has expired stays so: its owner may already know that it is gone.
        still = "#expiresAt > :now AND #expiresAt < :until"
        now = int(self._clock())
        where = _client(client_id)
        self._table.write(self._table.update(where, "SET #expiresAt = :until", still, until=expires_at, now=now))

    def remove_client(self, client_id: str, audit: Audit = ()) -> bool:
        gone = self._table.delete(_client(client_id), "attribute_exists(pk)")
        try:
            self._table.transact([gone, *audit_writes(self._activity, audit)])
        except Lost:
            return False
        return True

    def clients(self) -> Iterator[Client]:
        """Reads the whole table: for operators, who ask seldom."""
        found = (decoded(Client, item) for item in self._table.scan("sk = :client", client="client"))
        return (client for client in found if client and self._lives(client.expires_at))

    def document(self, url: str) -> tuple[Client | None, int] | None:
        item = self._table.get(_document(url))
        until = int(item.get("expiresAt", 0)) if item else 0
        if item is None or not self._lives(until):
            return None
        if "failed" in item:
            return None, until
        client = decoded(Client, item)
        return (replace(client, expires_at=None), until) if client else None

    def keep_document(self, url: str, client: Client | None, expires_at: int) -> None:
        item = {"failed": True} if client is None else encode(client)
        self._table.write(self._table.put(_document(url), item | {"expiresAt": expires_at}))

    def forget_document(self, url: str) -> None:
        self._table.write(self._table.delete(_document(url)))

    def once(self, kind: str, value: str, expires_at: int) -> bool:
        where, free = key(f"once#{kind}", _hashed(value)), "attribute_not_exists(pk) OR #expiresAt <= :now"
        mark = self._table.put(where, {"expiresAt": expires_at}, free, now=int(self._clock()))
        return self._table.write(mark) is not None

    def _lives(self, expires_at: int | None) -> bool:
        return expires_at is None or expires_at > self._clock()


def _client(client_id: str) -> Item:
    return key(f"client#{client_id}", "client")


def _document(url: str) -> Item:
    return key(f"document#{_hashed(url)}", "document")


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
