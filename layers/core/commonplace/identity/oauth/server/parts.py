"""The outside parts of the authorization server: stores, keys, the chain, documents of clients and the provider.

Importing this loads the clients of AWS; each part is built by its first use. What verifies signatures of wallets is
imported by the first sign-in alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from commonplace.identity.parts import Parts
from commonplace.identity.secret_values import ClientSecret
from commonplace.identity.signing_keys import SecretSigningKeys
from commonplace.identity.store.clients import DynamoClients
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel import aws
from commonplace.kernel.audit_store import DynamoAudit
from commonplace.kernel.limit_store import DynamoCounters

if TYPE_CHECKING:
    from commonplace.identity.oidc import Provider
    from commonplace.identity.settings import AuthSettings
    from commonplace.identity.wallets import Names, SignatureCheck
    from commonplace.kernel.fetch import Fetcher

MAINNET = 1
"""The chain that ENS lives on."""


class AuthParts(Parts):
    """One of each part."""

    _settings: AuthSettings

    def __init__(self, settings: AuthSettings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(settings, settings.activity_table, clock)

    @cached_property
    def clients(self) -> DynamoClients:
        tables = self._settings.identity_table, self._activity_table
        return DynamoClients(self._dynamodb, *tables, clock=self._clock)

    @cached_property
    def grants(self) -> DynamoGrants:
        tables = self._settings.identity_table, self._activity_table
        return DynamoGrants(self._dynamodb, *tables, clock=self._clock)

    @cached_property
    def sign_ins(self) -> DynamoSignIns:
        return DynamoSignIns(self._dynamodb, self._settings.identity_table, clock=self._clock)

    @cached_property
    def audit(self) -> DynamoAudit:
        return DynamoAudit(self._dynamodb, self._activity_table)

    @cached_property
    def counters(self) -> DynamoCounters:
        """A counter that does not answer is done without, so it gets half a second."""
        return DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), self._activity_table)

    @cached_property
    def signing_keys(self) -> SecretSigningKeys:
        return SecretSigningKeys(self._secrets, self._settings.signing_secret_arn)

    @cached_property
    def signatures(self) -> SignatureCheck:
        from commonplace.identity.ethereum.signatures import SiweSignatures

        return SiweSignatures(self._rpc("optimism", self._settings.hats_chain_id))

    @cached_property
    def names(self) -> Names:
        from commonplace.identity.ethereum.names import EnsNames
        from commonplace.identity.name_cache import RememberedNames

        names = EnsNames(self._rpc("mainnet", MAINNET))
        return RememberedNames(names, self._dynamodb, self._settings.cache_table, key=self.key, clock=self._clock)

    @cached_property
    def fetcher(self) -> Fetcher:
        from commonplace.kernel.guarded_http import GuardedHttp

        return GuardedHttp(loopback=self._settings.loopback_documents)

    @cached_property
    def provider(self) -> Provider:
        """The OIDC provider, where `oidc_issuer` is set."""
        from commonplace.identity.oidc_provider import HttpProvider

        arn = self._settings.oidc_secret_arn
        secret: Callable[[], str | None] = ClientSecret(self._secrets, arn).current if arn else lambda: None
        return HttpProvider(self._settings.oidc_issuer or "", self._settings.oidc_client_id, secret)
