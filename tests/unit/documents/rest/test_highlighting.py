"""Snippets as HTML: nothing of a document's text is ever markup."""

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.views import highlighted

texts = st.text(alphabet=st.sampled_from("ab <>&\"'é\U0001f41a/mark"), max_size=40)
marks = st.lists(st.tuples(st.integers(-5, 50), st.integers(-5, 50)), max_size=6)


def test_what_was_found_is_marked_and_the_rest_is_text() -> None:
    assert highlighted("<b>Crabs</b> & pools", [(3, 8)]) == "&lt;b&gt;<mark>Crabs</mark>&lt;/b&gt; &amp; pools"


def test_marks_that_overlap_or_touch_become_one() -> None:
    assert highlighted("abcdef", [(3, 5), (0, 2), (2, 4)]) == "<mark>abcde</mark>f"


@given(texts, marks)
def test_without_its_marks_it_is_the_escaped_snippet(text: str, spans: list[tuple[int, int]]) -> None:
    shown = highlighted(text, spans)
    assert shown.replace("<mark>", "").replace("</mark>", "") == escape(text)


@given(texts, marks)
def test_exactly_the_characters_in_a_span_are_marked(text: str, spans: list[tuple[int, int]]) -> None:
    parts = highlighted(text, spans).split("<mark>")
    marked = "".join(part.split("</mark>")[0] for part in parts[1:])
    inside = [any(start <= place < end for start, end in spans) for place in range(len(text))]
    assert marked == escape("".join(letter for letter, is_in in zip(text, inside, strict=True) if is_in))
    assert shown_once(parts[1:])


def shown_once(parts: list[str]) -> bool:
    """Every mark that begins ends, before the next one begins."""
    return all(part.count("</mark>") == 1 for part in parts)
