"""The official client beside a server in one process."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
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


def _check_each_schema_once() -> None:
    """Lets every client use what another one has found of a schema: checking it takes most of the time of a call."""
    valid: set[str] = set()
    plain = Draft202012Validator.check_schema

    def check(schema: Mapping[str, Any]) -> None:
        written = json.dumps(schema)
        if written not in valid:
            plain(schema)
            valid.add(written)

    Draft202012Validator.check_schema = check


_check_each_schema_once()
