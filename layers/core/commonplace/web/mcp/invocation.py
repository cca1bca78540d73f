"""Calls of tools, whichever surface they come by: existence, cost, access and arguments are judged in one place.

MCP calls tools so (`web.mcp.calls`), and what acts on a person's behalf in this process, as the chat agent does.
Nothing here needs the SDK.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from commonplace.identity.authorization import Verdict
from commonplace.kernel.errors import Forbidden, NotFound
from commonplace.web.mcp.arguments import bounded, understand
from commonplace.web.mcp.declaration import Answer, Call, Caller, Cost
from commonplace.web.mcp.offer import Offer, Offered, denial

Spend = Callable[[Caller, Cost, str], None]
"""`(caller, class of calls, toolset)`: counts one call. Raises RateLimited."""


class UnknownTool(NotFound):
    """There is no tool of this name, or none for a caller who may only read."""


class AccessDenied(Forbidden):
    """The caller may not use this tool."""

    code = "ACCESS_DENIED"


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that its caller may make, with its arguments as the tool takes them."""

    offered: Offered
    arguments: Any
    """The tool's `Arguments`; of a raw one what was given."""
    notes: tuple[str, ...]
    """What was not taken as it came."""


def admit(
    offer: Offer, caller: Caller, name: str, given: Mapping[str, Any], spend: Spend, *, asking: bool = False
) -> Admitted:
    """Return the call if the caller may make it. `asking` says that a person has approved it, where a tool takes that.

    Raises UnknownTool, RateLimited, AccessDenied, InvalidInput, and Unavailable where the roles cannot be read.
    """
    # Whatever the call is: who may not use a tool must not try without end either.
    if (offered := offer.tools.get(name)) is not None:
        spend(caller, offered.tool.cost, offered.toolset.name)
    elif (offered := _further(offer, caller, name, spend, asking=asking)) is None:
        raise UnknownTool(f"Unknown tool: {name[:64]}")
    tool = offered.tool
    if not tool.read_only and caller.read_only:
        raise UnknownTool(f"Unknown tool: {name[:64]}")
    if (verdict := caller.verdict(offered.need)) is not Verdict.ALLOWED:
        raise AccessDenied(denial("tool", offered.need, verdict))
    if tool.raw:
        return Admitted(offered, bounded(given, tool.max_values), ())
    lenient, clamp = tool.read_only, tool.read_only and not tool.exact
    return Admitted(
        offered, *understand(given, tool.arguments, lenient=lenient, clamp=clamp, max_values=tool.max_values)
    )


def _further(offer: Offer, caller: Caller, name: str, spend: Spend, *, asking: bool) -> Offered | None:
    """Return a tool that the caller has besides. Who may have none is told so, and the store is not asked."""
    if (cost := offer.further_cost) is None:
        return None
    spend(caller, *cost)
    if (verdict := caller.verdict(need := offer.further_need)) is not Verdict.ALLOWED:
        raise AccessDenied(denial("tool", need, verdict))
    return next((one for one in offer.further_tools(caller, name, asking=asking) if one.name == name), None)


def invoke(
    offer: Offer,
    caller: Caller,
    name: str,
    given: Mapping[str, Any],
    *,
    spend: Spend,
    base_url: str = "",
    asking: bool = False,
) -> Answer:
    """Call a tool on somebody's behalf, and return its answer. Raises as `admit`, and what the tool raises.

    A tool that talks to its client while it works cannot be called so.
    """
    call = admit(offer, caller, name, given, spend, asking=asking)
    run = call.offered.tool.run
    if inspect.iscoroutinefunction(run):
        raise TypeError(f"{name} needs a client to talk to")
    answer: Any = run(Call(caller, base_url), call.arguments)
    return cast(Answer, answer)
