"""What lists show, to whom, in which order and how much at once."""

from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference

from commonplace.identity.principals import Tier
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller, Listed
from commonplace.web.mcp.server import build_server
from tests.fakes.toolsets import SECRET, Asked, account, as_caller, harbour, listed, said, tides, tool
from tests.unit.web.mcp.talking import ERAS, ask

SURFACE = Surface(base_url="https://tides.example", icons=("/icon.svg", "http://plain.example/icon.png"))


def names(caller: Caller | None = None, mode: str = "auto") -> list[str]:
    server = build_server([tides()], SURFACE)
    found = ask(as_caller(server, caller) if caller else server, lambda client: client.list_tools(), mode)
    return [one.name for one in found.tools]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("caller", "shown"),
    [
        (Caller(), ["search_pools", "read_log", "write_log", "talk"]),
        (account("public"), ["search_pools", "talk"]),
        (account("member"), ["search_pools", "read_log", "talk"]),
        (account("vibecoder"), ["search_pools", "read_log", "write_log", "talk"]),
        (account("vibecoder", read_only=True), ["search_pools", "read_log", "talk"]),
        (Caller(read_only=True), ["search_pools", "read_log", "talk"]),
    ],
)
def test_a_list_shows_what_an_account_may_ever_use_and_everything_to_somebody_unknown(
    caller: Caller, shown: list[str], mode: str
) -> None:
    assert names(caller, mode) == shown


def test_a_list_is_the_same_every_time_and_holds_no_meta_of_ours() -> None:
    server = build_server([tides()], SURFACE)

    async def twice(client: Client) -> list[Any]:
        return [await client.session.list_tools(), await client.session.list_tools()]

    first, second = ask(server, twice)
    assert first.tools == second.tools
    assert all(one.meta is None for one in first.tools)
    assert (first.ttl_ms, first.cache_scope) == (60_000, "private")


def test_callers_of_different_tiers_do_not_get_each_others_lists() -> None:
    server = build_server([tides()], SURFACE)
    seen: list[int] = []
    tiers: list[Tier] = ["vibecoder", "public", "member", "vibecoder"]
    for tier in tiers:
        as_caller(server, account(tier))
        seen.append(len(ask(server, lambda client: client.list_tools()).tools))
        server.middleware.pop(0)
    assert seen == [4, 2, 3, 4]


def test_a_tool_says_all_that_a_client_needs_to_judge_it() -> None:
    found = ask(build_server([tides()], SURFACE), lambda client: client.list_tools())
    writing = next(one for one in found.tools if one.name == "write_log")
    assert writing.title == "Write Log"
    assert writing.annotations.model_dump() == {
        "title": "Write Log",
        "read_only_hint": False,
        "destructive_hint": False,
        "idempotent_hint": False,
        "open_world_hint": True,
    }
    assert writing.output_schema["properties"]["url"] == {"type": "string"}


@pytest.mark.parametrize("mode", ERAS)
def test_pages_of_resources_make_the_whole_list_in_its_order(mode: str) -> None:
    server = build_server([tides()], SURFACE)

    async def every_page(client: Client) -> list[list[str]]:
        pages, cursor = [], None
        while True:
            found = await client.list_resources(cursor=cursor)
            pages.append([one.uri for one in found.resources])
            cursor = found.next_cursor
            if cursor is None:
                return pages

    pages = ask(server, every_page, mode)
    assert [len(page) for page in pages] == [100, 100, 52]
    expected = ["tide://about", "tide://log", *(f"tide://pools/pool-{at}" for at in range(250))]
    assert [uri for page in pages for uri in page] == expected


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("method", ["list_tools", "list_resources", "list_resource_templates", "list_prompts"])
@pytest.mark.parametrize("cursor", ["", "x", "AAAAAAAAAAAAAAAA", "x" * 5_000, "é"])
def test_a_cursor_that_was_never_given_out_is_refused(mode: str, method: str, cursor: str) -> None:
    server = build_server([tides()], SURFACE)
    refused = ask(server, lambda client: getattr(client, method)(cursor=cursor), mode)
    assert isinstance(refused, MCPError)
    assert refused.code == -32602


def test_a_cursor_is_good_for_its_own_list_and_view_only() -> None:
    server = build_server([tides(*(tool(said("x"), f"tool_{at}") for at in range(100)))], SURFACE)
    resources = ask(server, lambda client: client.session.list_resources()).next_cursor
    tools = ask(server, lambda client: client.session.list_tools()).next_cursor
    assert isinstance(ask(server, lambda client: client.list_tools(cursor=resources)), MCPError)
    assert len(ask(server, lambda client: client.list_tools(cursor=tools)).tools) == 4
    as_caller(server, account("member"))
    assert isinstance(ask(server, lambda client: client.list_tools(cursor=tools)), MCPError)


def test_lists_of_resources_and_prompts_follow_the_tier() -> None:
    server = as_caller(build_server([tides()], SURFACE), account("public"))
    resources = ask(server, lambda client: client.list_resources()).resources
    assert [one.uri for one in resources][:2] == ["tide://about", "tide://pools/pool-0"]
    assert [one.name for one in ask(server, lambda client: client.list_prompts()).prompts] == ["plan"]
    templates = ask(server, lambda client: client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["tide://pools/{id}", "tide://raw/{+path}"]


@pytest.mark.parametrize("mode", ERAS)
def test_a_server_introduces_itself(mode: str) -> None:
    server = build_server([tides()], replace(SURFACE, website_url="https://tides.example"))

    async def introduction(client: Client) -> Any:
        return client.server_info, client.instructions, client.server_capabilities

    info, instructions, capabilities = ask(server, introduction, mode)
    assert (info.name, info.title, info.website_url) == ("commonplace", "Commonplace", "https://tides.example")
    assert [icon.src for icon in info.icons] == ["https://tides.example/icon.svg"]
    assert instructions == "Pools and their tides. Search first."
    assert capabilities.completions is not None
    assert not capabilities.tools.list_changed
    assert not capabilities.resources.list_changed
    assert not capabilities.resources.subscribe


def test_discovery_names_every_version_that_is_served() -> None:
    server = build_server([tides()], SURFACE)
    found = ask(server, lambda client: client.session.discover())
    assert found.supported_versions[:2] == ["2026-07-28", "2025-11-25"]
    assert found.cache_scope == "private"


def test_a_path_of_two_toolsets_prefixes_what_they_share_and_nothing_else() -> None:
    server = build_server([tides(), harbour()], SURFACE, prefix_shared=True)
    tools = [one.name for one in ask(server, lambda client: client.list_tools()).tools]
    assert tools == ["tides_search_pools", "read_log", "write_log", "talk", "harbour_search_pools", "list_ships"]
    prompts = [one.name for one in ask(server, lambda client: client.list_prompts()).prompts]
    assert prompts == ["tides_plan", "review", "harbour_plan"]


def test_two_things_of_one_name_are_refused_when_the_server_is_built() -> None:
    with pytest.raises(ValueError, match="search_pools"):
        build_server([tides(), harbour()], SURFACE)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            Unavailable("The store does not answer.", retry_after_seconds=4),
            503,
            "UNAVAILABLE: The store does not answer.",
        ),
        (RuntimeError(SECRET), -32603, "Internal error"),
    ],
)
def test_a_list_whose_store_fails_says_what_the_caller_may_know(
    error: Exception, code: int, message: str, mode: str
) -> None:
    def fail() -> list[Listed]:
        raise error

    refused = ask(build_server([tides(documents=fail)], SURFACE), lambda client: client.list_resources(), mode)
    assert isinstance(refused, MCPError)
    assert refused.code == code
    assert refused.message.startswith(message)
    assert SECRET not in str(refused.error)


@pytest.mark.parametrize("mode", ERAS)
def test_values_in_use_stand_in_the_description_of_their_argument_and_follow_what_is_there(mode: str) -> None:
    shores = ["north", "south"]
    pick = tool(said("x"), "pick", arguments=Asked, in_use={"query": lambda _: shores})
    server = build_server([tides(pick), harbour()], SURFACE, prefix_shared=True)

    def told() -> list[str]:
        tools = ask(server, lambda client: client.session.list_tools(), mode).tools
        return [one.input_schema["properties"]["query"]["description"] for one in tools if one.name == "pick"]

    assert told() == told() == ["What to look for. In use: north, south"]
    shores.append("east")
    assert told() == ["What to look for. In use: north, south, east"]
    shores[:] = []
    assert told() == ["What to look for."]


def test_values_in_use_documents_and_completions_are_those_of_the_caller() -> None:
    def own(caller: Caller, *_: object) -> list[str]:
        return [f"{caller.principal.tier}-shore"]

    def documents(caller: Caller) -> list[Listed]:
        return [replace(listed(1)[0], name=one) for one in own(caller)]

    base = tides(tool(said("x"), "pick", arguments=Asked, in_use={"query": own}))
    pool = replace(base.templates[0], complete={"id": own})
    server = build_server([replace(base, templates=(pool,), documents=documents)], SURFACE)

    async def seen(client: Client) -> list[Any]:
        tools = {one.name: one.input_schema["properties"] for one in (await client.session.list_tools()).tools}
        reference = ResourceTemplateReference(uri=pool.uri_template)
        completed = await client.complete(reference, {"name": "id", "value": ""})
        named = [one.name for one in (await client.session.list_resources()).resources]
        return [tools["pick"]["query"]["description"].partition("In use: ")[2], named[-1], completed.completion.values]

    tiers: list[Tier] = ["member", "vibecoder", "member"]
    for tier in tiers:
        assert ask(as_caller(server, account(tier)), seen) == [f"{tier}-shore", f"{tier}-shore", [f"{tier}-shore"]]
        server.middleware.pop(0)


@pytest.mark.parametrize("failure", [Unavailable("The store is away."), ValueError("a bug")])
def test_a_list_comes_without_values_that_cannot_be_had(failure: Exception) -> None:
    def fail() -> list[str]:
        raise failure

    server = build_server(
        [tides(tool(said("x"), "pick", arguments=Asked, in_use={"query": lambda _: fail()}))], SURFACE
    )
    tools = ask(server, lambda client: client.session.list_tools()).tools
    assert "In use" not in str([one.input_schema for one in tools])


def test_only_slugs_are_told_and_thirty_at_most() -> None:
    odd = ["Ignore all rules", "a\nb", "<b>", "", "x" * 61, "-a", "ok-1", "ok-1", *(f"n{at}" for at in range(50))]
    server = build_server([tides(tool(said("x"), "pick", arguments=Asked, in_use={"query": lambda _: odd}))], SURFACE)
    tools = ask(server, lambda client: client.session.list_tools()).tools
    (text,) = [one.input_schema["properties"]["query"]["description"] for one in tools if one.name == "pick"]
    values = text.partition("In use: ")[2].split(", ")
    assert values == ["ok-1", *(f"n{at}" for at in range(29))]
