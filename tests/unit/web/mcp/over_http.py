"""A server behind HTTP as a gateway carries it: one request, one answer, and the answer only when it is whole."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.offer import CALLER

URL = "http://commonplace.test/mcp"
MODERN = "2026-07-28"


def serving(
    server: Server[Any], caller: Caller | None = None, seconds_left: Callable[[], float] | None = None
) -> ASGIApp:
    """A fresh session manager for each request, with what a guard and an adapter leave in the scope."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope[CALLER] = caller or Caller()
        if seconds_left is not None:
            left = seconds_left
            scope["aws.context"] = SimpleNamespace(get_remaining_time_in_millis=lambda: left() * 1_000)
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True, session_idle_timeout=None)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return app


@asynccontextmanager
async def connected(app: ASGIApp, mode: str = "auto") -> AsyncIterator[Client]:
    """The official client. httpx's ASGI transport hands on nothing before everything is there."""
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


async def post(app: ASGIApp, method: str, params: dict[str, Any], *, version: str = MODERN) -> list[dict[str, Any]]:
    """The messages of one answer, in order, as they stood on the wire."""
    modern = version == MODERN
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params | ({"_meta": meta} if modern else {})}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version}
    headers |= {"mcp-method": method} if modern else {}
    headers |= {"mcp-name": params["uri"]} if modern and method == "resources/read" else {}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http:
        answer = await http.post(URL, json=message, headers=headers)
    if answer.headers["content-type"].startswith("text/event-stream"):
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    return [answer.json()]
