"""A knowledge base on this machine that searches another: `dev --partner`, `commonplace partners`, `/mcp/commons`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integration.running_dev import Dev, commonplace, running

pytestmark = [pytest.mark.real, pytest.mark.laptop]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("federation")


@pytest.fixture(scope="module")
def there(folder: Path) -> Iterator[Dev]:
    with running(folder / "there") as dev:
        yield dev


@pytest.fixture(scope="module")
def here(folder: Path, there: Dev) -> Iterator[Dev]:
    with running(folder / "here", "--partner", f"there={there.url}/mcp") as dev:
        dev.wait_for("All sources: ")
        yield dev


def partners(folder: Path, *arguments: str, stdin: str | None = None, code: int = 0) -> str:
    done = commonplace("partners", *arguments, "--data", str(folder / "here" / "data"), input=stdin)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@asynccontextmanager
async def connected(folder: Path, dev: Dev, path: str) -> AsyncIterator[Client]:
    minted = commonplace(
        *("tokens", "mint", "--agent", "desk", "--scopes", "commons:read", "--path", path),
        *("--data", str(folder / "here" / "data")),
    )
    headers = {"authorization": f"Bearer {minted.stdout.strip()}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{dev.url}{path}", http_client=http)) as client,
    ):
        yield client


def listed(folder: Path, dev: Dev, path: str) -> set[str]:
    async def names() -> set[str]:
        async with connected(folder, dev, path) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    return asyncio.run(names())


def ask(folder: Path, dev: Dev, tool: str, **given: Any) -> dict[str, Any]:
    async def asked() -> Any:
        async with connected(folder, dev, "/mcp/commons") as client:
            return await client.call_tool(tool, given)

    answer = asyncio.run(asked())
    assert not answer.is_error, answer
    found: dict[str, Any] = answer.structured_content
    return found


def test_one_question_is_answered_by_both(folder: Path, here: Dev, there: Dev) -> None:
    found = ask(folder, here, "search_commons", query="crabs")
    assert [(source["name"], source["status"]) for source in found["sources"]] == [("own", "ok"), ("there", "ok")]
    assert {result["source"] for result in found["results"]} == {"own", "there"}
    assert all(result["url"].startswith((here.url, there.url)) for result in found["results"])
    own, other = ask(folder, here, "list_sources")["sources"]
    assert (own["status"], other["status"], other["url"]) == ("ok", "ok", f"{there.url}/mcp")
    assert "there__search_knowledge" in other["tools"]
    assert "there__create_draft" not in other["tools"]


def test_tools_of_a_partner_are_called_by_their_names_here(folder: Path, here: Dev, there: Dev) -> None:
    assert there.process.poll() is None
    page = ask(folder, here, "there__search_knowledge", query="crabs")
    assert page["source"] == "there"
    assert "Crabs" in page["text"]
    alone, together = listed(folder, here, "/mcp/commons"), listed(folder, here, "/mcp/all")
    assert {"search_commons", "list_sources", "there__get_document"} <= alone
    assert {"search_commons", "list_sources"} <= together
    assert not any(name.startswith("there__") for name in together)


@pytest.mark.parametrize("name", ["there__search_knowledge", "search_commons", "nothing"])
def test_who_has_not_signed_in_is_told_to(here: Dev, name: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {"query": "x"}}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    answer = httpx2.post(f"{here.url}/mcp/commons", json=call, headers=headers, timeout=60, trust_env=False)
    assert answer.status_code == 401
    assert "resource_metadata" in answer.headers["www-authenticate"]


def test_a_partner_is_added_reviewed_approved_and_removed(folder: Path, here: Dev, there: Dev) -> None:
    assert here.process.poll() is None
    shown = partners(folder, "add", "twice", f"{there.url}/mcp?twice", "--title", "Twice")
    assert "twice__search_knowledge: only reads. " in shown
    assert "create_draft" in shown
    approved = partners(folder, "approve", "twice", "search_knowledge", stdin="y\n")
    assert "1 tool approved" in approved
    assert "no new or changed tools" in partners(folder, "approve", "twice", "twice__search_knowledge")
    listed = partners(folder, "list")
    assert listed.count(f"{there.url}/mcp") == 2
    partners(folder, "remove", "twice")
    assert "twice" not in partners(folder, "list")


@pytest.mark.parametrize(
    ("name", "url", "says"),
    [
        ("gone", "http://127.0.0.1:1/mcp", "unreachable"),
        ("gone", "http://partner.example/mcp", "cannot be the address"),
        ("Gone", "https://partner.example/mcp", "cannot be the name"),
    ],
)
def test_what_is_no_partner_is_refused(folder: Path, here: Dev, name: str, url: str, says: str) -> None:
    assert here.process.poll() is None
    assert says in partners(folder, "add", name, url, code=1)
