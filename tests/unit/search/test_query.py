"""What a query asks for, and the terms that it shares with what is indexed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.analysis import LONGEST_TERM, plain_terms, terms
from commonplace.search.query import MOST_TERMS, Query


def test_the_words_of_a_query_are_folded_distinct_and_in_order() -> None:
    query = Query.of("The  Tide's CAFÉ, tide: ﬁshing!")

    assert query.text == "The Tide's CAFÉ, tide: ﬁshing!"
    assert query.terms == ("tide", "cafe", "fish")


@pytest.mark.parametrize("text", ["", " ", "???", '"', "🦀", "\x00", "_"])
def test_a_query_without_a_word_has_no_terms(text: str) -> None:
    assert Query.of(text).terms == ()


def test_stop_words_are_looked_for_when_there_is_nothing_else() -> None:
    assert Query.of("this and that").terms == tuple(terms("this and that"))
    assert Query.of("What is this?").terms == tuple(terms("this"))
    assert Query.of("What is a tide").terms == ("tide",)


def test_an_ideograph_is_a_word() -> None:
    assert Query.of("tide 潮汐").terms == ("tide", "潮", "汐")


@settings(deadline=None)
@given(st.text(max_size=3_000))
def test_no_query_has_more_terms_than_are_looked_for_and_none_has_a_space(text: str) -> None:
    found = Query.of(text).terms

    assert len(found) <= MOST_TERMS
    assert all(0 < len(term) <= LONGEST_TERM + 1 and not term.isspace() and " " not in term for term in found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("colour", "color"),
        ("neighbourhoods", "neighborhood"),
        ("decentralisation", "decentralization"),
        ("organising", "organizes"),
        ("analyse", "analyzing"),
        ("centre", "centers"),
        ("modelling", "modeled"),
        ("programme", "program"),
        ("defence", "defense"),
        ("catalogue", "catalog"),
        ("archaeology", "archeology"),
        ("daoing", "DAOs"),
        ("governs", "governance"),
        ("DAO's", "dao"),
        ("Café", "cafe"),
    ],
)
def test_spellings_and_forms_of_a_word_share_a_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(("one", "other"), [("hour", "her"), ("four", "for"), ("our", "or"), ("rolling", "role")])
def test_other_words_do_not_share_one(one: str, other: str) -> None:
    assert terms(one) != terms(other)


@pytest.mark.parametrize("other", ["coordi nations", "coordinations", "Coordi-Nation", "coordi‑nations"])
def test_a_compound_meets_its_parts_and_its_whole(other: str) -> None:
    assert {*terms("coordi-nations")} & {*terms(other)}
    assert plain_terms("coordi-nations") == ["coordi", "nation"]
