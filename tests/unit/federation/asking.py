"""What an agent asks of the toolset `commons`, as the caller whom the guard has found."""

from __future__ import annotations

from typing import Any

from commonplace.federation.commons import Commons
from commonplace.federation.model import pin
from commonplace.federation.partners import Partners
from commonplace.federation.toolset import commons_toolset
from commonplace.identity.principals import Principal, scope
from commonplace.kernel.audit import Author
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.invocation import invoke
from commonplace.web.mcp.offer import Offer, offer_of
from commonplace.web.mcp.rendering import data_of


def offered(partners: Partners, deadline: float) -> Offer:
    """The tools of a deployment that itself knows nothing."""
    commons = Commons(partners, "commonplace.example", "Ours", deadline=deadline)
    return offer_of([commons_toolset(lambda: commons, lambda *_: [])])


def caller(organisation: str = "garden", **more: Any) -> Caller:
    given: dict[str, Any] = {"subject": "0xada", "account": "account-ada", "tier": "member"} | more
    return Caller(Principal(organisation=organisation, scopes=frozenset([scope("commons", "read")]), **given))


def ask(offer: Offer, tool: str, by: Caller, **given: Any) -> dict[str, Any]:
    return data_of(invoke(offer, by, tool, given, spend=lambda *_: None))


def search(offer: Offer, organisation: str = "garden", **given: Any) -> dict[str, Any]:
    return ask(offer, "search_commons", caller(organisation), query="nets", **given)


def told(found: dict[str, Any]) -> dict[str, str]:
    """The sources of a search, and what became of each."""
    return {one["name"]: f"{one['status']} {one.get('reason', '')}".strip() for one in found["sources"]}


def approve(partners: Partners, author: Author, name: str) -> None:
    tools = [tool for tool in partners.tools(author.organisation, name) if tool.offered]
    partners.approve(author, name, {tool.id: pin(tool.offered) for tool in tools})
