"""Near duplicates are known by their words, whatever the case, the marks and the order of paragraphs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hive.minhash import BANDS, bands, signature, similarity

LESSON = """\
When the visibility timeout of a queue is shorter than the handler needs, a message is delivered again while it is still
being worked on. Set the timeout to six times the longest run, or acknowledge first. We saw every mail go out twice, and
found it only because a customer complained. The dashboard did not show it, for it counts messages and not deliveries.
"""
OTHER = """\
A partial index is not used when the condition is a parameter, since the plan is made before the value is known. Write
the condition as a literal, or make the index complete. The plan of a prepared statement changes after the fifth run.
"""


def test_the_same_text_is_wholly_similar() -> None:
    assert similarity(signature(LESSON), signature(LESSON)) == 1.0


def test_case_and_markdown_make_no_difference() -> None:
    marked = LESSON.replace("visibility timeout", "**Visibility Timeout**").replace("queue", "`queue`")
    assert signature(marked) == signature(LESSON)


def test_a_text_with_one_word_changed_is_a_near_duplicate() -> None:
    changed = signature(LESSON.replace("customer", "colleague"))
    assert similarity(changed, signature(LESSON)) >= 0.8
    assert set(bands(changed)) & set(bands(signature(LESSON)))


def test_paragraphs_in_another_order_are_a_near_duplicate() -> None:
    assert similarity(signature(LESSON + OTHER), signature(OTHER + LESSON)) >= 0.9


def test_another_lesson_is_none() -> None:
    assert similarity(signature(LESSON), signature(OTHER)) <= 0.1
    assert not set(bands(signature(LESSON))) & set(bands(signature(OTHER)))


@pytest.mark.parametrize("text", ["timeout", "Pin the image.", "不要相信文件头里的记录数。"])
def test_short_texts_have_a_signature(text: str) -> None:
    assert similarity(signature(text), signature(text + "!")) == 1.0
    assert similarity(signature(text), signature(OTHER)) <= 0.1


def test_one_changed_character_in_a_text_without_spaces_is_similar() -> None:
    one, other = "不要相信文件头里的记录数,它可能早已过期", "不要相信文件头里的记录数,它也许早已过期"
    assert 0.5 <= similarity(signature(one), signature(other)) < 1.0


def test_a_text_without_words_resembles_nothing() -> None:
    assert (signature("---"), bands(""), similarity("", "")) == ("", (), 0.0)


def test_signatures_are_the_same_in_every_process() -> None:
    assert signature("Pin the image by digest")[:16] == "07f3afe817bb6b24"


@given(st.text(min_size=1, max_size=200))
def test_every_text_has_a_signature_of_one_length_and_as_many_bands(text: str) -> None:
    made = signature(text)
    assert len(made) in (0, 512)
    assert len(bands(made)) == (BANDS if made else 0)
