"""What an agent waits for: addresses that read otherwise than when it began to wait, and lists that changed.

The change feed of the organisation names addresses. Only what it names, or what a deadline closes, is read again for
this caller, and told if it reads otherwise: nobody hears of a change that a read would not show, nor of what others
read there. Whoever may not read an address any more hears nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from ulid import ULID

from commonplace.governance.governance import Governance
from commonplace.governance.store import ACTIVE, FEED
from commonplace.kernel.errors import Forbidden, InvalidInput, NotFound
from commonplace.web.mcp.declaration import Call, Caller, Happened, Template
from commonplace.web.mcp.offer import match, pattern_of
from commonplace.web.operations import Actor

MAX_ADDRESSES = 20
SKEW_SECONDS = 5
"""By how much the clock that names an entry of the feed may be behind ours."""
LISTS = frozenset({"teams", "roles", "channels", "members"})
ORGANISATION = "orgas/{orgaId}"


class Watch:
    """One caller's wait (`declaration.Watch`)."""

    def __init__(
        self, governance: Governance, templates: Sequence[Template], caller: Caller, uris: Sequence[str], lists: bool
    ) -> None:
        """Grant the addresses that this caller can read. Raises InvalidInput for too many, and Unavailable."""
        self._governance, self._caller = governance, caller
        known = [(pattern_of(one.uri_template), one) for one in templates]
        found = {uri: (one, given) for uri in uris for at, one in known if (given := match(at, uri)) is not None}
        if len(found) > MAX_ADDRESSES:
            raise InvalidInput(f"One subscription is for at most {MAX_ADDRESSES} addresses of an organisation.")
        self._found: Mapping[str, tuple[Template, Mapping[str, str]]] = found
        self._begin = str(ULID.from_timestamp(ULID().timestamp - SKEW_SECONDS))[:10]
        self._seen: set[str] = set()
        self._due: list[tuple[str, str]] = []
        """Deadlines of open votes, and their ids."""
        self._digests: dict[str, str] = {}
        self._listed = False
        self._touched: set[str] = set()
        held = caller.principal.membership
        self._organisation = held.organisation if held is not None and self._held() else ""
        if self._organisation:
            # The feed is read before the addresses, so that what happens in between is not missed.
            self._named()
            records, now = governance.store.records, governance.store.now()
            active = records.list(self._organisation, ACTIVE)
            self._due = [(one.deadline, one.id) for one in active if one.deadline is not None and one.deadline > now]
            self._digests = {uri: digest for uri in found if (digest := self._digest(uri)) is not None}
        self.uris = tuple(self._digests)
        self.lists = lists and bool(self._organisation)

    def look(self) -> Happened:
        """Return what has happened by now. Raises Unavailable."""
        if not self._organisation or not self._held():
            self._organisation = ""
            return Happened()
        names = self._named() | self._closed()
        self._listed |= any(name in LISTS and self._caller.principal.touches(name) for name in names)
        self._touched |= {uri for uri in self._digests if self._name(uri) in names}
        updated = []
        for uri in sorted(self._touched):
            digest = self._digest(uri)
            if digest is None:
                del self._digests[uri]
            elif digest != self._digests[uri]:
                updated.append(uri)
                continue
            self._touched.discard(uri)
        return Happened(tuple(updated), self.lists and self._listed)

    def _held(self) -> bool:
        """Return whether the grant has time left and its member is one still."""
        held = self._caller.principal.membership
        if held is None or held.expires_at <= self._governance.store.clock():
            return False
        try:
            self._governance.access(Actor(self._caller.principal), held.organisation)
        except NotFound:
            return False
        return True

    def _named(self) -> set[str]:
        """Return the names in the feed that were not there before. The end of the grant ends everything."""
        entries = [
            one
            for one in self._governance.store.records.list(self._organisation, FEED, after=self._begin)
            if one.id not in self._seen
        ]
        self._seen |= {one.id for one in entries}
        names = {name for one in entries for name in one.names}
        if f"grants/{self._caller.principal.grant}" in names:
            self._organisation = ""
            return set()
        return names

    def _closed(self) -> set[str]:
        """Return the names of what shows a vote whose deadline has passed since."""
        now = self._governance.store.now()
        over = [id for deadline, id in self._due if deadline <= now]
        self._due = [(deadline, id) for deadline, id in self._due if deadline > now]
        messages = {f"channels/{id.partition('.')[0]}/messages" for id in over}
        threads = {f"channels/{id.partition('.')[0]}/messages/{id}/thread" for id in over}
        return messages | threads | ({"governance-tools"} if over else set())

    def _name(self, uri: str) -> str:
        """Return what the feed calls an address."""
        template, given = self._found[uri]
        place = template.uri_template.partition("{?")[0].partition(ORGANISATION)[2]
        return place.removeprefix("/").format(**{name: value for name, value in given.items() if name.isalpha()})

    def _digest(self, uri: str) -> str | None:
        """Return the digest of what this caller reads at an address; None if that is nothing."""
        template, given = self._found[uri]
        try:
            text, _ = template.read(Call(self._caller), given)
        except (NotFound, Forbidden, InvalidInput):
            return None
        return sha256(text.encode() if isinstance(text, str) else text).hexdigest()
