"""Whom the edge lets in: hosts, origins and CORS. Pure ASGI.

A page of somebody else must not reach a server on a reader's own machine (DNS rebinding), nor call one in a reader's
name. Both rules come from the configured base URL, for behind a gateway a function sees another host than its callers.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.kernel.environment import is_loopback
from commonplace.web.mcp.errors import invalid

METHODS = "POST, OPTIONS"
EXPOSED = (
    "WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Retry-After, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy"
)
SENT = (
    "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, "
    "X-MCP-Readonly"
)
"""What a browser may send without having said so."""

PREFLIGHT_SECONDS = 7_200

_ASKED = re.compile(r"[A-Za-z0-9_-]{1,64}(\s*,\s*[A-Za-z0-9_-]{1,64}){0,49}")
_DEFAULT_PORTS = {"https": 443, "http": 80}


class Admission:
    """Which hosts are ours, and which pages may call."""

    def __init__(self, base_url: str, origins: Sequence[str] = ()) -> None:
        """`origins` beside the deployment's own; `*` admits every page."""
        parts = urlsplit(base_url)
        self._scheme = parts.scheme
        self._loopback = is_loopback(parts.hostname)
        self._host = _authority(parts.scheme, parts.netloc)
        self._origins = {origin.lower() for origin in origins}

    @property
    def everybody(self) -> bool:
        return "*" in self._origins

    def host(self, scope: Scope) -> bool:
        """Whether the request is meant for us: the configured host, or the name by which the gateway was called.

        A gateway in the cloud answers no names but its own, so there is nothing to rebind. A laptop has no such gateway
        and answers its own names alone.
        """
        host = _authority(self._scheme, _header(scope, b"host"))
        if self._loopback:
            return _is_local(f"//{host}")
        event = scope.get("aws.event") or {}
        gateway = (event.get("requestContext") or {}).get("domainName")
        return host in (self._host, gateway) and bool(host)

    def origin(self, origin: str) -> bool:
        """Whether pages of this origin may call."""
        if self.everybody or origin.lower() in self._origins:
            return True
        scheme, _, authority = origin.lower().partition("://")
        if self._loopback and scheme in _DEFAULT_PORTS:
            return _is_local(origin)
        return scheme == self._scheme and _authority(scheme, authority) == self._host


class Doorway:
    """The outermost layer: 421 for another host, 403 for another origin, 204 for a preflight, CORS on every answer."""

    def __init__(self, app: ASGIApp, *, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        origin = _header(scope, b"origin")
        if not self._admission.host(scope):
            await invalid("This server answers under another host.", status=421)(scope, receive, _plain(send))
        elif origin and not self._admission.origin(origin):
            await invalid("Pages of this origin may not call this server.", status=403)(scope, receive, _plain(send))
        elif scope["method"] == "OPTIONS":
            await _preflight(scope, self._cors(origin, send))
        else:
            await self._app(scope, receive, self._cors(origin, send, without_body=scope["method"] == "HEAD"))

    def _cors(self, origin: str, send: Send, *, without_body: bool = False) -> Send:
        allowed = "*" if self._admission.everybody else origin

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = _common(message)
                if origin:
                    headers["access-control-allow-origin"] = allowed
                    headers["access-control-expose-headers"] = EXPOSED
            elif without_body:
                message = {**message, "body": b""}
            await send(message)

        return told


def _plain(send: Send) -> Send:
    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            _common(message)
        await send(message)

    return told


def _common(message: Message) -> MutableHeaders:
    message["headers"] = list(message.get("headers", ()))
    headers = MutableHeaders(raw=message["headers"])
    headers.setdefault("cache-control", "no-store")
    headers["x-content-type-options"] = "nosniff"
    headers.add_vary_header("Origin")
    return headers


async def _preflight(scope: Scope, send: Send) -> None:
    asked = _header(scope, b"access-control-request-headers")
    headers = {
        "allow": METHODS,
        "access-control-allow-methods": METHODS,
        # Tools may have parameters that travel as headers of their own: what is asked for is allowed.
        "access-control-allow-headers": asked if _ASKED.fullmatch(asked) else SENT,
        "access-control-max-age": str(PREFLIGHT_SECONDS),
        "content-length": "0",
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 204, "headers": raw})
    await send({"type": "http.response.body", "body": b""})


def _header(scope: Scope, name: bytes) -> str:
    """Its values as a gateway joins them; empty when there is none."""
    return ",".join(bytes(value).decode("latin-1").strip() for key, value in scope["headers"] if key == name)


def _authority(scheme: str, text: str) -> str:
    """Host and port in lower case, without the port that the scheme implies."""
    host, _, port = text.lower().rpartition(":")
    return host if host and port == str(_DEFAULT_PORTS.get(scheme)) else text.lower()


def _is_local(url: str) -> bool:
    try:
        parts = urlsplit(url)
        plain = parts.username is None and not parts.path and parts.port != 0
        return plain and is_loopback(parts.hostname)
    except ValueError:
        return False
