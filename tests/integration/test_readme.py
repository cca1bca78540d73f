"""The curl lines of the REST page answer as printed over the sample, and the README's question finds its patterns."""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integration.running_dev import Serving, commonplace
from tests.unit.docs.examples import Example, differences, examples
from tests.unit.docs.pages import ROOT

pytestmark = pytest.mark.laptop

PAGE = ROOT / "docs" / "agents" / "rest-api.md"


@pytest.fixture
def port(sample: Serving) -> int:
    return int(sample.url.rsplit(":", 1)[1])


def run(command: tuple[str, ...], port: int) -> str:
    """By curl where there is one; what the line asks for is the same without it."""
    words = [word.replace("127.0.0.1:8787", f"127.0.0.1:{port}") for word in command]
    if shutil.which("curl"):
        return subprocess.run(words, check=True, capture_output=True, timeout=60).stdout.decode()
    if "-d" in words:
        kind = {"content-type": "application/json"}
        return httpx.post(words[-1], content=words[words.index("-d") + 1], headers=kind, timeout=60).text
    return httpx.get(words[-1], timeout=60).text


@pytest.mark.parametrize("example", examples(PAGE), ids=lambda example: example.name)
def test_a_curl_line_answers_as_printed(example: Example, port: int) -> None:
    answer = run(example.command, port).replace(f"127.0.0.1:{port}", "127.0.0.1:8787")
    assert differences(example, answer) == []


def call(port: int, method: str, **params: Any) -> Any:
    """What an agent without an account is answered over MCP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = httpx.post(f"http://127.0.0.1:{port}/mcp", json=message, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    assert not result.get("isError"), result
    return result


def test_an_agent_without_an_account_reads_what_anybody_may_read(port: int) -> None:
    text = "Sun and moon pull at right angles"
    for name, arguments in (
        ("get_document", {"id": "neap-tide", "contentType": "tag"}),
        ("fetch", {"id": "tag/neap-tide"}),
        ("search_with_documents", {"query": "neap tide"}),
    ):
        assert text in str(call(port, "tools/call", name=name, arguments=arguments)), name
    assert text in str(call(port, "resources/read", uri="mcp://superbenefit/documents/tag/neap-tide"))


@pytest.fixture
def patterns(port: int) -> set[str]:
    """Every pattern of the sample about good data, by its tag."""
    listed = httpx.get(f"http://127.0.0.1:{port}/api/v1/entries?contentType=pattern&tags=data-quality", timeout=60)
    found = {entry["id"] for entry in listed.json()["entries"]}
    assert len(found) == 3
    return found


def question() -> str:
    (asked,) = re.findall("and ask: “([^”]+)”", " ".join((ROOT / "README.md").read_text().split()))
    return str(asked)


def test_the_question_for_an_agent_finds_the_term_and_every_pattern(port: int, patterns: set[str]) -> None:
    async def asked(query: str) -> list[dict[str, Any]]:
        async with (
            httpx2.AsyncClient(timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client,
        ):
            found = (await client.call_tool("search_knowledge", {"query": query})).structured_content
            assert found is not None
            return list(found["results"])

    of_patterns = question().partition(", and ")[2].partition("?")[0]
    for query, terms in ((question(), {"neap-tide"}), (of_patterns, set[str]())):
        results = asyncio.run(asked(query))
        assert terms | patterns <= {one["id"] for one in results}, query
        assert "half moon" in str(results) or not terms
        assert [one["score"] for one in results] == sorted((one["score"] for one in results), reverse=True)


def test_the_chat_quotes_the_term_and_every_pattern_without_a_model(
    port: int, patterns: set[str], sample_data: Path
) -> None:
    words = ("--agent", "reader", "--scopes", "knowledge:read", "--path", "/api", "--data", str(sample_data))
    token = commonplace("tokens", "mint", *words).stdout.strip()
    message = {"id": "1", "role": "user", "parts": [{"type": "text", "text": question()}]}
    body = {"id": "neap-and-data", "trigger": "submit-message", "messages": [message]}
    headers = {"authorization": f"Bearer {token}"}
    answer = httpx.post(f"http://127.0.0.1:{port}/api/v1/chat", json=body, headers=headers, timeout=120)
    assert answer.status_code == 200, answer.text
    frames = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    quoted = "".join(frame["delta"] for frame in frames if frame["type"] == "text-delta")
    assert "around half moon" in quoted
    cited = {frame["url"].rpartition("/")[2] for frame in frames if frame["type"] == "source-url"}
    assert {"neap-tide"} | patterns <= cited
