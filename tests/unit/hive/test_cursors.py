"""Cursors of a search."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hive.cursors import MAX_OFFSET, decode_cursor, encode_cursor
from commonplace.kernel.errors import InvalidInput


def test_a_cursor_is_base64_of_the_number_of_results_before_it() -> None:
    assert encode_cursor(10) == base64.b64encode(b"10").decode()
    assert decode_cursor(f" {encode_cursor(10)} ") == 10


@given(st.integers(0, MAX_OFFSET))
def test_every_offset_comes_back(offset: int) -> None:
    assert decode_cursor(encode_cursor(offset)) == offset


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORGED = ("-1", "1.0", "010", "1e3", "١", str(MAX_OFFSET + 1))


@pytest.mark.parametrize("cursor", ["", "10", "!", "MTA", "é", "A" * 200, "/w==", *map(encoded, FORGED)])
def test_a_cursor_that_no_answer_gave_is_refused_with_what_would_be_valid(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="not valid") as refused:
        decode_cursor(cursor)
    assert "next_cursor" in (refused.value.hint or "")


@given(st.text(max_size=120))
def test_any_text_is_an_offset_or_refused(text: str) -> None:
    try:
        assert 0 <= decode_cursor(text) <= MAX_OFFSET
    except InvalidInput as refused:
        assert refused.hint
