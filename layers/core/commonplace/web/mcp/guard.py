"""The guard of a path: principal, rate limits, access and restrictions of a message, before any server is called.

What a message needs is read from its body alone: headers that repeat it may lie. A client that has to sign in or to
request more scopes gets a challenge over HTTP, in both eras of the protocol. An account that no consent can help is
answered by the server, for the model to read: a challenge would send the client round in a circle.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from starlette.types import Scope

from commonplace.identity.authorization import Verdict, judge
from commonplace.identity.principals import MEMBERSHIP, Principals, Tier, counted_as
from commonplace.kernel.errors import CommonplaceError, Unauthorized
from commonplace.kernel.limits import Allowance, Limiter, Quota, network
from commonplace.web.challenges import Challenges, NotValid, SignIn
from commonplace.web.mcp.arguments import understand
from commonplace.web.mcp.calls import in_thread
from commonplace.web.mcp.declaration import Caller, Cost
from commonplace.web.mcp.offer import Offer, match
from commonplace.web.middleware import client_address, over_limit
from commonplace.web.stack import admit

READ_ONLY_HEADER = "x-mcp-readonly"

DENIALS = frozenset((Verdict.TIER, Verdict.SCOPE, Verdict.KIND, Verdict.CONSENT, Verdict.MEMBERSHIP))
"""Verdicts on an account that is known: each is worth a record."""

SHARED_FACTOR = 10
"""The tokens' worth of calls that may come from one address: a household, an office, a hosted client."""

MEMBER_FACTOR = 2
"""The grants' worth of reads and searches that all grants of one member of an organisation have together."""

KINDS: Mapping[Cost, str] = {"read": "reads", "search": "searches", "write": "writes"}

AGENT = "agent:"
"""The beginning of subjects of agents that sign in by themselves: no person waits for what they do."""


_quota = lru_cache(maxsize=256)(Quota)
"""Each call is counted in three, and few differ."""


@dataclass(frozen=True, slots=True)
class Metered(Caller):
    """A caller, and the rate limits its call met, for the answer's headers."""

    met: list[Allowance] = field(default_factory=list, compare=False, repr=False)


class Throttle:
    """Each class of calls has a quota for each token, for each account with all its tokens, and for each address.

    Each quota is leased in blocks (`kernel.limits`): that there is one more is not one more write for each call.
    """

    def __init__(
        self,
        limiter: Limiter,
        calls_per_minute: Mapping[Cost, int],
        *,
        toolsets: Mapping[str, Mapping[Cost, int]] | None = None,
        service_factor: int = 1,
        account_factor: int = 1,
    ) -> None:
        """Zero calls a minute are no limit.

        A class that `toolsets` names is counted apart, for calls of that toolset's tools and reads of its resources.
        Agents that sign in by themselves may call `service_factor` times as often. An account may read and search
        `account_factor` tokens' worth, for people use several clients, and may write as much as one token.
        """
        self._limiter = limiter
        self._calls = calls_per_minute
        self._toolsets = toolsets or {}
        self._service_factor = service_factor
        self._account_factor = account_factor

    def spend(self, caller: Caller, cost: Cost, toolset: str | None = None) -> None:
        """Count one call, of a tool or a resource of this toolset or of something else. Raises RateLimited."""
        kind, hint = KINDS[cost], "Ask for more at once, and keep what you have read."
        for quota, client in self._counted(caller, cost, toolset):
            if (allowance := self._limiter.take(quota, client)) is None:
                continue
            if isinstance(caller, Metered):
                caller.met.append(allowance)
            if not allowance.allowed:
                what = f"{kind} of this account" if quota.name.endswith("-account") else kind
                raise over_limit(allowance, what, hint)

    def _counted(self, caller: Caller, cost: Cost, toolset: str | None) -> list[tuple[Quota, str]]:
        """Return what a call counts in, and as whose: a token's calls in vain are not taken from its neighbours."""
        own = self._toolsets.get(toolset, {}).get(cost) if toolset else None
        usual = self._calls[cost] if own is None else own
        if not usual:
            return []
        acts = caller.principal.membership
        calls = acts.limits.get(cost, usual) if acts is not None and own is not None else usual
        # Named apart from the REST API's quotas, which are counted in the same table.
        name = f"mcp-{KINDS[cost]}" if own is None else f"mcp-{toolset}-{KINDS[cost]}"
        address = json.dumps(("address", network(caller.address)))
        token, account = counted_as(caller.principal)
        if token is None and account is None:
            return [(_quota(name, calls), address)]
        if (caller.principal.subject or "").startswith(AGENT):
            # Counted apart: one counter has one ceiling, and theirs is higher.
            name, calls = f"{name}-agents", calls * self._service_factor
        counted = [(_quota(name, calls), who) for who in (token or account,) if who is not None]
        if token is not None and account is not None:
            factor = self._account_factor if caller.principal.membership is None else MEMBER_FACTOR
            together = calls if cost == "write" else calls * factor
            counted.append((_quota(f"{name}-account", together), account))
        # An address is shared by organisations with limits of their own: one counter has one ceiling.
        shared = f"{name}-address" if calls <= usual else f"{name}-address-{calls}"
        return [*counted, (_quota(shared, max(calls, usual) * SHARED_FACTOR), address)]


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
        called = self._offer.tools.get(str(params.get("name"))) if method == "tools/call" else None
        counted = called if "id" in message else None
        caller, need = replace(caller, principal=principal), self._offer.need(method, params, caller.read_only)
        if counted is None:
            # What is read of a toolset counts as the calls of its tools do.
            owner = self._offer.owners.get(self._offer.named(method, params)) if method == "resources/read" else None
            self._throttle.spend(caller, "read", owner)
        try:
            # In a private deployment strangers learn nothing, nor where everything is done on behalf of a member.
            private = self._tier != "public"
            if principal.membership is None if self._members else private and principal.anonymous:
                if self._challenges is not None:
                    raise SignIn(self._challenges.sign_in(self._resource))
                raise Unauthorized("This is for people who have signed in.")
            if private:
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
                self._throttle.spend(caller, counted.tool.cost, counted.toolset.name)
            if isinstance(refused, SignIn) and self._tier == "public":
                raise SignIn(refused.challenge, await in_thread(self._page, method, params)) from None
            raise

    def _page(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Return the page of a public deployment where anybody reads what a refused message names. Reads the store."""
        try:
            if method == "tools/call":
                tool, given = self._offer.tools[params["name"]].tool, params.get("arguments")
                if tool.page is not None and isinstance(given, Mapping):
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
