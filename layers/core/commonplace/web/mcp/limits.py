"""Rate limits by caller: 429 for messages, errors that models read for tools."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace.identity.principals import Principal, counted_as
from commonplace.kernel.limits import Allowance, Limiter, Quota, network
from commonplace.web.mcp.declaration import Caller, Cost
from commonplace.web.middleware import spend

SHARED_FACTOR = 10
"""So many tokens' worth of calls may come from one address: a household, an office, a hosted client."""

KINDS: Mapping[Cost, str] = {"read": "reads", "search": "searches", "write": "writes"}

AGENT = "agent:"
"""How the subjects begin of agents that sign in by themselves."""


@dataclass(frozen=True, slots=True)
class Metered(Caller):
    """A caller, and the rate limits its call met, for the answer's headers."""

    met: list[Allowance] = field(default_factory=list, compare=False, repr=False)


class Throttle:
    """Each class of calls has a quota for each token, for each account with all its tokens, and for each address.

    Each quota is leased in blocks (`limits.quota`): that there is one more is not one more write for each call.
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

        A class that `toolsets` names is counted apart, for calls of that toolset's tools. Agents that sign in by
        themselves may call `service_factor` times as often. An account may read and search `account_factor` tokens'
        worth, for people use several clients, and may write as much as one token.
        """
        self._limiter = limiter
        self._calls = calls_per_minute
        self._toolsets = toolsets or {}
        self._service_factor = service_factor
        self._account_factor = account_factor

    def spend(self, caller: Caller, cost: Cost, toolset: str | None = None) -> None:
        """Counts one call, of a tool of this toolset or of something else. Raises RateLimited."""
        kind, hint = KINDS[cost], "Ask for more at once, and keep what you have read."
        met = caller.met if isinstance(caller, Metered) else None
        for quota, client in self._counted(caller, cost, toolset):
            what = f"{kind} of this account" if quota.name.endswith("-account") else kind
            spend(self._limiter, quota, client, what=what, hint=hint, met=met)

    def _counted(self, caller: Caller, cost: Cost, toolset: str | None) -> list[tuple[Quota, str]]:
        """What a call counts in, and as whose: what one token asks for in vain is not taken from its neighbours."""
        own = self._toolsets.get(toolset, {}).get(cost) if toolset else None
        name, calls = (_name(cost), self._calls[cost]) if own is None else (_name(cost, toolset), own)
        address = json.dumps(("address", network(caller.address)))
        token, account = counted_as(caller.principal)
        if token is None and account is None:
            return [(Quota(name, calls), address)]
        if is_service(caller.principal):
            # Counted apart: one counter has one ceiling, and theirs is higher.
            name, calls = f"{name}-agents", calls * self._service_factor
        counted = [(Quota(name, calls), who) for who in (token or account,) if who is not None]
        if token is not None and account is not None:
            together = calls if cost == "write" else calls * self._account_factor
            counted.append((Quota(f"{name}-account", together), account))
        return [*counted, (Quota(f"{name}-address", calls * SHARED_FACTOR), address)]


def is_service(principal: Principal) -> bool:
    """Whether an agent calls that signs in by itself: no person waits for what it does."""
    return (principal.subject or "").startswith(AGENT)


def _name(cost: Cost, toolset: str | None = None) -> str:
    """Apart from the REST API's, which counts in the same table."""
    return f"mcp-{toolset}-{KINDS[cost]}" if toolset else f"mcp-{KINDS[cost]}"
