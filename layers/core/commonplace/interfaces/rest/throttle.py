"""Rate limits by client address: headers on every answer, 429 when a window is spent. Pure ASGI."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.errors import RateLimited
from commonplace.interfaces.rest.errors import envelope
from commonplace.limits.quota import Allowance, Limiter, Quota, network

UNLIMITED = ("/health", "/api/v1/health")
"""Monitors must learn the truth, not their own quota."""
SEARCH = "/api/v1/search"


class Throttle:
    """Searches have a quota of their own, for they cost the most; everything else is a read."""

    def __init__(self, app: ASGIApp, *, limiter: Limiter, reads: Quota, searches: Quota) -> None:
        self._app = app
        self._limiter = limiter
        self._reads = reads
        self._searches = searches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNLIMITED:
            await self._app(scope, receive, send)
            return
        quota = self._searches if scope["path"] == SEARCH else self._reads
        # The gateway's source address; headers such as X-Forwarded-For are the caller's own words.
        address = (scope.get("client") or ("unknown", 0))[0] or "unknown"
        allowance = self._limiter.take(quota, network(address))
        if allowance is None:
            await self._app(scope, receive, send)
        elif allowance.allowed:
            await self._app(scope, receive, _counting(send, allowance))
        else:
            await envelope(_refusal(allowance))(scope, receive, _counting(send, allowance))


def _counting(send: Send, allowance: Allowance) -> Send:
    quota = allowance.quota

    async def counted(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            headers["ratelimit-limit"] = str(quota.calls)
            headers["ratelimit-remaining"] = str(allowance.remaining)
            headers["ratelimit-reset"] = str(allowance.reset_seconds)
            headers["ratelimit-policy"] = f'"{quota.name}";q={quota.calls};w={quota.window_seconds}'
        await send(message)

    return counted


def _refusal(allowance: Allowance) -> RateLimited:
    quota = allowance.quota
    return RateLimited(
        f"More than {quota.calls} {quota.name} in {quota.window_seconds} seconds came from this address.",
        retry_after_seconds=allowance.reset_seconds,
        hint="Wait as long as Retry-After says. Answers may be cached: use ETag and If-None-Match.",
    )
