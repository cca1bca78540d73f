"""ASGI middleware of every HTTP surface: hosts, CORS, security headers, rate limits, and errors as answers.

REST, MCP, the authorization server and its pages compose these classes with parameters of their own.
"""

import logging
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.kernel.environment import is_loopback
from commonplace.kernel.errors import CommonplaceError, RateLimited, Unauthorized
from commonplace.kernel.limits import Allowance, Limiter, Quota

logger = logging.getLogger(__name__)

Render = Callable[[Scope, Exception], Response]
"""Answers an exception as a surface does: in an envelope, as OAuth's or JSON-RPC's error, or as a page."""

MET = "commonplace.met"
"""Key in the ASGI scope of what the request met so far: a list of `Allowance`."""

_DEFAULT_PORTS = {"https": 443, "http": 80}
_LOOPBACK = r"(localhost|127\.0\.0\.1|\[::1\])(:[1-9]\d{0,4})?"
_NAMES = re.compile(r"[A-Za-z0-9_-]{1,64}(\s*,\s*[A-Za-z0-9_-]{1,64}){0,49}")


def header_map(scope: Scope) -> dict[str, str]:
    """Return headers by lower-case name; several of one name are joined, as gateways do: two tokens make none."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def client_address(scope: Scope) -> str:
    """Return the gateway's source address; headers such as X-Forwarded-For are the caller's own words."""
    return (scope.get("client") or ("unknown", 0))[0] or "unknown"


class HeadAsGet:
    """HEAD is GET whose body stays here, so every route answers both with the same headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, without_body)


class SecurityHeaders:
    """`headers` on every answer; `cached` and `uncached`, by status, on those that say nothing of caches."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        headers: Mapping[str, str],
        cached: Mapping[str, str] | None = None,
        uncached: Mapping[str, str] | None = None,
    ) -> None:
        """Without `cached`, what succeeds is as `uncached` as what fails."""
        self.app = app
        self._headers = headers
        self._uncached = uncached or {}
        self._cached = self._uncached if cached is None else cached

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if "cache-control" not in headers:
                    headers.update(self._cached if message["status"] < 400 else self._uncached)
            await send(message)

        await self.app(scope, receive, complete)


class TrustedHosts:
    """Raises HTTPException 421 for a request that is meant for another host (DNS rebinding).

    The host is the configured one, for behind a gateway a function sees another than its callers, or the name by which
    the gateway was called: in the cloud it answers no names but its own. A laptop answers its own names alone.
    """

    def __init__(self, app: ASGIApp, *, base_url: str) -> None:
        self.app = app
        self._local = is_loopback(urlsplit(base_url).hostname)
        self._scheme = urlsplit(base_url).scheme
        self._host = re.compile(_authority(base_url), re.IGNORECASE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = ",".join(Headers(scope=scope).getlist("host")).strip().lower()
            gateway = ((scope.get("aws.event") or {}).get("requestContext") or {}).get("domainName")
            called = not self._local and gateway == host.removesuffix(f":{_DEFAULT_PORTS.get(self._scheme)}")
            if not host or not (called or self._host.fullmatch(host)):
                raise HTTPException(421, "This server answers under another host.")
        await self.app(scope, receive, send)


class CORS(CORSMiddleware):
    """Starlette's. Every OPTIONS ends here with 204 and Allow, whatever it asks for: browsers decide by the headers.

    `allow_headers` with `*` allows what is requested, and names the others where nothing is.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allow_methods: Sequence[str],
        allow_headers: Sequence[str],
        expose_headers: Sequence[str],
        max_age: int,
        allow_origins: Sequence[str] = (),
        allow_origin_regex: str | None = None,
        refuse_others: bool = False,
        allowed: Callable[[Scope], Sequence[str]] | None = None,
    ) -> None:
        """With `refuse_others`, requests of other origins raise HTTPException 403 before anything is done for them.
        `allowed` says which methods an address takes, where that differs."""
        super().__init__(
            app,
            allow_origins=allow_origins,
            allow_origin_regex=allow_origin_regex,
            allow_methods=allow_methods,
            allow_headers=allow_headers,
            expose_headers=expose_headers,
            max_age=max_age,
        )
        named = ", ".join(name for name in allow_headers if name != "*")
        self.preflight_headers |= {"Allow": ", ".join(allow_methods), "Access-Control-Allow-Headers": named}
        self._refuse_others = refuse_others
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = ",".join(headers.getlist("origin"))
        if self._refuse_others and origin and not self.is_allowed_origin(origin):
            raise HTTPException(403, "Pages of this origin may not call this server.")
        if scope["method"] == "OPTIONS":
            answer = self.preflight_response(headers)
            if self._allowed is not None:
                answer.headers["allow"] = ", ".join(self._allowed(scope))
            await answer(scope, receive, send)
        else:
            await self.simple_response(scope, receive, send, headers)

    def preflight_response(self, request_headers: Headers) -> Response:
        given = {"origin": "", "access-control-request-method": "", **request_headers}
        if not _NAMES.fullmatch(given.get("access-control-request-headers", "")):
            given.pop("access-control-request-headers", None)
        headers = super().preflight_response(Headers(given)).headers.items()
        return Response(None, 204, {name: value for name, value in headers if not name.startswith("content-")})

    async def send(self, message: Message, send: Send, request_headers: Headers) -> None:
        if not self.allow_all_origins:
            await super().send(message, send, request_headers)
            return
        # The same for everybody: a cache that does not look at Origin keeps one answer for pages and programs.
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(self.simple_headers)
        await send(message)


def origin_pattern(base_url: str, origins: Sequence[str] = ()) -> str:
    """Return the pattern of a deployment's own origins and of `origins`, for `allow_origin_regex`, in any case."""
    scheme = "https?" if is_loopback(urlsplit(base_url).hostname) else re.escape(urlsplit(base_url).scheme)
    return "(?i)" + "|".join([f"{scheme}://{_authority(base_url)}", *map(re.escape, origins)])


def _authority(base_url: str) -> str:
    """Return the pattern of a host with its port, optional where the scheme implies it, and any on a laptop."""
    parts = urlsplit(base_url)
    if not parts.netloc:
        return "(?!)"
    if is_loopback(parts.hostname):
        return _LOOPBACK
    implied = f":{_DEFAULT_PORTS.get(parts.scheme)}"
    host = parts.netloc.removesuffix(implied)
    return re.escape(host) + ("" if ":" in host else f"({implied})?")


class RateLimits:
    """Reports the limits a request met by `RateLimit-*` headers, whichever inner layer counted it (`spend`).

    The start of an answer waits for its body: a tool of MCP is counted after its stream has begun.
    """

    def __init__(
        self, app: ASGIApp, *, count: Callable[[Scope], None] | None = None, render: Render | None = None
    ) -> None:
        """`count` counts a request before anything else is done for it; `render` answers the RateLimited it raises."""
        self.app = app
        self._count = count
        self._render = render

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        met: list[Allowance] = []
        scope[MET] = met
        held: list[Message] = []

        async def report(message: Message) -> None:
            if message["type"] == "http.response.start":
                held.append(message)
                return
            if held:
                start = held.pop()
                if met:
                    set_limit_headers(MutableHeaders(scope=start), met)
                await send(start)
            await send(message)

        if self._count is not None and self._render is not None:
            try:
                self._count(scope)
            except RateLimited as refused:
                await self._render(scope, refused)(scope, receive, report)
                return
        await self.app(scope, receive, report)


def set_limit_headers(headers: MutableHeaders, met: Sequence[Allowance]) -> None:
    """Report the tightest of the limits that a request met."""
    tightest = min(met, key=lambda allowance: (allowance.allowed, allowance.remaining))
    quota = tightest.quota
    headers["ratelimit-limit"] = str(quota.calls)
    headers["ratelimit-remaining"] = str(tightest.remaining)
    headers["ratelimit-reset"] = str(tightest.reset_seconds)
    headers["ratelimit-policy"] = f'"{quota.name}";q={quota.calls};w={quota.window_seconds}'


def spend(
    limiter: Limiter,
    quota: Quota,
    client: str,
    *,
    what: str,
    whose: str = "",
    hint: str,
    met: list[Allowance] | None = None,
) -> None:
    """Count one call of `client`, and add what it met to `met`. Raises RateLimited, in words: what, and whose."""
    allowance = limiter.take(quota, client)
    if allowance is not None:
        if met is not None:
            met.append(allowance)
        if not allowance.allowed:
            raise over_limit(allowance, what, hint, whose)


def over_limit(allowance: Allowance, what: str, hint: str, whose: str = "") -> RateLimited:
    return RateLimited(
        f"More than {allowance.quota.calls} {what} in {allowance.quota.window_seconds} seconds{whose}.",
        retry_after_seconds=allowance.reset_seconds,
        hint=hint,
    )


class Errors:
    """Answers what is raised, as `render` writes it; a defect as a CommonplaceError without its details."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        render: Render,
        expected: tuple[type[Exception], ...] = (CommonplaceError, HTTPException),
        quoted: bool = False,
    ) -> None:
        """`expected` is no defect. The log has a defect's kind and place; with `quoted` its text too, which may repeat
        what somebody sent."""
        self.app = app
        self._render = render
        self._expected = expected
        self._quoted = quoted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            shown = error
            if not isinstance(error, self._expected):
                shown = CommonplaceError("An unexpected error occurred.")
                logger.error(
                    "request failed",
                    exc_info=self._quoted,
                    extra={"path": scope.get("path", "")} | ({} if self._quoted else place(error)),
                )
            if started:
                raise
            await self._render(scope, shown)(scope, receive, send)


def exception_handlers(render: Render, *kinds: type[Exception]) -> dict[Any, Any]:
    """Return handlers for a framework, whose own refusals leave it as `render` writes them."""

    async def handle(request: Request, error: Exception) -> Response:
        return render(request.scope, error)

    return dict.fromkeys((HTTPException, *kinds), handle)


def error_headers(error: CommonplaceError, scheme: str | None = None) -> dict[str, str]:
    """Return when to come back, and with what; `scheme` is the challenge where the error names none."""
    headers: dict[str, str] = {}
    if (seconds := getattr(error, "retry_after_seconds", None)) is not None:
        headers["retry-after"] = str(seconds)
    challenge = getattr(error, "challenge", scheme if isinstance(error, Unauthorized) else None)
    if challenge is not None:
        headers["www-authenticate"] = challenge
    return headers


def place(error: BaseException) -> dict[str, str]:
    """Return a defect for the log without its text."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
    return {"error": type(error).__name__, "where": where}
