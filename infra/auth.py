"""Who people and agents are: the function that signs them in and gives out tokens."""

from constructs import Construct

from infra.access import COUNTERS
from infra.functions import Platform, PythonFunction
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
            snap_start=configuration.snap_start,
        )
        self.allow([f"dynamodb:{action}" for action in ITEMS], [identity.table.table_arn])
        self.allow_items(state.activity, ["PutItem"], AUDIT)
        self.allow_items(state.activity, ["UpdateItem"], COUNTERS)
        self.allow_items(state.cache, ["GetItem", "PutItem"], ROLES, NAMES)
        identity.let_use_table(self, WRITE)
        identity.let_read_secrets(self, identity.pseudonyms, identity.signing, identity.rpc, identity.oidc)
