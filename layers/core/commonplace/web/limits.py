"""Rate limits by client address and by account, and limits of size, of REST and of pages."""

from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.identity.principals import Principal, counted_as
from commonplace.kernel.errors import TooLarge
from commonplace.kernel.limits import Limiter, Quota, network
from commonplace.web.middleware import MET, client_address, spend
from commonplace.web.representations import MAX_ANSWER_BYTES

MAX_REQUEST_BODY_BYTES = 262_144
"""20,000 characters of a contribution, were each escaped as JSON escapes what is beyond 16 bits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Searches have a quota of their own, for they cost the most; everything else is a read."""

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
        """Counts the account with all its tokens, wherever they come from. Raises RateLimited."""
        if (account := counted_as(principal)[1]) is not None:
            self._spend(scope, "-account", account, " were made by this account")

    def _spend(self, scope: Scope, suffix: str, client: str, whose: str) -> None:
        search = scope["path"] in self.searches
        name, calls = ("searches", self.searches_per_minute) if search else ("reads", self.reads_per_minute)
        hint = "Wait as long as Retry-After says. Answers may be cached: use ETag and If-None-Match."
        quota = Quota(f"{name}{suffix}", calls)
        spend(self.limiter, quota, client, what=name, whose=whose, hint=hint, met=scope.get(MET))


class Sizes:
    """Raises TooLarge for a request's body, and for an answer that no function may give."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _body_bytes(scope) > MAX_REQUEST_BODY_BYTES:
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


def _body_bytes(scope: Scope) -> int:
    """As the gateway delivered it, or as the client announces it."""
    delivered = len((scope.get("aws.event") or {}).get("body") or "")
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return max(delivered, int(announced) if announced.isdigit() else 0)
