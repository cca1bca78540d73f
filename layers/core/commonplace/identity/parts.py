"""The outside parts of identity: stores, keys, secrets, the chain and the provider, each built by its first use.

Importing this loads the clients of AWS, so composition imports it with the first call that needs one of them. What
verifies signatures of wallets is imported by the first sign-in alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, cast

from commonplace.identity.accounts import Denials
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.roles import MappedStandings
from commonplace.identity.secret_values import ClientSecret, PseudonymKey, RpcUrls
from commonplace.identity.store.guard import DynamoGuard
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel import aws
from commonplace.kernel.audit_store import DENIED, DynamoAudit

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

    from commonplace.identity.ethereum.rpc import Rpc
    from commonplace.identity.oidc import Provider
    from commonplace.identity.secret_values import Chain
    from commonplace.identity.settings import AuthSettings, GuardSettings
    from commonplace.identity.signing_keys import SecretSigningKeys
    from commonplace.identity.store.clients import DynamoClients
    from commonplace.identity.store.grants import DynamoGrants
    from commonplace.identity.wallets import Names, SignatureCheck
    from commonplace.kernel.fetch import Fetcher
    from commonplace.kernel.limit_store import DynamoCounters

MAINNET = 1
"""The chain that ENS lives on."""


class Parts:
    """The parts of a function that knows accounts. Those of the authorization server need AuthSettings."""

    def __init__(
        self, settings: GuardSettings, activity_table: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` gives epoch seconds."""
        self._settings = settings
        self._activity_table = activity_table
        self._clock = clock

    @cached_property
    def guard(self) -> DynamoGuard:
        """Somebody waits behind it: it waits for one second, twice."""
        return DynamoGuard(aws.dynamodb(read_timeout_seconds=1, attempts=2), self._settings.identity_table)

    @cached_property
    def visitors(self) -> DynamoSignIns:
        """The sessions that pages of other functions read; they wait as `guard` does."""
        return DynamoSignIns(aws.dynamodb(read_timeout_seconds=1, attempts=2), self._settings.identity_table)

    @cached_property
    def denials(self) -> Denials:
        """A record is worth half a second of whoever was refused, and no second attempt."""
        log = DynamoAudit(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), self._activity_table, DENIED)
        return Denials(log.write, self._clock, organisation=self._settings.organisation)

    @cached_property
    def standings(self) -> MappedStandings:
        """The standings by the role map: hats are cached for some minutes, and read from the chain after that."""
        from commonplace.identity.ethereum.hats import ChainHats

        settings = self._settings
        paths = tuple(settings.role_map.hats)
        chain = ChainHats(self._rpc("optimism", settings.hats_chain_id), settings.hats_contract, paths)
        remembered = RememberedHats(
            chain,
            aws.dynamodb(read_timeout_seconds=1, attempts=1),
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
    def clients(self) -> DynamoClients:
        from commonplace.identity.store.clients import DynamoClients

        tables = self._settings.identity_table, self._activity_table
        return DynamoClients(self._dynamodb, *tables, clock=self._clock)

    @cached_property
    def grants(self) -> DynamoGrants:
        from commonplace.identity.store.grants import DynamoGrants

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
        from commonplace.kernel.limit_store import DynamoCounters

        return DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), self._activity_table)

    @cached_property
    def signing_keys(self) -> SecretSigningKeys:
        from commonplace.identity.signing_keys import SecretSigningKeys

        return SecretSigningKeys(self._secrets, self._auth.signing_secret_arn)

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

        return GuardedHttp(loopback=self._auth.loopback_documents)

    @cached_property
    def provider(self) -> Provider:
        """The OIDC provider, where `oidc_issuer` is set."""
        from commonplace.identity.oidc_provider import HttpProvider

        arn = self._auth.oidc_secret_arn
        secret: Callable[[], str | None] = ClientSecret(self._secrets, arn).current if arn else lambda: None
        return HttpProvider(self._auth.oidc_issuer or "", self._auth.oidc_client_id, secret)

    def _rpc(self, chain: Chain, chain_id: int) -> Rpc:
        from commonplace.identity.ethereum.rpc import Rpc

        return Rpc(lambda: self._rpc_urls.of(chain), chain_id, vital=chain != "mainnet")

    @property
    def _auth(self) -> AuthSettings:
        return cast("AuthSettings", self._settings)

    @cached_property
    def _pseudonym_key(self) -> PseudonymKey:
        return PseudonymKey(self._secrets, self._settings.identity_secret_arn)

    @cached_property
    def _rpc_urls(self) -> RpcUrls:
        return RpcUrls(self._secrets, self._settings.rpc_secret_arn)

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        return aws.dynamodb(read_timeout_seconds=2)

    @cached_property
    def _secrets(self) -> SecretsManagerClient:
        return aws.secretsmanager()
