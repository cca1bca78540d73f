import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.errors import Unavailable
from commonplace.search.models.values import BLANK, batched, encodable, fitting, fitting_bytes, unit

ANY_TEXT = st.text(st.characters(), max_size=400)


@given(ANY_TEXT, st.integers(1, 300))
def test_what_fits_is_a_beginning_of_the_text_that_is_not_empty(text: str, characters: int) -> None:
    fitted = fitting(text, characters)

    assert 1 <= len(fitted) <= characters
    assert fitted == BLANK or encodable(text).startswith(fitted)
    assert fitted.strip()
    assert fitting(fitted, characters) == fitted


@given(ANY_TEXT, st.integers(4, 300))
def test_what_fits_in_bytes_is_a_beginning_as_well(text: str, size: int) -> None:
    fitted = fitting_bytes(text, size)

    assert 1 <= len(fitted.encode()) <= size
    assert fitted == BLANK or encodable(text).startswith(fitted)


@given(st.lists(st.sampled_from(["tide", "pool", "of"]), min_size=1, max_size=60), st.integers(5, 100))
def test_words_are_kept_whole(words: list[str], characters: int) -> None:
    fitted = fitting(" ".join(words), characters).split()
    assert fitted == words[: len(fitted)]


def test_a_word_that_just_ends_is_kept_and_a_text_without_spaces_is_cut_where_it_must() -> None:
    assert fitting("tide pools", 4) == "tide"
    assert fitting("a tide pool", 6) == "a tide"
    assert fitting("tide pools", 7) == "tide"
    assert fitting("tidepools", 4) == "tide"
    assert fitting("潮だまり", 2) == "潮だ"


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_text_without_anything_to_see_is_replaced(text: str) -> None:
    assert (fitting(text, 10), fitting_bytes(text, 10)) == (BLANK, BLANK)


@given(st.lists(ANY_TEXT, max_size=40), st.integers(1, 7), st.integers(1, 500))
def test_batches_hold_every_text_in_order_and_keep_to_both_limits(texts: list[str], count: int, size: int) -> None:
    batches = batched(texts, count=count, size=size)

    assert [text for batch in batches for text in batch] == texts
    assert all(1 <= len(batch) <= count for batch in batches)
    assert all(len(batch) == 1 or sum(map(len, batch)) <= size for batch in batches)


@given(st.lists(st.floats(-1048576, 1048576, width=32), min_size=1, max_size=50))
def test_any_numbers_become_a_vector_of_length_one_or_are_refused(values: list[float]) -> None:
    if math.hypot(*values) < 1e-20:
        return
    assert math.hypot(*unit(values, len(values))) == pytest.approx(1, abs=1e-5)


def test_what_is_no_vector_is_refused() -> None:
    wrong: list[object] = [[0.0, 0.0], [1.0], [math.nan, 1.0], ["1", "2"], None, 3, {}]
    for values in wrong:
        with pytest.raises(Unavailable):
            unit(values, 2)
