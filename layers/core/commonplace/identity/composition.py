"""The guard of functions that serve callers, built from settings. What reads tokens is loaded by the first of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.kernel.deferred import deferred

if TYPE_CHECKING:
    from commonplace.identity.accounts import Denials, Standings
    from commonplace.identity.settings import GuardSettings
    from commonplace.identity.store.guard import DynamoGuard


def token_principals(settings: GuardSettings, activity_table: str, *, names: bool) -> TokenPrincipals:
    """Judges access tokens by keys, grants and roles as they are now. With `names`, principals carry their own."""

    def guard() -> DynamoGuard:
        from commonplace.identity import wiring

        return wiring.guard(settings)

    def standings() -> Standings:
        from commonplace.identity import wiring

        return wiring.standings(settings)

    def denials() -> Denials:
        from commonplace.identity import wiring

        return wiring.denials(activity_table, settings.organisation)

    store = deferred(guard)
    tokens = AccessTokens(settings.issuer, RememberedKeys(store, time.time))
    return TokenPrincipals(tokens, store, deferred(standings), time.time, names=names, denials=deferred(denials))
