"""Audit records of consents, grants and tokens: names of things, never a secret, a token or anybody's text."""

from collections.abc import Iterable, Mapping

from commonplace.identity.accounts import Standing
from commonplace.identity.records import Grant
from commonplace.kernel.audit import NOWHERE, AuditRecord, Outcome


def issued(
    event: str, grant: Grant, scopes: Iterable[str], standing: Standing, *, now: float, network: str, reason: str = ""
) -> AuditRecord:
    """An access token: `grant` for the first of a grant, `refresh` for those after it."""
    details = {"scopes": " ".join(scopes), "resource": grant.resource, "tier": standing.tier}
    return about(grant, event, standing.organisation, now, network, reason=reason, details=details)


def reused(grant: Grant, reason: str, now: float, network: str, organisation: str = NOWHERE) -> AuditRecord:
    """A code or token came a second time that works once: somebody else may have it, so its grant ended."""
    whose = grant.organisation or organisation
    return about(grant, "reuse", whose, now, network, outcome="denied", reason=reason)


def revoked(grant: Grant, because: str, now: float, network: str = "", organisation: str = NOWHERE) -> AuditRecord:
    """A grant ended, or one of its access tokens."""
    return about(grant, "revoke", grant.organisation or organisation, now, network, reason=because)


def about(
    grant: Grant,
    event: str,
    organisation: str | None,
    now: float,
    network: str,
    *,
    outcome: Outcome = "ok",
    reason: str = "",
    details: Mapping[str, str] | None = None,
) -> AuditRecord:
    """Return what happened to a grant, and on whose behalf it acts."""
    acts = {"organisation": one.organisation, "member": one.member} if (one := grant.membership) else {}
    return AuditRecord(
        event=event,
        outcome=outcome,
        at=now,
        organisation=organisation or NOWHERE,
        subject=grant.subject_hash,
        client=grant.client_id,
        grant=grant.id,
        reason=reason,
        network=network,
        details={**(details or {}), **acts},
    )
