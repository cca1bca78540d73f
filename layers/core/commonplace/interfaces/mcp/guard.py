"""Who calls, whether so often, whether at all, and under which restrictions. Pure ASGI, before any server is asked.

A client that has to sign in, or to ask for more scopes, learns it here, by HTTP and on both eras of the protocol: its
own code acts on that, no model has to. An account that can never do it is answered by the server, for the model to
read: a challenge would lead the client round in a circle.
"""

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.errors import CommonplaceError, Forbidden, Unauthorized
from commonplace.identity.permitting import Need, Verdict, judge
from commonplace.identity.principals import Principals
from commonplace.interfaces.challenges import Challenges
from commonplace.interfaces.mcp.needing import Needs
from commonplace.interfaces.mcp.offer import Offer
from commonplace.interfaces.mcp.reception import MESSAGE, request_id, tool_called
from commonplace.interfaces.mcp.refusing import refusal
from commonplace.interfaces.mcp.surface import CALLER
from commonplace.interfaces.mcp.throttle import Metered, Throttle, counting

READ_ONLY_HEADER = "x-mcp-readonly"

_FALSE = ("false", "0", "no", "off")


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
        await self._app({**scope, CALLER: caller}, receive, counting(send, caller))

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
        """Counts the request, and raises what its client itself has to act on: RateLimited, _SignIn or _Consent."""
        tool = self._offer.tools.get(tool_called(scope) or "")
        need = self._needs.of(scope[MESSAGE], caller) if self._challenges is not None else None
        verdict = judge(caller.principal, need) if need is not None else Verdict.ALLOWED
        challenged = verdict in (Verdict.SIGN_IN, Verdict.CONSENT)
        if tool is None or challenged:
            self._throttle.spend(caller, tool.tool.cost if tool is not None else "read")
        if need is not None and challenged:
            raise _SignIn(need) if verdict is Verdict.SIGN_IN else _Consent(need)

    def _challenge(self, error: CommonplaceError) -> dict[str, str]:
        match error, self._challenges:
            case _SignIn(), Challenges() as challenges:
                told = challenges.sign_in(self._resource, [error.need.scope])
            case _Consent(), Challenges() as challenges:
                told = challenges.insufficient_scope(self._resource, [error.need.scope])
            case Unauthorized(), Challenges() as challenges:
                told = challenges.invalid_token(self._resource)
            case Unauthorized(), None:
                told = "Bearer"
            case _:
                return {}
        return {"www-authenticate": told}


class _SignIn(Unauthorized):
    """Nobody in particular asks for what is not open."""

    def __init__(self, need: Need) -> None:
        super().__init__("This is for people who have signed in.", hint="Sign in, and ask again.")
        self.need = need


class _Consent(Forbidden):
    """Another consent of the account would do."""

    def __init__(self, need: Need) -> None:
        super().__init__(f"This takes the scope {need.scope}.", hint="Ask for it, and come again.")
        self.need = need


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
