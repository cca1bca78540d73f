"""Did you mean, without an index."""

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.query import NOTHING, Query
from commonplace.search.spelling import (
    MOST_WORDS,
    SENTENCE,
    SUGGESTIONS,
    combined,
    correctable,
    edits_allowed,
    ranked,
    rewritten,
    suggest,
)
from commonplace.search.text import STOP_WORDS, fold, words


class Words:
    """A vocabulary of these words, of which some cannot be found under the filters."""

    def __init__(self, counts: Mapping[str, int], hidden: Iterable[str] = ()) -> None:
        self.counts = counts
        self.hidden = set(hidden)

    def known(self, word: str) -> bool:
        return word in self.counts

    def near(self, word: str, *, anywhere: bool = False) -> Iterable[tuple[str, int]]:
        return [(other, count) for other, count in self.counts.items() if anywhere or other[0] in word[:2]]

    def findable(self, word: str) -> bool:
        return word not in self.hidden


@pytest.mark.parametrize(
    ("word", "best"),
    [
        ("tdie", ["tide"]),
        ("tied", ["tide"]),
        ("itde", ["tide"]),
        ("hide", []),
        ("tidexy", ["tide"]),
        ("tixy", []),
        ("tidexyz", []),
        ("governence", ["governance"]),
        ("gvernnce", ["governance"]),
        ("gvernnc", []),
        ("overnance", ["governance"]),
        ("ofvernance", []),
    ],
)
def test_few_edits_are_believed_and_the_first_letter_is_mostly_right(word: str, best: list[str]) -> None:
    assert ranked(word, [("tide", 3), ("governance", 9)], edits_allowed(word)) == best


def test_fewer_edits_come_first_then_the_first_letter_then_the_more_frequent() -> None:
    near = [("lantern", 1), ("lanterns", 9), ("hanters", 99), ("lanters", 1), ("lanterx", 7)]

    assert ranked("lanterz", near, 2) == ["lanterx", "lantern", "lanters", "lanterns"]
    assert ranked("hantern", near, 2)[:2] == ["hanters", "lantern"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("tidle pols", "tide pools"),
        ("Tidle POLS?", "Tide POOLS?"),
        ("(tidle)-pols, tidle", "(tide)-pools, tide"),
        ("tidle_pols", "tide_pools"),
        ("TÍDLE", "TIDE"),
        ("tidles", "tidles"),
    ],
)
def test_the_rest_of_the_query_stays_as_it_was_typed(typed: str, told: str) -> None:
    assert rewritten(typed, {"tidle": "tide", "pols": "pools"}) == told


def test_the_best_of_every_word_comes_first_and_then_one_change_at_a_time() -> None:
    told = combined("tidle pols", {"tidle": ["tide", "title"], "pols": ["pools", "poles"]})

    assert told == ("tide pools", "tide poles", "title pools")


def test_only_unknown_words_are_corrected_and_only_by_words_that_can_be_found() -> None:
    shore = Words({"tide": 5, "tidy": 9, "pools": 5, "crab": 1}, hidden=["tidy"])

    assert suggest(Query.of("tidn pools"), shore) == ("tide pools",)
    assert suggest(Query.of("tide pools"), shore) == ()
    assert suggest(Query.of("the tide"), shore) == ()
    assert suggest(Query.of("xylophone"), shore) == ()
    assert suggest(Query.of("xylophone tidn"), shore) == ("xylophone tide",)
    assert suggest(NOTHING, shore) == ()


def test_another_first_letter_is_looked_for_only_when_nothing_else_is_near() -> None:
    assert suggest(Query.of("kantern"), Words({"lantern": 1})) == ("lantern",)
    assert suggest(Query.of("kantern"), Words({"lantern": 1, "kanters": 1}))[0] == "kanters"


def test_a_misspelt_small_word_is_left_alone() -> None:
    assert suggest(Query.of("tide of teh sea"), Words({"tide": 1, "sea": 1, "ten": 1, "the": 9})) == ()


def test_in_a_sentence_only_long_words_that_are_nearly_right_are_believed_to_be_misspelt() -> None:
    shore = Words({"coat": 9, "easy": 9, "governance": 1, "spring": 4})
    sentence = "early warnings that a coast lost balance"

    assert suggest(Query.of(sentence), shore) == ()
    assert suggest(Query.of(f"{sentence} in govermance"), shore) == (f"{sentence} in governance",)
    assert suggest(Query.of(f"{sentence} in govermamce"), shore) == ()
    assert suggest(Query.of("early coast"), shore) == ("early coat",)


def test_numbers_versions_and_very_short_words_are_left_alone() -> None:
    shore = Words({"2025": 5, "v12": 5, "dao": 5, "it2": 1})

    assert [suggest(Query.of(word), shore) for word in ("2024", "v11", "da", "it3")] == [()] * 4


def test_a_text_full_of_unknown_words_is_not_misspelt() -> None:
    said = [f"lanter{letter}" for letter in "abcdefgh"[: MOST_WORDS + 1]]
    shore = Words({"lantern": 1})

    assert suggest(Query.of(" ".join(said)), shore) == ()
    assert suggest(Query.of(" ".join(said[1:])), shore) == (" ".join(["lantern"] * MOST_WORDS),)


def test_a_word_more_makes_a_query_a_sentence() -> None:
    shore = Words({"tide": 1})
    known = [f"known{letter}" for letter in "abcdefgh"]
    shore.counts = {**shore.counts, **dict.fromkeys(known, 1)}

    assert suggest(Query.of(" ".join(["tidle", *known[: SENTENCE - 1]])), shore)
    assert not suggest(Query.of(" ".join(["tidle", *known[:SENTENCE]])), shore)


LETTERS = st.text(alphabet="abeé -_?ÀB1", max_size=24)


@settings(deadline=None)
@given(LETTERS, st.dictionaries(st.text(alphabet="abe", min_size=1, max_size=7), st.integers(1, 9)), st.data())
def test_nothing_is_proposed_that_is_the_query_or_cannot_be_found(
    query: str, counts: dict[str, int], data: st.DataObject
) -> None:
    hidden = data.draw(st.lists(st.sampled_from(sorted(counts)))) if counts else []

    told = suggest(Query.of(query), Words(counts, hidden))

    assert len(told) == len(set(told)) <= SUGGESTIONS
    for text in told:
        assert fold(text) != fold(query)
        assert len(words(text)) == len(words(query))
        changed = [new for old, new in zip(words(query), words(text), strict=True) if old != new]
        assert changed
        assert all(word in counts and word not in hidden and word not in STOP_WORDS for word in changed)


@pytest.mark.parametrize("word", ["qué", "como", "wie", "dónde", "quelle"])
def test_small_words_of_other_languages_are_not_misspelt(word: str) -> None:
    assert not correctable(fold(word))


def test_a_word_is_sooner_missing_a_letter_than_cut_to_its_beginning() -> None:
    assert ranked("vitalk", [("vital", 90), ("vitalik", 2)], 2) == ["vitalik", "vital"]
