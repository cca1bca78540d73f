"""What a generator makes of a source: entries, and what it could not read."""

from collections.abc import Callable
from dataclasses import dataclass

from commonplace.reference.model import Entry, Severity

Read = Callable[[str], bytes | None]
"""Gives a file that belongs to a source, by its path from the source's folder; None for one that is not there, or may
not be read."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a source that became no entry, or a poorer one. Nothing is left out in silence."""

    where: str
    """`GET /users`, `line 120`, `helios gw sync`."""
    what: str
    """A sentence."""
    hint: str | None = None
    severity: Severity = "warning"
    """An error: what is there is useless or wrong without this part, and `generate` fails."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The same source and options give the same value, in the same order."""

    entries: tuple[Entry, ...]
    unread: tuple[Unread, ...] = ()
