"""Readers of context values: each takes a key and what was given, and returns the value or says what would be valid."""

import json
import re
from collections.abc import Callable
from typing import Any

Reader = Callable[[str, Any], Any]


class ConfigurationError(ValueError):
    """The context names a key that does not exist, or a value that cannot be. The text says what would be valid."""


def text(pattern: str, description: str) -> Reader:
    def read(key: str, value: Any) -> str:
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        raise ConfigurationError(f"{key} is {description}, not {value!r}")

    return read


def one_of(*values: str, refused: dict[str, str] | None = None) -> Reader:
    """`refused` are values that somebody may well try, each with the reason why it cannot be."""
    reasons = refused or {}

    def read(key: str, value: Any) -> str:
        if value in values:
            return str(value)
        reason = f": {reasons[value]}" if isinstance(value, str) and value in reasons else ""
        raise ConfigurationError(f"{key} is one of {', '.join(values)}, not {value!r}{reason}")

    return read


def number(low: int, high: int, *, among: tuple[int, ...] = ()) -> Reader:
    """Numbers from the command line are text and are read as such."""

    def read(key: str, value: Any) -> int:
        given = "" if isinstance(value, bool) else str(value)
        found = int(given) if re.fullmatch(r"\d{1,9}", given, re.ASCII) else -1
        if low <= found <= high and (not among or found in among):
            return found
        valid = ", ".join(map(str, among)) if among else f"{low} to {high}"
        raise ConfigurationError(f"{key} is a whole number ({valid}), not {value!r}")

    return read


def flag(key: str, value: Any) -> bool:
    """true or false; the command line gives them as text."""
    given = value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value))
    if given is None:
        raise ConfigurationError(f"{key} is true or false, not {value!r}")
    return given


def names(pattern: str, description: str, *, every: str | None = None) -> Reader:
    """A JSON list, or its members as text with commas; read as the latter. `every` stands alone for all there are."""

    def read(key: str, value: Any) -> str:
        given = value if isinstance(value, list) else str(value).split(",")
        listed = [name.strip() for name in given if isinstance(name, str)]
        known = [name for name in listed if re.fullmatch(pattern, name)]
        if listed == [every] or (known and len(known) == len(given) == len(set(known))):
            return ",".join(listed)
        alone = f", or {every} alone" if every else ""
        raise ConfigurationError(f"{key} is {description}, each once and separated by commas{alone}, not {value!r}")

    return read


def checked(parse: Callable[[str], object], valid: str) -> Reader:
    """Text that the application itself can read: `parse` raises ValueError or returns None for what it cannot."""

    def read(key: str, value: Any) -> str:
        given = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        reason = ""
        try:
            understood = parse(given) is not None
        except ValueError as error:
            understood, reason = False, f": {error}"
        if not understood:
            raise ConfigurationError(f"{key} is {valid}, not {value!r}{reason}")
        return given

    return read


def patterns(key: str, value: Any) -> tuple[str, ...]:
    """A JSON list, or the text of one as the command line gives it."""
    try:
        listed = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        listed = None
    if isinstance(listed, list) and all(isinstance(item, str) and item for item in listed):
        return tuple(listed)
    raise ConfigurationError(f'{key} is a JSON list of path patterns such as ["drafts/"], not {value!r}')


def version(oldest: tuple[int, int], reason: str) -> Reader:
    """`MAJOR.MINOR` of the oldest one's major version, and not older."""

    def read(key: str, value: Any) -> str:
        found = re.fullmatch(r"(\d{1,2})\.(\d{1,2})", str(value))
        if not found:
            raise ConfigurationError(f"{key} is a version such as {oldest[0]}.{oldest[1]}, not {value!r}")
        given = int(found[1]), int(found[2])
        if given < oldest:
            raise ConfigurationError(f"{key} is {oldest[0]}.{oldest[1]} or newer, not {value}: {reason}")
        if given[0] != oldest[0]:
            raise ConfigurationError(f"{key} is {oldest[0]}.x, not {value}: no other major version has been tried")
        return found[0]

    return read
