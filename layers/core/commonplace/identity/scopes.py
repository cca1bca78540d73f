"""OAuth scopes: `{toolset}:{level}`, what each says to a person, and which kinds of things a toolset holds."""

import re
from collections.abc import Iterable
from typing import Literal, get_args

Level = Literal["read", "write", "admin"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Lowest first: who may administer may write, who may write may read."""

TOOLSETS = ("knowledge", "memory", "reference", "hive", "governance")
"""Every toolset that scopes are for."""

SERVED = ("knowledge", "memory", "reference")
"""Those that a deployment may have: each has a path, and a resource of its own (`reference_settings.served`)."""

OFFLINE_ACCESS = "offline_access"
"""Some clients ask for it before they expect a refresh token. It is never granted, never required, and no error."""

Permission = Literal["readonly", "action"]
"""What a token may do at all (seed 002, section 3)."""

KINDS = {
    "knowledge": ("documents",),
    "memory": ("entries",),
    "reference": ("commands",),
    "hive": ("contributions",),
    "governance": ("teams", "members", "roles", "channels", "messages", "decisions", "policies", "topics"),
}
"""Kinds of things that a token's resource scopes may name (seed 002, section 3), by toolset."""

_TOKEN = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]{1,64}")  # RFC 6749, section 3.3


def scope(toolset: str, level: Level) -> str:
    """The OAuth scope `{toolset}:{level}`."""
    return f"{toolset}:{level}"


CATALOGUE = tuple(scope(toolset, level) for toolset in TOOLSETS for level in LEVELS)
"""Every scope there is, in the order of every list."""


def parse_scopes(text: str) -> tuple[str, ...]:
    """The scopes of a parameter, each once and in order. Raises ValueError for characters that no scope has."""
    found = tuple(dict.fromkeys(text.split(" "))) if text else ()
    if not all(_TOKEN.fullmatch(one) for one in found if one):
        raise ValueError("a scope has characters that RFC 6749 (section 3.3) does not allow")
    return tuple(one for one in found if one)


def ordered(scopes: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order of the catalogue; what is not in it comes last, by name."""
    return tuple(sorted(set(scopes), key=lambda one: (CATALOGUE.index(one) if one in CATALOGUE else 99, one)))


def covers(granted: Iterable[str], wanted: str) -> bool:
    """Whether the wanted scope, or a higher level of the same toolset, is granted."""
    toolset, _, level = wanted.partition(":")
    held = frozenset(granted)
    return any(f"{toolset}:{name}" in held for name in LEVELS[LEVELS.index(level) :]) if level in LEVELS else False


def within(wanted: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """Those of the wanted scopes that the allowed ones cover."""
    held = frozenset(allowed)
    return ordered(one for one in wanted if covers(held, one))


def reach(scopes: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """As `within`, but a scope that is too high becomes the highest level of its toolset that is allowed."""
    held = frozenset(allowed)
    found: set[str] = set()
    for one in scopes:
        toolset, _, level = one.partition(":")
        below = LEVELS[: LEVELS.index(level) + 1] if level in LEVELS else ()
        best = next((f"{toolset}:{name}" for name in reversed(below) if covers(held, f"{toolset}:{name}")), None)
        if best:
            found.add(best)
    return ordered(found)


def permission_of(scopes: Iterable[str]) -> Permission:
    """`action` as soon as one scope is more than reading."""
    return "action" if any(not one.endswith(":read") for one in scopes) else "readonly"


def baseline(toolsets: Iterable[str]) -> tuple[str, ...]:
    """What a path asks for to begin with: reading, of each of its toolsets."""
    return ordered(scope(toolset, "read") for toolset in toolsets)


def kinds_of(toolsets: Iterable[str]) -> tuple[str, ...]:
    """The kinds of things that these toolsets hold."""
    return tuple(dict.fromkeys(kind for toolset in toolsets for kind in KINDS.get(toolset, ())))


WORDS = {
    "knowledge:read": "Search and read the knowledge base",
    "knowledge:write": "Propose links and drafts, which people review before anything is published",
    "knowledge:admin": "Look after the knowledge base",
    "memory:read": "Search and read the team's memory",
    "memory:write": "Add to the team's memory, import into it, change and delete what is in it",
    "memory:admin": "Look after the team's memory: compute anew what its searches compare",
    "reference:read": "Look up commands and endpoints of the product reference",
    "reference:write": "Report gaps in the product reference",
    "reference:admin": "Look after the product reference",
    "hive:read": "Search and read contributed knowledge",
    "hive:write": "Contribute knowledge, which is checked before others see it",
    "hive:admin": "Approve and remove contributions",
    "governance:read": "Read teams, roles, decisions and policies",
    "governance:write": "Send messages, vote and respond in your name",
    "governance:admin": "Look after the organisation's governance",
}
"""What a person consents to, by scope."""
