import pytest

from commonplace.reference.lookup import Lookup
from commonplace.reference.model import Asked, Within
from tests.fakes.catalogues import entry
from tests.unit.reference.products import command, lookup, product, shaped

HELIOS = lookup(
    command("helios gw users list", "[--json] [--limit <n>]", aliases=["list google users", "get users"]),
    command("helios gw users get", "<email> [--format <format>]", category="users", module="workspace"),
    command("helios gw users get-photo", "<email>"),
    command("helios gw users create", "<email> [options]"),
    command("helios gw groups add-member", "<group> <email>"),
    command("helios users tag", "<id> <tag>..."),
    command("helios user-photos sync"),
    command("helios api", "<METHOD> <path>"),
    command("helios users <id> roles list"),
    command("Get-HelUser", "-Identity <id>"),
    entry("guide-sso", title="Helios single sign-on"),
)


def _named(line: str, found: Lookup = HELIOS) -> tuple[str, str] | None:
    hit = found.command(line).hit
    return (hit.entry.called, hit.matched_by) if hit else None


@pytest.mark.parametrize(
    ("line", "matched_by"),
    [
        ("helios gw users list", "name"),
        ("  helios  gw users   list ", "name"),
        ("$ helios gw users list", "name"),
        ("`helios gw users list`", "name"),
        ("```helios gw users list```", "name"),
        ('"helios gw users list"', "name"),
        ("> $ helios gw users list", "name"),
        ("“helios gw users list”", "name"),
        ("Helios GW Users List", "spelling"),
        ("helios-gw-users-list", "spelling"),
        ("helios_gw_users_list", "spelling"),
        ("helios gw‑users list", "spelling"),
        ("list google users", "alias"),
        ("List-Google-Users", "alias"),
        ("helios gw users list --json", "arguments"),
        ("helios gw users list —json", "arguments"),
        ("helios --verbose gw users list", "arguments"),
        ("helios gw users list --limit 20", "arguments"),
        ("helios gw users list [--json]", "arguments"),
        ("helios gw users li", "prefix"),
    ],
)
def test_a_command_is_found_however_its_name_is_spelt(line: str, matched_by: str) -> None:
    assert _named(line) == ("helios gw users list", matched_by)


@pytest.mark.parametrize(
    "line",
    [
        "helios gw users get john@example.com",
        "helios gw users get <email>",
        "helios gw users get {email}",
        "helios gw users get 'john'",
        'helios gw users get "john doe"',
        "helios gw users get John",
        "helios gw users get user42",
        "helios gw users get john@example.com --format json",
        "helios gw users get --format=json john@example.com",
    ],
)
def test_values_are_taken_for_what_the_syntax_takes(line: str) -> None:
    assert _named(line) == ("helios gw users get", "arguments")


@pytest.mark.parametrize(
    "line",
    [
        "helios gw users get john",
        "helios gw users get phot0",
        "helios gw users get Fhoto",
        "HELIOS GW USERS GET JOHN",
        "helios gw users get --nothing json",
        "helios gw users get a@x.com b@x.com",
        "helios gw users list john@example.com",
        "helios gw groups add-member 1 2 3",
        "helios gw users 42",
    ],
)
def test_what_may_be_a_subcommand_is_no_value(line: str) -> None:
    answer = HELIOS.command(line)

    assert (answer.hit, answer.beginning) == (None, ())
    assert shaped(HELIOS, line) == []


def test_a_value_may_be_repeated_where_the_syntax_says_so() -> None:
    assert _named("helios users tag 42 a1 b2 c3") == ("helios users tag", "arguments")


def test_a_method_and_a_path_are_values_of_a_command_that_takes_them() -> None:
    assert _named("helios api GET /api/v1/users") == ("helios api", "arguments")
    assert shaped(HELIOS, "helios api GET /api/v1/users") == ["helios api"]


def test_a_value_may_stand_within_a_name() -> None:
    for line in ("helios users 42 roles list", "helios users <id> roles list", "helios users roles list"):
        hit = HELIOS.command(line).hit
        assert hit is not None
        assert hit.entry.name == "helios users <id> roles list"
    assert HELIOS.command("helios 42 user-photos sync").hit is None


def test_a_name_with_capitals_is_found_with_its_options() -> None:
    assert _named("get-heluser -Identity 42") == ("Get-HelUser", "arguments")


def test_the_beginning_of_several_names_is_a_group() -> None:
    answer = HELIOS.command("helios gw users")

    assert answer.hit is None
    assert [hit.entry.called for hit in answer.beginning] == [
        "helios gw users create",
        "helios gw users get",
        "helios gw users get-photo",
        "helios gw users list",
    ]
    assert {hit.matched_by for hit in answer.beginning} == {"prefix"}


def test_whole_words_come_before_a_word_that_is_only_begun() -> None:
    answer = HELIOS.command("helios user")

    assert answer.beginning[0].entry.called == "helios user-photos sync"
    assert len(answer.beginning) == 3


def test_one_letter_begins_nothing() -> None:
    assert shaped(HELIOS, "helios gw u") == []


def test_a_group_has_no_options_but_help() -> None:
    assert shaped(HELIOS, "helios gw users --json") == []
    assert len(shaped(HELIOS, "helios gw users --help") or []) == 4


def test_conditions_hold_for_exact_names() -> None:
    assert shaped(HELIOS, "helios gw users get", category="Users") == ["helios gw users get"]
    assert shaped(HELIOS, "helios gw users get", category="groups") == []
    assert shaped(HELIOS, "helios gw users get", module="workspace") == ["helios gw users get"]
    assert shaped(HELIOS, "helios gw users get", module="other") == []
    assert shaped(HELIOS, "helios gw users get", type="api") == []
    assert shaped(HELIOS, "helios gw users get", type="guide") is None


def test_a_limit_is_kept() -> None:
    assert shaped(HELIOS, "helios gw users", limit=2) == ["helios gw users create", "helios gw users get"]


def test_a_page_with_exactly_this_title_is_found_though_it_reads_as_a_command() -> None:
    assert shaped(HELIOS, "helios single sign-on") == ["Helios single sign-on"]
    assert shaped(HELIOS, "helios single sign") == []


def test_what_is_deprecated_answers_with_what_replaces_it_at_last() -> None:
    found = lookup(
        command("old list", deprecated=True, replaced_by="cmd-middle-list"),
        command("middle list", deprecated=True, replaced_by="cmd-new-list"),
        command("new list"),
        command("lone list", deprecated=True),
    )

    hit = found.command("old list").hit
    assert hit is not None
    assert (hit.entry.called, hit.instead_of and hit.instead_of.name) == ("new list", "old list")
    lone = found.command("lone list").hit
    assert lone is not None
    assert (lone.entry.called, lone.instead_of) == ("lone list", None)
    assert [placed.entry.name for placed in found.commands()] == ["lone list", "new list"]


def test_replacements_in_a_circle_end() -> None:
    found = lookup(
        command("one list", deprecated=True, replaced_by="cmd-two-list"),
        command("two list", deprecated=True, replaced_by="cmd-one-list"),
    )

    assert found.command("one list").hit is not None
    assert found.suggest("one lisst", Asked(""))[0] == "one list"


def test_an_alias_of_two_commands_names_neither() -> None:
    found = lookup(command("a list", aliases=["show things"]), command("b list", aliases=["show things"]))

    answer = found.command("show things")
    assert answer.hit is None
    assert [hit.entry.called for hit in answer.beginning] == ["a list", "b list"]
    assert found.exact(Asked("show things")) is None


def test_of_equal_names_the_first_catalogue_s_is_the_command_and_the_others_are_told() -> None:
    first = product(command("tool deploy"), name="first")
    second = product(command("tool deploy"), command("tool undo"), name="second", version="2")

    found = Lookup([first, second])

    answer = found.command("tool deploy")
    assert answer.hit is not None
    assert answer.hit.catalogue.name == "first"
    assert [hit.catalogue.name for hit in answer.others] == ["second"]
    for within in (Within("Second"), Within(version="2")):
        alone = found.command("tool deploy", within)
        assert alone.hit is not None
        assert (alone.hit.catalogue.name, alone.others) == ("second", ())
    assert found.command("tool undo", Within("first")).hit is None
    assert len(found.shaped(Asked("tool deploy")) or ()) == 2
    assert len(found.entries) == 3


def test_an_alias_of_one_word_is_no_name_of_a_command_of_several() -> None:
    found = lookup(
        command("helios api", "<METHOD> <path>", aliases=["delete", "call the api"]),
        command("clear", aliases=["cls"]),
        entry("guide-sso", title="Single sign-on", aliases=["sso"]),
    )

    assert found.command("delete").hit is None
    assert found.exact(Asked("delete")) is None
    assert _named("call the api", found) == ("helios api", "alias")
    assert _named("cls", found) == ("clear", "alias")
    assert found.exact(Asked("SSO")) is not None


def test_words_find_an_alias_or_a_title_exactly() -> None:
    alias = HELIOS.exact(Asked("get users"))
    title = HELIOS.exact(Asked("helios single sign on"))

    assert alias is not None
    assert (alias.entry.called, alias.matched_by) == ("helios gw users list", "alias")
    assert title is not None
    assert (title.entry.id, title.matched_by) == ("guide-sso", "name")
    assert HELIOS.exact(Asked("get all users")) is None


def test_the_kind_that_a_query_ends_in_says_its_type() -> None:
    hit = HELIOS.exact(Asked("get users command"))

    assert hit is not None
    assert hit.entry.called == "helios gw users list"
    assert HELIOS.exact(Asked("get users endpoint")) is None
    assert HELIOS.exact(Asked("get users command", type="api")) is None


def test_titles_of_commands_count_where_a_type_is_asked_for() -> None:
    found = lookup(command("tool ls", title="List things"))

    assert found.exact(Asked("list things")) is None
    assert found.exact(Asked("list things", type="command")) is not None
    assert found.exact(Asked("list things command")) is not None


def test_commands_are_listed_by_name_under_a_category_and_a_module() -> None:
    assert [placed.entry.name for placed in HELIOS.commands(category="users")] == ["helios gw users get"]
    assert [placed.entry.name for placed in HELIOS.commands(module="Workspace")] == ["helios gw users get"]
    names = [placed.entry.called for placed in HELIOS.commands(category="all")]
    assert len(names) == 10
    assert names == sorted(names, key=lambda name: name.lower().replace("-", " "))


def test_categories_are_counted_by_entry() -> None:
    found = lookup(
        command("a one", category="core", subcategory="users"),
        command("a two", category="core", subcategory="core"),
        command("a old", category="gone", deprecated=True, replaced_by="cmd-a-one"),
        entry("guide", category="users"),
        categories={"users": "Users and people"},
    )

    told = [(one.slug, one.title, one.entries, one.commands) for one in found.categories]
    assert told == [("core", None, 2, 2), ("users", "Users and people", 2, 1)]


def test_modules_with_most_entries_come_first() -> None:
    found = lookup(
        command("a one", module="ms"),
        command("a two", module="gw"),
        command("a three", module="gw"),
        command("a four", module="apps"),
        command("a five"),
    )

    assert found.modules == ("gw", "apps", "ms")


def test_a_line_of_an_example_names_a_command_whatever_follows() -> None:
    assert HELIOS.names_command("helios gw groups add-member engineering john@example.com")
    assert HELIOS.names_command("helios gw users")
    assert not HELIOS.names_command("helios teams add engineering")


def test_an_empty_catalogue_answers_nothing() -> None:
    found = Lookup([])

    assert found.command("anything").hit is None
    assert found.endpoint("/anything").hits == ()
    assert found.suggest("anything", Asked("")) == ()
    assert found.shaped(Asked("/x")) == ()
    assert (found.categories, found.commands(), found.entries) == ((), (), ())
