"""Who calls, whether so often, and under which restrictions. Pure ASGI, before any server is asked."""

from collections.abc import Callable, Collection, Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.errors import CommonplaceError, Unauthorized
from commonplace.identity.principals import Principals
from commonplace.interfaces.mcp.reception import request_id, tool_called
from commonplace.interfaces.mcp.refusing import refusal
from commonplace.interfaces.mcp.surface import CALLER
from commonplace.interfaces.mcp.throttle import Metered, Throttle, counting

READ_ONLY_HEADER = "x-mcp-readonly"

Challenge = Callable[[Scope, Unauthorized], str]
"""The value of WWW-Authenticate for a request (RFC 6750, RFC 9728)."""

_FALSE = ("false", "0", "no", "off")


def bearer(_: Scope, __: Unauthorized) -> str:
    """Where there is nothing yet to say about how to get a token."""
    return "Bearer"


class Guard:
    """Leaves a `declaring.Caller` in the scope. A call of a tool is counted where it runs, everything else here.

    Principals and counters are asked on the loop, where no deadline interrupts them: both bound their own waits.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        principals: Principals,
        resource: str = "",
        throttle: Throttle,
        tools: Collection[str],
        read_only: bool = False,
        challenge: Challenge = bearer,
    ) -> None:
        """`resource` is the canonical URL of this path; `tools` are names that are counted as they are called."""
        self._app = app
        self._resource = resource
        self._principals = principals
        self._throttle = throttle
        self._tools = tools
        self._read_only = read_only
        self._challenge = challenge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        try:
            caller = self._caller(scope, headers)
        except CommonplaceError as error:
            challenge = {"www-authenticate": self._challenge(scope, error)} if isinstance(error, Unauthorized) else {}
            await refusal(error, request_id(scope), challenge)(scope, receive, send)
            return
        told = counting(send, caller)
        try:
            self._count(scope, caller)
        except CommonplaceError as error:
            await refusal(error, request_id(scope))(scope, receive, told)
            return
        await self._app({**scope, CALLER: caller}, receive, told)

    def _caller(self, scope: Scope, headers: Mapping[str, str]) -> Metered:
        # The gateway's source address; headers such as X-Forwarded-For are the caller's own words.
        address = (scope.get("client") or ("unknown", 0))[0] or "unknown"
        return Metered(
            principal=self._principals.identify(headers, self._resource),
            address=address,
            read_only=self._read_only or asks_for_reading(headers.get(READ_ONLY_HEADER)),
        )

    def _count(self, scope: Scope, caller: Metered) -> None:
        if tool_called(scope) not in self._tools:
            self._throttle.spend(caller, "read")


def asks_for_reading(value: str | None) -> bool:
    """Whether the header narrows a request: anything does that does not plainly say no."""
    return value is not None and value.strip().lower() not in _FALSE


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; several of one name are joined, as gateways do."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found
