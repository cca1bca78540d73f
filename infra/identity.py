"""Identity: its table, key and secrets, permissions on them, the authorization server, rotation of signing keys.

The key of encryption is used by nothing else.
"""

from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from commonplace.identity.store.guard import OF_LAST_USE
from infra.access import COUNTERS
from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction, removal
from infra.secrets import rotate, secret
from infra.store import State, table

READ = ("kms:Decrypt", "kms:DescribeKey")
WRITE = (*READ, "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")

GRANTS, PUBLIC_KEYS = "grant#*", "keys"
ROLES = "roles#*"
"""Partition of the cache table."""

SESSIONS, PROVIDER_SESSIONS = "session#*", "provider#*"
ACTIONS = "console#*"
"""Partition of the activity table: what people did in the console."""

REFUSALS = "denied#*"
"""Partition of the activity table, apart from all other records."""

SIGNING_DAYS = 30
"""Between rotations of the keys that sign tokens."""

AUDIT = "audit#*"
"""Partition of the activity table, by organisation."""

NAMES = "ens#*"
"""Partition of the cache table."""

ITEMS = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "BatchGetItem", "ConditionCheckItem")
"""No Scan: only operators look at everybody, with credentials of their own."""

CONSOLE_PATHS = ("/console", "/console/{proxy+}")
AUTH_PATHS = (
    *("/authorize", "/token", "/register", "/revoke", "/introspect"),
    *("/.well-known/oauth-authorization-server", "/.well-known/jwks.json"),
    *("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/{proxy+}"),
    *("/siwe/{proxy+}", "/oidc/{proxy+}"),
    *("/account", "/account/{proxy+}", "/auth/{proxy+}"),
)


class IdentityState(Construct):
    """Clients, grants and sign-ins are in `table`.

    `pseudonyms` names people where their names must not stand, `signing` holds the private keys of tokens, `rpc` the
    endpoints of chains, `oidc` (where a provider is configured) the client secret there.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.key = kms.Key(
            self,
            "Key",
            description=f"Commonplace {configuration.stage}: grants, and the keys of tokens and pseudonyms",
            enable_key_rotation=True,
            removal_policy=removal(configuration),
        )
        self.table = table(self, "Table", configuration, key=self.key)
        self.pseudonyms = secret(
            self,
            "Pseudonyms",
            configuration,
            "the key under which people are remembered",
            {},
            generated="key",
            encryption_key=self.key,
            unrotated="Another key would make strangers of everybody who has signed in, and end every grant.",
        )
        self.signing = secret(
            self, "Signing", configuration, "keys that sign tokens", {"keys": []}, encryption_key=self.key
        )
        # Not under the key: endpoints are public by default, and who is given others puts them in here.
        self.rpc = secret(
            self,
            "Rpc",
            configuration,
            "endpoints of chains, with their access keys if any",
            {"optimism": configuration.optimism_rpc_urls, "mainnet": configuration.mainnet_rpc_urls},
            unrotated="Whoever runs an endpoint gives out its address, so a new one is an operator's act.",
        )
        self.oidc: secretsmanager.Secret | None = None
        if configuration.oidc_issuer:
            self.oidc = secret(
                self,
                "Oidc",
                configuration,
                "client secret at the OIDC provider",
                {"clientSecret": ""},
                unrotated="The provider gives out the client secret, so a new one is an operator's act.",
            )

    def let_use_table(self, function: PythonFunction, actions: tuple[str, ...] = READ) -> None:
        """Lets DynamoDB use the key on behalf of the function; which items it may touch is said apart."""
        self._let_use_key(function, "dynamodb", actions)

    def let_read_secrets(self, function: PythonFunction, *secrets: secretsmanager.Secret | None) -> None:
        """The current value of these, and for those under the key its use by Secrets Manager."""
        given = [secret for secret in secrets if secret]
        function.allow(["secretsmanager:GetSecretValue"], [secret.secret_arn for secret in given])
        if any(secret.encryption_key for secret in given):
            self._let_use_key(function, "secretsmanager", ("kms:Decrypt",))

    def let_rotate(self, function: PythonFunction, secret: secretsmanager.Secret) -> None:
        """Allow what the four steps of a rotation need, of this secret alone."""
        actions = ("DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")
        function.allow([f"secretsmanager:{action}" for action in actions], [secret.secret_arn])
        self._let_use_key(function, "secretsmanager", ("kms:Decrypt", "kms:GenerateDataKey"))

    def _let_use_key(self, function: PythonFunction, service: str, actions: tuple[str, ...]) -> None:
        through = {"StringEquals": {"kms:ViaService": f"{service}.{Stack.of(self).region}.amazonaws.com"}}
        function.allow(actions, [self.key.key_arn], conditions=through)


def signing_function(scope: Construct, platform: Platform, identity: IdentityState) -> PythonFunction:
    """Rotates the key ring. It alone writes public keys."""
    function = PythonFunction(
        scope,
        "Signing",
        platform,
        name="rotate",
        description="Rotates the keys that sign access tokens",
        memory_mb=512,
        timeout_seconds=30,
        error_threshold=1,
    )
    identity.let_rotate(function, identity.signing)
    identity.let_use_table(function, WRITE)
    function.allow_items(identity.table, ["GetItem", "PutItem"], PUBLIC_KEYS)
    rotate(function, identity.signing, SIGNING_DAYS)  # at once: a deployment without a key could give no token
    return function


def let_guard(function: PythonFunction, identity: IdentityState, state: State) -> None:
    """The least of which a token can be judged.

    A guard must not be able to make or widen a grant. It reads grants and public keys, and writes when one was last
    used, and whom it refused.
    """
    function.allow_items(identity.table, ["GetItem"], GRANTS, PUBLIC_KEYS)
    function.allow_items(identity.table, ["UpdateItem"], GRANTS, attributes=OF_LAST_USE)
    function.allow_items(state.cache, ["GetItem", "PutItem"], ROLES)
    function.allow_items(state.activity, ["PutItem"], REFUSALS)
    identity.let_use_table(function, WRITE)
    identity.let_read_secrets(function, identity.pseudonyms, identity.rpc)


def let_visit(function: PythonFunction, identity: IdentityState, state: State) -> None:
    """Allow the function to find the person behind a session of a browser, and their present roles."""
    function.allow_items(identity.table, ["GetItem"], SESSIONS, PROVIDER_SESSIONS)
    function.allow_items(state.cache, ["GetItem", "PutItem"], ROLES)
    identity.let_use_table(function)
    identity.let_read_secrets(function, identity.pseudonyms, identity.rpc)


def auth_function(scope: Construct, platform: Platform, *, state: State, identity: IdentityState) -> PythonFunction:
    """The authorization server, with its pages. It alone reads the private keys of tokens."""
    function = PythonFunction(
        scope,
        "Auth",
        platform,
        name="auth",
        description="Signs people in, asks for their consent, and gives tokens to agents",
        memory_mb=1769,  # one whole processor: imports are what a start takes
        timeout_seconds=29,
        snap_start=platform.configuration.snap_start,
    )
    function.allow([f"dynamodb:{action}" for action in ITEMS], [identity.table.table_arn])
    function.allow_items(state.activity, ["PutItem"], AUDIT)
    function.allow_items(state.activity, ["UpdateItem"], COUNTERS)
    function.allow_items(state.cache, ["GetItem", "PutItem"], ROLES, NAMES)
    identity.let_use_table(function, WRITE)
    identity.let_read_secrets(function, identity.pseudonyms, identity.signing, identity.rpc, identity.oidc)
    return function
