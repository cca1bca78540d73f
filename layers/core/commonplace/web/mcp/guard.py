"""Who calls, whether so often, whether at all, and under which restrictions. Pure ASGI, before any server is asked.

A client that has to sign in, or to ask for more scopes, learns it here, by HTTP and on both eras of the protocol: its
own code acts on that, no model has to. An account that can never do it is answered by the server, for the model to
read: a challenge would lead the client round in a circle.
"""

from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.identity.authorization import Verdict, judge
from commonplace.identity.principals import Principals
from commonplace.kernel.errors import CommonplaceError, Unauthorized
from commonplace.web.challenges import Challenges, Consent, SignIn
from commonplace.web.mcp.limits import Metered, Throttle, counting
from commonplace.web.mcp.needing import Needs
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.reception import MESSAGE, request_id, tool_called
from commonplace.web.mcp.refusing import refusal
from commonplace.web.mcp.surface import CALLER

READ_ONLY_HEADER = "x-mcp-readonly"

DENIALS = frozenset((Verdict.TIER, Verdict.SCOPE, Verdict.KIND, Verdict.CONSENT))
"""Verdicts on an account that is known: each is worth a record."""

_FALSE = ("false", "0", "no", "off")
_CREDENTIALS = (b"authorization", b"cookie", b"proxy-authorization")


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
        offer: Offer,
        read_only: bool = False,
        challenges: Challenges | None = None,
    ) -> None:
        """`resource` is the canonical URL of this path. Without challenges nobody can sign in, so nobody is told to."""
        self._app = app
        self._resource = resource
        self._principals = principals
        self._throttle = throttle
        self._offer = offer
        self._needs = Needs(offer)
        self._read_only = read_only
        self._challenges = challenges

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        caller = stranger = Metered(
            # The gateway's source address; headers such as X-Forwarded-For are the caller's own words.
            address=(scope.get("client") or ("unknown", 0))[0] or "unknown",
            read_only=self._read_only or asks_for_reading(headers.get(READ_ONLY_HEADER)),
        )
        try:
            caller = self._identified(stranger, headers)
            self._admit(scope, caller)
        except CommonplaceError as error:
            answer = refusal(error, request_id(scope), self._challenge(error))
            await answer(scope, receive, counting(send, caller))
            return
        await self._app(_without_credentials(scope) | {CALLER: caller}, receive, counting(send, caller))

    def _identified(self, stranger: Metered, headers: Mapping[str, str]) -> Metered:
        try:
            principal = self._principals.identify(headers, self._resource)
        except Unauthorized:
            # Whoever guesses tokens is somebody unknown, and may try as often as anybody unknown may ask.
            self._throttle.spend(stranger, "read")
            raise
        self._principals.used(principal, stranger.address)
        return Metered(principal, stranger.address, stranger.read_only)

    def _admit(self, scope: Scope, caller: Metered) -> None:
        """Counts the request, and raises what its client itself has to act on: RateLimited, SignIn, Consent."""
        tool = self._offer.tools.get(tool_called(scope) or "")
        if tool is None:
            self._throttle.spend(caller, "read")
        need = self._needs.of(scope[MESSAGE], caller)
        if need is None or self._challenges is None:
            return
        verdict = judge(caller.principal, need)
        if verdict in DENIALS:
            self._principals.denied(caller.principal, verdict.value, need.scope, caller.address)
        try:
            self._challenges.admit(verdict, need, self._resource)
        except (SignIn, Consent):
            if tool is not None:
                self._throttle.spend(caller, tool.tool.cost, tool.toolset.name)
            raise

    def _challenge(self, error: CommonplaceError) -> dict[str, str]:
        if isinstance(error, SignIn | Consent):
            return {"www-authenticate": error.challenge}
        if not isinstance(error, Unauthorized):
            return {}
        told = self._challenges.invalid_token(self._resource) if self._challenges else "Bearer"
        return {"www-authenticate": told}


def asks_for_reading(value: str | None) -> bool:
    """Whether the header narrows a request: anything does that does not plainly say no."""
    return value is not None and value.strip().lower() not in _FALSE


def _without_credentials(scope: Scope) -> dict[str, Any]:
    """What goes on to tools: none of them can hand a token to anybody else (RFC 9700; the specification forbids it)."""
    kept = [(name, value) for name, value in scope["headers"] if name.lower() not in _CREDENTIALS]
    return {name: value for name, value in scope.items() if name != "aws.event"} | {"headers": kept}


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; several of one name are joined, as gateways do."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found
