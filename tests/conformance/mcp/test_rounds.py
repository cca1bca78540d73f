"""Real clients of two SDKs search, fetch what was found, and can cite it."""

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp.types import TextContent

from tests.conformance.mcp.clients import Clients
from tests.integration.running_dev import Dev

QUERY = "how do groups share work"
ROUND = Path(__file__).with_name("round.mjs")

pytestmark = pytest.mark.laptop


def cited(found: dict[str, Any], fetched: dict[str, Any]) -> str:
    """`[title](url)` of what was found first, once both answers agree on it."""
    first = found["results"][0]
    assert (fetched["id"], fetched["title"], fetched["url"]) == (first["id"], first["title"], first["url"])
    assert fetched["text"].strip()
    return f"[{fetched['title']}]({fetched['url']})"


def check_citation(citation: str, dev: Dev) -> None:
    """The address of a citation leads to what it names."""
    title, _, url = citation.removeprefix("[").removesuffix(")").partition("](")
    assert title
    assert url.startswith((dev.url, "https://"))
    if url.startswith(dev.url):
        page = httpx.get(url, timeout=30, trust_env=False, follow_redirects=True)
        assert page.status_code == 200, url
        assert title in page.text


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_python_sdk_searches_fetches_and_cites(mode: Any, version: str, dev: Dev) -> None:
    async def round_trip() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(f"{dev.url}/mcp", mode=mode) as client:
            assert client.protocol_version == version
            found = await client.call_tool("search", {"query": QUERY})
            (block,) = found.content
            assert isinstance(block, TextContent)
            assert json.loads(block.text) == found.structured_content
            first = found.structured_content["results"][0]
            fetched = await client.call_tool("fetch", {"id": first["id"]})
            return found.structured_content, fetched.structured_content

    check_citation(cited(*anyio.run(round_trip)), dev)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_python_sdk_reads_the_document_behind_a_passage(mode: Any, dev: Dev) -> None:
    async def round_trip() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(f"{dev.url}/mcp", mode=mode) as client:
            found = await client.call_tool("search_knowledge", {"query": QUERY})
            first = found.structured_content["results"][0]
            read = await client.call_tool("get_document", {"id": first["id"], "contentType": first["contentType"]})
            return first, read.structured_content

    first, document = anyio.run(round_trip)
    assert (document["id"], document["title"]) == (first["id"], first["title"])


@pytest.mark.node
@pytest.mark.parametrize(
    ("generation", "mode", "era"),
    [
        ("sdk", "legacy", "legacy"),
        ("client", "legacy", "legacy"),
        ("client", "auto", "modern"),
        ("client", "2026-07-28", "modern"),
    ],
)
def test_the_typescript_sdk_searches_fetches_and_cites(
    generation: str, mode: str, era: str, clients: Clients, dev: Dev
) -> None:
    done = clients.run(str(ROUND), str(clients.folder), generation, mode, f"{dev.url}/mcp", QUERY)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert (told["era"], told["failed"]) == (era, False)
    check_citation(cited(told["found"], told["fetched"]), dev)
    assert told["passages"]["results"]
