"""Two knowledge bases that search each other, and a third: each is asked once, and told nothing of who asks."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.federation.commons import DEADLINE_SECONDS
from tests.fakes.partners import HITS, Seen, partner, serving, watched
from tests.integration.running_dev import Dev, commonplace, running

pytestmark = [pytest.mark.real, pytest.mark.laptop]

CALL = "POST tools/call"
MINTED = ("--agent", "lighthouse-desk", "--scopes", "commons:read", "--path", "/mcp/commons")


@dataclass
class Side:
    """One of the two, as the other one finds it: behind a proxy that signs in there, and notes what passes."""

    dev: Dev
    seen: Seen
    address: str
    token: str


def passing_on(to: str, token: str) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)
            headers = [one for one in request.headers.raw if one[0] not in (b"host", b"content-length")]
            headers.append((b"authorization", f"Bearer {token}".encode()))
            async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
                url = f"{to}{request.url.path}"
                answer = await http.request(request.method, url, headers=headers, content=await request.body())
            told = {"content-type": answer.headers.get("content-type", "text/plain")}
            await Response(answer.content, answer.status_code, told)(scope, receive, send)

    return app


@contextmanager
def behind(dev: Dev) -> Iterator[Side]:
    seen = Seen()
    minted = commonplace("tokens", "mint", *MINTED, "--data", str(dev.data))
    with serving(watched(passing_on(dev.url, minted.stdout.strip()), seen)) as url:
        yield Side(dev, seen, f"{url}/commons", minted.stdout.strip())


@pytest.fixture(scope="module")
def reef() -> Iterator[tuple[str, Seen]]:
    with partner() as (url, seen):
        yield url, seen


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, reef: tuple[str, Seen]) -> Iterator[tuple[Side, Side]]:
    """What either searches at the other is all that the other searches."""
    folder = tmp_path_factory.mktemp("mutual")
    with ExitStack() as undo:
        options = ("--partner", f"reef={reef[0]}")
        devs = [undo.enter_context(running(folder / name, *options)) for name in ("bay", "cove")]
        for dev in devs:
            dev.wait_for("All sources: ")
        bay, cove = (undo.enter_context(behind(dev)) for dev in devs)
        for side, name, other in ((bay, "cove", cove), (cove, "bay", bay)):
            data = ("--data", str(side.dev.data))
            for words in (("add", name, other.address, "--search", "search_commons"), ("approve", name, "--yes")):
                done = commonplace("partners", *words, *data)
                assert done.returncode == 0, done.stdout + done.stderr
        yield bay, cove


def ask(side: Side, tool: str, **given: Any) -> dict[str, Any]:
    async def asked() -> Any:
        headers = {"authorization": f"Bearer {side.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"{side.dev.url}/mcp/commons", http_client=http)) as client,
        ):
            return await client.call_tool(tool, given)

    answer = asyncio.run(asked())
    assert not answer.is_error, answer
    found: dict[str, Any] = answer.structured_content
    return found


def forget(*all_seen: Seen) -> None:
    for seen in all_seen:
        seen.methods.clear()


def test_two_that_search_each_other_answer_once(sides: tuple[Side, Side], reef: tuple[str, Seen]) -> None:
    bay, cove = sides
    for side, other, name in ((bay, cove, "cove"), (cove, bay, "bay")):
        forget(side.seen, other.seen, reef[1])
        found = ask(side, "search_commons", query="crabs")
        assert {one["name"]: one["status"] for one in found["sources"]} == {"own": "ok", name: "ok", "reef": "ok"}
        assert all(one.get("took_ms", 0) < DEADLINE_SECONDS * 1_000 for one in found["sources"])
        assert [(one["source"], one["url"]) for one in found["results"]] == [
            ("own", f"{side.dev.url}/d/article/crabs"),
            (name, f"{other.dev.url}/d/article/crabs"),
            *(("reef", hit["url"]) for hit in HITS),
        ]
        assert (side.seen.methods, other.seen.methods, reef[1].methods) == ([], [CALL], [CALL])


def test_a_call_that_is_passed_on_goes_one_step(sides: tuple[Side, Side], reef: tuple[str, Seen]) -> None:
    bay, cove = sides
    forget(bay.seen, cove.seen, reef[1])
    found = ask(bay, "cove__search_commons", query="crabs")
    assert f"{cove.dev.url}/d/article/crabs" in found["text"]
    assert HITS[0]["url"] not in found["text"]
    assert (bay.seen.methods, cove.seen.methods, reef[1].methods) == ([], [CALL], [])


def test_no_partner_is_told_who_asks(sides: tuple[Side, Side], reef: tuple[str, Seen]) -> None:
    for tool in ("search_commons", "cove__search_commons", "reef__read"):
        ask(sides[0], tool, **({"page": "7"} if tool == "reef__read" else {"query": "crabs"}))
    sent = b"".join([*reef[1].raw, *(one for side in sides for one in side.seen.raw)])
    assert sent.count(b"crabs") >= 3
    claims = [json.loads(urlsafe_b64decode(f"{side.token.split('.')[1]}==")) for side in sides]
    secrets = [told[name] for told in claims for name in ("sub", "jti", "client_id", "org", "member", "grant")]
    for word in (*(side.token for side in sides), "authorization", "lighthouse-desk", "cookie", *secrets):
        assert word.lower().encode() not in sent.lower(), word
