"""Context values of identity that are files of this machine, or need one."""

import json
from pathlib import Path
from typing import Any

from commonplace.identity.oauth.pages.waap import Waap
from commonplace.identity.roles import RoleMap, RoleMapError
from commonplace.kernel.configuration import json_object
from infra.declarations import ConfigurationError, chosen
from infra.requirements import ROOT
from infra.waap import BUNDLE, COMMAND

OPTIMISM_RPC_URLS = "https://mainnet.optimism.io,https://optimism-rpc.publicnode.com"
MAINNET_RPC_URLS = "https://ethereum-rpc.publicnode.com,https://eth.drpc.org"
"""Public, without a key, and without a promise: for more than a trial use endpoints of one's own."""

MAX_ROLE_MAP = 1_500
MAX_WAAP = 500
"""Bytes."""


def role_map(key: str, value: Any) -> str:
    """A JSON object, its text, or a file with one, absolute or from the project's root. Without needless spaces."""
    given = value
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        try:
            given = (ROOT / Path(value)).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"{key} is a role map or the path of a file with one; {value!r} is neither"
            ) from error
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
    found = str(chosen(key, json_object("a JSON object such as {}"), value))
    try:
        Waap.of(json.loads(found), "this site")
    except ValueError as error:
        raise ConfigurationError(f"{key}: {error}") from error
    if not BUNDLE.exists():
        raise ConfigurationError(f"{key} needs a bundle that is not built yet: {COMMAND}")
    if (size := len(found.encode())) > MAX_WAAP:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_WAAP}")
    return found
