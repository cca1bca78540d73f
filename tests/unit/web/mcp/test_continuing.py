"""Handles that continue an answer: good for the same tool, question and version, and for nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.budgets import MAX_HANDLE_CHARACTERS, handle, question_of, resume
from tests.fakes.toolsets import Asked, Filters

words = st.text(max_size=20)
positions = st.integers(0, 10**9) | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(positions, words, words, words)
def test_a_handle_goes_on_where_the_answer_stopped(position: int | str, tool: str, question: str, version: str) -> None:
    text = handle(position, tool=tool, question=question, version=version)
    assert resume(text, tool=tool, question=question, version=version) == position
    assert text.isascii()
    assert not set(text) & set("+/=&%?# ")


@given(positions, st.tuples(words, words, words), st.tuples(words, words, words))
def test_a_handle_of_something_else_is_refused(
    position: int | str, made: tuple[str, str, str], used: tuple[str, str, str]
) -> None:
    text = handle(position, tool=made[0], question=made[1], version=made[2])
    if made != used and f"{made[0]}\n{made[1]}" != f"{used[0]}\n{used[1]}":
        with pytest.raises(InvalidInput, match="does not continue this question") as refused:
            resume(text, tool=used[0], question=used[1], version=used[2])
        assert refused.value.hint == "Start again: repeat the call without the handle."


def test_what_has_changed_meanwhile_is_not_continued() -> None:
    text = handle(100, tool="get_document", question="dao", version="etag-1")
    with pytest.raises(InvalidInput, match="has changed since"):
        resume(text, tool="get_document", question="dao", version="etag-2")


@given(words | st.text(alphabet="ABCabc019-_=", max_size=80) | st.just("A" * (MAX_HANDLE_CHARACTERS + 1)))
def test_a_text_that_is_no_handle_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        resume(text, tool="t", question="q", version="v")


def test_a_question_is_everything_asked_but_what_only_says_how_much() -> None:
    asked = Asked(query="rock", limit=3, filters=Filters(groups=["g"]))
    more = asked.model_copy(update={"limit": 9})
    assert question_of(asked, "limit") == question_of(more, "limit")
    assert question_of(asked) != question_of(more)
    assert question_of(asked, "limit") != question_of(asked.model_copy(update={"query": "pool"}), "limit")


def test_a_handle_holds_no_text_of_the_question() -> None:
    import base64

    text = handle(5, tool="t", question="a very private wish", version="v")
    assert b"private" not in base64.urlsafe_b64decode(text + "==")
