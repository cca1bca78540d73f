"""Waiting for documents to change: what somebody waits for, and whether it has happened yet. No SDK here.

The feed only says when to look. What has changed is the difference between two snapshots of what is published, so that
nobody is told of a change before reading again would show it, and a feed that fails or lags costs time, not truth.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.kernel.errors import Unavailable
from commonplace.search.changes import Change, ChangeFeed
from commonplace.web.mcp.access import allowed
from commonplace.web.mcp.declaration import Caller, Snapshot, Toolset

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Happened:
    """What is to be told. Addresses are those that were asked for, in their order."""

    updated: tuple[str, ...] = ()
    listed: bool = False
    """Documents came or went."""

    def __bool__(self) -> bool:
        return self.listed or bool(self.updated)


class Waiting:
    """What one caller waits for, from the moment it is made. Its methods ask stores: not for an event loop."""

    def __init__(
        self, toolsets: Sequence[Toolset], feed: ChangeFeed, caller: Caller, uris: Sequence[str], *, lists: bool
    ) -> None:
        """Of `uris`, those wait that name a document which this caller may read. Raises Unavailable."""
        # The feed's end is asked for before the documents: what happens in between is heard, and not missed.
        self._feed = feed
        self._position = self._end_of_feed()
        self._sources = [one.snapshot for one in toolsets if one.snapshot is not None]
        self._before = [look(True) for look in self._sources]
        readable = [allowed(one.documents_need, caller) for one in toolsets if one.snapshot is not None]
        self._watched = _found(uris, self._before, readable)
        self._lists = lists and bool(self._sources)
        self._unseen: set[Change] = set()

    @property
    def uris(self) -> list[str]:
        """The addresses that are waited for."""
        return list(self._watched)

    @property
    def lists(self) -> bool:
        """Whether documents that come or go are waited for."""
        return self._lists

    def look(self) -> Happened:
        """What has happened by now. A store that does not answer has nothing to say yet."""
        self._unseen |= set(self._heard())
        try:
            now = [look(bool(self._unseen)) for look in self._sources]
        except Unavailable as error:
            logger.warning("a look for changes failed", extra={"reason": error.message})
            return Happened()
        self._unseen = {change for change in self._unseen if not any(_shows(one, change) for one in now)}
        return Happened(self._updated(now), self._lists and self._differ(now))

    def _updated(self, now: Sequence[Snapshot]) -> tuple[str, ...]:
        return tuple(
            uri for uri, (at, name) in self._watched.items() if now[at].version(name) != self._before[at].version(name)
        )

    def _differ(self, now: Sequence[Snapshot]) -> bool:
        pairs = zip(self._before, now, strict=True)
        return any(one != other and one.names() != other.names() for one, other in pairs)

    def _heard(self) -> list[Change]:
        """Changes that concern this caller. Once the feed fails, documents are looked at as often as for a reader."""
        if self._position is None:
            return []
        try:
            changes, self._position = self._feed.since(self._position)
        except Unavailable as error:
            logger.warning("a caller waits without the change feed", extra={"reason": error.message})
            self._position, changes = None, []
        names = {name for _, name in self._watched.values()}
        return [change for change in changes if change.record in names or (self._lists and change.added is not False)]

    def _end_of_feed(self) -> str | None:
        try:
            return self._feed.position()
        except Unavailable as error:
            logger.warning("a caller waits without the change feed", extra={"reason": error.message})
            return None


def _found(
    uris: Sequence[str], snapshots: Sequence[Snapshot], readable: Sequence[bool]
) -> Mapping[str, tuple[int, str]]:
    """By address: which snapshot has it, and the document's name there."""
    found: dict[str, tuple[int, str]] = {}
    for uri in uris:
        for at, snapshot in enumerate(snapshots):
            if readable[at] and uri not in found and (name := snapshot.find(uri)) is not None:
                found[uri] = (at, name)
    return found


def _shows(snapshot: Snapshot, change: Change) -> bool:
    """Whether readers see the change, or something newer."""
    version = snapshot.version(change.record)
    return change.kind == "removed" if version is None else version >= change.version
