"""Partners: a call of ours beside the bare SDK's, by CPU of this process, and a search of four beside the slowest.

The partners are servers of the SDK in processes of their own. The bare call is the SDK's client in the same era, with
the same remembered discovery and one HTTP client for all calls. The store is moto in a process of its own: a call by
an agent reads the partners there, and the tools of the one that is called.
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
from bench.speed.governance import connect, new_table
from bench.table import Row
from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import GuardedTransport
from commonplace.federation.commons import Commons
from commonplace.federation.model import Contact, pin
from commonplace.federation.partners import Partners
from commonplace.federation.toolset import commons_toolset
from commonplace.identity.principals import Principal, scope
from commonplace.kernel.audit import Author
from commonplace.kernel.audit_store import PARTNERS as KIND
from commonplace.kernel.records import Records
from commonplace.kernel.table import Table as KernelTable
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.invocation import invoke
from commonplace.web.mcp.offer import Offer, offer_of

CALLS, WARM_UP, ROUNDS = 60, 10, 5
PARTNERS = 4
SECONDS = 10.0
SERVER = """
import socket, uvicorn
from mcp.server.mcpserver import MCPServer
made = MCPServer("partner")
@made.tool(annotations={"readOnlyHint": True})
def search_knowledge(query: str) -> dict[str, list[dict[str, str]]]:
    rows = [{"title": f"{query} {n}", "url": f"https://p.example/{n}", "snippet": "word " * 40} for n in range(10)]
    return {"results": rows}
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(made.streamable_http_app(), log_level="error")).run([listening])
"""
STORE = """
import threading
from moto.server import ThreadedMotoServer
from werkzeug.serving import WSGIRequestHandler
WSGIRequestHandler.protocol_version = "HTTP/1.1"  # connections stay open
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
threading.Event().wait()
"""
ADA = Author(organisation="garden", account="account-ada")
AGENT = Caller(
    Principal(subject="0xada", organisation="garden", tier="member", scopes=frozenset([scope("commons", "read")]))
)


def federation(_: argparse.Namespace, __: Path) -> Iterator[Table]:
    with ExitStack() as undo:
        urls = [f"{undo.enter_context(started(SERVER))}/mcp" for _ in range(PARTNERS)]
        connections = undo.enter_context(closing(Connections(partial(GuardedTransport, loopback=True))))
        contacts = [connections.run(connections.tools(Contact(url)))[1] for url in urls]
        offer = offered(connections, undo.enter_context(started(STORE)), urls[0])
        yield Table("federation", "A call of a partner", list(beside(connections, contacts[0], offer)))
        yield Table("federation_search", f"{PARTNERS} partners at once", [together(connections, contacts)])


@contextmanager
def started(program: str) -> Iterator[str]:
    """Run a server in a process of its own; yield its origin."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def offered(connections: Connections, store: str, url: str) -> Offer:
    """Return the tools of agents, with those of a partner that is approved."""
    client = connect(store)
    records = Records(KernelTable(client, new_table(client)), new_table(client), KIND)
    partners = Partners(records, lambda: connections, loopback=True)
    tools = partners.add(ADA, "reef", url).tools
    partners.approve(ADA, "reef", {tool.id: pin(tool.offered) for tool in tools})
    commons = Commons(partners, "bench.example", "Bench")
    return offer_of([commons_toolset(lambda: commons, lambda *_: [])])


def beside(connections: Connections, contact: Contact, offer: Offer) -> Iterator[Row]:
    """Yield milliseconds of CPU and of time of each way, median of rounds by turns."""
    bare, ours, stored = [], [], []
    for _ in range(ROUNDS):
        bare.append(asyncio.run(_bare(contact)))
        ours.append(_timed(lambda: _called(connections, contact)))
        stored.append(_timed(lambda: _asked(offer)))
    for name, found in (("bare SDK", bare), ("ours", ours), ("ours, by an agent, with reads of our store", stored)):
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


def _asked(offer: Offer) -> None:
    assert invoke(offer, AGENT, "reef__search_knowledge", {"query": "nets"}, spend=lambda *_: None).text


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
