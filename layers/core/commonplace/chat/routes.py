"""The endpoints of the chat, below `/api/v1/chat`, for any client of the AI SDK's UI message stream.

| request | answer |
|---|---|
| `POST /chat` | the answer to a message, as it comes (`text/event-stream`) |
| `GET /chat` | the conversations of the account |
| `GET /chat/{id}` | the messages of one, and whether an answer is being written |
| `GET /chat/{id}/stream` | the answer that is being written, from its beginning; 204 when none is |
| `POST /chat/{id}/stop` | the end of that answer |
| `DELETE /chat/{id}` | nothing, once it is deleted |

A caller is known by a token for the REST API, or by the session of a browser. With a session, what changes something
comes from a page of this deployment: `Origin`, a body of JSON, and the session's token in `X-CSRF-Token` say so.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from commonplace.chat.history import conversation
from commonplace.chat.model import ID, Live, Owner
from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import Principal, author
from commonplace.identity.secrets import same
from commonplace.identity.sessions import COOKIE, csrf_token
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import Forbidden, InvalidInput, NotFound, RateLimited
from commonplace.web.browsers import cookie_of, from_elsewhere, media_type
from commonplace.web.envelopes import METHODS, allowed, render
from commonplace.web.mcp.declaration import Answer, Caller
from commonplace.web.middleware import client_address, exception_handlers
from commonplace.web.representations import API, JSON
from commonplace.web.stack import Limits, stack

if TYPE_CHECKING:
    from commonplace.chat.agent.runs import Runs
    from commonplace.chat.store import ChatStore
    from commonplace.identity.sessions import Visitors
    from commonplace.kernel.limits import Slots
    from commonplace.web.challenges import Accounts
    from commonplace.web.mcp.offer import Offer

EVENTS = {
    "content-type": "text/event-stream",
    "x-vercel-ai-ui-message-stream": "v1",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}
"""What clients of the AI SDK look for, and what keeps proxies from collecting a stream before they pass it on."""
PRIVATE = {"cache-control": "private, no-store", "vary": "Authorization, Cookie"}
CSRF = "x-csrf-token"

FOLLOW_SECONDS = 300.0
MARGIN_SECONDS = 3.0
LOOK_SECONDS = 0.4
BUSY_SECONDS = 10
GONE = 'data: {"type":"error","errorText":"The answer broke off. Send the message again."}\n\ndata: [DONE]\n\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """The chat of a deployment, as its endpoints use it."""

    store: ChatStore
    runs: Runs
    invoke: Callable[[Caller, str, Mapping[str, Any]], Answer]
    """Calls a tool of the knowledge base, or of partners, on somebody's behalf."""
    draft: Need | None
    """What it takes to propose a document; None where nothing can be proposed."""
    commons: Offer | None = None
    """The tools of partners, in a deployment that has some."""
    need: Need
    """What it takes to chat."""
    accounts: Accounts
    visitors: Visitors
    origin: str
    limits: Limits
    slots: Slots
    """Answers that are written at once: of one account, and of all."""
    followers: Slots

    async def post(self, request: Request) -> Response:
        if media_type(request) != JSON.partition(";")[0]:
            raise InvalidInput(f"The body must be JSON: Content-Type {JSON}.")
        principal, owner = self._caller(request)
        from commonplace.chat.agent.partners import partners_of
        from commonplace.chat.agent.runs import Asked
        from commonplace.chat.agent.tools import Run

        address = client_address(request.scope)
        caller = Caller(principal, address)
        drafts = self.draft is not None and judge(principal, self.draft) is Verdict.ALLOWED
        tools = Run(invoke=partial(self.invoke, caller), conversation="", drafts=drafts)
        seconds = remaining(request)
        release = self._slot(self.slots, owner, seconds, "answers are being written")
        try:
            if (of := self.commons) and judge(principal, of.tools["search_commons"].need) is Verdict.ALLOWED:
                tools.partners = await asyncio.to_thread(partners_of, of, caller)
            frames = await self.runs.begin(
                request,
                Asked(
                    owner=owner,
                    tools=tools,
                    audit=partial(self._record, principal, address),
                    may_approve=principal.permission == "action",
                    seconds=seconds,
                ),
                release,
            )
        except BaseException:
            await asyncio.to_thread(release)
            raise
        return StreamingResponse(frames, headers=EVENTS)

    async def follow(self, request: Request) -> Response:
        _, owner = self._caller(request)
        id, seconds = self._id(request), min(FOLLOW_SECONDS, remaining(request) - MARGIN_SECONDS)
        live = self.store.live(owner, id)
        if live is None or live.state != "running":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers=PRIVATE)
        release = self._slot(self.followers, owner, seconds, "answers are being followed")
        return Followed(self._followed(owner, id, live, seconds), release)

    async def _followed(self, owner: Owner, id: str, live: Live, seconds: float) -> AsyncIterator[str]:
        """Yield the journal of a run from its beginning, and what is added to it, until it ends or time is up."""
        until, after, run = time.monotonic() + seconds, 0, live.run
        while True:
            # The state first: what is read after a run has ended is everything that it said.
            now = await asyncio.to_thread(self.store.live, owner, id)
            pieces = await asyncio.to_thread(lambda: list(self.store.journal(owner, id, run, after)))  # noqa: B023
            for number, frames in pieces:
                after = number
                yield frames
            if now is None or now.run != run or now.state != "running":
                return
            if not now.running(self.store.clock()):
                yield GONE
                return
            if time.monotonic() >= until:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def stop(self, request: Request) -> Response:
        _, owner = self._caller(request)
        if not self.store.stop(owner, self._id(request)):
            raise NotFound("No answer is being written in this conversation.")
        return Response(status_code=HTTPStatus.ACCEPTED, headers=PRIVATE)

    async def list(self, request: Request) -> Response:
        _, owner = self._caller(request)
        rows = [
            {"id": row.id, "title": row.title, "updatedAt": _moment(row.updated_at)} for row in self.store.rows(owner)
        ]
        return _answer({"conversations": rows})

    async def get(self, request: Request) -> Response:
        _, owner = self._caller(request)
        id = self._id(request)
        shown = conversation(self.store, owner, id)
        if shown is None:
            raise NotFound("You have no conversation of this id.", hint=f"GET {API}/chat lists yours.")
        return _answer({"id": id, **shown})

    async def delete(self, request: Request) -> Response:
        principal, owner = self._caller(request)
        id = self._id(request)
        record = self._record(principal, client_address(request.scope), "deletion", {"conversation": id})
        self.store.delete(owner, id, record)
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=PRIVATE)

    def _caller(self, request: Request) -> tuple[Principal, Owner]:
        """Return who calls, if they may chat. Raises SignIn, NotValid, Forbidden, RateLimited, Unavailable."""
        principal = self._principal(request)
        self.limits.spend_account(request.scope, principal)
        self.accounts.permit(principal, self.need)
        who = author(principal, client_address(request.scope))
        if not who.account:
            raise Forbidden("Only people have conversations.", hint="Sign in as a person.")
        return principal, Owner(who.organisation, who.account)

    def _principal(self, request: Request) -> Principal:
        principal = self.accounts.identify(request)
        if not principal.anonymous:
            return principal
        cookie = cookie_of(request, COOKIE)
        if (visitor := self.visitors.find(cookie)) is None:
            return principal
        if request.method != "GET":
            if from_elsewhere(request, self.origin):
                raise Forbidden("Only a page of this site may send this request.")
            if not same(request.headers.get(CSRF, ""), csrf_token(cookie)):
                raise Forbidden("This request is not of your session, or no longer.", hint="Load the page again.")
        return visitor.principal

    def _slot(self, slots: Slots, owner: Owner, seconds: float, what: str) -> Callable[[], None]:
        """Take a slot, and return what gives it back. Raises RateLimited."""
        slot = slots.take(json.dumps((owner.organisation, owner.account)), seconds)
        if slot is None:
            raise RateLimited(
                f"Too many {what} just now, yours or those of everybody together.",
                retry_after_seconds=BUSY_SECONDS,
                hint=f"At most {slots.each} for one account. Wait until one is whole.",
            )
        return partial(slots.release, slot)

    def _record(self, principal: Principal, address: str, event: str, details: Mapping[str, str]) -> AuditRecord:
        return author(principal, address).record(event, self.store.clock(), **details)

    @staticmethod
    def _id(request: Request) -> str:
        id: str = request.path_params["id"]
        if not ID.fullmatch(id):
            raise NotFound("You have no conversation of this id.")
        return id


class Followed(StreamingResponse):
    """An answer that is followed: its slot comes free however it ends, also when it never began."""

    def __init__(self, frames: AsyncIterator[str], release: Callable[[], None]) -> None:
        super().__init__(frames, headers=EVENTS)
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.to_thread(self._release)


def remaining(request: Request) -> float:
    """Return the seconds that the function has left for this request."""
    context = request.scope.get("aws.context")
    return context.get_remaining_time_in_millis() / 1000 if context is not None else FOLLOW_SECONDS


def create_app(chat: Chat) -> Starlette:
    """Return the application."""

    def route(path: str, endpoint: Any, method: str) -> Route:
        return Route(f"{API}/chat{path}", endpoint, methods=[method])

    app = Starlette(
        routes=[
            route("", chat.list, "GET"),
            route("", chat.post, "POST"),
            route("/{id}", chat.get, "GET"),
            route("/{id}", chat.delete, "DELETE"),
            route("/{id}/stream", chat.follow, "GET"),
            route("/{id}/stop", chat.stop, "POST"),
        ],
        middleware=stack(
            chat.limits,
            render,
            headers={"x-content-type-options": "nosniff", "cross-origin-resource-policy": "cross-origin"},
            uncached=PRIVATE,
            cors={
                "allow_origins": "*",
                "allow_methods": METHODS,
                "allow_headers": ["*", "Authorization"],
                "expose_headers": ["Retry-After", "WWW-Authenticate", "X-Vercel-AI-UI-Message-Stream"],
                "max_age": 86_400,
                "allowed": allowed,
            },
            quoted=False,
        ),
        exception_handlers=exception_handlers(render),
    )
    app.router.redirect_slashes = False
    return app


def _answer(value: dict[str, Any]) -> Response:
    return Response(json.dumps(value), media_type=JSON, headers=PRIVATE)


def _moment(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(milliseconds / 1000))
