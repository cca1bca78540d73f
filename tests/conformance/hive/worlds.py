"""Agents who call the toolset `hive` over HTTP, as a gateway carries it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client

from commonplace.hive.model import ItemId
from commonplace.hive.operations import HiveServices
from commonplace.hive.tools.toolset import hive_toolset
from commonplace.identity.principals import Principal
from commonplace.kernel.audit import Author
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.rendering import ERROR_META
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.surface import Surface
from tests.hive_world import World
from tests.unit.web.mcp.over_http import connected, serving
from tests.unit.web.mcp.talking import text_of

_NUMBERS = count(1)


@dataclass
class Agent:
    """Somebody of an organisation who calls the tools over one connection, in one era of the protocol."""

    world: World
    organisation: str
    author: Author
    portal: BlockingPortal
    client: Client

    def result(self, name: str, **arguments: Any) -> Any:
        return self.portal.call(self.client.call_tool, name, arguments)

    def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        result = self.result(name, **arguments)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] = result.structured_content
        return data

    def error(self, name: str, **arguments: Any) -> tuple[str, str]:
        """The code and the text of a call that fails."""
        result = self.result(name, **arguments)
        assert result.is_error, text_of(result)
        return result.meta[ERROR_META]["code"], text_of(result)

    def tools(self) -> dict[str, Any]:
        """Those that are offered, by name."""
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def add(self, content: str, category: str = "general", **more: Any) -> ItemId:
        """What is queued."""
        answer = self.data("add_knowledge", content=content, category=category, **more)
        assert answer["status"] == "queued"
        return ItemId(answer["contribution_id"])

    def share(self, content: str, *, public: bool = False, **more: Any) -> ItemId:
        """What is queued, approved and can be found."""
        id = self.add(content, **more)
        self.world.reviews().approve(self.author, id, public=public)
        self.world.take(self.organisation, [id])
        return id

    def found(self, query: str, **more: Any) -> list[str]:
        """Ids that a search gives."""
        return [one["id"] for one in self.data("search_knowledge", query=query, **more)["results"]]


def organisation_of_its_own() -> str:
    return f"team-{next(_NUMBERS)}"


@contextmanager
def calling(
    world: World, era: str, organisation: str = "", level: str = "admin", account: str = "a" * 32
) -> Iterator[Agent]:
    """An agent of an organisation of its own, unless one is named."""
    organisation = organisation or organisation_of_its_own()
    principal = Principal(
        subject=f"agent:{account[:4]}",
        organisation=organisation,
        tier="vibecoder",
        scopes=frozenset({f"hive:{level}"}),
        account=account,
    )
    services = HiveServices(world.hive(), world.reviews())
    server = build_server([hive_toolset(services)], Surface())
    app = serving(server, Caller(principal, address="192.0.2.1"))
    author = Author(organisation=organisation, account=account, name=f"agent:{account[:4]}")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected(app, era)) as client:
        yield Agent(world, organisation, author, portal, client)
