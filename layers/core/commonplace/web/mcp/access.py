"""Access to what one path serves: verdicts of `identity.authorization` in the terms of the protocol.

`guard` answers by HTTP what a sign-in or another consent would allow, before a server is called. What reaches this
module is judged again, and refused in words for the model.
"""

from collections.abc import Iterator
from typing import Any

from commonplace.identity.authorization import Need, Verdict, judge, worth_showing
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.offer import Offer, Offered
from commonplace.web.mcp.surface import CALLER

NOBODY = Caller()

UNCERTAIN_SECONDS = 30


def caller_of(request: Any) -> Caller:
    """Whom the guard found behind an HTTP request; nobody in particular where there is no guard."""
    caller = request.scope.get(CALLER) if request is not None else None
    return caller if isinstance(caller, Caller) else NOBODY


def exists(offered: Offered, caller: Caller) -> bool:
    """Under a restriction to reading, a tool that writes is not there at all."""
    return offered.tool.read_only or not caller.read_only


def shown(need: Need, caller: Caller) -> bool:
    """Whether lists show what takes this."""
    return worth_showing(caller.principal, need)


def allowed(need: Need, caller: Caller) -> bool:
    return judge(caller.principal, need) is Verdict.ALLOWED


def tools_for(offer: Offer, caller: Caller) -> Iterator[Offered]:
    """The tools that a list shows."""
    return (one for one in offer.tools.values() if exists(one, caller) and shown(one.need, caller))


def view_of(caller: Caller) -> tuple[Any, ...]:
    """What lists depend on; equal for callers who are shown the same, and written alike by every process."""
    principal = caller.principal
    if principal.anonymous or principal.uncertain:
        return "*", caller.read_only
    kinds = None if principal.resource_scopes is None else tuple(sorted(principal.resource_scopes))
    scopes = tuple(sorted(principal.scopes)), tuple(sorted(principal.attainable))
    return principal.tier, caller.read_only, principal.permission, *scopes, kinds


def denial(thing: str, need: Need, caller: Caller) -> str | None:
    """Why this caller may not, in words for a model (seed 000, section 7.3); None if it may.

    Raises Unavailable when that cannot be decided now.
    """
    match judge(caller.principal, need):
        case Verdict.ALLOWED:
            return None
        case Verdict.UNCERTAIN:
            raise Unavailable(
                "The roles of your account cannot be read just now.",
                retry_after_seconds=UNCERTAIN_SECONDS,
                hint="Until then, use what is public.",
            )
        case Verdict.KIND:
            return f"Access denied. This {thing} is beyond the kinds of things that your token reaches."
        case Verdict.TIER | Verdict.SIGN_IN if need.tier != "public":
            return f"Access denied. This {thing} requires {need.tier} access."
        case _:
            return f"Access denied. This {thing} requires the scope {need.scope}."
