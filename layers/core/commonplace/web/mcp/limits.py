"""Rate limits by who calls: 429 for messages, errors that models read for tools, `RateLimit-*` headers on answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.limits import Allowance, Limiter, Quota, network
from commonplace.web.mcp.declaration import Caller, Cost

SHARED_FACTOR = 10
"""So many tokens' worth of calls may come from one address: a household, an office, a hosted client."""

AGENT = "agent:"
"""How the subjects begin of agents that sign in by themselves."""


@dataclass(frozen=True, slots=True)
class Metered(Caller):
    """A caller, and what its call met: the answer's headers tell of it."""

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
        for quota, client in self._counted(caller, cost, toolset):
            allowance = self._limiter.take(quota, client)
            if allowance is None:
                continue
            if isinstance(caller, Metered):
                caller.met.append(allowance)
            if not allowance.allowed:
                raise _refusal(allowance)

    def _counted(self, caller: Caller, cost: Cost, toolset: str | None) -> list[tuple[Quota, str]]:
        """What a call counts in, and as whose: what one token asks for in vain is not taken from its neighbours."""
        own = self._toolsets.get(toolset, {}).get(cost) if toolset else None
        name, calls = (_name(cost), self._calls[cost]) if own is None else (_name(cost, toolset), own)
        address = _named("address", network(caller.address))
        token, account = _token(caller.principal), account_of(caller.principal)
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


def counting(send: Send, caller: Metered) -> Send:
    """Adds the headers. The start of an answer waits for its body: a tool is counted after a stream has begun."""
    held: list[Message] = []

    async def counted(message: Message) -> None:
        if message["type"] == "http.response.start":
            held.append(message)
            return
        if held:
            start = held.pop()
            start["headers"] = list(start.get("headers", ()))
            if caller.met:
                tightest = min(caller.met, key=lambda allowance: (allowance.allowed, allowance.remaining))
                _tell(MutableHeaders(raw=start["headers"]), tightest)
            await send(start)
        await send(message)

    return counted


def _tell(headers: MutableHeaders, allowance: Allowance) -> None:
    quota = allowance.quota
    headers["ratelimit-limit"] = str(quota.calls)
    headers["ratelimit-remaining"] = str(allowance.remaining)
    headers["ratelimit-reset"] = str(allowance.reset_seconds)
    headers["ratelimit-policy"] = f'"{quota.name}";q={quota.calls};w={quota.window_seconds}'


def is_service(principal: Principal) -> bool:
    """Whether an agent calls that signs in by itself: no person waits for what it does."""
    return (principal.subject or "").startswith(AGENT)


def _token(principal: Principal) -> str | None:
    """A name for the credential."""
    return _named("token", principal.organisation, principal.token) if principal.token is not None else None


def account_of(principal: Principal) -> str | None:
    """A name for whoever all the credentials are; None for somebody unknown."""
    if principal.account is not None:
        return _named("account", principal.account)
    return _named("subject", principal.organisation, principal.subject) if principal.subject is not None else None


def _named(*parts: str | None) -> str:
    """One text for these parts that no other parts give."""
    return json.dumps(parts)


def _name(cost: Cost, toolset: str | None = None) -> str:
    """Apart from the REST API's, which counts in the same table."""
    kind = {"read": "reads", "search": "searches", "write": "writes"}[cost]
    return f"mcp-{toolset}-{kind}" if toolset else f"mcp-{kind}"


def _refusal(allowance: Allowance) -> RateLimited:
    quota = allowance.quota
    kind = next(part for part in quota.name.split("-") if part in ("reads", "searches", "writes"))
    whose = " of this account" if quota.name.endswith("-account") else ""
    return RateLimited(
        f"More than {quota.calls} {kind}{whose} in {quota.window_seconds} seconds.",
        retry_after_seconds=allowance.reset_seconds,
        hint="Ask for more at once, and keep what you have read.",
    )
