"""What identity reads from the environment: the guard of every function that answers, and the authorization server.

As `settings`: a missing or malformed variable raises SettingsError with the variable's name and its valid values.
Standard library only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from commonplace.identity.roles import ADDRESS, RoleMap, RoleMapError
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.settings import Environment

HATS_CONTRACT = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
"""Hats Protocol v1, the same on every chain."""
OPTIMISM = "10"
HOUR_SECONDS, DAY_SECONDS = 3_600, 86_400
MAX_PARAMETERS_CHARACTERS = 300
OIDC_PARAMETERS = "parameters such as access_type=offline&prompt=consent, each once and none that we send ourselves"

_CHAIN = re.compile(r"[1-9][0-9]{0,14}")
_PARAMETER = re.compile(r"([a-z][a-z0-9_]{0,39})=([A-Za-z0-9._:/ -]{1,200})")
_OURS = re.compile(r"response_.*|client_.*|redirect_uri|scope|state|nonce|code_.*|request(_uri)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """What it takes to judge an access token: where grants and keys are, and what an account's roles give now."""

    issuer: str
    """The public origin: no path, no trailing slash. Every URL of the authorization server begins with it."""
    identity_table: str
    cache_table: str
    """Where roles that were read are remembered, for every function together."""
    identity_secret_arn: str
    """JSON `{"key"}`: pseudonyms and heirs of refresh tokens are made with it."""
    rpc_secret_arn: str
    """JSON `{"optimism": [URL, ...], "mainnet": [URL, ...]}`: addresses of nodes hold keys of their providers."""
    role_map: RoleMap
    organisation: str
    """Of every account that no role gives another."""
    hats_contract: str
    hats_chain_id: int
    role_seconds: int
    """How long roles that were read are believed."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self | None:
        """None where nobody can sign in: a deployment without IDENTITY_TABLE."""
        return cls(**_guard(Environment(environ))) if environ.get("IDENTITY_TABLE", "").strip() else None


def _guard(env: Environment) -> dict[str, Any]:
    organisation = env.organisation()
    return {
        "issuer": env.origin("BASE_URL"),
        "identity_table": env.text("IDENTITY_TABLE", "the name of the table that holds grants and clients"),
        "cache_table": env.text("ROLE_CACHE_TABLE", "the name of the table that remembers roles"),
        "identity_secret_arn": env.arn("IDENTITY_SECRET_ARN", "secretsmanager"),
        "rpc_secret_arn": env.arn("RPC_SECRET_ARN", "secretsmanager"),
        "role_map": _role_map(env, organisation),
        "organisation": organisation,
        "hats_contract": env.parsed("HATS_CONTRACT", "an address: 0x and 40 hex digits", _address, HATS_CONTRACT),
        "hats_chain_id": env.parsed("HATS_CHAIN_ID", "the number of a chain", _chain, OPTIMISM),
        "role_seconds": env.count("ROLE_CACHE_SECONDS", 300),
    }


def _role_map(env: Environment, organisation: str) -> RoleMap:
    text = env.text("ROLE_MAP", "a JSON object; docs/configuration.md lists its parts", "{}")
    try:
        return RoleMap.from_json(text, organisation=organisation)
    except RoleMapError as error:
        raise SettingsError(f"ROLE_MAP is malformed: {error}.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationSettings:
    """What the function is told that rotates the keys which sign tokens."""

    stage: str
    identity_table: str
    """Where verifiers read public keys."""
    signing_secret_arn: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            identity_table=env.text("IDENTITY_TABLE", "the name of the table that holds public keys"),
            signing_secret_arn=env.arn("SIGNING_SECRET_ARN", "secretsmanager"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings(GuardSettings):
    """What the authorization server is told besides."""

    stage: str
    site_name: str
    activity_table: str
    """Audit records and counters."""
    signing_secret_arn: str
    """JSON `{"keys": [{"kid", "jwk", "signsFrom", "retiresAt"}]}`: the key ring."""
    toolsets: tuple[str, ...]
    """What `/mcp` serves."""
    siwe_chain_id: int
    """Named by every text that a wallet signs."""
    access_seconds: int
    idle_seconds: int
    """A refresh token that is not used for so long ends."""
    absolute_seconds: int
    """A grant ends then, used or not."""
    requests_per_minute: int
    """To each endpoint, by one client; five times as many from one network. 0 switches a limit off, here and below."""
    registrations_per_day: int
    """From one network."""
    sign_ins_per_hour: int
    """Of one account."""
    agent_sessions_per_hour: int
    """New grants of one account (seed 002, section 3)."""
    loopback_documents: bool
    """Metadata documents of clients may be on this machine: on a laptop alone."""
    oidc_issuer: str | None
    """None: nobody signs in through a provider of theirs."""
    oidc_client_id: str
    oidc_secret_arn: str | None
    """JSON `{"clientSecret"}`; None for a public client."""
    oidc_name: str
    """What the button says."""
    oidc_parameters: Mapping[str, str]
    """Sent to the provider beside our own, where it wants more than the standard does for a refresh token."""
    oidc_claims_seconds: int
    """How old groups may be where the provider lets nobody read them again."""
    waap: Mapping[str, Any] | None
    """Configuration of WaaP, sign-in by e-mail and social accounts; None leaves it out."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            **_guard(env),
            stage=env.stage(),
            site_name=env.text("SITE_NAME", "the name that readers see", "Commonplace"),
            activity_table=env.activity_table(),
            signing_secret_arn=env.arn("SIGNING_SECRET_ARN", "secretsmanager"),
            toolsets=env.toolsets(),
            siwe_chain_id=env.parsed("SIWE_CHAIN_ID", "the number of a chain", _chain, OPTIMISM),
            loopback_documents=_loopback_documents(env),
            **_lifetimes(env),
            **_limits(env),
            **_providers(env),
        )


def _lifetimes(env: Environment) -> dict[str, Any]:
    idle, absolute = _positive(env, "REFRESH_IDLE_DAYS", 30), _positive(env, "REFRESH_ABSOLUTE_DAYS", 180)
    return {
        "access_seconds": _positive(env, "ACCESS_TOKEN_SECONDS", 3_600),
        "idle_seconds": idle * DAY_SECONDS,
        "absolute_seconds": absolute * DAY_SECONDS,
    }


def _limits(env: Environment) -> dict[str, Any]:
    return {
        "requests_per_minute": env.count("AUTH_RATE_LIMIT", 60),
        "registrations_per_day": env.count("AUTH_REGISTRATIONS_PER_DAY", 20),
        "sign_ins_per_hour": env.count("AUTH_SIGN_INS_PER_HOUR", 30),
        "agent_sessions_per_hour": env.count("AUTH_AGENT_SESSIONS_PER_HOUR", 5),
    }


def _providers(env: Environment) -> dict[str, Any]:
    issuer = env.issuer("OIDC_ISSUER")
    secret = env.optional("OIDC_SECRET_ARN", "an ARN of secretsmanager", lambda text: text)
    return {
        "oidc_issuer": issuer,
        "oidc_client_id": env.text(
            "OIDC_CLIENT_ID", "the id of this deployment at the provider", "" if issuer is None else None
        ),
        "oidc_secret_arn": env.arn("OIDC_SECRET_ARN", "secretsmanager") if secret else None,
        "oidc_name": env.text("OIDC_NAME", "what the provider is called", "your organisation's account"),
        "oidc_parameters": env.optional("OIDC_PARAMETERS", OIDC_PARAMETERS, oidc_parameters) or {},
        "oidc_claims_seconds": _positive(env, "OIDC_CLAIMS_HOURS", 24) * HOUR_SECONDS,
        "waap": env.json_object("WAAP", "a JSON object; docs/configuration.md lists its keys"),
    }


def _loopback_documents(env: Environment) -> bool:
    """Raises SettingsError where a function could be sent to what listens beside it."""
    wanted = env.flag("CIMD_LOOPBACK")
    if wanted and not env.on_this_machine():
        raise SettingsError("CIMD_LOOPBACK is set. It must be absent where AWS_ENDPOINT_URL is not this machine.")
    return wanted


def _positive(env: Environment, name: str, default: int) -> int:
    return env.parsed(name, "a whole number from 1 to 1000000", _above_zero, str(default))


def _above_zero(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,5}|1000000", text) else None


def _address(text: str) -> str | None:
    return text if ADDRESS.fullmatch(text) else None


def _chain(text: str) -> int | None:
    return int(text) if _CHAIN.fullmatch(text) else None


def oidc_parameters(text: str) -> Mapping[str, str] | None:
    """Parameters of an authorization request, as `name=value&name=value`; None for what cannot be sent."""
    found = [_PARAMETER.fullmatch(one) for one in text.split("&")]
    values = {one[1]: one[2] for one in found if one and not _OURS.fullmatch(one[1])}
    return values if len(values) == len(found) and len(text) <= MAX_PARAMETERS_CHARACTERS else None
