"""The audit log on DynamoDB, table `activity`: `pk = audit#{organisation}`, `sk = {epoch ms, 15 digits}#{id}`.

What guards refuse stands apart, under `pk = denied#{organisation}`, and so does who changed what is remembered, under
`pk = memory#{organisation}`: a guard that was taken over must not be able to write over any other record.
A mutation passes `audit_writes` into its own transaction; what changes nothing is written by `DynamoAudit.write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from commonplace.kernel.audit import RETENTION_DAYS, AuditRecord
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import answering, query

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Kind = Literal["audit", "denied", "memory"]
AUDIT: Kind = "audit"
DENIED: Kind = "denied"
MEMORY: Kind = "memory"

MAX_DETAILS = 20
MAX_CHARACTERS = 500
PAGE = 100


def position(record: AuditRecord) -> str:
    """Where a record stands among its organisation's: what `AuditLog.read` takes as `before`."""
    return f"{int(record.at * 1_000):015d}#{record.id}"


def audit_item(record: AuditRecord, kind: Kind = AUDIT) -> Item:
    """The record as an item, cut to its bounds."""
    expires = int(record.at) + RETENTION_DAYS * 86_400
    where = key(f"{kind}#{record.organisation}", position(record))
    return where | encode(_bounded(record)) | {"expiresAt": {"N": str(expires)}}


def audit_writes(table: str, records: Sequence[AuditRecord], kind: Kind = AUDIT) -> list[Item]:
    """Parts of a transaction."""
    return [{"Put": {"TableName": table, "Item": audit_item(record, kind)}} for record in records]


class DynamoAudit:
    """Keeps and finds records: `commonplace.kernel.audit.AuditLog`."""

    def __init__(self, client: DynamoDBClient, table: str, kind: Kind = AUDIT) -> None:
        self._client = client
        self._table = table
        self._kind = kind

    def write(self, record: AuditRecord) -> None:
        """Raises Unavailable."""
        with answering(self._table):
            self._client.put_item(TableName=self._table, Item=audit_item(record, self._kind))

    def read(self, organisation: str, *, limit: int = 100, before: str | None = None) -> Iterator[AuditRecord]:
        """Raises Unavailable. `before` is the `position` of a record."""
        partition = f"{self._kind}#{organisation}"
        values: Item = {":pk": {"S": partition}}
        condition = "pk = :pk"
        if before is not None:
            values[":before"], condition = {"S": before}, "pk = :pk AND sk < :before"
        asked: Any = {
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ScanIndexForward": False,
            "Limit": min(limit, PAGE),
        }
        left = limit
        for item in query(self._client, self._table, partition, **asked):
            record = decoded(AuditRecord, item)
            if record is not None:
                yield record
            left -= 1
            if left <= 0:
                return


def _bounded(record: AuditRecord) -> AuditRecord:
    details = {name[:MAX_CHARACTERS]: value[:MAX_CHARACTERS] for name, value in record.details.items()}
    return replace(
        record,
        details=dict(list(details.items())[:MAX_DETAILS]),
        client=record.client[:MAX_CHARACTERS],
        reason=record.reason[:MAX_CHARACTERS],
    )
