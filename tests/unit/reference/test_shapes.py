"""Which queries are answered by name alone: the ambiguous ones."""

from tests.fakes.catalogues import entry
from tests.unit.reference.products import command, endpoint, lookup, shaped

HELIOS = lookup(
    command("helios gw users list"),
    command("helios gw users get", "<email>"),
    command("helios gw groups add-member", "<group> <email>"),
    command("helios status"),
    command("help", "[topic]"),
    endpoint("GET", "/api/v1/users"),
    endpoint("GET", "/api/v1/users/{id}"),
    entry("guide-users", title="User management"),
)

COMMANDS = [
    "helios get-users",
    "helios frobnicate",
    "helios gw users lst",
    "helios users sync google",
    "helios delete everything",
    "helios export users to csv",
    "helios gw groups remove member from group",
    "helios-gw-users-delete",
    "helios single sign-on",
    "helios gw users list extra",
    "hleios gw users get list",
    "helos status list",
    "heliosgw users list",
    "heli os gw users list",
    "helio gw users list",
    "acme gw users list",
    "helios-cli users list",
    "helios gw getUsers",
    "helios.users.list",
    "delete user --force",
    "get-users",
    "list_users",
    "users.list",
    "users:delete",
    "listUsers",
    "DeleteUserGroup",
    "$ anything at all",
    "frobnicate --now",
    "frobnicate <id>",
    "`help frobnicate`",
    "helios get-users guide",
]

WORDS = [
    "get all users",
    "list users command",
    "create group API",
    "helios user management guide",
    "helios google workspace documentation",
    "helios list users command",
    "helios how do I list users?",
    "helios what is a delegate",
    "helios users not syncing after the upgrade",
    "helios basics for schools",
    "how do I run helios gw users list --json?",
    "what does GET /api/v1/users return?",
    "why is helios slow",
    "help with passwords",
    "help",
    "add-on",
    "e-mail",
    "sign-in",
    "make-up",
    "single-sign-on",
    "read/write",
    "and/or",
    "GitHub",
    "heli",
    "he",
    "https://example.com",
    "användare",
    "",
    "   ",
    "--",
    "?",
    "$",
]

ENDPOINTS = [
    "GET /nothing",
    "get /nothing",
    "GTE /api/v1/users",
    "GET/api/v1/user",
    "/nothing/at/all",
    "/api/v1/users/export",
    "https://example.com/nothing",
    "api/v1/nothing",
    "PUT /api/v1/users",
    "curl https://example.com/nothing",
]


def test_what_is_shaped_like_a_command_and_names_none_finds_nothing() -> None:
    for query in COMMANDS:
        assert shaped(HELIOS, query) == []


def test_what_is_shaped_like_an_endpoint_and_names_none_finds_nothing() -> None:
    for query in ENDPOINTS:
        assert shaped(HELIOS, query) == []


def test_words_are_not_shaped() -> None:
    for query in [query for query in WORDS if query != "help"]:
        assert shaped(HELIOS, query) is None


def test_nothing_is_shaped_where_pages_are_asked_for() -> None:
    for query in [*COMMANDS, *ENDPOINTS]:
        assert shaped(HELIOS, query, type="troubleshooting") is None


def test_a_name_that_is_an_ordinary_word_is_found_by_itself() -> None:
    assert shaped(HELIOS, "help") == ["help"]
    assert shaped(HELIOS, "`help users@example.com`") == ["help"]


def test_a_word_that_is_only_begun_may_be_a_word_of_sentences() -> None:
    assert shaped(HELIOS, "helios gw us") == ["helios gw users get", "helios gw users list"]


def test_a_word_of_sentences_that_commands_have_proves_nothing() -> None:
    found = lookup(command("tool move to", "<place>"))

    assert shaped(found, "tool copy to") == []


def test_a_root_may_be_declared() -> None:
    assert shaped(lookup(endpoint("GET", "/x"), roots=["acme"]), "acme users list") == []
    assert shaped(lookup(endpoint("GET", "/x")), "acme users list") is None


def test_plurals_of_a_root_are_words() -> None:
    assert shaped(lookup(command("users list"), command("groups list")), "user list") is None
