from typing import TYPE_CHECKING

from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.audit_store import AUDIT, DENIED, HIVE, MEMORY, DynamoAudit, audit_writes
from commonplace.kernel.table import Table
from tests.aws_fixture import TABLE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KINDS = (AUDIT, DENIED, MEMORY, HIVE)


def test_what_guards_refuse_and_who_changed_memory_and_hive_stand_apart_from_every_other_record(
    dynamodb: "DynamoDBClient",
) -> None:
    for kind in KINDS:
        record = AuditRecord(event=f"of {kind}", outcome="ok", at=1_800_000_000, organisation="default", id="same")
        Table(dynamodb, TABLE).transact(audit_writes(TABLE, [record], kind))
    for kind in KINDS:
        assert [one.event for one in DynamoAudit(dynamodb, TABLE, kind).read("default")] == [f"of {kind}"]
