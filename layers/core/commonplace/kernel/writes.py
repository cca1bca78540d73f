"""What a conditional write comes with and ends in."""

from collections.abc import Sequence

from commonplace.kernel.audit import AuditRecord

Audit = Sequence[AuditRecord]
"""Records that are written in the same transaction."""


class Lost(Exception):
    """Somebody else was faster: read again, and judge what is there now."""
