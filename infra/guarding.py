"""What every function is told that takes tokens."""

from infra.catalogues import catalogues_environment
from infra.configuration import Configuration
from infra.identity import IdentityState
from infra.store import State


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
