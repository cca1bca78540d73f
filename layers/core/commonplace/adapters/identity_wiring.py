"""What a function puts together that takes tokens: where grants and keys are read, and what roles give now.

Importing this loads the clients of AWS: it is for the first call that brings a token.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.adapters import clients
from commonplace.adapters.dynamodb_audit import DENIED, DynamoAudit
from commonplace.adapters.dynamodb_guard import DynamoGuard
from commonplace.adapters.ethereum.hats import ChainHats
from commonplace.adapters.ethereum.rpc import Rpc
from commonplace.adapters.identity_secrets import PseudonymKey, RpcUrls
from commonplace.adapters.quick_reads import QuickReads
from commonplace.adapters.role_cache import RememberedHats
from commonplace.identity.denials import Denials
from commonplace.identity.roles import MappedStandings

if TYPE_CHECKING:
    from commonplace.auth_settings import GuardSettings


def guard(settings: GuardSettings) -> DynamoGuard:
    """Waits for a second and asks twice: somebody waits behind it."""
    client = clients.dynamodb(read_timeout_seconds=1, attempts=2)
    return DynamoGuard(
        client, settings.identity_table, QuickReads(client, settings.identity_table, clients.credentials).get
    )


def denials(activity_table: str, organisation: str) -> Denials:
    """A record is worth half a second of whoever was refused, and no second try."""
    log = DynamoAudit(clients.dynamodb(read_timeout_seconds=0.5, attempts=1), activity_table, DENIED)
    return Denials(log.write, time.time, organisation=organisation)


def standings(settings: GuardSettings) -> MappedStandings:
    """By the role map: hats remembered for some minutes, and read from the chain when they are not."""
    secrets = clients.secretsmanager()
    urls = RpcUrls(secrets, settings.rpc_secret_arn)
    paths = tuple(settings.role_map.hats)
    chain = ChainHats(Rpc(lambda: urls.of("optimism"), settings.hats_chain_id), settings.hats_contract, paths)
    remembered = RememberedHats(
        chain,
        clients.dynamodb(read_timeout_seconds=1, attempts=1),
        settings.cache_table,
        key=PseudonymKey(secrets, settings.identity_secret_arn).current,
        chain_id=settings.hats_chain_id,
        contract=settings.hats_contract,
        paths=paths,
        seconds=settings.role_seconds,
    )
    return MappedStandings(settings.role_map, remembered)
