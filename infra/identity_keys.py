"""The context keys of identity: who people are, what their roles give, and how often they may try."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.identity.oauth.pages.waap import Waap
from commonplace.identity.roles import RoleMap, RoleMapError, is_organisation
from commonplace.identity.settings import OIDC_PARAMETERS, oidc_parameters
from infra.readers import ConfigurationError, Reader, checked, names, number, text
from infra.requirements import ROOT

if TYPE_CHECKING:
    from infra.configuration import Configuration
from infra.waap import BUNDLE, COMMAND

OPTIMISM_RPC_URLS = "https://mainnet.optimism.io,https://optimism-rpc.publicnode.com"
MAINNET_RPC_URLS = "https://ethereum-rpc.publicnode.com,https://eth.drpc.org"
"""Public, without a key, and without a promise: for more than a trial use endpoints of one's own."""

MAX_ROLE_MAP = 1_500
MAX_WAAP = 500
MAX_TOLD = 1_800
"""Bytes; the last of role map, `openSearchParameters` and `catalogues` together: a function can be told 4 KB."""

_ORIGIN = r"https://[A-Za-z0-9.-]+(:\d{1,5})?"
_URL = rf"{_ORIGIN}(/[^\s,]*)?"


def role_map(key: str, value: Any) -> str:
    """A JSON object, its text, or a file with one, absolute or from the project's root. Without needless spaces."""
    given = value
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        given = _file(key, value)
    try:
        values = json.loads(given) if isinstance(given, str) else given
        found = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
        RoleMap.from_json(found)
    except (RoleMapError, ValueError) as error:
        raise ConfigurationError(f"{key} is a role map or the path of a file with one: {error}") from error
    if (size := len(found.encode())) > MAX_ROLE_MAP:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_ROLE_MAP}")
    return found


def waap(key: str, value: Any) -> str:
    """A JSON object or its text. What it configures has to be there: its bundle is no part of the repository."""
    found = str(checked(_object, "a JSON object such as {}")(key, value))
    try:
        Waap.of(json.loads(found), "this site")
    except ValueError as error:
        raise ConfigurationError(f"{key}: {error}") from error
    if not BUNDLE.exists():
        raise ConfigurationError(f"{key} needs a bundle that is not built yet: {COMMAND}")
    if (size := len(found.encode())) > MAX_WAAP:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_WAAP}")
    return found


def _file(key: str, path: str) -> str:
    try:
        return (ROOT / Path(path)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{key} is a role map or the path of a file with one; {path!r} is neither") from error


def _object(given: str) -> dict[str, Any] | None:
    values = json.loads(given)
    return values if isinstance(values, dict) else None


def _organisation(given: str) -> str | None:
    return given if is_organisation(given) else None


def check_identity(chosen: Configuration) -> None:
    """Raises ConfigurationError for values that do not go together."""
    if bool(chosen.oidc_issuer) != bool(chosen.oidc_client_id):
        raise ConfigurationError("oidcIssuer and oidcClientId are a provider and our name there: set both")
    for key, value in (("oidcName", chosen.oidc_name), ("oidcParameters", chosen.oidc_parameters)):
        if value and not chosen.oidc_issuer:
            raise ConfigurationError(f"{key} without oidcIssuer has no use; set both or neither")
    told = (chosen.role_map, chosen.open_search_parameters, chosen.catalogues)
    if sum(len(each.encode()) for each in told if each) > MAX_TOLD:
        raise ConfigurationError(f"roleMap, openSearchParameters and catalogues have {MAX_TOLD} bytes together at most")


IDENTITY_KEYS: Mapping[str, Reader] = {
    "organisation": checked(_organisation, "up to 64 lower-case letters, digits and hyphens"),
    "roleMap": role_map,
    "hatsContract": text(r"0x[0-9a-fA-F]{40}", "the address of a contract: 0x and 40 hexadecimal digits"),
    "hatsChainId": number(1, 999_999_999),
    "siweChainId": number(1, 999_999_999),
    "optimismRpcUrls": names(_URL, "https URLs, the first before its fall-backs"),
    "mainnetRpcUrls": names(_URL, "https URLs, the first before its fall-backs"),
    "registrationsPerDay": number(0, 1_000_000),
    "signInsPerHour": number(0, 1_000_000),
    "agentSessionsPerHour": number(0, 1_000_000),
    "oidcIssuer": text(rf"{_ORIGIN}(/[^\s?#]*[^\s?#/])?", "an https URL without a slash at its end"),
    "oidcClientId": text(r"[\x21-\x7e]{1,200}", "the id of this deployment at the provider"),
    "oidcName": text(r"[^\x00-\x1f]{1,60}", "a name of at most 60 characters"),
    "oidcClaimsHours": number(1, 4_320),
    "oidcParameters": checked(oidc_parameters, OIDC_PARAMETERS),
    "waap": waap,
}
