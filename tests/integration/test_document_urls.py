"""A person who clicks a link in an answer, a feed or a citation gets the page of that document, on a laptop too."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

from tests.integration.running_dev import Serving

pytestmark = pytest.mark.laptop

QUERY = "how do we count limpets"


@pytest.fixture(scope="module")
def api(sample: Serving) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=sample.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")
def titles(api: httpx.Client) -> dict[str, str]:
    """Every `documentUrl` of the lists, and the title of its document."""
    found: dict[str, str] = {}
    target: str | None = "/api/v1/entries?limit=100&fields=title,documentUrl"
    while target:
        answer = api.get(target)
        found |= {one["documentUrl"]: one["title"] for one in answer.json()["entries"]}
        target = answer.links.get("next", {}).get("url")
    return found


def test_every_document_has_a_page_at_its_address(sample: Serving, api: httpx.Client, titles: dict[str, str]) -> None:
    assert len(titles) == api.get("/health").json()["documents"] > 0
    for address, title in titles.items():
        assert address.startswith(f"{sample.url}/d/")
        page = api.get(address)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8"), address
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", page.text, re.DOTALL)
        assert heading, address
        assert title in unescape(heading[1]), address


def test_rest_feeds_and_texts_lead_to_these_pages(api: httpx.Client, titles: dict[str, str]) -> None:
    told = [
        one
        for path in ("search?q=limpets&include=documents", "graph", "groups", "tags", "manifest")
        for one in named(api.get(f"/api/v1/{path}").json())
    ]
    for entry in api.get("/api/v1/entries?limit=100&fields=contentType,id").json()["entries"]:
        ref = f"{entry['contentType']}/{entry['id']}"
        told += named(api.get(f"/api/v1/entries/{ref}").json())
        told += named(api.get(f"/api/v1/entries/{ref}/links").json())
    assert set(told) == titles.keys()
    assert {one["url"] for one in api.get("/feed.json?limit=50").json()["items"]} <= titles.keys()
    linked = re.findall(r"^- \[.+?\]\((\S+?)\)", api.get("/llms.txt").text, re.MULTILINE)
    assert titles.keys() <= set(linked)
    assert set(re.findall(r"^Source: (\S+)$", api.get("/llms-full.txt").text, re.MULTILINE)) == titles.keys()


def test_agents_cite_these_pages(sample: Serving, titles: dict[str, str]) -> None:
    async def asked() -> list[Any]:
        async with Client(f"{sample.url}/mcp") as client:
            found = (await client.call_tool("search_knowledge", {"query": QUERY})).structured_content
            first = named(found)[0]
            return [
                found,
                (await client.call_tool("search_with_documents", {"query": QUERY})).structured_content,
                (await client.call_tool("get_document", {"id": first})).structured_content,
                (await client.call_tool("get_related", {"id": first})).structured_content,
                (await client.call_tool("define_term", {"term": "Neap tide"})).structured_content,
                (await client.call_tool("list_groups", {})).structured_content,
                *(await client.call_tool("search", {"query": QUERY})).structured_content["results"],
            ]

    (*answers,) = anyio.run(asked)
    cited = [address for answer in answers for address in named(answer)]
    cited += [answer["url"] for answer in answers if answer.keys() == {"id", "title", "url"}]
    assert len(cited) > 20
    assert set(cited) <= titles.keys()


def named(told: Any) -> list[str]:
    """Every `documentUrl` in an answer."""
    if isinstance(told, dict):
        own = [told["documentUrl"]] if told.get("documentUrl") else []
        return [*own, *(address for one in told.values() for address in named(one))]
    return [address for one in told for address in named(one)] if isinstance(told, list) else []
