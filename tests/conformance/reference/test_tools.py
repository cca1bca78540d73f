"""Each tool: what it takes, answers and costs."""

import pytest

from commonplace.reference.tools.answers import ANSWER_TOKENS
from tests.conformance.reference.worlds import Guest
from tests.unit.reference.tools.desks import tokens
from tests.unit.web.mcp.talking import text_of

LIST = "cmd-gw-users-list"
TOOLS = {"search_knowledge", "get_command", "get_api_endpoint", "get_guide", "list_commands", "report_gap"}


def test_six_tools_are_offered_with_the_values_in_use(guest: Guest) -> None:
    tools = {tool.name: tool for tool in guest.ask("list_tools").tools}
    assert tools.keys() == TOOLS
    for name in ("search_knowledge", "list_commands"):
        properties = tools[name].input_schema["properties"]
        assert "google-workspace" in properties["category"]["description"]
    properties = tools["search_knowledge"].input_schema["properties"]
    assert properties["module"]["description"].endswith("In use: microsoft-365")
    assert properties["catalogue"]["description"] == "In use: helios"


def test_instructions_say_when_to_use_which_tool(guest: Guest) -> None:
    text = guest.client.instructions or ""
    for name in TOOLS - {"report_gap"}:
        assert name in text


def test_every_answer_stays_below_a_thousand_tokens(guest: Guest) -> None:
    for placed in guest.world.catalogue.entries:
        entry = placed.entry
        if entry.type == "command":
            result = guest.result("get_command", command=entry.called)
        elif entry.type == "api":
            result = guest.result("get_api_endpoint", path=entry.path_template, method=entry.method)
        else:
            result = guest.result("get_guide", guide=entry.id)
            assert not guest.result("search_knowledge", query=entry.title, limit=20).is_error
        assert not result.is_error, (entry.id, text_of(result))
        assert tokens(result) <= ANSWER_TOKENS, entry.id


def test_every_command_and_endpoint_is_found_by_its_name(guest: Guest) -> None:
    for placed in guest.world.catalogue.entries:
        entry = placed.entry
        wanted = entry.replaced_by or entry.id
        if entry.type == "command":
            assert guest.data("get_command", command=entry.called)["id"] == wanted
        if entry.type in ("command", "api"):
            assert guest.search(entry.called)[0] == wanted, entry.called


@pytest.mark.parametrize(
    ("spelt", "id", "matched_by"),
    [
        ("helios gw users list", LIST, "name"),
        ("$ helios gw users list", LIST, "name"),
        ("`helios gw users list`", LIST, "name"),
        ("Helios GW Users List", LIST, "spelling"),
        ("helios-gw-users-list", LIST, "spelling"),
        ("get users", LIST, "alias"),
        ("helios gw users get john@example.com", "cmd-gw-users-get", "arguments"),
        ("helios gw users get <email>", "cmd-gw-users-get", None),
    ],
)
def test_a_command_is_found_however_it_is_spelt(guest: Guest, spelt: str, id: str, matched_by: str | None) -> None:
    data = guest.data("get_command", command=spelt)
    assert data["id"] == id
    assert matched_by in (None, data["matchedBy"])


@pytest.mark.parametrize("ask", ["get_command", "search_knowledge"])
def test_a_deprecated_name_is_answered_by_what_replaced_it(guest: Guest, ask: str) -> None:
    result = guest.result(ask, **{"command" if ask == "get_command" else "query": "helios gw list-users"})
    assert "`helios gw list-users` was replaced by `helios gw users list`." in text_of(result)
    data = result.structured_content
    told = data["results"][0] if ask == "search_knowledge" else data
    assert (told["id"], told["insteadOf"]) == (LIST, "helios gw list-users")


def test_a_group_names_its_commands(guest: Guest) -> None:
    code, text = guest.error("get_command", command="helios gw delegates")
    assert code == "NOT_FOUND"
    for name in ("add", "list", "remove"):
        assert f"`helios gw delegates {name}`" in text


def test_filters_are_exact(guest: Guest) -> None:
    entries = {placed.entry.id: placed.entry for placed in guest.world.catalogue.entries}
    for id in guest.search("list users", type="api", limit=20):
        assert entries[id].type == "api"
    for id in guest.search("list users", category="microsoft-365", limit=20):
        assert "microsoft-365" in (entries[id].category, entries[id].subcategory)
    found = guest.search("list users", module="microsoft-365", limit=20)
    assert found
    assert all(entries[id].module == "microsoft-365" for id in found)
    assert guest.search("list users", type="all", category="all") == guest.search("list users")


def test_pages_of_commands_hold_every_one_once(guest: Guest) -> None:
    names, cursor = [], None
    while True:
        page = guest.data("list_commands", **({"cursor": cursor} if cursor else {}))
        names += [name for group in page["groups"] for name in group["commands"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert sorted(names) == sorted(guest.world.live_commands())


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"path": "/api/v1/users/42", "method": "GET"}, ["GET /api/v1/users/{id}"]),
        (
            {"path": "/api/v1/users/42"},
            ["DELETE /api/v1/users/{id}", "GET /api/v1/users/{id}", "PATCH /api/v1/users/{id}"],
        ),
        ({"path": "GET /api/v1/users/me"}, ["GET /api/v1/users/me"]),
        ({"path": "/api/v1/users/?page=2", "method": "get"}, ["GET /api/v1/users"]),
        ({"path": "/api/v1/users/{userId}", "method": "DELETE"}, ["DELETE /api/v1/users/{id}"]),
    ],
)
def test_concrete_paths_match_their_templates(guest: Guest, asked: dict[str, str], found: list[str]) -> None:
    endpoints = guest.data("get_api_endpoint", **asked)["endpoints"]
    assert sorted(f"{one['method']} {one['pathTemplate']}" for one in endpoints) == found


def test_a_method_that_a_path_has_not_is_answered_with_those_it_has(guest: Guest) -> None:
    code, text = guest.error("get_api_endpoint", path="/api/v1/users", method="DELETE")
    assert code == "NOT_FOUND"
    assert "It has GET, POST." in text


def test_guides_are_whole_when_their_pages_are_laid_end_to_end(guest: Guest) -> None:
    for placed in guest.world.catalogue.entries:
        if placed.entry.type in ("command", "api"):
            continue
        content, page = "", 1
        while page:
            data = guest.data("get_guide", guide=placed.entry.title, page=page, maxTokens=400)
            content, page = content + data.get("content", ""), data.get("nextPage", 0)
        assert content == placed.entry.content.strip()


def test_a_product_that_is_not_served_is_answered_with_those_that_are(guest: Guest) -> None:
    code, text = guest.error("get_command", command="helios gw users list", catalogue="tidebook")
    assert (code, "In use: helios." in text) == ("NOT_FOUND", True)
    assert guest.data("get_command", command="helios gw users list", catalogue="Helios Client Portal")["id"] == LIST


def test_authentication_is_described_and_credentials_are_not_there(guest: Guest) -> None:
    (one,) = guest.data("get_api_endpoint", path="/api/v1/users", method="GET")["endpoints"]
    told = f"{one.get('content')} {one.get('examples')}".casefold()
    assert "authentication" in told or "authorization" in told
    assert "bearer ey" not in told


def test_an_entry_is_read_whole_with_its_source(guest: Guest) -> None:
    text = guest.ask("read_resource", f"reference://entries/helios/{LIST}").contents[0].text
    assert "helios gw users list" in text
    assert f"/blob/{guest.world.catalogue.commit_sha}/" in text


def test_what_is_typed_is_completed(guest: Guest) -> None:
    from mcp_types import PromptReference, ResourceTemplateReference

    commands = ResourceTemplateReference(uri="reference://commands/{category}")
    found = guest.ask("complete", commands, {"name": "category", "value": "micro"}).completion.values
    assert found == ["microsoft-365"]
    explain = PromptReference(name="explain-command")
    found = guest.ask("complete", explain, {"name": "command", "value": "helios gw users l"}).completion.values
    assert found == ["helios gw users list"]


def test_the_skill_is_there(guest: Guest) -> None:
    text = guest.ask("read_resource", "skill://product-reference/SKILL.md").contents[0].text
    assert "report_gap" in text


def test_calls_are_recorded_without_what_was_asked(guest: Guest) -> None:
    guest.search("swordfish")
    guest.result("get_command", command="swordfish")
    told = [(one.name, one.outcome) for one in guest.records]
    assert told[-2:] == [("search_knowledge", "ok"), ("get_command", "NOT_FOUND")]
    assert "swordfish" not in repr(guest.records)
