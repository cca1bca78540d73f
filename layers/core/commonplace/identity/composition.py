"""The callers of a function, by a token or by the session of a browser. What reads them is loaded by the first call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys, member_id
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.oidc_sessions import NO_PROVIDER, StoredClaims
from commonplace.identity.principals import ANONYMOUS, Principal
from commonplace.identity.sessions import Sessions, Visitors
from commonplace.kernel.deferred import Deferred, deferred

if TYPE_CHECKING:
    from commonplace.identity.accounts import Denials
    from commonplace.identity.parts import Parts
    from commonplace.identity.settings import GuardSettings, SessionSettings
    from commonplace.kernel.audit import AuditLog


def _parts(settings: GuardSettings, activity_table: str = "") -> Deferred[Parts]:
    """Return the parts of identity, which load the clients of AWS when they are first called for."""

    def build() -> Parts:
        from commonplace.identity.parts import Parts

        return Parts(settings, activity_table)

    return Deferred(build)


def token_principals(
    settings: GuardSettings, activity_table: str, *, names: bool, otherwise: Principal = ANONYMOUS
) -> TokenPrincipals:
    """Judges access tokens by keys, grants and roles as they are now. With `names`, principals carry their own.

    `otherwise` is the principal of requests without a credential.
    """
    parts = _parts(settings, activity_table)
    store = deferred(lambda: parts().guard)
    return TokenPrincipals(
        AccessTokens(settings.issuer, RememberedKeys(store, time.time)),
        store,
        deferred(lambda: parts().standings),
        time.time,
        names=names,
        denials=deferred(lambda: parts().denials),
        otherwise=otherwise,
    )


def visitors(settings: SessionSettings) -> Visitors:
    """The people behind sessions of browsers, with what their roles give now."""
    parts = _parts(settings)
    store = deferred(lambda: parts().visitors)
    issuer, seconds = settings.oidc_issuer, settings.oidc_claims_seconds
    claims = StoredClaims(lambda: issuer, store, time.time, claims_seconds=seconds) if issuer else NO_PROVIDER
    return Visitors(
        Sessions(store, claims, time.time),
        deferred(lambda: parts().standings),
        lambda organisation, subject: member_id(parts().key(), organisation, subject),
    )


def actions(activity_table: str) -> AuditLog:
    """Return where actions of people in the console are recorded."""

    def log() -> AuditLog:
        from commonplace.kernel import aws
        from commonplace.kernel.audit_store import CONSOLE, DynamoAudit

        return DynamoAudit(aws.dynamodb(read_timeout_seconds=2, attempts=2), activity_table, CONSOLE)

    return deferred(log)


def denials(settings: GuardSettings, activity_table: str) -> Denials:
    """Return where the console records whom it refused."""
    parts = _parts(settings, activity_table)
    return deferred(lambda: parts().denials)
