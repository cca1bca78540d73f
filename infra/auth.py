"""Who people and agents are: the function that signs them in and gives out tokens."""

from constructs import Construct

from infra.access import COUNTERS
from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction
from infra.guarding import guard_environment
from infra.identity import ROLES, WRITE, IdentityState
from infra.store import State

AUDIT = "audit#*"
"""Partition of the activity table, by organisation."""

NAMES = "ens#*"
"""Partition of the cache table."""

ITEMS = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchGetItem", "ConditionCheckItem")
"""No Scan: only operators look at everybody, with credentials of their own."""

AUTH_PATHS = (
    *("/authorize", "/token", "/register", "/revoke", "/introspect"),
    *("/.well-known/oauth-authorization-server", "/.well-known/jwks.json"),
    *("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/{proxy+}"),
    *("/siwe/{proxy+}", "/oidc/{proxy+}"),
    *("/account", "/account/{proxy+}", "/auth/{proxy+}"),
)


class Auth(PythonFunction):
    """The authorization server, with its pages. It alone reads the private keys of tokens."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        state: State,
        identity: IdentityState,
        base_url: str,
    ) -> None:
        configuration = platform.configuration
        super().__init__(
            scope,
            construct_id,
            platform,
            name="auth",
            description="Signs people in, asks for their consent, and gives tokens to agents",
            source="functions/auth",
            memory_mb=1769,  # one whole processor: imports are what a start takes
            timeout_seconds=29,
            environment={
                **guard_environment(configuration, identity, state, base_url),
                **_environment(configuration, identity, state),
            },
            snap_start=configuration.snap_start,
        )
        self.allow([f"dynamodb:{action}" for action in ITEMS], [identity.table.table_arn])
        self.allow_items(state.activity, ["PutItem"], AUDIT)
        self.allow_items(state.activity, ["UpdateItem"], COUNTERS)
        self.allow_items(state.cache, ["GetItem", "PutItem"], ROLES, NAMES)
        identity.let_use_table(self, WRITE)
        identity.let_read_secrets(self, identity.pseudonyms, identity.signing, identity.rpc, identity.oidc)


def _environment(configuration: Configuration, identity: IdentityState, state: State) -> dict[str, str]:
    environment = {
        "SITE_NAME": configuration.site_name,
        "ACTIVITY_TABLE": state.activity.table_name,
        "SIGNING_SECRET_ARN": identity.signing.secret_arn,
        "MCP_TOOLSETS": configuration.mcp_toolsets,
        "SIWE_CHAIN_ID": str(configuration.siwe_chain_id),
        "AUTH_REGISTRATIONS_PER_DAY": str(configuration.registrations_per_day),
        "AUTH_SIGN_INS_PER_HOUR": str(configuration.sign_ins_per_hour),
        "AUTH_AGENT_SESSIONS_PER_HOUR": str(configuration.agent_sessions_per_hour),
    }
    environment |= {"WAAP": configuration.waap} if configuration.waap else {}
    return environment | _provider(configuration, identity)


def _provider(configuration: Configuration, identity: IdentityState) -> dict[str, str]:
    """A second way to sign in, where one is configured."""
    if not (configuration.oidc_issuer and identity.oidc):
        return {}
    provider = {
        "OIDC_ISSUER": configuration.oidc_issuer,
        "OIDC_CLIENT_ID": configuration.oidc_client_id or "",
        "OIDC_SECRET_ARN": identity.oidc.secret_arn,
    }
    provider["OIDC_CLAIMS_HOURS"] = str(configuration.oidc_claims_hours)
    provider |= {"OIDC_NAME": configuration.oidc_name} if configuration.oidc_name else {}
    return provider | ({"OIDC_PARAMETERS": configuration.oidc_parameters} if configuration.oidc_parameters else {})
