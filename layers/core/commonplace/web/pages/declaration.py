"""The declaration of a capability's pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from starlette.routing import BaseRoute


@dataclass(frozen=True, slots=True)
class Link:
    """Where something is, as a path of this site or an address elsewhere, and its name."""

    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Edition:
    """What the pages are made from."""

    commit: str
    updated: datetime
    url: str | None = None
    """Where people see the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What one capability shows to everybody, the same to each."""

    routes: Sequence[BaseRoute]
    templates: Path | None = None
    """Folder of its templates; they extend `base.html` of the frame."""
    assets: Path | None = None
    """Folder of its scripts and images, served at `/assets/{name}`."""
    searches: frozenset[str] = frozenset()
    """Paths that the quota of searches counts, not that of reads."""
    nearest: Callable[[str], Sequence[Link]] | None = None
    """The pages nearest to a path at which there is nothing."""
    edition: Callable[[], Edition | None] | None = None
    """What is shown now, for the foot of every page; None before anything is published."""
