"""Who may see and use what of a path. Public things run for everybody; the rest by the account's tier.

Somebody unknown is shown everything: what exists is no secret, and signing in has to be worth it. An account is shown
what it may ever use, whatever the scopes of its present token are, so that a client can ask for more of them.
"""

from collections.abc import Iterator
from typing import Any

from commonplace.identity.principals import Tier
from commonplace.interfaces.mcp.declaring import Caller
from commonplace.interfaces.mcp.offer import Offer, Offered
from commonplace.interfaces.mcp.surface import CALLER

NOBODY = Caller()


def caller_of(request: Any) -> Caller:
    """Whom the guard found behind an HTTP request; nobody in particular where there is no guard."""
    caller = request.scope.get(CALLER) if request is not None else None
    return caller if isinstance(caller, Caller) else NOBODY


def exists(offered: Offered, caller: Caller) -> bool:
    """Under a restriction to reading, a tool that writes is not there at all."""
    return offered.tool.read_only or not caller.read_only


def shown(tier: Tier, caller: Caller) -> bool:
    """Whether lists show something of this tier."""
    return caller.principal.anonymous or caller.principal.reaches(tier)


def tools_for(offer: Offer, caller: Caller) -> Iterator[Offered]:
    """The tools that a list shows."""
    return (one for one in offer.tools.values() if exists(one, caller) and shown(one.tool.tier, caller))


def view_of(caller: Caller) -> tuple[str, bool]:
    """What lists depend on; equal for callers who are shown the same."""
    return ("*" if caller.principal.anonymous else caller.principal.tier), caller.read_only


def denial(thing: str, tier: Tier) -> str:
    """The sentence for an account that lacks the tier (seed 000, section 7.3)."""
    return f"Access denied. This {thing} requires {tier} access."
