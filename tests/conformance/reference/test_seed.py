"""The seed's own tests ("Testing"), and what it says of how people and models ask ("Making AI Use Tools Correctly")."""

import pytest

from tests.conformance.reference.worlds import Guest
from tests.unit.web.mcp.talking import text_of

LIST = "cmd-gw-users-list"


def test_finds_command_by_exact_name(guest: Guest) -> None:
    results = guest.search("helios gw users list")
    assert results[0] == LIST


def test_finds_command_by_description(guest: Guest) -> None:
    results = guest.search("list all users")
    assert LIST in results


def test_returns_empty_for_unknown_commands(guest: Guest) -> None:
    results = guest.search("helios get-users")
    assert len(results) == 0


def test_provides_exact_syntax(guest: Guest) -> None:
    """The seed reads it out of the content; it has a field of its own, and is not said twice."""
    command = guest.data("get_command", command="helios gw users list")
    assert "helios gw users list" in command["syntax"]
    assert command["content"]


SCENARIOS = [
    ("get all users", LIST),
    ("get users", LIST),
    ("list google users", LIST),
    ("show all users", LIST),
    ("display users", LIST),
    ("list users", LIST),
    ("list users command", LIST),
    ("create group API", "api-post-groups"),
    ("get all teams", "cmd-gw-groups-list"),
    ("how do I connect google workspace", "guide-connect-google-workspace"),
]
"""What is asked, and what comes first. The second to the fifth are the aliases that the seed gives as an example."""


@pytest.mark.parametrize(("query", "first"), SCENARIOS)
def test_what_is_asked_in_words_finds_what_is_meant(guest: Guest, query: str, first: str) -> None:
    assert guest.search(query)[0] == first


@pytest.mark.parametrize(
    ("verbs", "found"),
    [
        (("get", "list", "show", "view", "display", "retrieve", "fetch"), {"cmd-gw-users-list", "cmd-users-list"}),
        (("create", "add", "new", "make"), {"cmd-gw-users-create", "cmd-users-create"}),
        (("delete", "remove", "destroy", "drop"), {"cmd-gw-users-delete", "cmd-users-delete"}),
        (("update", "edit", "modify", "change"), {"cmd-gw-users-update", "cmd-users-update"}),
    ],
)
def test_every_verb_of_the_synonym_table_is_understood(guest: Guest, verbs: tuple[str, ...], found: set[str]) -> None:
    for verb in verbs:
        assert found & set(guest.search(f"{verb} users", type="command")), verb


def test_a_command_that_does_not_exist_gives_no_results_and_suggestions(guest: Guest) -> None:
    result = guest.result("search_knowledge", query="helios get-users")
    assert not result.is_error
    data = result.structured_content
    assert data["results"] == []
    assert "Did you mean 'helios gw users list'?" in data["suggestions"]
    assert "Did you mean 'helios users list'?" in data["suggestions"]
    assert len(data["suggestions"]) <= 3
    assert any("list_commands" in hint for hint in data["hints"])
    assert "say that you have no information" in text_of(result)


@pytest.mark.parametrize(
    "name",
    [
        *("helios get-users", "helios users fetch", "helios gw users archive", "helios gw frobnicate", "get-people"),
        *("helios gw user list all", "listEveryUser", "helios ms teams list"),
        *("GET /api/v1/people/all", "/api/v2/users", "DELETE /api/v1/groups", "POST /api/v1/users/42/archive"),
    ],
)
def test_nothing_is_made_up(guest: Guest, name: str) -> None:
    data = guest.data("search_knowledge", query=name)
    assert data["results"] == []
    assert len(data["suggestions"]) <= 3
    assert guest.error("get_command", command=name)[0] == "NOT_FOUND"


def test_suggestions_are_names_that_exist(guest: Guest) -> None:
    for query in ("helios get-users", "helios gw user lst", "helios gw groups lsit", "helios users lits"):
        for told in guest.data("search_knowledge", query=query)["suggestions"]:
            name = told.removeprefix("Did you mean '").removesuffix("'?")
            assert guest.data("get_command", command=name)["name"] == name


@pytest.mark.parametrize("category", ["google-workspace", "microsoft-365", "helios", "api"])
def test_every_category_of_the_seed_lists_its_commands(guest: Guest, category: str) -> None:
    listed = guest.data("list_commands", category=category)
    assert listed["total"] > 0
    assert [group["category"] for group in listed["groups"]] == [category]


def test_without_a_category_or_with_all_every_command_is_listed(guest: Guest) -> None:
    every = guest.data("list_commands")
    assert guest.data("list_commands", category="all") == every
    assert every["total"] == len(guest.world.live_commands())


def test_an_endpoint_is_found_by_path_with_or_without_its_method(guest: Guest) -> None:
    (one,) = guest.data("get_api_endpoint", method="GET", path="/api/v1/users")["endpoints"]
    assert (one["method"], one["pathTemplate"]) == ("GET", "/api/v1/users")
    every = guest.data("get_api_endpoint", path="/api/v1/users")["endpoints"]
    assert {one["method"] for one in every} == {"GET", "POST"}


def test_the_system_prompt_is_minimal_and_takes_the_page(guest: Guest) -> None:
    bare = guest.ask("read_resource", "reference://prompts/system").contents[0].text
    prompt = guest.ask("get_prompt", "reference-assistant", {"pageContext": "Settings > Modules"})
    text = prompt.messages[0].content.text
    assert text.startswith(bare)
    assert text.endswith('User is on: "Settings > Modules"\n')
    assert "Helios" in bare
    for tool in ("search_knowledge", "get_command", "list_commands", "get_api_endpoint"):
        assert tool in bare
