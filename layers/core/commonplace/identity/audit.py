"""Audit records of consents, grants and tokens: names of things, never a secret, a token or anybody's text."""

from collections.abc import Iterable, Mapping

from commonplace.identity.accounts import Standing
from commonplace.identity.records import Grant
from commonplace.kernel.audit import NOWHERE, AuditRecord, Outcome


def consented(grant: Grant, standing: Standing, now: float, network: str, *, recalled: bool = False) -> AuditRecord:
    """A person let a client act, by an answer or by one that is remembered."""
    details = {
        "scopes": _listed(grant.scopes),
        "resource": grant.resource,
        "tier": standing.tier,
        "roles": _listed(standing.roles),
        "kinds": "all" if grant.resource_scopes is None else _listed(grant.resource_scopes),
    }
    reason = "remembered" if recalled else ""
    return _about(grant, "consent", standing.organisation, now, network, reason=reason, details=details)


def declined(
    client_id: str, now: float, network: str, *, subject: str = "", organisation: str = NOWHERE, reason: str
) -> AuditRecord:
    """A person said no, or had nothing to give."""
    return AuditRecord(
        event="consent",
        outcome="denied",
        at=now,
        organisation=organisation,
        subject=subject,
        client=client_id,
        reason=reason,
        network=network,
    )


def issued(
    event: str, grant: Grant, scopes: Iterable[str], standing: Standing, *, now: float, network: str, reason: str = ""
) -> AuditRecord:
    """An access token: `grant` for the first of a grant, `refresh` for those after it."""
    details = {"scopes": _listed(scopes), "resource": grant.resource, "tier": standing.tier}
    return _about(grant, event, standing.organisation, now, network, reason=reason, details=details)


def reused(grant: Grant, reason: str, now: float, network: str, organisation: str = NOWHERE) -> AuditRecord:
    """A code or token came a second time that works once: somebody else may have it, so its grant ended."""
    whose = grant.organisation or organisation
    return _about(grant, "reuse", whose, now, network, outcome="denied", reason=reason)


def refused(
    grant_id: str, client_id: str, reason: str, now: float, network: str, *, organisation: str = NOWHERE
) -> AuditRecord:
    """Somebody who may not tried to use a code or token of a grant."""
    return AuditRecord(
        event="denied",
        outcome="denied",
        at=now,
        organisation=organisation,
        client=client_id,
        grant=grant_id,
        reason=reason,
        network=network,
    )


def revoked(grant: Grant, because: str, now: float, network: str = "", organisation: str = NOWHERE) -> AuditRecord:
    """A grant ended, or one of its access tokens."""
    return _about(grant, "revoke", grant.organisation or organisation, now, network, reason=because)


def _about(
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
    """Return what happened to a grant."""
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
        details=details or {},
    )


def _listed(names: Iterable[str]) -> str:
    return " ".join(names)
