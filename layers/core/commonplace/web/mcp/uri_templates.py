"""URI templates (RFC 6570): `{name}` is one segment, `{+path}` is the rest with its slashes."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

MAX_URI_CHARACTERS = 2_048

_VARIABLE = re.compile(r"\{(\+?)(\w+)\}")


def pattern_of(uri_template: str) -> re.Pattern[str]:
    """Matches whole addresses of the template; its groups are the variables, still percent-encoded."""
    parts, end = [], 0
    for found in _VARIABLE.finditer(uri_template):
        parts.append(re.escape(uri_template[end : found.start()]))
        parts.append(f"(?P<{found[2]}>{'[^?#]+' if found[1] else '[^/?#]+'})")
        end = found.end()
    return re.compile("".join(parts) + re.escape(uri_template[end:]))


def variables_of(uri_template: str) -> list[str]:
    return [found[2] for found in _VARIABLE.finditer(uri_template)]


def match(pattern: re.Pattern[str], uri: str) -> Mapping[str, str] | None:
    """The variables of an address, decoded; None if it is not of this shape or climbs out of it."""
    found = pattern.fullmatch(uri) if len(uri) <= MAX_URI_CHARACTERS else None
    if found is None:
        return None
    values = {name: unquote(value) for name, value in found.groupdict().items()}
    return values if all(_stays(value) for value in values.values()) else None


def _stays(value: str) -> bool:
    """No segment that means another folder, whichever way it is spelled."""
    parts = re.split(r"[/\\]", value)
    return not any(part in ("", ".", "..") for part in parts) and all(letter >= " " for letter in value)
