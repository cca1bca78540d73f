"""Builders from settings: the outside parts of identity, and the judges of tokens and sessions.

Importing this loads no client of AWS, and nothing that calls a chain: each part imports what it needs when it is first
used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys, member_id
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.oidc_sessions import NO_PROVIDER, StoredClaims
from commonplace.identity.principals import ANONYMOUS, Principal
from commonplace.identity.sessions import Sessions, Visitors
from commonplace.kernel.deferred import deferred

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

    from commonplace.identity.accounts import Denials
    from commonplace.identity.ethereum.rpc import Rpc
    from commonplace.identity.memberships import Memberships
    from commonplace.identity.roles import MappedStandings
    from commonplace.identity.settings import GuardSettings, SessionSettings
    from commonplace.identity.store.guard import DynamoGuard
    from commonplace.identity.store.sign_ins import DynamoSignIns
    from commonplace.kernel.audit import AuditLog
    from commonplace.kernel.secrets import KeptSecret


class Parts:
    """The outside parts of a function that knows accounts: grants and keys, roles, sessions. There is one of each."""

    def __init__(
        self, settings: GuardSettings, activity_table: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        self._settings: Any = settings
        self._activity_table = activity_table
        self._clock = clock

    @cached_property
    def guard(self) -> DynamoGuard:
        """A caller waits for it: it waits for one second, twice."""
        from commonplace.identity.store.guard import DynamoGuard

        return DynamoGuard(self._dynamodb(1, attempts=2), self._settings.identity_table)

    @cached_property
    def visitors(self) -> DynamoSignIns:
        """The sessions that pages of other functions read; they wait as `guard` does."""
        from commonplace.identity.store.sign_ins import DynamoSignIns

        return DynamoSignIns(self._dynamodb(1, attempts=2), self._settings.identity_table)

    @cached_property
    def denials(self) -> Denials:
        """A record is worth half a second of whoever was refused, and no second attempt."""
        from commonplace.identity.accounts import Denials
        from commonplace.kernel.audit_store import DENIED, DynamoAudit

        log = DynamoAudit(self._dynamodb(0.5, attempts=1), self._activity_table, DENIED)
        return Denials(log.write, self._clock, organisation=self._settings.organisation)

    @cached_property
    def standings(self) -> MappedStandings:
        """The standings by the role map: hats are cached for some minutes, and read from the chain after that."""
        from commonplace.identity.ethereum.hats import ChainHats
        from commonplace.identity.role_cache import RememberedHats
        from commonplace.identity.roles import MappedStandings

        settings = self._settings
        paths = tuple(settings.role_map.hats)
        remembered = RememberedHats(
            ChainHats(self._rpc("optimism", settings.hats_chain_id), settings.hats_contract, paths),
            self._dynamodb(1, attempts=1),
            settings.cache_table,
            key=self.key,
            chain_id=settings.hats_chain_id,
            contract=settings.hats_contract,
            paths=paths,
            seconds=settings.role_seconds,
        )
        local = {account.subject: account.tier for account in settings.local_accounts}
        return MappedStandings(settings.role_map, remembered, local)

    def key(self) -> bytes:
        """Return the key of pseudonyms and of heirs of refresh tokens. Raises Unavailable."""
        return self._pseudonym_key.current()

    @cached_property
    def _pseudonym_key(self) -> KeptSecret[bytes]:
        from commonplace.identity.secret_values import KeptSecret, pseudonym_key

        return KeptSecret(self._secrets, self._settings.identity_secret_arn, pseudonym_key)

    def _rpc(self, chain: str, chain_id: int) -> Rpc:
        from commonplace.identity.ethereum.rpc import Rpc

        return Rpc(lambda: self._rpc_urls.current().get(chain, ()), chain_id, vital=chain != "mainnet")

    @cached_property
    def _rpc_urls(self) -> KeptSecret[dict[str, tuple[str, ...]]]:
        from commonplace.identity.secret_values import KeptSecret, rpc_urls

        return KeptSecret(self._secrets, self._settings.rpc_secret_arn, rpc_urls)

    @cached_property
    def _secrets(self) -> SecretsManagerClient:
        from commonplace.kernel import aws

        return aws.secretsmanager()

    def _dynamodb(self, seconds: float, *, attempts: int) -> DynamoDBClient:
        from commonplace.kernel import aws

        return aws.dynamodb(read_timeout_seconds=seconds, attempts=attempts)


def token_principals(
    settings: GuardSettings,
    activity_table: str,
    memberships: Memberships | None = None,
    *,
    names: bool,
    otherwise: Principal = ANONYMOUS,
) -> TokenPrincipals:
    """Return the judge of access tokens by keys, grants and roles as they are now.

    With `names`, principals carry their own; `otherwise` is the principal of requests without a credential.
    """
    parts = Parts(settings, activity_table)
    store = deferred(lambda: parts.guard)
    return TokenPrincipals(
        AccessTokens(settings.issuer, RememberedKeys(store, time.time)),
        store,
        deferred(lambda: parts.standings),
        time.time,
        names=names,
        memberships=memberships,
        denials=deferred(lambda: parts.denials),
        otherwise=otherwise,
    )


def visitors(settings: SessionSettings) -> Visitors:
    """Return the people behind sessions of browsers, with what their roles give now."""
    parts = Parts(settings)
    store = deferred(lambda: parts.visitors)
    issuer, seconds = settings.oidc_issuer, settings.oidc_claims_seconds
    claims = StoredClaims(lambda: issuer, store, time.time, claims_seconds=seconds) if issuer else NO_PROVIDER
    return Visitors(
        Sessions(store, claims, time.time),
        deferred(lambda: parts.standings),
        lambda organisation, subject: member_id(parts.key(), organisation, subject),
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
    parts = Parts(settings, activity_table)
    return deferred(lambda: parts.denials)
