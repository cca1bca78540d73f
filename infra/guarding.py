"""What every function is told and allowed that takes tokens: it verifies them, reads their grants, and asks for roles.

A guard must not be able to make or widen a grant. It reads grants and public keys, and writes when one was last used,
and whom it refused.
"""

from commonplace.identity.store.guard import OF_LAST_USE
from infra.catalogues import catalogues_environment
from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.identity_state import WRITE, IdentityState
from infra.store import State

GRANTS = "grant#*"
PUBLIC_KEYS = "keys"
ROLES = "roles#*"
"""Partition of the cache table."""

REFUSALS = "denied#*"
"""Partition of the activity table, apart from all other records."""


def guard_environment(
    configuration: Configuration, identity: IdentityState, state: State, base_url: str
) -> dict[str, str]:
    """Whose tokens count and for what, where grants and keys are, and what roles give. Absent is what the code has by
    itself."""
    environment = {
        "BASE_URL": base_url,
        "IDENTITY_TABLE": identity.table.table_name,
        "ROLE_CACHE_TABLE": state.cache.table_name,
        "IDENTITY_SECRET_ARN": identity.pseudonyms.secret_arn,
        "RPC_SECRET_ARN": identity.rpc.secret_arn,
        "ORGANISATION": configuration.organisation,
        "HATS_CONTRACT": configuration.hats_contract,
        "HATS_CHAIN_ID": str(configuration.hats_chain_id),
        **catalogues_environment(configuration),
    }
    return environment | ({"ROLE_MAP": configuration.role_map} if configuration.role_map else {})


def let_guard(function: PythonFunction, identity: IdentityState, state: State) -> None:
    """The least of which a token can be judged."""
    function.allow_items(identity.table, ["GetItem"], GRANTS, PUBLIC_KEYS)
    function.allow_items(identity.table, ["UpdateItem"], GRANTS, attributes=OF_LAST_USE)
    function.allow_items(state.cache, ["GetItem", "PutItem"], ROLES)
    function.allow_items(state.activity, ["PutItem"], REFUSALS)
    identity.let_use_table(function, WRITE)
    identity.let_read_secrets(function, identity.pseudonyms, identity.rpc)
