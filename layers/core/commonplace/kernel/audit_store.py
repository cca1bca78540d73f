"""The audit log on DynamoDB, table `activity`: `pk = audit#{organisation}`, `sk = {epoch ms, 15 digits}#{id}`.

Denials of guards have `pk = denied#{organisation}`, changes of the memory `pk = memory#{organisation}`, of the hive
`pk = hive#{organisation}`, actions in the console `pk = console#{organisation}`, turns and approvals of conversations
`pk = chat#{organisation}`, of partners `pk = partners#{organisation}`: a compromised function must not be able to write
over the records of another. A mutation passes `audit_writes` into its own transaction; what changes
nothing is written by `DynamoAudit.write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from commonplace.kernel.audit import RETENTION_DAYS, AuditRecord
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table, Write, serialize

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Kind = Literal["audit", "denied", "memory", "hive", "console", "chat", "partners"]
AUDIT: Kind = "audit"
DENIED: Kind = "denied"
MEMORY: Kind = "memory"
HIVE: Kind = "hive"
CONSOLE: Kind = "console"
CHAT: Kind = "chat"
PARTNERS: Kind = "partners"

MAX_DETAILS = 20
MAX_CHARACTERS = 500
PAGE = 100


def position(record: AuditRecord) -> str:
    """Return where a record stands among its organisation's: what `AuditLog.read` takes as `before`."""
    return f"{int(record.at * 1_000):015d}#{record.id}"


def audit_writes(table: str, records: Sequence[AuditRecord], kind: Kind = AUDIT) -> list[Write]:
    """Parts of a transaction: the records, cut to their bounds."""
    return [{"Put": {"TableName": table, "Item": serialize(_item(record, kind))}} for record in records]


class DynamoAudit:
    """Keeps and finds records: `commonplace.kernel.audit.AuditLog`."""

    def __init__(self, client: DynamoDBClient, table: str, kind: Kind = AUDIT) -> None:
        self._table = Table(client, table)
        self._kind = kind

    def write(self, record: AuditRecord) -> None:
        """Raises Unavailable."""
        (write,) = audit_writes(self._table.name, [record], self._kind)
        self._table.write(write)

    def read(self, organisation: str, *, limit: int = 100, before: str | None = None) -> Iterator[AuditRecord]:
        """Raises Unavailable. `before` is the `position` of a record."""
        condition, values = ("", {}) if before is None else ("sk < :before", {"before": before})
        items = self._table.query(
            f"{self._kind}#{organisation}", condition, values, ScanIndexForward=False, Limit=min(limit, PAGE)
        )
        found = (decoded(AuditRecord, item) for item in islice(items, max(limit, 1)))
        return (record for record in found if record)


def _item(record: AuditRecord, kind: Kind) -> Item:
    expires = int(record.at) + RETENTION_DAYS * 86_400
    details = {name[:MAX_CHARACTERS]: value[:MAX_CHARACTERS] for name, value in record.details.items()}
    return (
        encode(
            replace(
                record,
                details=dict(list(details.items())[:MAX_DETAILS]),
                client=record.client[:MAX_CHARACTERS],
                reason=record.reason[:MAX_CHARACTERS],
            )
        )
        | key(f"{kind}#{record.organisation}", position(record))
        | {"expiresAt": expires}
    )
