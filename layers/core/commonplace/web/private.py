"""Private deployments (`siteTier`): what is published is for accounts of a tier, and for no cache that others share."""

from collections.abc import Callable, Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.identity.principals import Principal, Tier
from commonplace.kernel.errors import Forbidden, Unavailable

RETRY_SECONDS = 30
NOT_KEPT = {"cache-control": "private, no-store", "vary": "Authorization, Cookie"}

ADMITTED = "commonplace.admitted"
"""Key in the ASGI scope of a request whose caller may read what is published. Without it a page or an answer shows
nothing of the knowledge base: neither edition nor neighbours nor counts."""

Find = Callable[[Request], Principal | Response]
"""Who asks; or what somebody unknown is answered, where that is no error."""


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
        told = "The roles of your account cannot be read just now."
        raise Unavailable(told, retry_after_seconds=RETRY_SECONDS, hint="Try again in a moment.")
    if not principal.reaches(tier):
        told = f"This knowledge base is for accounts of the tier {tier}."
        raise Forbidden(told, hint="/console says how to get a role.")


class Private:
    """Lets on whoever has the tier, and to `unguarded` paths everybody; one that ends in a slash is all below it.

    Those of them that are `monitored` are guarded for requests with a token: it counts, or is refused. `find` raises
    Unauthorized, and Unavailable where it cannot be judged who asks.
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
        if scope["type"] != "http" or self._is_open(scope):
            await self.app(scope, receive, send)
            return

        async def unshared(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                MutableHeaders(scope=message).update(NOT_KEPT)
            await send(message)

        found = self._find(Request(scope))
        if isinstance(found, Response):
            await found(scope, receive, unshared)
            return
        admit(found, self._tier)
        scope[ADMITTED] = True
        await self.app(scope, receive, unshared)

    def _is_open(self, scope: Scope) -> bool:
        path = scope["path"]
        if path in self._monitored and "authorization" in Headers(scope=scope):
            return False
        return path in self._paths or path.startswith(self._folders)
