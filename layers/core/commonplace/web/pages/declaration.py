"""The declaration of a capability's pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import Principal
from commonplace.web.browsers import one

if TYPE_CHECKING:
    from commonplace.identity.sessions import Visitor


@dataclass(frozen=True, slots=True)
class Link:
    """The place of something, as a path of this site or an address elsewhere, and its name."""

    url: str
    title: str
    count: int = 0
    """The number of things that wait there for whoever is shown the link."""


@dataclass(frozen=True, slots=True)
class Edition:
    """The commit that the pages are made from."""

    commit: str
    """Empty where nobody else has it."""
    updated: datetime
    url: str | None = None
    """The page where people see the commit."""
    note: str = ""
    """What readers should know of all pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The pages that one capability shows to everybody, the same to each."""

    routes: Sequence[BaseRoute]
    templates: Path | None = None
    """Folder of its templates; they extend `base.html` of the frame."""
    filters: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    """Filters of its templates beside those of the frame."""
    assets: Path | None = None
    """Folder of its scripts and images, served at `/assets/{name}`."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Files of packages that are served beside them, by name."""
    searches: frozenset[str] = frozenset()
    """Paths that the quota of searches counts, not that of reads."""
    nearest: Callable[[str], Sequence[Link]] | None = None
    """The pages nearest to a path at which there is nothing."""
    edition: Callable[[], Edition | None] | None = None
    """Returns what is shown now, for the foot of every page; None before anything is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request of somebody who is signed in, and may see the page."""

    request: Request
    visitor: Visitor
    csrf: str
    """The value of the field `csrf` that every form of the page has."""
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The fields of the form, for an action."""
    menu: Sequence[Link] = ()
    """The pages of the console that this person may see."""
    ways: Callable[[Need], Sequence[str]] = lambda _: ()
    """Says what somebody can do to get the right."""

    @property
    def principal(self) -> Principal:
        return self.visitor.principal

    def may(self, need: Need | None) -> bool:
        """Return whether this person may do now what takes this."""
        return verdict(self.principal, need) is Verdict.ALLOWED

    def value(self, name: str) -> str:
        """Return a field of the form; empty when it is absent. Raises BadRequest when it came twice."""
        return one(self.fields, name)


@dataclass(frozen=True, slots=True)
class View:
    """The template of a page, which extends `console.html`, and its values."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Done:
    """An action has done its work: the browser loads a page anew, which says so."""

    message: str
    """The key of one of the page's `messages`."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The query of the page's address."""
    path: str | None = None
    """The path of another page of the console, below `/console/`, with the same `messages`."""


@dataclass(frozen=True, slots=True)
class Leave:
    """The browser goes on at an address elsewhere, where somebody signs in."""

    url: str


@dataclass(frozen=True, slots=True)
class Action:
    """The action of a form of a page: its field or button `action` names it. It is recorded before it is begun."""

    run: Callable[[Visit], Awaitable[Done | View]]
    """Calls the service that REST and MCP call. Raises CommonplaceError, which becomes a page; a View is the page once
    more, with what is wrong."""
    need: Need | None = None
    """The need beside that of its page."""
    recorded: tuple[str, ...] = ()
    """Fields of the form that stand in the record: names of things, never anybody's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePage:
    """One page for people who are signed in."""

    path: str
    """The path below `/console/`: `sync`. With parameters, as Starlette writes them, it is in no menu."""
    title: str
    show: Callable[[Visit], Awaitable[View | Done | Leave]]
    """Changes nothing, but for a sign-in elsewhere that begins or ends here."""
    need: Need | None = None
    """None is everybody who is signed in."""
    actions: Mapping[str, Action] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    """Sentences that a `Done` shows, by a short code that stands in the address."""
    listed: bool = True
    """It stands in the menu; else other pages lead to it."""
    waiting: Callable[[Visit], Awaitable[int]] | None = None
    """Counts what waits there for this person, which the menu says on every page: one cheap read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePages:
    """The pages that one capability shows to people who are signed in."""

    pages: Sequence[ConsolePage]
    templates: Path | None = None
    assets: Path | None = None
    """Served at `/console/assets/{name}`."""
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """JSON for anybody, by path below `/console/`."""


def verdict(principal: Principal, need: Need | None) -> Verdict:
    """Return the verdict, as for every interface; where nothing is needed, whoever is signed in may."""
    return Verdict.ALLOWED if need is None else judge(principal, need)
