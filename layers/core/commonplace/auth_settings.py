"""What functions are told of identity: whose tokens they take, and where grants and roles are read.

Apart from `settings`, so that a function without identity loads nothing of it. Errors as there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from commonplace.identity.roles import ADDRESS, RoleMap, RoleMapError, is_organisation
from commonplace.settings import Environment, SettingsError

HATS_CONTRACT = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
"""The same on every chain that Hats Protocol is on."""
OPTIMISM = 10
ROLE_SECONDS = 300

_TABLE = "the name of a DynamoDB table"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """What a function needs that takes tokens: it verifies them, reads their grants, and asks what roles give now."""

    issuer: str
    """The public origin, which signs tokens and which their audiences begin with; no trailing slash."""
    identity_table: str
    """Grants and public keys."""
    cache_table: str
    """Where roles that were read from the chain are remembered."""
    identity_secret_arn: str
    """The key of pseudonyms: under which name an account is remembered."""
    rpc_secret_arn: str | None
    """Endpoints of chains; None means that no chain can be read, so that hats give nothing."""
    role_map: RoleMap
    hats_contract: str
    hats_chain_id: int
    role_seconds: int
    """How long roles that were read may be relied on."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self | None:
        """None where there is no identity: IDENTITY_TABLE says whether there is. Raises SettingsError."""
        env = Environment(environ)
        return cls(**guarding(env)) if env.optional("IDENTITY_TABLE", _TABLE, _same) else None


def guarding(env: Environment) -> dict[str, Any]:
    """The fields of `GuardSettings`. Raises SettingsError."""
    return {
        "issuer": env.url("BASE_URL"),
        "identity_table": env.text("IDENTITY_TABLE", _TABLE),
        "cache_table": env.text("ROLE_CACHE_TABLE", _TABLE),
        "identity_secret_arn": env.arn("IDENTITY_SECRET_ARN", "secretsmanager"),
        "rpc_secret_arn": _rpc_secret(env),
        "role_map": _role_map(env),
        "hats_contract": env.parsed(
            "HATS_CONTRACT", "the address of a contract, 0x and 40 hexadecimal digits", _address, HATS_CONTRACT
        ),
        "hats_chain_id": env.count("HATS_CHAIN_ID", OPTIMISM),
        "role_seconds": env.count("ROLE_CACHE_SECONDS", ROLE_SECONDS),
    }


def _rpc_secret(env: Environment) -> str | None:
    name = "RPC_SECRET_ARN"
    return env.arn(name, "secretsmanager") if env.optional(name, "an ARN", _same) else None


def _role_map(env: Environment) -> RoleMap:
    name = "an organisation, up to 64 lower-case letters, digits and hyphens"
    organisation = env.parsed("ORGANISATION", name, lambda text: text if is_organisation(text) else None, "default")
    try:
        return RoleMap.from_json(env.text("ROLE_MAP", "a JSON object", "{}"), organisation=organisation)
    except RoleMapError as error:
        raise SettingsError(f"ROLE_MAP is malformed: {error}.") from None


def _address(text: str) -> str | None:
    return text if ADDRESS.fullmatch(text) else None


def _same(text: str) -> str:
    return text
