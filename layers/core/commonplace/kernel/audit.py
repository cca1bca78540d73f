"""Audit records: who did what (seed 002, sections 4.2 and 6), and the outcomes of a conditional write with one."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Outcome = Literal["ok", "denied", "failed"]

RETENTION_DAYS = 400

NOWHERE = "-"
"""In place of an organisation, where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One thing that happened."""

    event: str
    """`signin`, `consent`, `grant`, `refresh`, `reuse`, `revoke`, `register`, `denied`, ...: what happened."""
    outcome: Outcome
    at: float
    """Epoch seconds."""
    organisation: str = NOWHERE
    subject: str = ""
    """The account's name in records: its HMAC, 32 hex digits; empty when unknown."""
    client: str = ""
    """The OAuth client."""
    grant: str = ""
    """The public name of the grant."""
    reason: str = ""
    """A stable code, such as `code_replayed`."""
    network: str = ""
    """The caller's address, or the /64 of it (`kernel.limits.network`)."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Names of things: scopes, tiers, roles. At most 20 entries of at most 500 characters."""
    id: str = field(default_factory=lambda: secrets.token_hex(6))


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """On whose behalf something is done. Comes from the verified principal alone (`identity.principals.author`)."""

    organisation: str
    account: str = ""
    """The account's pseudonym in records."""
    client: str = ""
    grant: str = ""
    network: str = ""
    name: str = ""
    """For people of the same organisation to read: an agent's name, else the member's id."""

    def record(self, event: str, at: float, **details: str) -> AuditRecord:
        """Return what was done, at a time in epoch seconds. `details` are names and figures, never text."""
        return AuditRecord(
            event=event,
            outcome="ok",
            at=at,
            organisation=self.organisation,
            subject=self.account,
            client=self.client,
            grant=self.grant,
            network=self.network,
            details=details,
        )


class AuditLog(Protocol):
    """Keeps records, and finds them again."""

    def write(self, record: AuditRecord) -> None:
        """Write the record of what changes nothing; a mutation writes its record with itself."""
        ...

    def read(self, organisation: str, *, limit: int = 100, before: str | None = None) -> Iterator[AuditRecord]:
        """The newest first."""
        ...


Audit = Sequence[AuditRecord]
"""Records that are written in the same transaction."""


class Lost(Exception):
    """A concurrent write won: read again, and decide by the present state."""
