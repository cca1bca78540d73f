"""The outside parts of the authorization server: stores, keys, the chain, and documents of clients.

Importing this loads the clients of AWS; each part is built on first use. What verifies signatures of wallets is
imported by the first sign-in alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from commonplace.identity.secret_values import ClientSecret, PseudonymKey, RpcUrls
from commonplace.identity.signing_keys import SecretSigningKeys
from commonplace.identity.store.clients import DynamoClients
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel import aws
from commonplace.kernel.audit_store import DynamoAudit
from commonplace.kernel.limit_store import DynamoCounters

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

    from commonplace.identity.accounts import Standings
    from commonplace.identity.ethereum.rpc import Rpc
    from commonplace.identity.oidc import Provider
    from commonplace.identity.secret_values import Chain
    from commonplace.identity.settings import AuthSettings
    from commonplace.identity.wallets import Names, SignatureCheck
    from commonplace.kernel.fetch import Fetcher

MAINNET = 1
"""The chain that ENS lives on."""
READ_SECONDS = 2.0
COUNT_SECONDS = 0.5
"""A counter that does not answer is done without."""


class AuthParts:
    """One of each part, made on first use."""

    def __init__(self, settings: AuthSettings, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives epoch seconds."""
        self._settings = settings
        self._clock = clock

    @cached_property
    def clients(self) -> DynamoClients:
        tables = self._settings.identity_table, self._settings.activity_table
        return DynamoClients(self._dynamodb, *tables, clock=self._clock)

    @cached_property
    def grants(self) -> DynamoGrants:
        tables = self._settings.identity_table, self._settings.activity_table
        return DynamoGrants(self._dynamodb, *tables, clock=self._clock)

    @cached_property
    def sign_ins(self) -> DynamoSignIns:
        return DynamoSignIns(self._dynamodb, self._settings.identity_table, clock=self._clock)

    @cached_property
    def audit(self) -> DynamoAudit:
        return DynamoAudit(self._dynamodb, self._settings.activity_table)

    @cached_property
    def counters(self) -> DynamoCounters:
        quick = aws.dynamodb(read_timeout_seconds=COUNT_SECONDS, attempts=1)
        return DynamoCounters(quick, self._settings.activity_table)

    @cached_property
    def signing_keys(self) -> SecretSigningKeys:
        return SecretSigningKeys(self._secrets, self._settings.signing_secret_arn)

    @cached_property
    def standings(self) -> Standings:
        from commonplace.identity import wiring

        return wiring.standings(self._settings)

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
        """Only where `oidc_issuer` is set."""
        from commonplace.identity.oidc_provider import HttpProvider

        arn = self._settings.oidc_secret_arn
        secret: Callable[[], str | None] = ClientSecret(self._secrets, arn).current if arn else lambda: None
        return HttpProvider(self._settings.oidc_issuer or "", self._settings.oidc_client_id, secret)

    def key(self) -> bytes:
        """Of pseudonyms, and of heirs of refresh tokens. Raises Unavailable."""
        return self._pseudonym_key.current()

    def _rpc(self, chain: Chain, chain_id: int) -> Rpc:
        from commonplace.identity.ethereum.rpc import Rpc

        return Rpc(lambda: self._rpc_urls.of(chain), chain_id, vital=chain != "mainnet")

    @cached_property
    def _pseudonym_key(self) -> PseudonymKey:
        return PseudonymKey(self._secrets, self._settings.identity_secret_arn)

    @cached_property
    def _rpc_urls(self) -> RpcUrls:
        return RpcUrls(self._secrets, self._settings.rpc_secret_arn)

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        return aws.dynamodb(read_timeout_seconds=READ_SECONDS)

    @cached_property
    def _secrets(self) -> SecretsManagerClient:
        return aws.secretsmanager()
