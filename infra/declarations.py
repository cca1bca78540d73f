"""Context keys and environment variables of functions, derived from the settings that rooms and frame declare."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commonplace.capabilities import CAPABILITIES
from commonplace.identity.settings import AuthSettings, GuardSettings, RotationSettings, SessionSettings
from commonplace.kernel.capability import PARTS, OwnFunction, Part, StreamingFunction, load
from commonplace.kernel.configuration import Declaration, Kind, Settings, declaration, read
from commonplace.redaction.settings import RedactionSettings, RedactSettings
from commonplace.repository.settings import SyncSettings, WebhookSettings
from commonplace.search.settings import IndexSettings
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.settings import OriginRotationSettings, OriginSettings, RestSettings, SiteSettings


class ConfigurationError(ValueError):
    """The context names a key that does not exist, or a value that cannot be. The text says what would be valid."""


def settings_of(*parts: Part) -> tuple[type[Settings], ...]:
    """The classes that these parts of the capabilities read."""
    named = [name for each in CAPABILITIES for part in parts for name in each.settings.get(part, ())]
    return tuple(load(name) for name in dict.fromkeys(named))


def declarations(classes: Iterable[type[Settings]]) -> Iterator[tuple[str, Declaration]]:
    """Names of fields, and what is said of them."""
    for settings in classes:
        for name, field in settings.model_fields.items():
            yield name, declaration(field)


def required() -> tuple[type[Settings], ...]:
    """The classes that say which capabilities a deployment has: whoever takes or gives tokens reads them."""
    wanted = [{each.requires} for each in CAPABILITIES if each.requires]
    return tuple(each for each in settings_of(*PARTS) if each.model_fields.keys() in wanted)


def _of_function(one: OwnFunction) -> tuple[type[Settings], ...]:
    """The classes that a capability's own function reads: one that streams knows callers, and calls tools."""
    usual = (McpSettings, SessionSettings, OriginSettings) if isinstance(one, StreamingFunction) else ()
    return (*map(load, one.settings), *usual)


AGENTS = (*required(), *settings_of("toolset", "memberships"))

READS: Mapping[str, tuple[type[Settings], ...]] = {
    "webhook": (WebhookSettings, OriginSettings, *settings_of("sources")),
    "sync-run": (SyncSettings, *settings_of("sources", "steps")),
    "sync-store": (SyncSettings, *settings_of("sources", "steps")),
    "index": (IndexSettings, *settings_of("collection")),
    "index-build": (IndexSettings, *settings_of("collection")),
    "rest": (RestSettings, SessionSettings, OriginSettings, RedactionSettings, *required(), *settings_of("routes")),
    "site": (SiteSettings, OriginSettings, *settings_of("pages")),
    "site (private)": (SiteSettings, SessionSettings, OriginSettings, *settings_of("pages")),
    "console": (SiteSettings, SessionSettings, OriginSettings, RedactionSettings, *settings_of("console")),
    "mcp": (McpSettings, GuardSettings, OriginSettings, RedactionSettings, *AGENTS),
    "auth": (AuthSettings, OriginSettings, *required(), *settings_of("memberships")),
    "rotate": (RotationSettings,),
    "redact": (RedactSettings,),
    "origin-secret": (OriginRotationSettings,),
    **{one.name: _of_function(one) for each in CAPABILITIES for one in each.functions},
}
"""By function: what it reads from its environment, which the stack sets."""


def keys(classes: Iterable[type[Settings]]) -> dict[str, Declaration]:
    """By context key. A key may be read by several classes; the first says what it is."""
    found: dict[str, Declaration] = {}
    for _, declared in declarations(classes):
        if declared.key:
            found.setdefault(declared.key, declared)
    return found


ROOMS = tuple(dict.fromkeys(settings for classes in READS.values() for settings in classes))
ROOM_KEYS = keys(ROOMS)


def snake_case(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)


def camel_case(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def checked(key: str, kind: Kind, value: Any) -> Any:
    """The value as `kind` reads it. Values of the command line are text, those of `cdk.json` may be any JSON."""
    try:
        return read(kind, written(kind, value))
    except ValueError as error:
        reason = f": {error}" if str(error) and kind.valid not in str(error) else ""
        raise ConfigurationError(f"{key} is {kind.valid}, not {value}{reason}") from error


def written(kind: Kind, value: Any) -> str:
    """As a variable has it. Raises ValueError for a list that is none."""
    if kind.listed:
        items = value if isinstance(value, list) else str(value).split(",")
        if not all(isinstance(item, str) for item in items):
            raise ValueError("a list of texts")
        names = [item.strip() for item in items]
        if len(set(names)) < len(names):
            raise ValueError("each is named once")
        return ",".join(names)
    if kind.compact and isinstance(value, str):
        value = json.loads(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def chosen(key: str, kind: Kind, value: Any) -> int | str:
    """The form in environment variables: numbers and flags as such, everything else as its text."""
    found = checked(key, kind, value)
    return found if isinstance(found, int) else written(kind, value)


def variables(name: str) -> dict[str, Declaration]:
    """Return what the function of this name reads, by variable."""
    found: dict[str, Declaration] = {}
    for _, said in declarations(READS.get(name, ())):
        if said.variable and (said.key or said.variable not in found):
            found[said.variable] = said
    return found
