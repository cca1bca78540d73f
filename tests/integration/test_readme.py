"""The curl lines of the REST page answer as printed over the sample, and the README's question finds its patterns."""

import re
import shutil
import subprocess
from typing import Any

import httpx
import pytest

from tests.integration.running_dev import Serving
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


def test_the_question_for_an_agent_finds_every_pattern_about_good_data(port: int) -> None:
    listed = httpx.get(f"http://127.0.0.1:{port}/api/v1/entries?contentType=pattern&tags=data-quality", timeout=60)
    patterns = {entry["id"] for entry in listed.json()["entries"]}
    assert len(patterns) == 3
    (question,) = re.findall("and ask: “([^”]+)”", " ".join((ROOT / "README.md").read_text().split()))
    for query in (question, question.partition(", and ")[2].partition("?")[0]):
        found = call(port, "tools/call", name="search_knowledge", arguments={"query": query})
        assert patterns <= {one["id"] for one in found["structuredContent"]["results"]}, query
