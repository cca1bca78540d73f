"""Clients, metadata documents and single uses on DynamoDB: `commonplace.identity.ports.ClientStore`.

`client#{id}`/`client`, `document#{sha256 of its URL}`/`document`, and `once#{kind}`/`{sha256 of the value}`. A single
use is one conditional write; whatever has expired counts as absent, however late the table deletes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from commonplace.identity.records import Client
from commonplace.kernel.audit import Audit, Lost
from commonplace.kernel.audit_store import audit_writes
from commonplace.kernel.items import Item, decoded, encode, key, typed
from commonplace.kernel.table import answering, get, holds, transact

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
        self._client = client
        self._table = table
        self._activity = activity_table
        self._clock = clock
        self._sleep = sleep

    def client(self, client_id: str) -> Client | None:
        if len(client_id.encode("utf-8", "replace")) > MAX_ID_BYTES:
            return None
        found = decoded(Client, get(self._client, self._table, f"client#{client_id}", "client"))
        return found if found and self._lives(found.expires_at) else None

    def add_client(self, client: Client, audit: Audit = ()) -> None:
        put = {
            "TableName": self._table,
            "Item": encode(client) | _client(client.id),
            "ConditionExpression": "attribute_not_exists(pk)",
        }
        self._transact([{"Put": put}], audit)

    def renew_client(self, client_id: str, expires_at: int) -> None:
        renewed: Any = {
            "TableName": self._table,
            "Key": _client(client_id),
            "UpdateExpression": "SET expiresAt = :until",
            # What has expired stays so: its owner may have been told already that it is gone.
            "ConditionExpression": "expiresAt > :now AND expiresAt < :until",
            "ExpressionAttributeValues": {":until": typed(expires_at), ":now": typed(int(self._clock()))},
        }
        holds(self._table, lambda: self._client.update_item(**renewed), sleep=self._sleep)

    def remove_client(self, client_id: str, audit: Audit = ()) -> bool:
        gone = {
            "TableName": self._table,
            "Key": _client(client_id),
            "ConditionExpression": "attribute_exists(pk)",
        }
        try:
            self._transact([{"Delete": gone}], audit)
        except Lost:
            return False
        return True

    def clients(self) -> Iterator[Client]:
        """Reads the whole table: for operators, who ask seldom."""
        asked: Any = {
            "TableName": self._table,
            "FilterExpression": "sk = :client",
            "ExpressionAttributeValues": {":client": {"S": "client"}},
            "ConsistentRead": True,
        }
        while True:
            with answering(self._table):
                answer = self._client.scan(**asked)
            found = (decoded(Client, dict(item)) for item in answer["Items"])
            yield from (client for client in found if client and self._lives(client.expires_at))
            if "LastEvaluatedKey" not in answer:
                return
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def document(self, url: str) -> tuple[Client | None, int] | None:
        item = get(self._client, self._table, *_document(url))
        until = int(item["expiresAt"]["N"]) if item and "expiresAt" in item else 0
        if item is None or not self._lives(until):
            return None
        if "failed" in item:
            return None, until
        client = decoded(Client, item)
        return (replace(client, expires_at=None), until) if client else None

    def keep_document(self, url: str, client: Client | None, expires_at: int) -> None:
        told = {"failed": typed(True)} if client is None else encode(client)
        item = told | key(*_document(url)) | {"expiresAt": typed(expires_at)}
        with answering(self._table):
            self._client.put_item(TableName=self._table, Item=item)

    def forget_document(self, url: str) -> None:
        with answering(self._table):
            self._client.delete_item(TableName=self._table, Key=key(*_document(url)))

    def once(self, kind: str, value: str, expires_at: int) -> bool:
        mark: Any = {
            "TableName": self._table,
            "Item": key(f"once#{kind}", _hashed(value)) | {"expiresAt": typed(expires_at)},
            "ConditionExpression": "attribute_not_exists(pk) OR expiresAt <= :now",
            "ExpressionAttributeValues": {":now": typed(int(self._clock()))},
        }
        return holds(self._table, lambda: self._client.put_item(**mark), sleep=self._sleep)

    def _transact(self, writes: list[Item], audit: Audit) -> None:
        transact(self._client, self._table, [*writes, *audit_writes(self._activity, audit)], sleep=self._sleep)

    def _lives(self, expires_at: int | None) -> bool:
        return expires_at is None or expires_at > self._clock()


def _client(client_id: str) -> Item:
    return key(f"client#{client_id}", "client")


def _document(url: str) -> tuple[str, str]:
    return f"document#{_hashed(url)}", "document"


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
