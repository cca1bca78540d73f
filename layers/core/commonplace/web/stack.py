"""The middleware stack of REST and pages: who may read, compression, headers, rate limits, errors and sizes."""

import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.identity.principals import Principal, Tier, counted_as
from commonplace.kernel.errors import Forbidden, TooLarge, Unavailable
from commonplace.kernel.limits import Limiter, Quota, network
from commonplace.web.middleware import (
    CORS,
    MET,
    Errors,
    HeadAsGet,
    RateLimits,
    Render,
    SecurityHeaders,
    client_address,
    header_map,
    spend,
)
from commonplace.web.representations import MAX_ANSWER_BYTES, NO_STORE

MAX_REQUEST_BODY_BYTES = 262_144
"""20,000 characters of a contribution, were each escaped as JSON escapes what is beyond 16 bits."""
MINIMUM_BYTES = 1_000
"""The least that is compressed: less fits into one packet as it is."""
LEVEL = 5
"""The level of zlib: higher ones take longer than what they save."""
DENSE = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream", "application/pdf")
"""Types that are compressed already, or may be."""
RETRY_SECONDS = 30
REVALIDATED = {"cache-control": "no-cache"}
"""On a laptop, where whoever saves a file looks at once: kept, and asked for each time whether it is the same."""
NOT_SHARED = {"cache-control": "private, no-store", "vary": "Authorization, Cookie"}

ADMITTED = "commonplace.admitted"
"""Key in the ASGI scope of a request whose caller may read what is published. Without it a page or an answer shows
nothing of the knowledge base: neither edition nor neighbours nor counts."""

Find = Callable[[Request], Principal | Response]
"""Returns who calls; or what somebody unknown is answered, where that is no error."""

_WEIGHT = re.compile(r"q=([01](?:\.\d{0,3})?)")


@dataclass(frozen=True, slots=True)
class Limits:
    """Rate limits. Searches have a quota of their own, for they cost the most; everything else is a read."""

    limiter: Limiter
    reads_per_minute: int
    searches_per_minute: int
    searches: frozenset[str] = frozenset()
    """Paths of searches."""
    unlimited: frozenset[str] = frozenset()
    """Paths that are not counted."""

    def spend_address(self, scope: Scope) -> None:
        """Raises RateLimited."""
        if scope["path"] not in self.unlimited:
            self._spend(scope, "", network(client_address(scope)), " came from this address")

    def spend_account(self, scope: Scope, principal: Principal) -> None:
        """Count the account with all its tokens, wherever they come from. Raises RateLimited."""
        if (account := counted_as(principal)[1]) is not None:
            self._spend(scope, "-account", account, " were made by this account")

    def _spend(self, scope: Scope, suffix: str, client: str, whose: str) -> None:
        search = scope["path"] in self.searches
        name, calls = ("searches", self.searches_per_minute) if search else ("reads", self.reads_per_minute)
        hint = "Wait as long as Retry-After says. Answers may be cached: use ETag and If-None-Match."
        quota = Quota(f"{name}{suffix}", calls)
        spend(self.limiter, quota, client, what=name, whose=whose, hint=hint, met=scope.get(MET))


def stack(
    limits: Limits,
    render: Render,
    *,
    headers: Mapping[str, str],
    cached: Mapping[str, str] | None = None,
    uncached: Mapping[str, str] = NO_STORE,
    cors: Mapping[str, Any] | None = None,
    quoted: bool = True,
    open_to_all: bool = False,
    private: Middleware | None = None,
) -> list[Middleware]:
    """Return the layers, outermost first. `open_to_all` is a deployment that is public, `private` lets on who may read.

    `headers`, `cached` and `uncached` as of SecurityHeaders, `quoted` as of Errors; `cors` are the parameters of CORS.
    """
    return [
        Middleware(HeadAsGet),
        *([Middleware(Public), Middleware(Compression)] if open_to_all else []),
        Middleware(SecurityHeaders, headers=headers, cached=cached, uncached=uncached),
        *([Middleware(CORS, **cors)] if cors is not None else []),
        Middleware(RateLimits, count=limits.spend_address, render=render),
        Middleware(Errors, render=render, quoted=quoted),
        *([private] if private else []),
        Middleware(Sizes),
    ]


class Sizes:
    """Raises TooLarge for a request's body, and for an answer that no function may give."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            # As the gateway delivered it, or as the client announces it.
            delivered = len((scope.get("aws.event") or {}).get("body") or "")
            announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
            if max(delivered, int(announced) if announced.isdigit() else 0) > MAX_REQUEST_BODY_BYTES:
                raise TooLarge("The request's body is too large.", maxBytes=MAX_REQUEST_BODY_BYTES)

        async def bounded(message: Message) -> None:
            if message["type"] == "http.response.start":
                size = int(Headers(raw=message["headers"]).get("content-length", 0))
                if size > MAX_ANSWER_BYTES:
                    raise TooLarge(
                        "This answer would be too large.",
                        hint="Ask for less with limit, or take the file itself from its sourceUrl.",
                        sizeBytes=size,
                        maxBytes=MAX_ANSWER_BYTES,
                    )
            await send(message)

        await self.app(scope, receive, bounded)


def admitted(scope: Scope) -> bool:
    """Return whether this very request was let through, by the guard or by a deployment that is public."""
    return scope.get(ADMITTED) is True


class Public:
    """Admits every request: the deployment shows what is published to everybody."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[ADMITTED] = True
        await self.app(scope, receive, send)


def admit(principal: Principal, tier: Tier) -> None:
    """Raises Unavailable where the roles cannot be read, Forbidden where they do not give the tier."""
    if principal.uncertain:
        message = "The roles of your account cannot be read just now."
        raise Unavailable(message, retry_after_seconds=RETRY_SECONDS, hint="Try again in a moment.")
    if not principal.reaches(tier):
        message = f"This knowledge base is for accounts of the tier {tier}."
        raise Forbidden(message, hint="/console says how to get a role.")


class Private:
    """Lets on whoever has the tier (`siteTier`), and to `unguarded` paths everybody; a slash at the end is all below.

    Those of them that are `monitored` are guarded for requests with a token: it counts, or is refused. No cache that
    others share may store an answer. `find` raises Unauthorized, and Unavailable where it cannot judge who calls.
    """

    def __init__(
        self, app: ASGIApp, *, tier: Tier, find: Find, unguarded: Collection[str], monitored: Collection[str] = ()
    ) -> None:
        self.app = app
        self._tier = tier
        self._find = find
        self._paths = frozenset(path for path in unguarded if not path.endswith("/"))
        self._folders = tuple(path for path in unguarded if path.endswith("/"))
        self._monitored = frozenset(monitored)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        unguarded = path in self._paths or path.startswith(self._folders)
        by_token = path in self._monitored and "authorization" in Headers(scope=scope)
        if scope["type"] != "http" or (unguarded and not by_token):
            await self.app(scope, receive, send)
            return

        async def unshared(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                MutableHeaders(scope=message).update(NOT_SHARED)
            await send(message)

        found = self._find(Request(scope))
        if isinstance(found, Response):
            await found(scope, receive, unshared)
            return
        admit(found, self._tier)
        scope[ADMITTED] = True
        await self.app(scope, receive, unshared)


class Compression:
    """gzip, for who takes it, by Starlette. What is compressed has a weak entity tag: its bytes are others.

    API Gateway and the laptop do not compress; CloudFront does by itself. See RFC 9110, sections 8.8.3 and 12.5.3. Not
    for answers with a secret beside what somebody else wrote (BREACH).
    """

    def __init__(self, app: ASGIApp) -> None:
        # Threads would outlive the request, in which a function may be frozen.
        self.app = GZipMiddleware(
            app, MINIMUM_BYTES, LEVEL, thread_minimum_size=sys.maxsize, exclude_content_types=DENSE
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = header_map(scope)
        known = given.get("if-none-match", "")

        async def tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers, unchanged = MutableHeaders(scope=message), message["status"] == 304
                tag = headers.get("etag", "")
                if unchanged:
                    headers.add_vary_header("Accept-Encoding")
                # 304 repeats the tag in the form that the caller has.
                weak = f"W/{tag}" in known if unchanged else headers.get("content-encoding") == "gzip"
                if tag.startswith('"') and weak:
                    headers["etag"] = f"W/{tag}"
            await send(message)

        headers = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept-encoding"]
        if takes_gzip(given.get("accept-encoding", "")) and "CloudFront" not in given.get("via", ""):
            headers.append((b"accept-encoding", b"gzip"))
        await self.app({**scope, "headers": headers}, receive, tagged)


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether the header gives gzip, by name or by `*`, a weight above 0 and not below that of plain text."""
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().split(","):
        coding, _, weight = part.partition(";")
        given = _WEIGHT.fullmatch("".join(weight.split()))
        weights.setdefault(coding.strip(), float(given[1]) if given else 1.0)
    gzip = weights.get("gzip", weights.get("*", 0.0))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)
