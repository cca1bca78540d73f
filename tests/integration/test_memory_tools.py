"""The memory's tools on a whole deployment: added, read at once, found soon, changed, deleted; each to its own."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.canaries import Canaries
from tests.integration.running_dev import EDIT_SECONDS, Dev, commonplace

pytestmark = pytest.mark.laptop

PATH = "/mcp/memory"
ERAS = ["auto", "legacy"]
SOON_SECONDS = 2.0
ATTEMPTS = 5
"""A machine that does other things as well may be late once."""
FACT: dict[str, Any] = {"entry_type": "fact", "roles": ["dev"], "tags": ["routing", "vercel"]}


def minted(dev: Dev, organisation: str, scope: str) -> str:
    words = ("--org", organisation, "--agent", "builder", "--scopes", scope, "--path", PATH)
    done = commonplace("tokens", "mint", *words, "--data", str(dev.data))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Session:
    """One client's calls."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def result(self, name: str, **arguments: Any) -> Any:
        return await self.client.call_tool(name, arguments)

    async def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self.result(name, **arguments)
        assert not result.is_error, result.content[0].text
        told: dict[str, Any] = result.structured_content
        return told

    async def error(self, name: str, **arguments: Any) -> str:
        result = await self.result(name, **arguments)
        assert result.is_error
        return str(result.content[0].text)

    async def ids(self, query: str, **arguments: Any) -> list[str]:
        told = await self.data("kb_search", query=query, **arguments)
        return [entry["id"] for entry in told["entries"]]

    async def found_within(self, id: str, query: str) -> float | None:
        """Seconds until a search finds the entry; None if that takes too long."""
        started = time.monotonic()
        while (passed := time.monotonic() - started) < SOON_SECONDS:
            if id in await self.ids(query):
                return passed
            await asyncio.sleep(0.05)
        return None

    async def found_soon(self, content: str, query: str) -> str:
        """Adds the content, and the like of it, until one is found soon enough."""
        for attempt in range(ATTEMPTS):
            id: str = (await self.data("kb_add", content=f"{content} ({attempt})", **FACT))["id"]
            if await self.found_within(id, query) is not None:
                return id
        raise AssertionError(f"found in none of {ATTEMPTS} attempts within {SOON_SECONDS} seconds")


def talk(dev: Dev, question: Callable[[Session], Awaitable[Any]], token: str | None = None, mode: str = "auto") -> Any:
    headers = {"authorization": f"Bearer {token}"} if token else {}

    async def main() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(dev.url + PATH, http_client=http), mode=mode) as client,
        ):
            return await question(Session(client))

    return asyncio.run(main())


async def life_of_an_entry(here: Session, subject: str) -> None:
    """What one entry goes through, from its first moment to its last."""
    content = f"{subject}: specific routes come before parameterized ones."
    id = await here.found_soon(content, f"ordering of {subject} routes")

    told = await here.data("kb_get", id=id)
    assert told["content"].startswith(content)
    again = await here.data("kb_add", content=told["content"], **FACT)
    assert (again["id"], again["duplicate"]) == (id, True)

    changed = await here.data("kb_update", id=id, confidence=0.4, metadata={"gate_result": "FAIL"})
    assert (changed["re_embedded"], changed["version"]) == (False, 2)
    assert id not in await here.ids(f"ordering of {subject} routes")
    assert id in await here.ids(f"ordering of {subject} routes", min_confidence=0.3)
    assert "now version 2" not in await here.error("kb_update", id=id, confidence=0.9, expected_version=1)

    child = (await here.data("kb_add", content=f"{subject}: a child.", parent_id=id, **FACT))["id"]
    related = (await here.data("kb_get_related", entry_id=id))["entries"]
    assert (related[0]["id"], related[0]["relation"]) == (child, "child")

    await here.data("kb_delete", id=id)
    assert (await here.error("kb_get", id=id)).startswith("NOT_FOUND")
    assert id not in await here.ids(f"ordering of {subject} routes", min_confidence=0)
    assert "parent_id" not in await here.data("kb_get", id=child)


@pytest.mark.parametrize("mode", ERAS)
def test_an_entry_lives_as_it_should_behind_the_guard(team: Dev, mode: str) -> None:
    token = minted(team, "acme", "memory:write")
    talk(team, lambda here: life_of_an_entry(here, f"guarded {mode}"), token, mode)


def test_an_import_is_there_and_another_organisation_has_none_of_it(team: Dev) -> None:
    entries = [{"content": f"Imported fact {number}.", **FACT} for number in range(120)]

    async def owner(here: Session) -> dict[str, Any]:
        first = await here.data("kb_bulk_import", entries=entries)
        assert (first["imported"], first["status"], first["errors"]) == (120, "complete", [])
        again = await here.data("kb_bulk_import", entries=entries)
        assert (again["imported"], again["skipped"]) == (0, 120)
        rebuilt = await here.data("kb_rebuild_embeddings", batch_size=20)
        deadline = time.monotonic() + EDIT_SECONDS
        while rebuilt["status"] == "in_progress" and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            rebuilt = await here.data("kb_rebuild_embeddings", handle=rebuilt["handle"])
        assert rebuilt["status"] == "complete"
        assert rebuilt["processed"] == rebuilt["total"] >= 120
        return await here.data("kb_list", limit=1)

    async def stranger(here: Session, id: str) -> None:
        assert (await here.data("kb_stats"))["total_entries"] == 0
        assert await here.ids("imported fact") == []
        assert (await here.error("kb_get", id=id)).startswith("NOT_FOUND")
        told = await here.data("kb_add", content="Imported fact 1.", **FACT)
        assert told["duplicate"] is False

    listed = talk(team, owner, minted(team, "acme", "memory:admin"))
    assert listed["total"] >= 120
    theirs = listed["entries"][0]["id"]
    talk(team, lambda here: stranger(here, theirs), minted(team, "other", "memory:write"))


def test_a_secret_is_refused_and_stored_nowhere(team: Dev) -> None:
    key = "AKIAIOSFODNN7EXAMPL3"

    async def told(here: Session) -> str:
        refused = await here.error("kb_add", content=f"Use `{key}` for now.", **FACT)
        entries = [{"content": content, **FACT} for content in (f"Not `{key}`.", "Request a key.")]
        imported = await here.data("kb_bulk_import", entries=entries)
        assert (imported["imported"], len(imported["errors"])) == (1, 1)
        return f"{refused} {imported}"

    answers = talk(team, told, minted(team, "secretive", "memory:write"))
    assert "aws key id" in answers
    assert key not in answers + team.output
    assert Canaries({key}).in_folder(team.data) == {}


def test_without_a_token_there_is_a_way_to_one(team: Dev) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "kb_stats", "arguments": {}}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    answer = httpx2.post(team.url + PATH, json=message, headers=headers, trust_env=False)
    assert answer.status_code == 401
    assert f"/.well-known/oauth-protected-resource{PATH}" in answer.headers["www-authenticate"]
    assert 'scope="memory:read"' in answer.headers["www-authenticate"]
