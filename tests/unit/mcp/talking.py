"""The official client beside a server in one process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

ERAS = ["auto", "legacy"]


def ask(server: Server[Any], question: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """What a question gave, or the error of the protocol that it ended in."""

    async def main() -> Any:
        async with Client(server, mode=mode) as client:
            try:
                return await question(client)
            except MCPError as error:
                return error

    return asyncio.run(main())


def call(server: Server[Any], name: str, arguments: dict[str, Any] | None = None, mode: str = "auto") -> Any:
    """The result of one call of a tool, or the error of the protocol."""
    return ask(server, lambda client: client.call_tool(name, arguments or {}), mode)


def text_of(result: Any) -> str:
    return str(result.content[0].text)
