"""Cursors: each is good for the search it came from, and for no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.rest.parameters import MAX_CURSOR_CHARACTERS, cursor, position
from commonplace.kernel.errors import BadRequest
from commonplace.search.model import Position, RecordId

scores = st.floats(allow_nan=False, allow_infinity=False)
records = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(RecordId)
positions = st.builds(Position, score=scores, id=records)
questions = st.text(max_size=30)


@given(positions, questions)
def test_a_cursor_comes_back_as_the_position_it_was_made_from(place: Position, question: str) -> None:
    text = cursor(place, question)
    assert position(text, question) == place
    assert text.isascii()
    assert not set(text) & set("+/=&%?# ")


@given(positions, questions, questions)
def test_a_cursor_of_another_question_is_refused(place: Position, question: str, other: str) -> None:
    text = cursor(place, question)
    if question != other:
        with pytest.raises(BadRequest, match="does not belong"):
            position(text, other)


@given(st.text(max_size=60) | st.text(alphabet="ABCabc019-_=", max_size=60), questions)
def test_a_text_that_is_no_cursor_is_refused(text: str, question: str) -> None:
    with pytest.raises(BadRequest) as refused:
        position(text, question)
    assert refused.value.details["field"] == "cursor"
    assert refused.value.hint


@given(positions, questions, st.data())
def test_a_cursor_with_one_letter_changed_is_refused(place: Position, question: str, data: st.DataObject) -> None:
    text = cursor(place, question)
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("Aq0-_=!é"))
    changed = text[:at] + letter + text[at + 1 :]
    if changed != text:
        with pytest.raises(BadRequest):
            position(changed, question)


@pytest.mark.parametrize("score", [float("inf"), float("nan")])
def test_a_score_that_no_engine_gives_is_refused(score: float) -> None:
    with pytest.raises(BadRequest):
        position(cursor(Position(score, RecordId("tag/x")), "q=x"), "q=x")


def test_the_longest_name_of_a_document_fits_into_a_cursor() -> None:
    assert len(cursor(Position(1.5, RecordId("protocol/" + "é" * 100)), "q=x")) < MAX_CURSOR_CHARACTERS
