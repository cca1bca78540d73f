"""The outside parts of a function that knows accounts: grants and keys, roles, sessions, each built by its first use.

Importing this loads the clients of AWS, so `composition` imports it with the first call that brings a token or session.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from commonplace.identity.accounts import Denials
from commonplace.identity.ethereum.hats import ChainHats
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.roles import MappedStandings
from commonplace.identity.secret_values import PseudonymKey, RpcUrls
from commonplace.identity.store.guard import DynamoGuard
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel import aws
from commonplace.kernel.audit_store import DENIED, DynamoAudit

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

    from commonplace.identity.secret_values import Chain
    from commonplace.identity.settings import GuardSettings


class Parts:
    """One of each part."""

    def __init__(
        self, settings: GuardSettings, activity_table: str = "", clock: Callable[[], float] = time.time
    ) -> None:
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

    def _rpc(self, chain: Chain, chain_id: int) -> Rpc:
        return Rpc(lambda: self._rpc_urls.of(chain), chain_id, vital=chain != "mainnet")

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
