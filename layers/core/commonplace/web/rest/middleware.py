"""What holds for every answer: CORS, caching, sniffing, size, HEAD, OPTIONS, errors nobody foresaw. Pure ASGI."""

import logging

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.kernel.errors import TooLarge
from commonplace.web.rest.errors import ALLOWED_METHODS, envelope, internal_error
from commonplace.web.rest.pages import MAX_ANSWER_BYTES

logger = logging.getLogger(__name__)

CACHEABLE = "public, max-age=300, stale-while-revalidate=3600"
"""Of every answer that says nothing else (seed 000, section 8.1)."""

MAX_REQUEST_BODY_BYTES = 65_536
"""Nothing here reads a body; clients that send one by habit are tolerated up to this size."""

_EVERY_ANSWER = [
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"ETag, Link, Content-Location, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
        b"RateLimit-Policy, WWW-Authenticate",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
_OPTIONS = [
    (b"allow", ALLOWED_METHODS.encode()),
    (b"access-control-allow-methods", ALLOWED_METHODS.encode()),
    # The asterisk is every header but this one (the Fetch standard, section 3.3.2).
    (b"access-control-allow-headers", b"*, Authorization"),
    (b"access-control-max-age", b"86400"),
    (b"cache-control", CACHEABLE.encode()),
    (b"content-length", b"0"),
]


class Surface:
    """The outermost layer. One that wraps each answer in a class of its own would cost more than most answers do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        if scope["method"] == "OPTIONS":
            await exchange.send({"type": "http.response.start", "status": 204, "headers": list(_OPTIONS)})
            await exchange.send({"type": "http.response.body", "body": b""})
        elif _body_bytes(scope) > MAX_REQUEST_BODY_BYTES:
            refusal = TooLarge("The request's body is too large.", maxBytes=MAX_REQUEST_BODY_BYTES)
            await envelope(refusal)(scope, receive, exchange.send)
        else:
            await self._guarded(exchange)

    async def _guarded(self, exchange: "_Exchange") -> None:
        scope = exchange.scope
        try:
            # HEAD is GET whose body stays here, so every route answers both with the same headers.
            inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
            await self._app(inner, exchange.receive, exchange.send)
        except Exception:
            logger.exception("request failed", extra={"path": scope["path"]})
            if exchange.started:
                raise
            await internal_error()(scope, exchange.receive, exchange.send)


class _Exchange:
    """One request and its answer, with the headers every answer carries."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.started = False
        self._send = send
        self._parts = (scope, receive, send)
        self._without_body = scope["method"] == "HEAD"
        self._replaced = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._start(message)
        elif not self._replaced:
            await self._send({**message, "body": b""} if self._without_body else message)

    async def _start(self, message: Message) -> None:
        headers = MutableHeaders(raw=message["headers"])
        if int(headers.get("content-length", 0)) > MAX_ANSWER_BYTES:
            self._replaced = self.started = True
            await envelope(_oversized(headers))(self.scope, self.receive, _Exchange(*self._parts).send)
            return
        headers.setdefault("cache-control", CACHEABLE if message["status"] < 400 else "no-store")
        headers.raw.extend(_EVERY_ANSWER)
        self.started = True
        await self._send(message)


def _oversized(headers: MutableHeaders) -> TooLarge:
    return TooLarge(
        "This answer would be too large.",
        hint="Ask for less with limit, or take the file itself from its sourceUrl.",
        sizeBytes=int(headers["content-length"]),
        maxBytes=MAX_ANSWER_BYTES,
    )


def _body_bytes(scope: Scope) -> int:
    """As the gateway delivered it, or as the client announces it."""
    delivered = len((scope.get("aws.event") or {}).get("body") or "")
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return max(delivered, int(announced) if announced.isdigit() else 0)
