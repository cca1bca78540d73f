"""Words weighed by where they stand, how rare they are, and how much of the query is there."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.reference.model import Entry, Parameter
from commonplace.reference.scorer import EDITION_CHARACTERS, MAX_TERMS, MOST, READ_CHARACTERS, Scorer, characters_read
from tests.examples import examples
from tests.fakes.catalogues import entry


def ranked(query: str, *entries: Entry, synonyms: Sequence[Mapping[str, Sequence[str]]] = ()) -> list[str]:
    """Ids, best first."""
    return [entries[place].id for place, _ in Scorer(entries, synonyms).rank(query)]


def command(name: str, title: str, **told: object) -> Entry:
    id = "cmd-" + name.replace(" ", "-")
    return entry(id, **({"type": "command", "name": name, "title": title, "summary": title} | told))


def bare(id: str, **told: object) -> Entry:
    return entry(id, **({"title": "Other", "summary": "Nothing of it."} | told))


def test_a_name_counts_for_more_than_a_keyword_and_a_keyword_for_more_than_content() -> None:
    entries = [
        bare("content", content="All about the harbour."),
        bare("keyword", keywords=["harbour"]),
        bare("title", title="Harbour"),
    ]
    assert ranked("harbour", *entries) == ["title", "keyword", "content"]


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    entries = [command(f"tide {noun} list", f"List {noun}") for noun in ("pools", "boats", "crabs", "ropes")]
    assert ranked("list crabs", *entries)[0] == "cmd-tide-crabs-list"


def test_more_of_the_query_counts_for_more_than_one_word_often() -> None:
    entries = [bare("both", title="Moor a boat"), bare("one", title="Boat boat boat", keywords=["boat", "boats"])]
    assert ranked("moor boat", *entries)[0] == "both"


def test_a_word_is_found_in_its_other_forms() -> None:
    assert ranked("suspended accounts", bare("other"), bare("it", title="Suspend an account")) == ["it"]


def test_a_synonym_finds_and_the_word_itself_finds_first() -> None:
    entries = [command("tide users list", "List users"), command("tide users show", "Show a user"), bare("other")]
    assert ranked("show people", *entries) == ["cmd-tide-users-show", "cmd-tide-users-list"]


def test_a_catalogues_own_synonyms_are_known_as_phrases_as_well() -> None:
    own = {"gw": ["google workspace"]}
    entries = [command("tide gw sync", "Synchronise"), command("tide ms sync", "Synchronise")]
    assert ranked("google workspace sync", *entries, synonyms=[own])[0] == "cmd-tide-gw-sync"


def test_words_that_an_entry_writes_as_one_are_found_apart() -> None:
    entries = [bare("other", title="Read the logs of an app"), bare("it", title="Logout"), command("tide whoami", "Me")]
    assert ranked("log out", *entries)[0] == "it"
    assert ranked("who am i", *entries) == ["cmd-tide-whoami"]


def test_a_name_in_camel_case_is_several_words() -> None:
    assert ranked("invoice customer", bare("it", keywords=["listCustomerInvoices"]), bare("other")) == ["it"]


def test_the_type_of_an_entry_may_be_asked_for() -> None:
    entries = [command("tide boats list", "List boats"), entry("api", type="api", title="List boats", method="GET")]
    assert ranked("list boats api", *entries)[0] == "api"
    assert ranked("list boats command", *entries)[0] == "cmd-tide-boats-list"


def test_parameters_of_a_path_are_no_words_of_it() -> None:
    one = entry("api", type="api", title="Show", summary="Show", method="GET", path_template="/boats/{harbour}")
    assert ranked("harbour", one) == []
    assert ranked("boats", one) == ["api"]


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and", "bicycle"])
def test_nothing_is_found_for_what_says_nothing_or_is_nowhere(query: str) -> None:
    assert ranked(query, bare("one"), bare("two")) == []


def test_only_what_is_admitted_is_ranked() -> None:
    scorer = Scorer([bare("one", title="Boats"), bare("two", title="Boats")])
    assert [place for place, _ in scorer.rank("boats", lambda place: place == 1)] == [1]


def test_entries_that_answer_alike_stand_in_their_order() -> None:
    entries = [bare(id, title="Boats") for id in ("a", "b", "c")]
    assert ranked("boats", *entries) == ["a", "b", "c"]


def test_no_more_are_ranked_than_are_looked_at() -> None:
    entries = [bare(f"boat-{number}", title="Boats") for number in range(MOST + 10)]
    assert len(ranked("boats", *entries)) == MOST


def test_of_a_long_query_the_telling_words_are_weighed() -> None:
    common = " ".join(f"common{number}" for number in range(MAX_TERMS + 4))
    entries = [bare(f"other-{number}", content=common) for number in range(6)]
    assert "it" in ranked(f"{common} harbour", *entries, bare("it", title="Harbour"))


def test_an_empty_catalogue_answers_nothing() -> None:
    assert Scorer([]).rank("anything") == []


@settings(max_examples=examples(50))
@given(st.text(max_size=200))
def test_whatever_is_asked_shares_are_between_nothing_and_all(query: str) -> None:
    entries = [command("tide users list", "List users"), bare("one", content="Harbour, boats and ropes.")]
    shares = [share for _, share in Scorer(entries).rank(query)]
    assert all(0 < share <= 1 for share in shares)
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("typed", ["hrabour", "harbur", "harbourr", "harbpur", "harbours"])
def test_a_word_with_one_mistake_is_understood(typed: str) -> None:
    assert ranked(typed, bare("it", title="Harbour"), bare("other")) == ["it"]


@pytest.mark.parametrize("typed", ["carp", "caer"])
def test_in_a_short_word_only_neighbours_may_have_changed_places(typed: str) -> None:
    assert ranked(typed, bare("it", title="Care", content="Crew")) == []
    assert ranked("dcok", bare("it", title="Dock")) == ["it"]


def test_what_is_there_as_it_was_typed_is_no_mistake() -> None:
    assert ranked("boats", bare("boats", title="Boats"), bare("coats", title="Coats")) == ["boats"]


@pytest.mark.parametrize("typed", ["cart", "boot", "b2", "pier2"])
def test_short_words_and_words_with_digits_are_what_they_are(typed: str) -> None:
    assert ranked(typed, bare("it", title="Card, boat, b1, pier1")) == []


def test_of_a_long_text_the_beginning_is_read_and_of_many_texts_less_of_each() -> None:
    deep = bare("it", content="x " * READ_CHARACTERS + "harbour")
    assert ranked("harbour", deep) == []
    assert ranked("harbour", bare("it", content="x " * 100 + "harbour")) == ["it"]
    assert characters_read(1) == characters_read(1_000) == READ_CHARACTERS
    assert characters_read(20_000) * 20_000 <= EDITION_CHARACTERS


def test_who_asks_for_all_of_something_gets_its_list_first() -> None:
    entries = [
        command("tide pools show", "Show a pool"),
        command("tide pools list", "List pools"),
        bare("all", title="All"),
    ]
    assert ranked("show all pools", *entries)[0] == "cmd-tide-pools-list"


def test_pleasantries_are_not_looked_for() -> None:
    entries = [command("tide boats moor", "Moor a boat"), bare("help", title="Help", summary="If you need anything.")]
    assert ranked("please help me moor a boat, I need someone", *entries) == ["cmd-tide-boats-moor"]
    assert ranked("help", *entries) == ["help"]


def test_who_wants_to_see_something_wants_it_shown_or_listed() -> None:
    entries = [
        command("tide counts list", "List everything that was counted"),
        bare("aside", title="Counts that wait", content="See what was counted twice."),
        *(bare(f"other-{number}") for number in range(8)),
    ]
    assert ranked("see what was counted", *entries)[0] == "cmd-tide-counts-list"


def endpoint(method: str, path: str, title: str) -> Entry:
    id = f"api-{method}-{path}".lower().replace("/", "-").translate({ord("{"): None, ord("}"): None})
    return entry(id, type="api", method=method, path_template=path, title=title, summary=title)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("throw away a boat", "cmd-tide-boats-rm"),
        ("get rid of a boat", "cmd-tide-boats-rm"),
        ("show all boats", "cmd-tide-boats-ls"),
        ("which boats are there", "cmd-tide-boats-ls"),
        ("change a boat", "cmd-tide-boats-edit"),
        ("take it back", "cmd-tide-boats-revert"),
    ],
)
def test_what_is_to_be_done_is_found_whatever_the_verb_is(query: str, expected: str) -> None:
    titles = {"rm": "Erase a boat", "ls": "Enumerate boats", "edit": "Adjust a boat", "revert": "Boats as they were"}
    assert ranked(query, *(command(f"tide boats {verb}", title) for verb, title in titles.items()))[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("all boats", "api-get--boats"),
        ("make a boat", "api-post--boats"),
        ("change a boat", "api-patch--boats-id"),
        ("remove a boat", "api-delete--boats-id"),
    ],
)
def test_a_method_says_what_is_done_where_the_title_does_not(query: str, expected: str) -> None:
    entries = [
        endpoint(method, path, "Boats" if path == "/boats" else "One boat")
        for method, path in (
            ("DELETE", "/boats/{id}"),
            ("GET", "/boats/{id}"),
            ("GET", "/boats"),
            ("PATCH", "/boats/{id}"),
            ("POST", "/boats"),
        )
    ]
    assert ranked(query, *entries)[0] == expected


def test_a_title_that_says_much_else_comes_after_one_that_does_not() -> None:
    entries = [
        command("tide boats inspect", "Boats that lie at a pontoon of the harbour and wait for their papers"),
        command("tide boats status", "Boats"),
        *(command(f"tide {noun} status", f"{noun} of the harbour") for noun in ("ropes", "crabs", "nets", "tides")),
    ]
    assert ranked("boats", *entries)[0] == "cmd-tide-boats-status"


def test_parameters_count_for_less_than_what_an_entry_is_for() -> None:
    many = [Parameter(name=f"--harbour-{number}", place="option", description="A harbour.") for number in range(9)]
    entries = [command("tide moor", "Moor a boat", parameters=many), command("tide harbour", "Harbour")]
    assert ranked("harbour", *entries) == ["cmd-tide-harbour", "cmd-tide-moor"]
