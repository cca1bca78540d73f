"""Operations on pages of the console: lists with filters and a pager, forms, and the actions of forms.

Each calls the operation that REST and MCP call, with its checks; what is refused is shown at the field it names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.concurrency import run_in_threadpool

from commonplace.identity.authorization import Need
from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.web.forms import Fields, Kind
from commonplace.web.middleware import client_address
from commonplace.web.operations import NOTHING_YET, Actor, Input, Operation, accepted
from commonplace.web.pages.declaration import Action, ConsolePage, Done, Link, View, Visit

Show = Callable[[Visit, CommonplaceError | None], Awaitable[View]]
"""Renders a page, with what was refused."""
Tabs = Callable[[Visit], Sequence[Link]]

SHOWN = 50
"""Rows of a list on a page."""


def actor(visit: Visit) -> Actor:
    """Return on whose behalf a page works."""
    return Actor(visit.principal, client_address(visit.request.scope))


def tabs_of(visit: Visit, links: Sequence[Link]) -> list[tuple[Link, bool]]:
    """Return links with whether each is the page that is shown: the last whose address the request's includes."""
    query = set(visit.request.query_params.multi_items())
    here = None
    for link in links:
        address = urlsplit(link.url)
        if address.path == visit.request.url.path and set(parse_qsl(address.query)) <= query:
            here = link
    return [(link, link is here) for link in links]


def action(
    called: Operation,
    service: Any,
    show: Show,
    *,
    done: str | Callable[[Visit, Any], Awaitable[Done | View]],
    values: Callable[[Visit], Mapping[str, Any]] = lambda _: {},
    need: Need | None = None,
    fields: Fields | None = None,
    sure: bool = False,
) -> Action:
    """Return the action that does an operation with the path's parameters and the form's fields of its input.

    `done` is the message of the page, or where to go on, or what is shown once; `values` gives what the form does not
    say as the input has it; `need` is more than the operation's. `fields` are those of the form; without them those
    that were sent count. With `sure` the form has to confirm it. What is refused is shown on the page itself.
    """

    def work(visit: Visit) -> Any:
        if sure and visit.value("sure") != "yes":
            raise InvalidInput("Nothing was done.", hint="Tick that you are sure first.", field="sure")
        model, path = called.input, visit.request.path_params
        sent = tuple(name for name, info in model.model_fields.items() if name in visit.fields or info.is_required())
        read = fields or Fields(model=model, names=tuple(name for name in sent if name not in path), id=called.name)
        placed = {name: path[name] for name in model.model_fields if name in path}
        return called.run(
            service, actor(visit), called.accepted(read.read(visit.fields) | placed | dict(values(visit)))
        )

    async def run(visit: Visit) -> Done | View:
        try:
            result = await run_in_threadpool(work, visit)
        except CommonplaceError as error:
            if error.status >= 500 or error.status == 404:
                raise
            return await show(visit, error)
        return Done(done) if isinstance(done, str) else await done(visit, result)

    return Action(run, need or called.need)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a page, made from an operation's input, and the action of that name."""

    name: str
    called: Operation
    title: str
    button: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """Names of the input's fields in the order of the form, and their labels; an empty label is the name in words."""
    hidden: tuple[str, ...] = ()
    """Names of fields that hold a present value, such as a version."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    """Names of fields that cannot be left empty, although the input can leave them out."""
    about: str = ""
    sure: bool = False
    """A tick confirms it, and the action is refused without."""

    @property
    def inputs(self) -> Fields:
        kinds: dict[str, Kind] = {**self.kinds, **dict.fromkeys(self.hidden, "hidden")}
        names = (*self.hidden, *self.fields)
        return Fields(
            model=self.called.input,
            names=names,
            id=self.name,
            labels=self.fields,
            kinds=kinds,
            required=self.required,
        )

    def action(
        self,
        service: Any,
        show: Show,
        *,
        done: str | Callable[[Visit, Any], Awaitable[Done | View]],
        values: Callable[[Visit], Mapping[str, Any]] = lambda _: {},
        need: Need | None = None,
    ) -> Action:
        """Return its action: see `action`."""
        return action(
            self.called, service, show, done=done, values=values, need=need, fields=self.inputs, sure=self.sure
        )

    def shown(
        self,
        visit: Visit,
        values: Any = None,
        problem: CommonplaceError | None = None,
        offered: Mapping[str, Mapping[str, str]] | None = None,
    ) -> dict[str, Any]:
        """Return what `forms.fieldset` shows: present values, or what was refused of this form.

        `offered` has choices that the input cannot name: see `Fields.offered`.
        """
        refused = problem is not None and visit.value("action") == self.name
        inputs = replace(self.inputs, offered=offered or {})
        fields = inputs.shown({} if values is None else values, visit.fields if refused else None, problem)
        return {"form": self, "fields": fields, "refused": refused}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A row of a list: its title, a page that leads further, and facts, of which moments are shown as such."""

    title: str
    url: str = ""
    badges: Sequence[str] = ()
    facts: Sequence[str | datetime] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """A page of a list."""

    cards: Sequence[Card] = ()
    cursor: str | None = None
    about: str = ""
    hints: Sequence[str] = ()
    nothing: str = "There is nothing yet."


def cards_page(
    read: Callable[[Actor, Any], Cards],
    filters: type[Input],
    *,
    need: Need,
    path: str,
    title: str,
    heading: str = "",
    about: str = "",
    labels: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    tabs: Tabs = lambda _: (),
    messages: Mapping[str, str] | None = None,
    listed: bool = True,
) -> ConsolePage:
    """Return the page of a list: its filters as a form, its rows, and a pager with the list's own cursor.

    `read` gets what `filters` says, for a list that is also searched, or is no Listing. It may read a store.
    """
    names = tuple(name for name in filters.model_fields if name not in ("limit", "cursor"))
    fields = Fields(model=filters, names=names, id="filter", labels=labels or {}, kinds=kinds or {})

    def rows(visit: Visit, sent: Mapping[str, Sequence[str]]) -> Cards:
        paging = {"cursor": visit.request.query_params.get("cursor") or None, "limit": SHOWN}
        values = fields.read(sent) | {name: one for name, one in paging.items() if name in filters.model_fields}
        return read(actor(visit), accepted(filters, values))

    async def show(visit: Visit) -> View:
        query = visit.request.query_params
        sent = {name: query.getlist(name) for name in query}
        problem, found = None, Cards()
        try:
            found = await run_in_threadpool(rows, visit, sent)
        except InvalidInput as error:
            problem = error
        chosen = [(name, one) for name, one in query.multi_items() if name in names and one]
        here = visit.request.url.path
        shown = {
            "title": heading or title,
            "about": found.about or about,
            "tabs": tabs_of(visit, tabs(visit)),
            "filters": fields.filters(sent, problem),
            "found": found,
            "more": f"{here}?{urlencode([*chosen, ('cursor', found.cursor)])}" if found.cursor else "",
            "first": f"{here}?{urlencode(chosen)}" if query.get("cursor") else "",
            "nothing": NOTHING_YET if found.cursor else found.nothing,
            "problem": problem,
        }
        return View("list.html", shown, problem.status if problem else 200)

    return ConsolePage(path=path, title=title, show=show, need=need, messages=messages or {}, listed=listed)
