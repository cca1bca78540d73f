"""What the settings of rooms and frame say of themselves: context keys, and which function reads which variables."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import Part, load
from commonplace.kernel.configuration import Declaration, Kind, Settings, declaration, read

MAX_TOLD = 4_096
"""Bytes of all variables of a function together."""


class ConfigurationError(ValueError):
    """The context names a key that does not exist, or a value that cannot be. The text says what would be valid."""


def settings_of(*parts: Part) -> tuple[type[Settings], ...]:
    """The classes that these parts of the capabilities read."""
    named = [name for each in CAPABILITIES for part in parts for name in each.settings.get(part, ())]
    return tuple(load(name) for name in dict.fromkeys(named))


READS: Mapping[str, tuple[type[Settings], ...]] = {
    "index": settings_of("collection"),
    "index-build": settings_of("collection"),
    "mcp": settings_of("toolset"),
}
"""By function: what it reads from its environment, and is told by the stack."""


def declarations(classes: Iterable[type[Settings]]) -> Iterator[tuple[str, Declaration]]:
    """Names of fields, and what is said of them."""
    for settings in classes:
        for name, field in settings.model_fields.items():
            yield name, declaration(field)


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
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def room_value(key: str, value: Any) -> int | str:
    """As functions are told it: numbers and flags as such, everything else as its text."""
    declared = ROOM_KEYS[key]
    found = checked(key, declared.context, value)
    return found if isinstance(found, int) else written(declared.context, value)


def variables(name: str) -> dict[str, Declaration]:
    """What the function of this name reads, by variable."""
    return {each.variable: each for _, each in declarations(READS.get(name, ())) if each.variable}
