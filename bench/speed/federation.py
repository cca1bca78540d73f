"""Partners: a call of ours beside the bare SDK's, by CPU of this process, and a search of four beside the slowest.

The partners are servers of the SDK in processes of their own. The bare call is the SDK's client in the same era, with
the same remembered discovery and one HTTP client for all calls.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.measure import Table
from bench.table import Row
from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import GuardedTransport
from commonplace.federation.model import Contact

CALLS, WARM_UP, ROUNDS = 60, 10, 5
PARTNERS = 4
SECONDS = 10.0
SERVER = """
import socket, uvicorn
from mcp.server.mcpserver import MCPServer
made = MCPServer("partner")
@made.tool()
def search_knowledge(query: str) -> dict[str, list[dict[str, str]]]:
    rows = [{"title": f"{query} {n}", "url": f"https://p.example/{n}", "snippet": "word " * 40} for n in range(10)]
    return {"results": rows}
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(made.streamable_http_app(), log_level="error")).run([listening])
"""


def federation(_: argparse.Namespace, __: Path) -> Iterator[Table]:
    with ExitStack() as undo:
        urls = [undo.enter_context(served()) for _ in range(PARTNERS)]
        connections = undo.enter_context(closing(Connections(partial(GuardedTransport, loopback=True))))
        contacts = [connections.run(connections.tools(Contact(url)))[1] for url in urls]
        yield Table("federation", "A call of a partner", list(beside(connections, contacts[0])))
        yield Table("federation_search", f"{PARTNERS} partners at once", [together(connections, contacts)])


@contextmanager
def served() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


def beside(connections: Connections, contact: Contact) -> Iterator[Row]:
    """Yield milliseconds of CPU and of time of each way, median of rounds by turns."""
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(asyncio.run(_bare(contact)))
        ours.append(_timed(lambda: _called(connections, contact)))
    for name, found in (("bare SDK", bare), ("ours", ours)):
        cpu, wall = (median(one[at] for one in found) for at in (0, 1))
        yield {
            "call": name,
            "CPU ms": round(cpu * 1e3, 2),
            "times bare": round(cpu / median(one[0] for one in bare), 2),
            "ms": round(wall * 1e3, 1),
        }


def _called(connections: Connections, contact: Contact) -> None:
    said, _ = connections.run(
        connections.call(contact, "search_knowledge", {"query": "nets"}, ("bench.example",), SECONDS)
    )
    assert said.structured


def _timed(call: partial[None] | object) -> tuple[float, float]:
    assert callable(call)
    for _ in range(WARM_UP):
        call()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.process_time() - cpu) / CALLS, (time.perf_counter() - wall) / CALLS


async def _bare(contact: Contact) -> tuple[float, float]:
    prior = types.DiscoverResult.model_validate_json(contact.discovered)
    params = types.CallToolRequestParams(name="search_knowledge", arguments={"query": "nets"})

    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as http:

        async def call() -> None:
            transport = streamable_http_client(contact.url, http_client=http)
            async with Client(transport, mode=contact.era, prior_discover=prior, cache=None) as client:
                await client.session.send_request(types.CallToolRequest(params=params), types.CallToolResult)

        for _ in range(WARM_UP):
            await call()
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(CALLS):
            await call()
        return (time.process_time() - cpu) / CALLS, (time.perf_counter() - wall) / CALLS


def together(connections: Connections, contacts: list[Contact]) -> Row:
    def ask(contact: Contact) -> float:
        began = time.perf_counter()
        _called(connections, contact)
        return time.perf_counter() - began

    def all_at_once() -> float:
        began = time.perf_counter()
        asked = [
            connections.start(connections.call(one, "search_knowledge", {"query": "nets"}, (), SECONDS))
            for one in contacts
        ]
        for one in asked:
            one.result()
        return time.perf_counter() - began

    alone = [median(ask(contact) for _ in range(CALLS)) for contact in contacts]
    whole = median(all_at_once() for _ in range(CALLS))
    return {
        "slowest alone, ms": round(max(alone) * 1e3, 1),
        "all at once, ms": round(whole * 1e3, 1),
        "times the slowest": round(whole / max(alone), 2),
    }
