"""The guard of a path: principal, rate limits, access and restrictions of a message, before any server is called.

What a message needs is read from its body alone: headers that repeat it may lie. A client that has to sign in or to
request more scopes gets a challenge over HTTP, in both eras of the protocol. An account that no consent can help is
answered by the server, for the model to read: a challenge would send the client round in a circle.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.types import Scope

from commonplace.identity.authorization import Verdict, judge
from commonplace.identity.principals import MEMBERSHIP, Principals, Tier
from commonplace.kernel.errors import CommonplaceError, Unauthorized
from commonplace.kernel.limits import Allowance
from commonplace.web.challenges import Challenges, NotValid, SignIn
from commonplace.web.mcp.arguments import understand
from commonplace.web.mcp.calls import in_thread
from commonplace.web.mcp.declaration import Caller, Cost
from commonplace.web.mcp.offer import Offer, match
from commonplace.web.mcp.throttle import Metered, Throttle
from commonplace.web.middleware import client_address
from commonplace.web.stack import admit

READ_ONLY_HEADER = "x-mcp-readonly"

DENIALS = frozenset((Verdict.TIER, Verdict.SCOPE, Verdict.KIND, Verdict.CONSENT, Verdict.MEMBERSHIP))
"""Verdicts on an account that is known: each is worth a record."""


class Guard:
    """Finds the caller of a message. A call of a tool is counted where it runs, everything else here.

    Principals and counters are read on the loop, where no deadline interrupts them: both bound their own waits.
    """

    def __init__(
        self,
        *,
        principals: Principals,
        resource: str = "",
        throttle: Throttle,
        offer: Offer,
        read_only: bool = False,
        challenges: Challenges | None = None,
        tier: Tier = "public",
    ) -> None:
        """`resource` is the canonical URL of this path. Without challenges nobody can sign in.

        `tier` is that of whom anything is answered to.
        """
        self._resource = resource
        self._principals = principals
        self._throttle = throttle
        self._offer = offer
        self._read_only = read_only
        self._challenges = challenges
        self._tier = tier
        self._members = any(MEMBERSHIP.get(one.name, False) for one in offer.toolsets)
        self._private = tier != "public" or all(one.members_only for one in offer.toolsets)

    async def admit(
        self, scope: Scope, headers: Mapping[str, str], message: Mapping[str, Any], met: list[Allowance]
    ) -> Caller:
        """Return the caller. Raises what the client itself has to act on, and Unavailable; limits met go to `met`."""
        caller = Metered(
            address=client_address(scope),
            read_only=self._read_only or asks_for_reading(headers.get(READ_ONLY_HEADER)),
            met=met,
        )
        try:
            principal = self._principals.identify(headers, self._resource)
        except Unauthorized as bad:
            # Whoever guesses tokens is somebody unknown, and may try as often as anybody unknown may call.
            self._throttle.spend(caller, "read")
            if self._challenges is None:
                raise
            raise NotValid(bad, self._challenges.invalid_token(self._resource)) from None
        self._principals.used(principal, caller.address)
        method, params = message["method"], message.get("params") or {}
        counted = self._cost(params) if method == "tools/call" and "id" in message else None
        caller, need = replace(caller, principal=principal), self._offer.need(method, params, caller.read_only)
        if counted is None:
            # What is read of a toolset counts as the calls of its tools do.
            owner = self._offer.owners.get(self._offer.named(method, params)) if method == "resources/read" else None
            self._throttle.spend(caller, "read", owner)
        try:
            # In a private deployment strangers learn nothing, nor where everything is for members, or done for one.
            if principal.membership is None if self._members else self._private and principal.anonymous:
                if self._challenges is not None:
                    raise SignIn(self._challenges.sign_in(self._resource))
                raise Unauthorized("Sign-in is required.")
            if self._tier != "public":
                admit(principal, self._tier)
            if need is None:
                return caller
            verdict = judge(principal, need)
            if self._challenges is not None and verdict is not Verdict.ALLOWED:
                if verdict in DENIALS:
                    self._principals.denied(principal, verdict.value, need.scope, caller.address)
                self._challenges.admit(verdict, need, self._resource)
            return replace(caller, judged=(need, verdict))
        except CommonplaceError as refused:
            if counted is not None:
                self._throttle.spend(caller, *counted)
            if isinstance(refused, SignIn) and self._tier == "public":
                raise SignIn(refused.challenge, await in_thread(self._page, method, params)) from None
            raise

    def _cost(self, params: Mapping[str, Any]) -> tuple[Cost, str] | None:
        """Return what a call of a tool counts as where it runs, and in which toolset."""
        called = self._offer.tools.get(str(params.get("name")))
        return (called.tool.cost, called.toolset.name) if called is not None else self._offer.further_cost

    def _page(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Return the page of a public deployment where anybody reads what a refused message names. Reads the store."""
        try:
            if method == "tools/call":
                called, given = self._offer.tools.get(params["name"]), params.get("arguments")
                tool = called.tool if called is not None else None  # tools besides have no page
                if tool is not None and tool.page is not None and isinstance(given, Mapping):
                    return tool.page(understand(given, tool.arguments, max_values=tool.max_values)[0])
            elif method == "resources/read":
                for pattern, one in self._offer.patterns:
                    if one.page is not None and (variables := match(pattern, params["uri"])) is not None:
                        return one.page(variables)
        except CommonplaceError:
            pass  # what was named is not there, or cannot be read now: the refusal stands without a page
        return None


def asks_for_reading(value: str | None) -> bool:
    """Return whether the header narrows a request: anything does that does not plainly say no."""
    return value is not None and value.strip().lower() not in ("false", "0", "no", "off")
