"""Rate limits by client address, and by account where a token is taken: headers on every answer, 429 when a window is
spent. Pure ASGI.
"""

from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.limits import Allowance, Limiter, Quota, network
from commonplace.web.rest.errors import envelope

UNLIMITED = ("/health", "/api/v1/health")
"""Monitors must learn the truth, not their own quota."""
SEARCH = "/api/v1/search"
MET = "commonplace.met"
"""Key in the ASGI scope of what the request met so far: a list of `Allowance`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Searches have a quota of their own, for they cost the most; everything else is a read."""

    limiter: Limiter
    reads_per_minute: int
    searches_per_minute: int

    def spend_address(self, scope: Scope) -> None:
        """Raises RateLimited."""
        # The gateway's source address; headers such as X-Forwarded-For are the caller's own words.
        address = (scope.get("client") or ("unknown", 0))[0] or "unknown"
        self._spend(scope, "", network(address), "came from this address")

    def spend_account(self, scope: Scope, principal: Principal) -> None:
        """Counts the account with all its tokens, wherever they come from. Raises RateLimited."""
        if (account := principal.account or principal.subject) is not None:
            self._spend(scope, "-account", account, "were made by this account")

    def _spend(self, scope: Scope, suffix: str, client: str, what: str) -> None:
        search = scope["path"] == SEARCH
        name, calls = ("searches", self.searches_per_minute) if search else ("reads", self.reads_per_minute)
        allowance = self.limiter.take(Quota(f"{name}{suffix}", calls), client)
        if allowance is None:
            return
        scope.setdefault(MET, []).append(allowance)
        if not allowance.allowed:
            raise RateLimited(
                f"More than {calls} {name} in {allowance.quota.window_seconds} seconds {what}.",
                retry_after_seconds=allowance.reset_seconds,
                hint="Wait as long as Retry-After says. Answers may be cached: use ETag and If-None-Match.",
            )


class Throttle:
    """Counts every request by its address, before anything else is done for it."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNLIMITED:
            await self._app(scope, receive, send)
            return
        met: list[Allowance] = []
        scope[MET] = met
        try:
            self._limits.spend_address(scope)
        except RateLimited as refused:
            await envelope(refused)(scope, receive, _counting(send, met))
            return
        await self._app(scope, receive, _counting(send, met))


def _counting(send: Send, met: list[Allowance]) -> Send:
    async def counted(message: Message) -> None:
        if message["type"] == "http.response.start" and met:
            tightest = min(met, key=lambda allowance: (allowance.allowed, allowance.remaining))
            quota, headers = tightest.quota, MutableHeaders(raw=message["headers"])
            headers["ratelimit-limit"] = str(quota.calls)
            headers["ratelimit-remaining"] = str(tightest.remaining)
            headers["ratelimit-reset"] = str(tightest.reset_seconds)
            headers["ratelimit-policy"] = f'"{quota.name}";q={quota.calls};w={quota.window_seconds}'
        await send(message)

    return counted
