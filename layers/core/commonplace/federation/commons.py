"""A search across partners and our own knowledge base at once, under one deadline: who is late is named, not awaited.

Where the last comparison of a partner's tools is more than an hour old, its list comes before its search, within the
same deadline: a tool that says something else than what was approved is not called.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from commonplace.federation.model import (
    CALL_SECONDS,
    MAX_ANSWER_CHARACTERS,
    Contact,
    Hit,
    Partner,
    PartnerFailed,
    PartnerTool,
    Said,
    cleaned,
    hits_of,
    merged,
    texts_of,
)
from commonplace.federation.partners import Partners
from commonplace.kernel.errors import CommonplaceError, Forbidden, InvalidInput, Unavailable
from commonplace.kernel.retry import CircuitBreaker

if TYPE_CHECKING:
    from concurrent.futures import Future

Status = Literal["ok", "late", "failed", "left_alone", "withheld"]
State = Literal["ok", "left_alone", "withheld", "unapproved"]

DEADLINE_SECONDS = 5.0
TOGETHER = 8
"""Calls of this process to one partner at once."""
OWN = "own"
"""The source that our own knowledge base is."""

Search = Callable[[str, int], Sequence[Hit]]
"""`(query, limit) -> hits of our own`, as the caller may read them. Raises CommonplaceError."""


@dataclass(frozen=True, slots=True)
class Source:
    """What became of one source in a search."""

    name: str
    title: str
    status: Status
    took_ms: int = 0
    reason: str = ""
    """A stable code where it failed."""


@dataclass(frozen=True, slots=True)
class Found:
    hits: Sequence[tuple[Hit, tuple[str, ...]]]
    sources: Sequence[Source]

    @property
    def partial(self) -> bool:
        return any(source.status != "ok" for source in self.sources)


@dataclass(frozen=True, slots=True)
class _Answered:
    said: Said | None
    """None where the tool that searches is not as it was approved."""
    contact: Contact
    took_ms: int
    listed: Sequence[Mapping[str, Any]] | None
    """The partner's tools, where they were asked for."""


@dataclass(slots=True)
class _Line:
    """What this process knows of a partner's answers."""

    breaker: CircuitBreaker
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TOGETHER))
    took_ms: int = 0


@dataclass(slots=True)
class Commons:
    """Safe for threads."""

    partners: Partners
    name: str
    """Of this deployment, as calls of partners say it."""
    title: str
    deadline: float = DEADLINE_SECONDS
    _lines: dict[tuple[str, str, str], _Line] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def search(
        self, organisation: str, query: str, limit: int, own: Search, *, sources: Sequence[str] = (), via: Sequence[str]
    ) -> Found:
        """Ask all sources, or some, and merge what they found by rank.

        A call that came through another deployment (`via`) asks no partner: two that know each other would go round in
        circles. Raises InvalidInput for a source that is not there, and Unavailable of our own store.
        """
        partners = [] if via else self.partners.all(organisation)
        known = {OWN, *(partner.id for partner in partners)}
        if not via and (unknown := [name for name in sources if name not in known]):
            raise InvalidInput(
                f"There is no source {unknown[0][:40]}.", hint=f"Sources: {', '.join(sorted(known))}.", field="sources"
            )
        asked = [partner for partner in partners if not sources or partner.id in sources]
        until = time.monotonic() + self.deadline
        running = {partner.id: self._asked(organisation, partner, query) for partner in asked}
        results: list[tuple[Source, Sequence[Hit]]] = []
        if not sources or OWN in sources:
            results.append(self._own(own, query, limit))
        for partner in asked:
            results.append(self._answer(organisation, partner, running[partner.id], until))
        return Found(merged([hits for _, hits in results], limit), [source for source, _ in results])

    def line(self, organisation: str, partner: Partner) -> _Line:
        """Return what this process knows of a partner; another address is another partner."""
        name = organisation, partner.id, partner.url
        with self._lock:
            if name not in self._lines:
                self._lines[name] = _Line(CircuitBreaker(f"partner {partner.id}"))
            return self._lines[name]

    def status(self, organisation: str, partner: Partner, tools: Sequence[PartnerTool]) -> State:
        """Return the state of a partner as far as this process knows."""
        search = next((tool for tool in tools if tool.name == partner.search), None)
        if search is None or not search.approved:
            return "unapproved"
        if search.state != "approved":
            return "withheld"
        return "left_alone" if self.line(organisation, partner).breaker.is_open else "ok"

    def _own(self, own: Search, query: str, limit: int) -> tuple[Source, Sequence[Hit]]:
        began = time.monotonic()
        try:
            hits = own(query, limit)
        except CommonplaceError as error:
            return Source(OWN, self.title, "failed", _since(began), error.code), []
        return Source(OWN, self.title, "ok", _since(began)), hits

    def _asked(self, organisation: str, partner: Partner, query: str) -> Future[_Answered] | Source:
        """Begin a search at a partner; return the future of it, or the source that says why there is none."""
        tools = self.partners.tools(organisation, partner.id)
        search = next((tool for tool in tools if tool.name == partner.search and tool.state == "approved"), None)
        if search is None:
            return Source(partner.id, partner.title, "withheld")
        line = self.line(organisation, partner)
        try:
            line.breaker.check()
        except Unavailable:
            return Source(partner.id, partner.title, "left_alone")
        connections = self.partners.connections()
        return connections.start(self._call(line, partner, search, {partner.query: query}, self.deadline))

    def call(
        self, organisation: str, partner: Partner, tool: PartnerTool, arguments: Mapping[str, Any], via: Sequence[str]
    ) -> str:
        """Return the text that an approved tool of a partner has answered, and its data, as JSON.

        Raises Forbidden for a call that came through another deployment, and for a tool that has changed; Unavailable
        where the partner gives nothing usable in time; InvalidInput where the partner's own tool says no.
        """
        if via:
            raise Forbidden("A call that came through another deployment is not passed on.")
        line = self.line(organisation, partner)
        line.breaker.check()
        running = self.partners.connections().start(self._call(line, partner, tool, arguments, CALL_SECONDS))
        try:
            answer = self._result(organisation, partner, running)
        except PartnerFailed as error:
            raise Unavailable(
                f"{partner.title} gave no answer ({error.reason}).", hint="Go on without it, or try again later."
            ) from None
        if (said := answer.said) is None:
            raise Forbidden(
                f"{tool.id} has changed since it was approved, and is withheld.",
                hint="Somebody has to look at it: commonplace partners approve",
            )
        if said.is_error:
            raise InvalidInput(f"{partner.title} says: {cleaned(said.text, 500)}")
        text = said.text if said.text.strip() else json.dumps(said.structured, ensure_ascii=False)
        return cleaned(text, MAX_ANSWER_CHARACTERS)

    def _result(
        self, organisation: str, partner: Partner, running: Future[_Answered], seconds: float | None = None
    ) -> _Answered:
        """Return what a call came to, and note what it says of the partner. Raises PartnerFailed, and TimeoutError."""
        line = self.line(organisation, partner)
        try:
            answer = running.result(seconds)
        except (TimeoutError, PartnerFailed):
            running.cancel()
            line.breaker.failed()
            raise
        line.breaker.succeeded()
        line.took_ms = answer.took_ms
        self.partners.remember(organisation, partner, answer.contact)
        if answer.listed is not None:
            self.partners.compare(organisation, partner, answer.listed)
        return answer

    async def _call(
        self, line: _Line, partner: Partner, tool: PartnerTool, arguments: Mapping[str, Any], seconds: float
    ) -> _Answered:
        contact, connections = partner.contact, self.partners.connections()
        listed: list[dict[str, Any]] | None = None
        async with line.slots:
            began = time.monotonic()
            if self.partners.stale(partner):
                listed, contact = await connections.tools(contact, seconds)
                if tool.approved not in {texts_of(tool) for tool in listed}:
                    return _Answered(None, contact, _since(began), listed)
            said, contact = await connections.call(contact, tool.name, arguments, (self.name,), seconds)
            return _Answered(said, contact, _since(began), listed)

    def _answer(
        self, organisation: str, partner: Partner, running: Future[_Answered] | Source, until: float
    ) -> tuple[Source, Sequence[Hit]]:
        if isinstance(running, Source):
            return running, []
        try:
            answer = self._result(organisation, partner, running, max(0.0, until - time.monotonic()))
        except TimeoutError:
            return Source(partner.id, partner.title, "late", round(self.deadline * 1_000)), []
        except PartnerFailed as error:
            status: Status = "late" if error.reason == "too_slow" else "failed"
            return Source(partner.id, partner.title, status, reason=error.reason), []
        took = answer.took_ms
        if (said := answer.said) is None:
            return Source(partner.id, partner.title, "withheld", took), []
        if said.is_error:
            return Source(partner.id, partner.title, "failed", took, "tool_error"), []
        return Source(partner.id, partner.title, "ok", took), hits_of(partner.id, said.structured, said.text)


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1_000)
