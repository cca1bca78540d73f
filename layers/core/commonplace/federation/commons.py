"""A search across partners and our own knowledge base at once, under one deadline: who is late is named, not awaited.

Where the last comparison of a partner's tools is more than an hour old, its list comes before its search, within the
same deadline: a tool that says something else than what was approved is not called.
"""

from __future__ import annotations

import asyncio
import json
import logging
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
    SignInNeeded,
    cleaned,
    hits_of,
    merged,
    texts_of,
)
from commonplace.federation.partners import Partners
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import CommonplaceError, Forbidden, InvalidInput, Unavailable
from commonplace.kernel.retry import CircuitBreaker
from commonplace.kernel.telemetry import count

if TYPE_CHECKING:
    from concurrent.futures import Future

logger = logging.getLogger(__name__)

Status = Literal["ok", "late", "failed", "left_alone", "withheld", "sign_in"]
State = Literal["ok", "failed", "left_alone", "withheld", "unapproved", "sign_in"]

DEADLINE_SECONDS = 5.0
TOGETHER = 8
"""Calls of this process to one partner at once."""
DOWN = frozenset(("late", "failed", "left_alone"))
ONES_OWN = frozenset(("bad_arguments", "no_token"))
"""Failures that are one caller's: they say nothing of the partner to others."""
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
    failed: str = ""
    """Why its last answer failed; empty after one that did not."""


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
        self, author: Author, query: str, limit: int, own: Search, *, sources: Sequence[str] = (), via: Sequence[str]
    ) -> Found:
        """Ask all sources, or some, and merge what they found by rank.

        A call that came through another deployment (`via`) asks no partner: two that know each other would go round in
        circles. Raises InvalidInput for a source that is not there, and Unavailable of our own store.
        """
        partners = [] if via else self.partners.all(author.organisation)
        known = {OWN, *(partner.id for partner in partners)}
        if not via and (unknown := [name for name in sources if name not in known]):
            raise InvalidInput(
                f"There is no source {unknown[0][:40]}.", hint=f"Sources: {', '.join(sorted(known))}.", field="sources"
            )
        asked = [partner for partner in partners if not sources or partner.id in sources]
        until = time.monotonic() + self.deadline
        tools = self.partners.searching(author.organisation, asked)
        running = {partner.id: self._asked(author, partner, tools.get(partner.id), query) for partner in asked}
        results: list[tuple[Source, Sequence[Hit]]] = []
        if not sources or OWN in sources:
            results.append(self._own(own, query, limit))
        for partner in asked:
            results.append(self._answer(author, partner, running[partner.id], until))
        if asked and all(source.status in DOWN for source, _ in results if source.name != OWN):
            count("PartnersDown")
        return Found(merged([hits for _, hits in results], limit), [source for source, _ in results])

    def line(self, organisation: str, partner: Partner) -> _Line:
        """Return what this process knows of a partner; another address is another partner."""
        name = organisation, partner.id, partner.url
        with self._lock:
            if name not in self._lines:
                self._lines[name] = _Line(CircuitBreaker(f"partner {partner.id}"))
            return self._lines[name]

    def signed_in(self, author: Author, partners: Sequence[Partner]) -> set[str]:
        """Return the partners that a person need not sign in at: they did, or they can call without."""
        wanting = [partner for partner in partners if partner.challenge is not None]
        there = self.partners.sign_ins.signed_in(author, wanting) if wanting and self.partners.sign_ins else set()
        return {partner.id for partner in partners if partner.challenge is None} | there

    def status(self, organisation: str, partner: Partner, tools: Sequence[PartnerTool], *, signed_in: bool) -> State:
        """Return the state of a partner as far as this process knows."""
        if not signed_in:
            return "sign_in"
        search = next((tool for tool in tools if tool.name == partner.search), None)
        if search is None or not search.approved:
            return "unapproved"
        if search.state != "approved":
            return "withheld"
        line = self.line(organisation, partner)
        return "left_alone" if line.breaker.is_open else "failed" if line.failed else "ok"

    def _own(self, own: Search, query: str, limit: int) -> tuple[Source, Sequence[Hit]]:
        began = time.monotonic()
        try:
            hits = own(query, limit)
        except CommonplaceError as error:
            return Source(OWN, self.title, "failed", _since(began), error.code), []
        return Source(OWN, self.title, "ok", _since(began)), hits

    def _asked(
        self, author: Author, partner: Partner, search: PartnerTool | None, query: str
    ) -> Future[_Answered] | Source:
        """Begin a search at a partner; return the future of it, or the source that says why there is none."""
        if search is None:
            return Source(partner.id, partner.title, "withheld")
        try:
            self.line(author.organisation, partner).breaker.check()
        except Unavailable:
            return Source(partner.id, partner.title, "left_alone")
        return self.partners.connections().start(
            self._call(author, partner, search, {partner.query: query}, self.deadline)
        )

    def call(
        self, author: Author, partner: Partner, tool: PartnerTool, arguments: Mapping[str, Any], via: Sequence[str]
    ) -> str:
        """Return the text that an approved tool of a partner has answered, and its data, as JSON.

        Raises SignInNeeded; Forbidden for a call that came through another deployment, and for a tool that has changed;
        Unavailable where the partner gives nothing usable in time; InvalidInput where the partner's own tool says no.
        """
        if via:
            raise Forbidden("A call that came through another deployment is not passed on.")
        self.line(author.organisation, partner).breaker.check()
        running = self.partners.connections().start(self._call(author, partner, tool, arguments, CALL_SECONDS))
        try:
            answer = self._result(author.organisation, partner, running)
        except SignInNeeded:
            raise
        except PartnerFailed as error:
            raise Unavailable(
                f"{partner.title} did not answer ({error.reason}).", hint="Continue without it, or try again later."
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
        except SignInNeeded as needed:
            line.breaker.succeeded()
            self.partners.challenged(organisation, partner, needed.challenge)
            raise
        except (TimeoutError, PartnerFailed) as error:
            running.cancel()
            reason = error.reason if isinstance(error, PartnerFailed) else "too_slow"
            if reason not in ONES_OWN:
                line.breaker.failed()
                line.failed = reason
            raise
        line.breaker.succeeded()
        line.took_ms, line.failed = answer.took_ms, ""
        try:
            self.partners.remember(organisation, partner, answer.contact)
            if answer.listed is not None:
                self.partners.compare(organisation, partner, answer.listed)
        except Unavailable as error:  # what it has answered is worth more than the note of it
            logger.warning("a partner could not be noted", extra={"partner": partner.id, "error": error.code})
        return answer

    async def _call(
        self, author: Author, partner: Partner, tool: PartnerTool, arguments: Mapping[str, Any], seconds: float
    ) -> _Answered:
        connections, sign_ins = self.partners.connections(), self.partners.sign_ins

        async def ask(token: str | None) -> _Answered:
            contact, listed, began = partner.contact, None, time.monotonic()
            if self.partners.stale(partner):
                listed, contact = await connections.tools(contact, seconds, token=token)
                if tool.approved not in {texts_of(tool) for tool in listed}:
                    return _Answered(None, contact, _since(began), listed)
            said, contact = await connections.call(contact, tool.name, arguments, (self.name,), seconds, token=token)
            return _Answered(said, contact, _since(began), listed)

        from commonplace.federation.client.connection import alone

        async with alone(seconds), self.line(author.organisation, partner).slots:
            return await (ask(None) if sign_ins is None else sign_ins.asked(author, partner, ask))

    def _answer(
        self, author: Author, partner: Partner, running: Future[_Answered] | Source, until: float
    ) -> tuple[Source, Sequence[Hit]]:
        if isinstance(running, Source):
            return running, []
        try:
            answer = self._result(author.organisation, partner, running, max(0.0, until - time.monotonic()))
        except SignInNeeded:
            return Source(partner.id, partner.title, "sign_in"), []
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
