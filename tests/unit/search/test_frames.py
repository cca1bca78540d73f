"""What a question is about, without the frame that it comes in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.frames import questions, subject


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What is a DAO?", "DAO"),
        ("what are neap tides", "neap tides"),
        ("define zonation", "zonation"),
        ("Definition of “citizen science”", "citizen science"),
        ("what does intertidal mean?", "intertidal"),
        ("who's Amara Quill?", "Amara Quill"),
        ("How do I read a tide table?", "read a tide table"),
        ("tell me about the commons", "commons"),
        ("explain spring tides", "spring tides"),
        ("the meaning of foreshore", "foreshore"),
        ("¿Qué es una marea muerta?", "marea muerta"),
        ("was ist ein Transekt?", "Transekt"),
        ("qu'est-ce qu'un tide pool ?", "tide pool"),
        ("où se trouve Samphire Flats ?", "Samphire Flats"),
        ("o que significa foreshore?", "foreshore"),
        ("che cos'è un DAO?", "DAO"),
    ],
)
def test_the_frame_of_a_question_is_taken_off(question: str, about: str) -> None:
    assert subject(question) == about


@pytest.mark.parametrize(
    "title", ["The Tide", "a DAO", "How we work", "Why community matters", "About us", "What is", "Whales", "Define"]
)
def test_what_is_no_question_stays_as_it_is(title: str) -> None:
    assert subject(title) == title


@settings(deadline=None)
@given(st.text(max_size=200))
def test_a_subject_is_part_of_its_text_and_never_empty_but_for_an_empty_text(text: str) -> None:
    assert subject(text) in text
    assert bool(subject(text)) == bool(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "What is a tide, and which patterns are about it? Cite them.",
            ["What is a tide", "which patterns are about it"],
        ),
        ("What is a quadrat? How do I count?", ["What is a quadrat", "How do I count"]),
        ("Who is Amara; where is Lantern Cove", ["Who is Amara", "where is Lantern Cove"]),
        ("Was ist Ebbe und wo liegt das Watt?", ["Was ist Ebbe", "wo liegt das Watt"]),
        ("¿Qué es la marea y cómo funciona?", ["Qué es la marea", "cómo funciona"]),
        ("What is the difference between spring and neap tides?", []),
        ("I am in Lisbon. What is a neap tide?", []),
        ("who, what, where and how many", []),
        ("tide pools and how they warm", []),
        ("", []),
    ],
)
def test_a_text_of_several_questions_is_taken_apart(text: str, parts: list[str]) -> None:
    assert questions(text) == parts


@given(st.text(max_size=60))
def test_any_text_has_the_parts_that_it_has(text: str) -> None:
    assert all(part in text for part in questions(text)) and len(questions(text)) != 1
