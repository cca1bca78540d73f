"""The memory's tools called as clients call them, over stores at hand."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.identity.principals import Principal
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.rendering import ERROR_META
from commonplace.web.mcp.server import build_server
from tests.fakes.memories import Remembering, remembering
from tests.fakes.toolsets import as_caller
from tests.unit.web.mcp.talking import ask, call, text_of


def member(organisation: str | None = "acme", *scopes: str, tier: Any = "member") -> Caller:
    """Somebody of this organisation, with these scopes of the memory."""
    principal = Principal(
        subject="0xabc",
        organisation=organisation,
        tier=tier,
        scopes=frozenset(scopes or ("memory:admin",)),
        account="a" * 32,
    )
    return Caller(principal, address="192.0.2.1")


@dataclass
class Team:
    """One deployment with a memory, and somebody who calls its tools."""

    world: Remembering
    caller: Caller = field(default_factory=member)
    mode: str = "auto"
    told: dict[str, Any] = field(default_factory=dict)

    def server(self) -> Any:
        services = MemoryServices(memory=self.world.memory, **self.told)
        return as_caller(build_server([memory_toolset(services)], Surface()), self.caller)

    def call(self, name: str, **arguments: Any) -> Any:
        return call(self.server(), name, arguments, self.mode)

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

    def add(self, content: str, **more: Any) -> str:
        told = self.data("kb_add", **({"content": content, "entry_type": "fact", "roles": ["dev"]} | more))
        return str(told["id"])

    def prompt(self, **arguments: str) -> Any:
        return ask(self.server(), lambda client: client.get_prompt("phase-briefing", arguments), self.mode)


def team(folder: Path, **told: Any) -> Team:
    return Team(remembering(folder), told=told)
