"""Rate limits of calls: of each token, of each account, and of each address, by class of calls."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from commonplace.identity.principals import counted_as
from commonplace.kernel.limits import Allowance, Limiter, Quota, network
from commonplace.web.mcp.declaration import Caller, Cost
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.middleware import over_limit

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

    @classmethod
    def of(cls, settings: McpSettings, limiter: Limiter) -> "Throttle":
        """Return the limits of a deployment."""
        calls: Mapping[Cost, int] = {
            "read": settings.reads_per_minute,
            "search": settings.searches_per_minute,
            "write": settings.writes_per_minute,
        }
        return cls(
            limiter,
            calls,
            toolsets=settings.toolset_limits,
            service_factor=settings.service_rate_factor,
            account_factor=settings.account_rate_factor,
        )
