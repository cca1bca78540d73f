"""Who calls a function: by a token or by the session of a browser. What reads them is loaded by the first of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys, member_id
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.oidc_sessions import NO_PROVIDER, StoredClaims
from commonplace.identity.principals import ANONYMOUS, Principal
from commonplace.identity.sessions import Sessions, Visitors
from commonplace.kernel.deferred import deferred

if TYPE_CHECKING:
    from commonplace.identity.accounts import Denials, Standings
    from commonplace.identity.secret_values import PseudonymKey
    from commonplace.identity.settings import GuardSettings, SessionSettings
    from commonplace.identity.store.guard import DynamoGuard
    from commonplace.identity.store.sign_ins import DynamoSignIns
    from commonplace.kernel.audit import AuditLog


def token_principals(
    settings: GuardSettings, activity_table: str, *, names: bool, otherwise: Principal = ANONYMOUS
) -> TokenPrincipals:
    """Judges access tokens by keys, grants and roles as they are now. With `names`, principals carry their own.

    `otherwise` is the principal of requests without a credential.
    """

    def guard() -> DynamoGuard:
        from commonplace.identity import wiring

        return wiring.guard(settings)

    store = deferred(guard)
    tokens = AccessTokens(settings.issuer, RememberedKeys(store, time.time))
    denied = denials(settings, activity_table)
    return TokenPrincipals(
        tokens, store, _standings(settings), time.time, names=names, denials=denied, otherwise=otherwise
    )


def visitors(settings: SessionSettings) -> Visitors:
    """The people behind sessions of browsers, with what their roles give now."""

    def sign_ins() -> DynamoSignIns:
        from commonplace.identity import wiring

        return wiring.sign_ins(settings)

    def key() -> PseudonymKey:
        from commonplace.identity import wiring

        return wiring.pseudonym_key(settings)

    store, pseudonyms = deferred(sign_ins), deferred(key)
    issuer, seconds = settings.oidc_issuer, settings.oidc_claims_seconds
    claims = StoredClaims(lambda: issuer, store, time.time, claims_seconds=seconds) if issuer else NO_PROVIDER

    def member(organisation: str, subject: str) -> str:
        return member_id(pseudonyms.current(), organisation, subject)

    return Visitors(Sessions(store, claims, time.time), _standings(settings), member)


def actions(activity_table: str) -> AuditLog:
    """Where actions of people in the console are recorded."""

    def log() -> AuditLog:
        from commonplace.identity import wiring

        return wiring.actions(activity_table)

    return deferred(log)


def denials(settings: GuardSettings, activity_table: str) -> Denials:
    def log() -> Denials:
        from commonplace.identity import wiring

        return wiring.denials(activity_table, settings.organisation)

    return deferred(log)


def _standings(settings: GuardSettings) -> Standings:
    def standings() -> Standings:
        from commonplace.identity import wiring

        return wiring.standings(settings)

    return deferred(standings)
