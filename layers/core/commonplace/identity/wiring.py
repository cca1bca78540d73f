"""The parts of a function that accepts tokens: grants and keys, and the roles of accounts.

Importing this loads the clients of AWS: it is for the first call that brings a token.
"""

from __future__ import annotations

import time
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
from commonplace.kernel.audit_store import CONSOLE, DENIED, DynamoAudit

if TYPE_CHECKING:
    from commonplace.identity.settings import GuardSettings


def guard(settings: GuardSettings) -> DynamoGuard:
    """Waits for a second and asks twice: somebody waits behind it."""
    return DynamoGuard(aws.dynamodb(read_timeout_seconds=1, attempts=2), settings.identity_table)


def denials(activity_table: str, organisation: str) -> Denials:
    """A record is worth half a second of whoever was refused, and no second try."""
    log = DynamoAudit(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), activity_table, DENIED)
    return Denials(log.write, time.time, organisation=organisation)


def sign_ins(settings: GuardSettings) -> DynamoSignIns:
    """Waits as `guard` does."""
    return DynamoSignIns(aws.dynamodb(read_timeout_seconds=1, attempts=2), settings.identity_table)


def actions(activity_table: str) -> DynamoAudit:
    """The records of what people did in the console."""
    return DynamoAudit(aws.dynamodb(read_timeout_seconds=2, attempts=2), activity_table, CONSOLE)


def pseudonym_key(settings: GuardSettings) -> PseudonymKey:
    return PseudonymKey(aws.secretsmanager(), settings.identity_secret_arn)


def standings(settings: GuardSettings) -> MappedStandings:
    """By the role map: hats remembered for some minutes, and read from the chain when they are not."""
    secrets = aws.secretsmanager()
    urls = RpcUrls(secrets, settings.rpc_secret_arn)
    paths = tuple(settings.role_map.hats)
    chain = ChainHats(Rpc(lambda: urls.of("optimism"), settings.hats_chain_id), settings.hats_contract, paths)
    remembered = RememberedHats(
        chain,
        aws.dynamodb(read_timeout_seconds=1, attempts=1),
        settings.cache_table,
        key=pseudonym_key(settings).current,
        chain_id=settings.hats_chain_id,
        contract=settings.hats_contract,
        paths=paths,
        seconds=settings.role_seconds,
    )
    local = {account.subject: account.tier for account in settings.local_accounts}
    return MappedStandings(settings.role_map, remembered, local)
