"""Settings of identity: for the guard of every function that serves callers, and for the authorization server.

A missing or malformed variable raises SettingsError with its name and the valid values. Standard library only.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import field_validator, model_validator

from commonplace.identity.local_accounts import LocalAccount
from commonplace.identity.principals import TIERS, TOGETHER
from commonplace.identity.roles import ADDRESS, RoleMap, RoleMapError
from commonplace.kernel.configuration import (
    COUNT,
    FLAG,
    SECRET_ARN,
    Kind,
    Settings,
    listed,
    matching,
    missing,
    one_of,
    setting,
    text,
    whole,
)
from commonplace.kernel.environment import WEB_URL, SettingsError, bare_origin, is_loopback, web_url
from commonplace.kernel.settings import Appearance, Cloud, Deployment, Limited, Organisation

HATS_CONTRACT = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
"""Hats Protocol v1, the same on every chain."""
OPTIMISM = 10
HOUR_SECONDS, DAY_SECONDS = 3_600, 86_400
MAX_PARAMETERS_CHARACTERS = 300

_PARAMETER = re.compile(r"([a-z][a-z0-9_]{0,39})=([A-Za-z0-9._:/ -]{1,200})")
_OURS = re.compile(r"response_.*|client_.*|redirect_uri|scope|state|nonce|code_.*|request(_uri)?")

TOOLSET = matching(r"(?!all$)[a-z][a-z0-9-]{0,39}", "the name of a toolset")
CHAIN = Kind("the number of a chain", lambda given: int(given) if re.fullmatch(r"[1-9][0-9]{0,14}", given) else None)
KNOWN_CHAIN = whole(1, 999_999_999)
POSITIVE = whole(1, 1_000_000)
ISSUER = r"https://[A-Za-z0-9.-]+(:\d{1,5})?(/[^\s?#]*[^\s?#/])?"


def oidc_parameters(given: str) -> Mapping[str, str] | None:
    """Parameters of an authorization request, as `name=value&name=value`; None for what cannot be sent."""
    found = [_PARAMETER.fullmatch(one) for one in given.split("&")]
    values = {one[1]: one[2] for one in found if one and not _OURS.fullmatch(one[1])}
    return values if len(values) == len(found) and len(given) <= MAX_PARAMETERS_CHARACTERS else None


def _object(given: str) -> Mapping[str, Any] | None:
    found = json.loads(given)
    return found if isinstance(found, dict) else None


class Toolsets(Settings):
    toolsets: tuple[str, ...] = setting(
        listed(TOOLSET, "names of toolsets with commas between them, such as knowledge"),
        "MCP_TOOLSETS",
        key="mcpToolsets",
        default="knowledge",
        context=listed(one_of(*TOGETHER), f"names of toolsets (there are: {', '.join(TOGETHER)}), each once"),
    )
    """Toolsets at `/mcp`: a JSON list or comma-separated, see [MCP](../agents/mcp.md)."""


class IdentityTable(Settings):
    identity_table: str = setting(
        text("the name of the table that holds grants, clients and public keys"), "IDENTITY_TABLE"
    )
    """The table with grants and public keys; empty for rest and mcp means that everybody is anonymous."""


class SigningSecret(Settings):
    signing_secret_arn: str = setting(SECRET_ARN, "SIGNING_SECRET_ARN")
    """The secret with the keys that sign tokens."""


class Pseudonyms(Settings):
    identity_secret_arn: str = setting(SECRET_ARN, "IDENTITY_SECRET_ARN")
    """The secret with the key of pseudonyms, which also encrypts tokens at partners."""


class GuardSettings(IdentityTable, Organisation, Pseudonyms, Cloud):
    """What it takes to judge an access token: where grants and keys are, and what an account's roles give now."""

    issuer: str = setting(Kind(f"{WEB_URL}, without a path", bare_origin), "BASE_URL")
    """Public origin and token issuer. mcp and auth require it, and mcp answers no other host; rest without identity
    uses the request's `Host`."""
    cache_table: str = setting(text("the name of the table that remembers roles"), "ROLE_CACHE_TABLE")
    """The table that caches the roles of accounts."""
    rpc_secret_arn: str = setting(SECRET_ARN, "RPC_SECRET_ARN")
    """The secret with RPC endpoints; empty means that hats cannot be read."""
    role_map: RoleMap = setting(
        text("a JSON object; docs/operate/configuration.md lists its parts"),
        "ROLE_MAP",
        key="roleMap",
        default="{}",
        deployed=None,
    )
    """What hats, wallets and groups give, see [identity](identity.md#a-role-map-of-your-own): a JSON object or the path
    of a file; at most 1,500 bytes, 1,800 together with `openSearchParameters` and `catalogues`."""
    hats_contract: str = setting(
        matching(ADDRESS.pattern, "an address: 0x and 40 hex digits"),
        "HATS_CONTRACT",
        key="hatsContract",
        default=HATS_CONTRACT,
    )
    """Address of Hats Protocol."""
    hats_chain_id: int = setting(CHAIN, "HATS_CHAIN_ID", key="hatsChainId", default=OPTIMISM, context=KNOWN_CHAIN)
    """The chain of the hats, and of `optimismRpcUrls`."""
    role_seconds: int = setting(COUNT, "ROLE_CACHE_SECONDS", default=300)
    """How long roles are cached."""
    local_accounts: tuple[LocalAccount, ...] = setting(
        listed(
            Kind("an account", LocalAccount.parse),
            f"names with their tiers and commas between them, such as Ada=member (tiers: {', '.join(TIERS)})",
        ),
        "LOCAL_ACCOUNTS",
        default=(),
    )
    """Laptop only: accounts that anybody may sign in as, each `Name=tier`."""

    @classmethod
    def where_signed_in(cls, environ: Mapping[str, str]) -> Self | None:
        """None where nobody can sign in: a deployment without IDENTITY_TABLE."""
        return cls.from_environ(environ) if environ.get("IDENTITY_TABLE", "").strip() else None

    @model_validator(mode="after")
    def _local_on_a_laptop(self) -> Self:
        """Anywhere else a stranger would be whoever they like."""
        here = self.on_this_machine and is_loopback(urlsplit(self.issuer).hostname)
        if self.local_accounts and not here:
            raise SettingsError(
                "LOCAL_ACCOUNTS is set. It must be absent where AWS_ENDPOINT_URL or BASE_URL is not this machine."
            )
        return self

    @field_validator("role_map", mode="before")
    @classmethod
    def _of_organisation(cls, value: Any, info: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return RoleMap.from_json(value, organisation=info.data.get("organisation"))
        except RoleMapError as error:
            raise SettingsError(f"ROLE_MAP is malformed: {error}.") from error


class RotationSettings(Deployment, IdentityTable, SigningSecret):
    """Settings of the function that rotates the keys which sign tokens."""


class SessionSettings(GuardSettings):
    """What it takes to know who is behind a session of a browser, and what they may do now."""

    oidc_issuer: str | None = setting(
        Kind(WEB_URL, lambda given: given if web_url(given) else None),  # compared as text, a slash at its end included
        "OIDC_ISSUER",
        key="oidcIssuer",
        default=None,
        context=matching(ISSUER, "an https URL without a slash at its end"),
    )
    """An OIDC provider for sign-in beside wallets; needs `oidcClientId`."""
    oidc_claims_hours: int = setting(
        POSITIVE, "OIDC_CLAIMS_HOURS", key="oidcClaimsHours", default=24, context=whole(1, 4_320)
    )
    """How old groups may be where the provider does not return them again (1 to 4320), see
    [identity](identity.md#groups-of-an-oidc-provider)."""

    @property
    def oidc_claims_seconds(self) -> int:
        return self.oidc_claims_hours * HOUR_SECONDS


class AuthSettings(SessionSettings, Limited, Appearance, SigningSecret, Toolsets):
    """Further settings of the authorization server."""

    siwe_chain_id: int = setting(CHAIN, "SIWE_CHAIN_ID", key="siweChainId", default=OPTIMISM, context=KNOWN_CHAIN)
    """The chain named in the text that a wallet signs."""
    access_seconds: int = setting(POSITIVE, "ACCESS_TOKEN_SECONDS", default=3_600)
    """Lifetime of an access token."""
    idle_days: int = setting(POSITIVE, "REFRESH_IDLE_DAYS", default=30)
    """Days without use after which a refresh token expires."""
    absolute_days: int = setting(POSITIVE, "REFRESH_ABSOLUTE_DAYS", default=180)
    """Days after which it expires in any case."""
    requests_per_minute: int = setting(COUNT, "AUTH_RATE_LIMIT", default=60)
    """Requests per endpoint, client and minute; five times as many per network, half as many sign-in texts. 0 disables
    it."""
    registrations_per_day: int = setting(COUNT, "AUTH_REGISTRATIONS_PER_DAY", key="registrationsPerDay", default=20)
    """Clients that one network may register; 0 disables it, as in the next two."""
    sign_ins_per_hour: int = setting(COUNT, "AUTH_SIGN_INS_PER_HOUR", key="signInsPerHour", default=30)
    """Sign-ins of one account."""
    agent_sessions_per_hour: int = setting(COUNT, "AUTH_AGENT_SESSIONS_PER_HOUR", key="agentSessionsPerHour", default=5)
    """New grants of one account to agents."""
    loopback_documents: bool = setting(FLAG, "CIMD_LOOPBACK", default=False)
    """Laptop only: `true` accepts client metadata documents from this machine."""
    oidc_client_id: str = setting(
        text("the id of this deployment at the provider"),
        "OIDC_CLIENT_ID",
        key="oidcClientId",
        default="",
        deployed=None,
        context=matching(r"[\x21-\x7e]{1,200}", "the id of this deployment at the provider"),
    )
    """The client id at that provider; the client secret goes into [a secret](deploy.md#the-secrets-of-identity)."""
    oidc_secret_arn: str | None = setting(SECRET_ARN, "OIDC_SECRET_ARN", default=None)
    """The secret with the OIDC client secret; empty for a public client."""
    oidc_name: str = setting(
        text("what the provider is called"),
        "OIDC_NAME",
        key="oidcName",
        default="your organisation's account",
        deployed=None,
        context=matching(r"[^\x00-\x1f]{1,60}", "a name of at most 60 characters"),
        shown="your organisation's account",
    )
    """What the sign-in page calls the provider."""
    oidc_parameters: Mapping[str, str] = setting(
        Kind(
            "parameters such as access_type=offline&prompt=consent, each once and none that we send ourselves",
            oidc_parameters,
        ),
        "OIDC_PARAMETERS",
        key="oidcParameters",
        default={},
        deployed=None,
    )
    """Extra parameters of each sign-in, such as `access_type=offline&prompt=consent` (refresh tokens of Google)."""
    waap: Mapping[str, Any] | None = setting(
        Kind("a JSON object; docs/operate/configuration.md lists its keys", _object), "WAAP", key="waap", default=None
    )
    """Sign-in by e-mail and social accounts, see [identity](identity.md#signing-in): a JSON object of `methods`,
    `socials`, `theme`, `title`; at most 500 bytes."""

    @property
    def idle_seconds(self) -> int:
        """A refresh token that is not used for so long ends."""
        return self.idle_days * DAY_SECONDS

    @property
    def absolute_seconds(self) -> int:
        """A grant ends then, used or not."""
        return self.absolute_days * DAY_SECONDS

    @classmethod
    def completed(cls, given: dict[str, str]) -> dict[str, str]:
        if "oidc_issuer" in given and "oidc_client_id" not in given:
            raise missing(cls, "oidc_client_id")
        return given

    @model_validator(mode="after")
    def _loopback_on_a_laptop(self) -> Self:
        """Anywhere else a function could be sent to what listens beside it."""
        if self.loopback_documents and not self.on_this_machine:
            raise SettingsError("CIMD_LOOPBACK is set. It must be absent where AWS_ENDPOINT_URL is not this machine.")
        return self
