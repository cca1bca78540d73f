"""What an agent waits for: addresses that read otherwise than when it began to wait, and lists that changed.

The change feed of the organisation names addresses. Only what it names, or what a deadline closes, is read again for
this caller, and reported if it reads otherwise: nobody hears of a change that a read would not show, nor of what others
read there. Whoever may not read an address any more hears nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256

from ulid import ULID

from commonplace.governance.governance import Governance
from commonplace.governance.store import ACTIVE, FEED
from commonplace.kernel.errors import Forbidden, InvalidInput, NotFound
from commonplace.web.mcp.declaration import Call, Caller, Happened, Toolset
from commonplace.web.mcp.offer import match, pattern_of
from commonplace.web.operations import Actor

MAX_ADDRESSES = 20
SKEW_SECONDS = 5
"""By how much the clock that names an entry of the feed may be behind ours."""
LISTS = frozenset({"teams", "roles", "members", "channels"})
"""What changes lists. Every member can read the first three, and so may hear of them."""
ORGANISATION = "orgas/{orgaId}"


class Watch:
    """One caller's wait (`declaration.Watch`)."""

    def __init__(
        self, governance: Governance, offered: Toolset, caller: Caller, uris: Sequence[str], lists: bool
    ) -> None:
        """Grant the addresses that this caller can read. Raises InvalidInput for too many, and Unavailable."""
        self._governance, self._caller = governance, caller
        self._documents = offered.documents or (lambda _: ())
        known = [(pattern_of(one.uri_template), one) for one in offered.templates]
        found = {uri: (one, given) for uri in uris for at, one in known if (given := match(at, uri)) is not None}
        if len(found) > MAX_ADDRESSES:
            raise InvalidInput(f"One subscription is for at most {MAX_ADDRESSES} addresses of an organisation.")
        self._found = found
        self._begin = str(ULID.from_timestamp(ULID().timestamp - SKEW_SECONDS))[:10]
        self._seen: set[str] = set()
        self._due: list[tuple[str, str]] = []
        """Deadlines of open votes, and their ids."""
        self._digests: dict[str, str] = {}
        self._lists: set[str] = set()
        self._touched: set[str] = set()
        held = caller.principal.membership
        self._organisation = held.organisation if held is not None and self._held() else ""
        if self._organisation:
            # The feed is read before the addresses, so that what happens in between is not missed.
            self._named()
        if self._organisation:
            records, now = governance.store.records, governance.store.now()
            active = records.list(self._organisation, ACTIVE)
            self._due = [(one.deadline, one.id) for one in active if one.deadline is not None and one.deadline > now]
            self._digests = {uri: digest for uri in found if (digest := self._digest(uri)) is not None}
        self.uris = tuple(self._digests)
        self.lists = lists and bool(self._organisation)
        self._before = self._documents(caller) if self.lists else ()

    def look(self) -> Happened:
        """Return what has happened by now. Raises Unavailable."""
        if self._organisation and not self._held():
            self._organisation = ""
        names = self._named() | self._closed() if self._organisation else set[str]()
        if not self._organisation:
            return Happened()
        self._touched |= {uri for uri in self._digests if self._name(uri) in names}
        self._lists |= {name for name in names & LISTS if self.lists and self._caller.principal.touches(name)}
        # Each message touches the list of channels, in whichever channel it stands.
        if self._lists == {"channels"} and self._documents(self._caller) == self._before:
            self._lists.clear()
        updated = []
        for uri in sorted(self._touched & self._digests.keys()):
            digest = self._digest(uri)
            if digest is None:
                del self._digests[uri]
            elif digest != self._digests[uri]:
                updated.append(uri)
            else:
                self._touched.discard(uri)
        return Happened(tuple(updated), bool(self._lists))

    def _held(self) -> bool:
        """Return whether the grant has time left and its member is one still."""
        held = self._caller.principal.membership
        if held is None or held.expires_at <= self._governance.store.clock():
            return False
        with suppress(NotFound):
            return bool(self._governance.access(Actor(self._caller.principal), held.organisation))
        return False

    def _named(self) -> set[str]:
        """Return the names in the feed that were not there before. The end of the grant ends everything."""
        found = self._governance.store.records.list(self._organisation, FEED, after=self._begin)
        entries = [one for one in found if one.id not in self._seen]
        self._seen |= {one.id for one in entries}
        names = {name for one in entries for name in one.names}
        if f"grants/{self._caller.principal.grant}" not in names:
            return names
        self._organisation = ""
        return set()

    def _closed(self) -> set[str]:
        """Return the names of what shows a vote whose deadline has passed since."""
        now, names = self._governance.store.now(), set[str]()
        for id in (id for deadline, id in self._due if deadline <= now):
            messages = f"channels/{id.partition('.')[0]}/messages"
            names |= {messages, f"{messages}/{id}/thread", "governance-tools"}
        self._due = [(deadline, id) for deadline, id in self._due if deadline > now]
        return names

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
