"""The hive on a whole deployment: contributed, stripped, reviewed, found, reported, published, deleted."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integration.running_dev import EDIT_SECONDS, Dev, commonplace, running

pytestmark = pytest.mark.laptop

NAME, KEY = "Olufemi Adeyemi", "AKIAIOSFODNN7EXAMPL2"
TEXT = f"When {NAME} deploys, retries need jitter, or all workers come back at once; `key = {KEY}`."
PAUSE_SECONDS = 0.1


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """Takes everybody for a reviewer of one organisation."""
    with running(tmp_path_factory.mktemp("hive"), "--tier", "vibecoder") as dev:
        yield dev


def talk(dev: Dev, question: Callable[[Callable[..., Awaitable[Any]]], Awaitable[None]], mode: str) -> None:
    async def main() -> None:
        async with (
            httpx2.AsyncClient(timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"{dev.url}/mcp/hive", http_client=http), mode=mode) as client,
        ):

            async def call(name: str, **arguments: Any) -> Any:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            await question(call)

    asyncio.run(main())


def reviewed(dev: Dev, *arguments: str) -> str:
    done = commonplace("hive", *arguments, "--data", str(dev.data))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_is_learned_goes_from_one_agent_to_the_others(dev: Dev, mode: str) -> None:
    async def found(call: Callable[..., Awaitable[Any]], wanted: list[str]) -> None:
        deadline = asyncio.get_running_loop().time() + EDIT_SECONDS
        ids: list[str] | None = None
        while ids != wanted and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(PAUSE_SECONDS)
            told = await call("search_knowledge", query="retries with jitter")
            ids = [one["id"] for one in told["results"]]
        assert ids == wanted

    async def life(call: Callable[..., Awaitable[Any]]) -> None:
        told = await call("add_knowledge", content=TEXT, category="bug_fix", tags=[NAME, "retries"])
        assert told.keys() == {"contribution_id", "status", "category", "message"}
        assert told["status"] == "queued"
        id = told["contribution_id"]
        again = await call("add_knowledge", content=TEXT, category="bug_fix")
        assert again["contribution_id"] == id
        await found(call, [])

        shown = reviewed(dev, "pending")
        assert id in shown
        assert "[NAME]" in shown
        reviewed(dev, "approve", id)
        await found(call, [id])
        item = await call("search_knowledge", id=id)
        assert item["content"] == TEXT.replace(NAME, "[NAME]").replace(KEY, "[API_KEY]")
        assert item["tags"] == ["[NAME]", "retries"]
        assert item["agent"] == "this laptop"

        assert (await call("report_outcome", item_id=id, outcome="solved"))["helpful_count"] == 1
        assert (await call("publish_knowledge", id=id, is_public=True))["is_public"]
        assert "published 1" in reviewed(dev, "stats")
        await call("delete_knowledge", id=id)
        await found(call, [])

    talk(dev, life, mode)


def test_nothing_of_what_was_taken_out_is_on_the_machine(dev: Dev) -> None:
    async def contribute(call: Callable[..., Awaitable[Any]]) -> None:
        await call("add_knowledge", content=f"{TEXT} Once more.", category="config", run_id=NAME)

    talk(dev, contribute, "auto")
    kept = b"".join(file.read_bytes() for file in Path(dev.data).rglob("*") if file.is_file())
    assert kept
    assert not [each for each in (NAME, KEY, "Adeyemi") if each.encode() in kept or each in dev.output]
