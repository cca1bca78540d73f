"""The console: pages of capabilities for people who are signed in, each behind its right, each action recorded.

A request goes session -> right -> handler; an action also has to come from a page of ours, with the token of its
session, before anything of it is done.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from commonplace.identity.authorization import Need, Verdict
from commonplace.identity.composition import actions, denials, visitors
from commonplace.identity.principals import Tier, highest
from commonplace.identity.secrets import same
from commonplace.identity.sessions import COOKIE, csrf_token
from commonplace.kernel.audit import AuditRecord, Outcome
from commonplace.kernel.deferred import deferred
from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, NotFound, Unavailable
from commonplace.kernel.limits import CounterStore, Limiter, network
from commonplace.web.browsers import (
    GUARDED,
    MAX_PAGE_BYTES,
    cookie_of,
    from_elsewhere,
    one,
    read_fields,
    seen,
    set_cookie,
    to_sign_in,
)
from commonplace.web.middleware import client_address, exception_handlers
from commonplace.web.pages.app import asset_route, ours
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Done, Leave, Link, Pages, View, Visit, verdict
from commonplace.web.representations import HTML, JSON, PROTECTED
from commonplace.web.stack import Limits, stack

if TYPE_CHECKING:
    from commonplace.identity.accounts import Denials
    from commonplace.identity.sessions import Visitor, Visitors
    from commonplace.identity.settings import SessionSettings
    from commonplace.kernel.audit import AuditLog
    from commonplace.web.pages.frame import Frame
    from commonplace.web.settings import SiteSettings

CONSOLE = "/console"
ASSETS = f"{CONSOLE}/assets"
SIGN_OUT = f"{CONSOLE}/signout"
CONNECTED_APPS = Link("/account", "Connected apps")

EVENT = "console"
DONE = "done"
"""The parameter of a page's address that names what its action has done."""

NOT_KEPT = {"cache-control": "private, no-store"}
HEADERS = {
    **GUARDED,
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_PARAMETER = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """The console of a deployment."""

    frame: Frame
    declared: Sequence[ConsolePages]
    visitors: Visitors
    audit: AuditLog
    denials: Denials
    limits: Limits
    clock: Callable[[], float]
    """Epoch seconds."""
    origin: str
    """The deployment's public origin: no request says what it is."""
    organisation: str
    """The organisation of records of accounts that have none."""
    ways: Callable[[Need], Sequence[str]]
    """Says what somebody can do to get a right."""

    async def show(self, page: ConsolePage, request: Request) -> Response:
        visitor = self._visitor(request)
        if visitor is None:
            return _to_sign_in(request)
        visit = await self._counted(self._visit(visitor, request))
        if (refusal := self._refusal(visit, page, page.need)) is not None:
            return refusal
        said = page.messages.get(request.query_params.get(DONE, ""))
        return self._onward(visit, page, await page.show(visit), said)

    async def act(self, page: ConsolePage, request: Request) -> Response:
        visitor = self._visitor(request)
        if visitor is None:
            return _to_sign_in(request)
        fields = await self._fields(request)
        visit = self._visit(visitor, request, fields)
        name = one(fields, "action")
        action = page.actions.get(name)
        if action is None:
            raise BadRequest("This page has no such action.", hint=f"It must be one of: {', '.join(page.actions)}.")
        for need in (page.need, action.need):
            if (refusal := self._refusal(visit, page, need)) is not None:
                return refusal
        # The record is there before anything is done; what fails has a second one.
        details = {"page": page.path, "action": name}
        details |= {f"path.{each}": str(value) for each, value in request.path_params.items()}
        details |= {f"form.{each}": visit.value(each) for each in action.recorded if visit.value(each)}
        self._record(visit, "ok", "", details)
        try:
            done = await action.run(visit)
        except CommonplaceError as error:
            self._record(visit, _outcome(error.status), error.code.lower(), details)
            raise
        except Exception:
            self._record(visit, "failed", "internal_error", details)
            raise
        if isinstance(done, View):
            if done.status >= HTTPStatus.BAD_REQUEST:
                self._record(visit, _outcome(done.status), "refused", details)
            visit = await self._counted(visit)
        return self._onward(visit, page, done, None)

    def _onward(self, visit: Visit, page: ConsolePage, found: View | Done | Leave, said: str | None) -> Response:
        match found:
            case View():
                return self._page(visit, page, found, said)
            case Done(message, query, path):
                at = quote(visit.request.url.path if path is None else f"{CONSOLE}/{path}")
                return seen(f"{at}?{urlencode({**query, DONE: message})}")
            case Leave(url):
                return seen(url)

    async def sign_out(self, request: Request) -> Response:
        await self._fields(request)
        self.visitors.sign_out(cookie_of(request, COOKIE))
        answer = seen("/")
        set_cookie(answer, COOKIE, "", 0)
        return answer

    def _visitor(self, request: Request) -> Visitor | None:
        visitor = self.visitors.find(cookie_of(request, COOKIE))
        if visitor is not None:
            self.limits.spend_account(request.scope, visitor.principal)
        return visitor

    def _visit(self, visitor: Visitor, request: Request, fields: dict[str, list[str]] | None = None) -> Visit:
        menu = [
            Link(address(page), page.title)
            for page in self._pages
            if page.listed
            and not _PARAMETER.search(page.path)
            and verdict(visitor.principal, page.need) is Verdict.ALLOWED
        ]
        return Visit(
            request=request,
            visitor=visitor,
            csrf=csrf_token(cookie_of(request, COOKIE)),
            fields=fields or {},
            menu=[*menu, CONNECTED_APPS],
            ways=self.ways,
        )

    @property
    def _pages(self) -> list[ConsolePage]:
        return sorted((page for each in self.declared for page in each.pages), key=lambda page: page.path != "")

    async def _counted(self, visit: Visit) -> Visit:
        """Return it with what waits on the pages of the menu. No page is lost to a count that cannot be had."""
        waiting = {address(page): page.waiting for page in self._pages if page.waiting is not None}
        menu: list[Link] = []
        for link in visit.menu:
            number = 0
            if (count := waiting.get(link.url)) is not None:
                with suppress(CommonplaceError):
                    number = await count(visit)
            menu.append(replace(link, count=number))
        return replace(visit, menu=menu)

    async def _fields(self, request: Request) -> dict[str, list[str]]:
        """Return the fields of a form of this very session. Raises BadRequest, Forbidden, TooLarge."""
        if from_elsewhere(request, self.origin):
            raise Forbidden("Only a page of this site may send this request.")
        fields = await read_fields(request, MAX_PAGE_BYTES)
        if not same(one(fields, "csrf"), csrf_token(cookie_of(request, COOKIE))):
            raise Forbidden("This form is not of your session, or no longer.", hint="Load the page again.")
        return dict(fields)

    def _refusal(self, visit: Visit, page: ConsolePage, need: Need | None) -> Response | None:
        """Return None where nothing stands in the way. Raises Unavailable where the roles cannot be read."""
        found = verdict(visit.principal, need)
        if need is None or found is Verdict.ALLOWED:
            return None
        if found is Verdict.UNCERTAIN:
            raise Unavailable("Your roles cannot be read just now.", hint="Try again in a moment.")
        principal = visit.principal
        self.denials.record(
            grant="",
            subject=principal.account or "",
            client=principal.client or "",
            organisation=principal.organisation,
            reason=found.value,
            wanted=need.scope,
            network=network(client_address(visit.request.scope)),
        )
        values = {"page": page, "need": need, "ways": self.ways(need), "tier": principal.tier}
        return self._page(visit, page, View("no_role.html", values, HTTPStatus.FORBIDDEN), None)

    def _record(self, visit: Visit, outcome: Outcome, reason: str, details: dict[str, str]) -> None:
        """Raises Unavailable where no record can be written."""
        principal = visit.principal
        record = AuditRecord(
            event=EVENT,
            outcome=outcome,
            at=self.clock(),
            organisation=principal.organisation or self.organisation,
            subject=principal.account or "",
            client=principal.client or "",
            reason=reason,
            network=network(client_address(visit.request.scope)),
            details=details,
        )
        self.audit.write(record)

    def _page(self, visit: Visit, page: ConsolePage, view: View, said: str | None) -> Response:
        values: dict[str, Any] = {
            "visit": visit,
            "visitor": visit.visitor,
            "csrf": visit.csrf,
            "console_title": page.title,
            "said": said,
            "sign_out": SIGN_OUT,
            **view.values,
        }
        body = self.frame.render(visit.request, view.template, **values)
        return Response(body, view.status, PROTECTED, HTML)


def create_console(console: Console) -> Starlette:
    """Return the application over these pages."""
    frame = console.frame
    frame.declared.extend(Pages(routes=(), templates=each.templates, assets=each.assets) for each in console.declared)

    def render(scope: Scope, error: Exception) -> Response:
        return frame.error(Request(scope), ours(error))

    def routes(page: ConsolePage) -> list[Route]:
        async def show(request: Request) -> Response:
            return await console.show(page, request)

        async def act(request: Request) -> Response:
            return await console.act(page, request)

        found = [Route(address(page), show, methods=["GET"])]
        return [*found, Route(address(page), act, methods=["POST"])] if page.actions else found

    def document(path: str, values: Mapping[str, Any]) -> Route:
        async def read(_: Request) -> Response:
            return Response(json.dumps(values), media_type=JSON)

        return Route(f"{CONSOLE}/{path}", read, methods=["GET"])

    app = Starlette(
        routes=[
            *(document(*one) for each in console.declared for one in each.documents.items()),
            *(route for each in console.declared for page in each.pages for route in routes(page)),
            Route(SIGN_OUT, console.sign_out, methods=["POST"]),
            asset_route(frame, ASSETS),
        ],
        middleware=stack(console.limits, render, headers=HEADERS, uncached=NOT_KEPT),
        exception_handlers=exception_handlers(render),
    )
    app.router.redirect_slashes = False
    return app


def address(page: ConsolePage) -> str:
    return f"{CONSOLE}/{page.path}".rstrip("/")


def _outcome(status: int) -> Outcome:
    return "denied" if status == HTTPStatus.FORBIDDEN else "failed"


def _to_sign_in(request: Request) -> Response:
    path = quote(request.url.path)
    if path != CONSOLE and not path.startswith(f"{CONSOLE}/"):
        raise NotFound("There is nothing at this address.")
    return to_sign_in(request)


def application(
    settings: SiteSettings, identity: SessionSettings, declared: Sequence[ConsolePages], frame: Frame
) -> Starlette:
    """Return the console, built from settings. `frame` is the one that the pages were built with.

    In a private deployment every page that needs a right needs the tier of readers as well: an account of a lower tier
    reads nothing of the knowledge base here either.
    """

    def counters() -> CounterStore:
        from commonplace.kernel.limit_store import counters_of

        return counters_of(settings)

    def for_readers(page: ConsolePage, tier: Tier) -> ConsolePage:
        need = page.need
        return page if need is None else replace(page, need=replace(need, tier=highest((need.tier, tier))))

    limiter = Limiter(deferred(counters), time.time, secret=settings.counter_secret)
    return create_console(
        Console(
            frame=frame,
            declared=[
                replace(each, pages=[for_readers(page, settings.site_tier) for page in each.pages]) for each in declared
            ],
            visitors=visitors(identity),
            audit=actions(settings.activity_table),
            denials=denials(identity, settings.activity_table),
            limits=Limits(limiter, settings.reads_per_minute, settings.searches_per_minute),
            clock=time.time,
            origin=identity.issuer,
            organisation=identity.organisation,
            ways=lambda need: ways(identity, need),
        )
    )


def ways(identity: SessionSettings, need: Need) -> list[str]:
    """Return them by the role map; on a laptop by its accounts as well."""
    gives = identity.role_map
    local = [
        f"sign out, and sign in as the account {account.name} of this laptop"
        for account in identity.local_accounts
        if gives.gives(account.tier, need.tier, need.scope)
    ]
    return [*local, *gives.ways(need.tier, need.scope)]
