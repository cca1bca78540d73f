"""Partners that list too much: tools without end, schemas without bottom, texts that no row of a table holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.federation.partners import COMPARED_SECONDS, Partners
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Unavailable
from tests.dynamodb_fixture import dump
from tests.fakes.identity_stores import Clock
from tests.fakes.partners import HITS, partner, server, serving
from tests.unit.federation.asking import approve, offered, search, told

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ADA = Author(organisation="garden", account="account-ada")
DEADLINE = 2.0


def tool(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    return {"name": name, "inputSchema": schema} | more


def deep(levels: int) -> str:
    return '{"x":' * levels + "{}" + "}" * levels


def saying(*pages: Sequence[dict[str, Any]], schema: str = "{}", found: str = "{}") -> ASGIApp:
    """A partner of the legacy era that lists these pages of tools, with `schema` for `"@"`, and answers a call so."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        said = json.loads(await Request(scope, receive).body() or b"{}")
        params, result = said.get("params") or {}, ""
        if said.get("method") == "initialize":
            info = {"serverInfo": {"name": "odd", "version": "1"}, "capabilities": {"tools": {}}}
            result = json.dumps(info | {"protocolVersion": params["protocolVersion"]})
        elif said.get("method") == "tools/list":
            at = int(params.get("cursor") or 0)
            more = {"nextCursor": str(at + 1)} if at + 1 < len(pages) else {}
            result = json.dumps({"tools": pages[at]} | more).replace('"@"', schema)
        elif said.get("method") == "tools/call":
            result = found
        body = f'{{"jsonrpc":"2.0","id":{json.dumps(said.get("id"))},"result":{result}}}'
        answer = Response(body, media_type="application/json") if result else Response(status_code=202)
        await (answer if said else Response(status_code=405))(scope, receive, send)

    return app


SMALL = [tool(f"search-{number}") for number in range(3_000)]
FOUND = json.dumps({"content": [], "structuredContent": {"results": HITS}})
BOTTOMLESS = tool("odd", inputSchema={"type": "object", "properties": "@"})
LARGE = [tool(f"search-{number}", description="word " * 100) for number in range(3_000)]


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ([SMALL], "too_many_tools"),
        ([LARGE], "too_large"),
        ([SMALL[at : at + 10] for at in range(0, 3_000, 10)], "too_many_tools"),
        ([SMALL[at : at + 150] for at in range(0, 3_000, 150)], "too_many_tools"),
        ([[]] * 3_000, "too_many_tools"),
    ],
    ids=["one page", "one page of megabytes", "small pages", "pages", "empty pages"],
)
def test_a_list_without_end_is_no_list_and_leaves_nothing(
    pages: list[list[dict[str, Any]]], why: str, partners: Partners, dynamodb: DynamoDBClient
) -> None:
    assert (len(json.dumps(pages[0])) < 1024 * 1024) == (why != "too_large")
    with serving(saying(*pages)) as url, pytest.raises(Unavailable, match=why):
        partners.add(ADA, "reef", url)
    assert dump(dynamodb, partners.records.table.name) == "[[]]"


@pytest.mark.parametrize("levels", [20, 150])
def test_a_schema_that_is_too_deep_is_named_and_the_others_go_on(levels: int, partners: Partners) -> None:
    with serving(saying([BOTTOMLESS, tool("search")], schema=deep(levels), found=FOUND)) as url:
        review = partners.add(ADA, "reef", url)
        assert review.faults == {"odd": "its inputSchema has more than 16 kB or 20 levels"}
        approve(partners, ADA, "reef")
        found = search(offered(partners, DEADLINE))
    assert [one["title"] for one in found["results"]] == [hit["title"] for hit in HITS]


def test_a_schema_without_bottom_is_no_list(partners: Partners, dynamodb: DynamoDBClient) -> None:
    with (
        serving(saying([BOTTOMLESS, tool("search")], schema=deep(5_000))) as url,
        pytest.raises(Unavailable, match="did not list its tools"),
    ):
        partners.add(ADA, "reef", url)
    assert dump(dynamodb, partners.records.table.name) == "[[]]"


@pytest.mark.parametrize(
    "long", [{"title": "x" * 500_000}, {"annotations": {"title": "x" * 500_000}}], ids=["title", "annotations"]
)
def test_a_list_with_a_tool_too_large_to_store_costs_no_other_source_its_results(
    long: dict[str, Any], partners: Partners, clock: Clock
) -> None:
    page, offer = [tool("search")], offered(partners, DEADLINE)
    with partner() as (url, _), serving(saying(page, found=FOUND)) as other:
        for name, at in (("good", url), ("reef", other)):
            partners.add(ADA, name, at)
            approve(partners, ADA, name)
        assert told(search(offer)) == {"own": "ok", "good": "ok", "reef": "ok"}
        page.append(tool("more", **long))
        clock.now += COMPARED_SECONDS
        assert told(search(offer)) == {"own": "ok", "good": "ok", "reef": "ok"}


def test_what_a_partner_says_of_itself_at_length_is_not_remembered(partners: Partners) -> None:
    made = server()
    made._lowlevel_server.instructions = "x" * 300_000
    with partner(made) as (url, _):
        found = partners.add(ADA, "reef", url).partner
        assert (found.era, "xxx" in found.discovered) == ("2026-07-28", False)


def test_of_two_tools_of_one_name_the_second_is_named_as_a_fault(partners: Partners) -> None:
    page = [tool("x" * 300 + "search"), tool("search"), tool("search", description="Other.")]
    with serving(saying(page, found=FOUND)) as url:
        review = partners.add(ADA, "reef", url)
    assert (review.partner.search, [one.id for one in review.tools]) == ("search", ["reef__search"])
    assert review.faults["search"] == "another tool has this name"
