"""Real clients of two SDKs search, fetch what was found, and can cite it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp.types import TextContent

from commonplace.web.mcp.budgets import DOCUMENT_TOKENS, MAX_TOKENS, estimate_tokens
from tests.conformance.mcp.clients import Clients
from tests.conformance.mcp.conftest import LONG_CHARACTERS
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
        page = httpx.get(url, timeout=60, trust_env=False, follow_redirects=True)
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


PAGES = Path(__file__).with_name("pages.mjs")
NEXT = re.compile(r'\A\[Page \d+ of \d+; the next is fetched with id "([^"]+)"\]\n\n')
MORE = re.compile(r"More: get_document with cursor `([^`]+)`")


def reassembled(fetched: Sequence[str]) -> str:
    """What stands between the first and the last line of each page, which say where it belongs."""
    return "".join(page.partition("\n\n")[2].rpartition("\n\n")[0] for page in fetched)


def largest(dev: Dev) -> tuple[str, str]:
    """Its `contentType/id` and its body as REST gives it."""
    with httpx.Client(base_url=dev.url, timeout=60, trust_env=False) as api:
        listed = api.get("/api/v1/entries", params={"limit": "100"}).json()["entries"]
        bodies = {
            ref: api.get(f"/api/v1/entries/{ref}").json()["content"]
            for ref in (f"{one['contentType']}/{one['id']}" for one in listed)
        }
    ref = max(bodies, key=lambda one: len(bodies[one]))
    assert len(bodies[ref]) >= LONG_CHARACTERS
    return ref, bodies[ref]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_python_sdk_reads_the_largest_document_page_by_page_until_every_byte_was_read(mode: Any, dev: Dev) -> None:
    ref, body = largest(dev)

    async def text(client: Client, name: str, **arguments: Any) -> str:
        answer = await client.call_tool(name, arguments)
        assert not answer.is_error, answer.content
        assert isinstance(answer.content[0], TextContent)
        return answer.content[0].text

    async def read() -> None:
        async with Client(f"{dev.url}/mcp", mode=mode) as client:
            pages, wanted = [], ref
            while True:
                # The text alone, for some clients show a model nothing else.
                pages.append(json.loads(await text(client, "fetch", id=wanted))["text"])
                if (onward := NEXT.match(pages[-1])) is None:
                    break
                wanted = onward[1]
            assert len(pages) > 3
            assert reassembled(pages) == body
            for tokens, most in ((None, len(body) // 8_000), (MAX_TOKENS, len(body) // 40_000 + 2)):
                given, told = {"maxTokens": tokens} if tokens else {}, []
                cursor: dict[str, str] = {}
                while True:
                    told.append(await text(client, "get_document", id=ref, **given, **cursor))
                    if (more := MORE.search(told[-1][:1_500])) is None:
                        break
                    cursor = {"cursor": more[1]}
                assert "".join(page.partition("\n\n---\n\n")[2] for page in told) == body
                assert 1 < len(told) <= most
                assert all(estimate_tokens(page) <= (tokens or DOCUMENT_TOKENS) for page in told)

    anyio.run(read)


@pytest.mark.node
@pytest.mark.parametrize(("generation", "mode"), [("sdk", "legacy"), ("client", "2026-07-28")])
def test_the_typescript_sdk_reads_the_largest_document_page_by_page_until_every_byte_was_read(
    generation: str, mode: str, clients: Clients, dev: Dev
) -> None:
    ref, body = largest(dev)
    done = clients.run(str(PAGES), str(clients.folder), generation, mode, f"{dev.url}/mcp", ref, str(MAX_TOKENS))
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    told = json.loads(done.stdout)
    assert (len(told["fetched"]) > 3, len(told["read"]) > 1) == (True, True)
    assert reassembled(told["fetched"]) == body
    assert "".join(told["read"]) == body


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
