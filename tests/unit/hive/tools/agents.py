"""The hive's tools called as clients call them, over stores at hand."""

from dataclasses import dataclass, field
from typing import Any

from commonplace.hive.model import ItemId
from commonplace.hive.operations import HiveServices
from commonplace.hive.tools.toolset import hive_toolset
from commonplace.identity.principals import Principal, author
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.rendering import ERROR_META
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.surface import Surface
from tests.fakes.hives import FakeHive
from tests.fakes.toolsets import as_caller
from tests.unit.web.mcp.talking import ask, call, text_of


def somebody(organisation: str | None = "acme", level: str = "write", tier: Any = "member", name: str = "a") -> Caller:
    """An agent of this organisation, with a scope of the hive."""
    principal = Principal(
        subject=f"agent:{name}",
        organisation=organisation,
        tier=tier,
        scopes=frozenset({f"hive:{level}"}),
        account=name * 32,
    )
    return Caller(principal, address="192.0.2.1")


REVIEWER = somebody(level="admin", tier="vibecoder", name="r")


@dataclass
class Agent:
    """One deployment with a hive, and an agent that calls its tools."""

    world: FakeHive = field(default_factory=FakeHive)
    caller: Caller = field(default_factory=somebody)
    mode: str = "auto"

    def server(self) -> Any:
        return as_caller(
            build_server([hive_toolset(HiveServices(self.world.hive, self.world.reviews))], Surface()), self.caller
        )

    def other(self, caller: Caller) -> "Agent":
        """Somebody else, of the same deployment."""
        return Agent(self.world, caller, self.mode)

    def call(self, name: str, **arguments: Any) -> Any:
        return call(self.server(), name, arguments, self.mode)

    def told(self, name: str, **arguments: Any) -> str:
        """The text of a call that succeeds."""
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] = result.structured_content
        return data

    def error(self, name: str, **arguments: Any) -> tuple[str, str]:
        """The code and the text of a call that fails."""
        result = self.call(name, **arguments)
        assert result.is_error, text_of(result)
        return result.meta[ERROR_META]["code"], text_of(result)

    def prompt(self, name: str, **arguments: str) -> Any:
        return ask(self.server(), lambda client: client.get_prompt(name, arguments), self.mode)

    def add(self, content: str, **more: Any) -> str:
        return str(
            self.data("add_knowledge", **({"content": content, "category": "bug_fix"} | more))["contribution_id"]
        )

    def item(self, content: str, *, public: bool = False, **more: Any) -> str:
        """One that a reviewer of the same organisation has approved."""
        id = self.add(content, **more)
        organisation = self.caller.principal.organisation
        reviewer = author(somebody(organisation, "admin", "vibecoder", "r").principal, "192.0.2.1")
        self.world.reviews.approve(reviewer, ItemId(id), public=public)
        return id
