"""Rate limits by who calls: 429 for messages, errors that models read for tools, `RateLimit-*` headers on answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from commonplace.errors import RateLimited
from commonplace.interfaces.mcp.declaring import Caller, Cost
from commonplace.limits.quota import Allowance, Limiter, Quota, network

SHARED_FACTOR = 10
"""So many tokens' worth of calls may come from one address: a household, an office, a hosted client."""


@dataclass(frozen=True, slots=True)
class Metered(Caller):
    """A caller, and what its call met: the answer's headers tell of it."""

    met: list[Allowance] = field(default_factory=list, compare=False, repr=False)


class Throttle:
    """Each class of calls has a quota for each token, or for each address of callers who have none."""

    def __init__(self, limiter: Limiter, calls_per_minute: Mapping[Cost, int]) -> None:
        """Zero calls a minute are no limit."""
        self._limiter = limiter
        self._quotas = {cost: Quota(_name(cost), calls) for cost, calls in calls_per_minute.items()}
        self._shared = {
            cost: Quota(f"{_name(cost)}-address", calls * SHARED_FACTOR) for cost, calls in calls_per_minute.items()
        }

    def spend(self, caller: Caller, cost: Cost) -> None:
        """Counts one call. Raises RateLimited."""
        for quota, client in self._counted(caller, cost):
            allowance = self._limiter.take(quota, client)
            if allowance is None:
                continue
            if isinstance(caller, Metered):
                caller.met.append(allowance)
            if not allowance.allowed:
                raise _refusal(allowance)

    def _counted(self, caller: Caller, cost: Cost) -> list[tuple[Quota, str]]:
        """What a call counts in, and as whose: what one token asks for in vain is not taken from its neighbours."""
        address = _named("address", network(caller.address))
        account = _account(caller)
        if account is None:
            return [(self._quotas[cost], address)]
        return [(self._quotas[cost], account), (self._shared[cost], address)]


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
                refused = (allowance for allowance in caller.met if not allowance.allowed)
                _tell(MutableHeaders(raw=start["headers"]), next(refused, caller.met[0]))
            await send(start)
        await send(message)

    return counted


def _tell(headers: MutableHeaders, allowance: Allowance) -> None:
    quota = allowance.quota
    headers["ratelimit-limit"] = str(quota.calls)
    headers["ratelimit-remaining"] = str(allowance.remaining)
    headers["ratelimit-reset"] = str(allowance.reset_seconds)
    headers["ratelimit-policy"] = f'"{quota.name}";q={quota.calls};w={quota.window_seconds}'


def _account(caller: Caller) -> str | None:
    """A name for the credential, or for the account where there is no credential; None for somebody unknown."""
    principal = caller.principal
    if principal.token is not None:
        return _named("token", principal.organisation, principal.token)
    return _named("subject", principal.organisation, principal.subject) if principal.subject is not None else None


def _named(*parts: str | None) -> str:
    """One text for these parts that no other parts give."""
    return json.dumps(parts)


def _name(cost: Cost) -> str:
    """Apart from the REST API's, which counts in the same table."""
    return {"read": "mcp-reads", "search": "mcp-searches", "write": "mcp-writes"}[cost]


def _refusal(allowance: Allowance) -> RateLimited:
    quota = allowance.quota
    kind = quota.name.split("-")[1]
    return RateLimited(
        f"More than {quota.calls} {kind} in {quota.window_seconds} seconds.",
        retry_after_seconds=allowance.reset_seconds,
        hint="Ask for more at once, and keep what you have read.",
    )
