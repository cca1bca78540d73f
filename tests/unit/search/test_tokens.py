"""How near a passage is by its tokens and its terms, without a model call and without its text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.analysis import telling, terms
from commonplace.search.models.tokens import Likeness, PassageText, compare, pack


def packed(*texts: str, title: str = "", listing: bool = False) -> list[bytes]:
    return pack([PassageText(text, telling(terms(text)), telling(terms(title)), listing) for text in texts])


def likeness(query: str, *documents: list[bytes]) -> list[Likeness]:
    return compare(query, telling(terms(query)), documents)


def test_what_is_about_the_query_is_nearer_than_what_is_not() -> None:
    near, far = likeness("volunteers who tire", packed("Helpers get exhausted."), packed("The price of copper."))

    assert near.tokens > far.tokens


def test_coverage_is_the_share_of_the_terms_that_one_passage_has() -> None:
    whole, half, none = likeness(
        "tide pools", packed("Pools at low tide."), packed("A pool.", "The tide."), packed("Copper.")
    )

    assert (whole.coverage, half.coverage, none.coverage) == (1.0, 0.5, 0.0)


def test_the_passage_to_show_is_the_one_that_has_the_words() -> None:
    (found,) = likeness("neap tide", packed("Who we are.", "A neap tide is a weak one.", "How to join."))

    assert found.best == 1


def test_a_list_of_links_is_not_shown_where_there_is_a_text() -> None:
    listing, text = packed("Neap tide, spring tide", listing=True), packed("A neap tide is a weak tide.")

    (found,) = likeness("neap tide", [*listing, *text])

    assert found.best == 1


@pytest.mark.parametrize(
    ("query", "title", "titled"),
    [("voting in a commons", "Commons", True), ("commons", "Voting in a commons", True), ("voting", "Commons", False)],
)
def test_a_title_counts_that_is_in_the_query_or_has_all_of_it(query: str, title: str, titled: bool) -> None:
    (found,) = likeness(query, packed("A text.", title=title))

    assert found.titled is titled


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=40), st.lists(st.lists(st.text(max_size=40), max_size=3), max_size=4))
def test_every_document_has_a_likeness_between_0_and_1(query: str, texts: list[list[str]]) -> None:
    found = likeness(query, *(packed(*document) for document in texts))

    assert len(found) == len(texts)
    assert all(0 <= each.tokens <= 1.001 and 0 <= each.coverage <= 1 for each in found)
    assert all(each.best is None or each.best < len(document) for each, document in zip(found, texts, strict=True))
