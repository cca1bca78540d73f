"""Chunks keep the text, its headings, and a size that models can take."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search import chunks
from commonplace.search.chunks import PIECES_PER_CHUNK, chunk_body, count_pieces
from commonplace.search.text import words
from tests.examples import examples

HEADING = st.builds(lambda level, words: f"{'#' * level} {words}", st.integers(1, 6), st.just("@ @"))
PARAGRAPH = st.integers(1, 60).map(lambda count: " ".join(["@"] * count) + ".")
LONG = st.integers(200, 900).map(lambda count: "@ " * count)
LINES = st.integers(1, 8).map(lambda count: "\n".join(["- @ @"] * count))
CODE = st.integers(1, 8).map(lambda count: "```\n" + "# @\n\n" * count + "```")
TABLE = st.integers(1, 8).map(lambda count: "| @ | @ |\n|---|---|\n" + "| @ | @ |\n" * count)
OTHER = st.sampled_from(
    ["---", "> @ @", "[@]: https://example.org/@", "<div>\n@\n</div>", "@\n===", "    @ @", "![@](@.png)", ""]
)
BLOCKS = st.lists(st.one_of(HEADING, HEADING, PARAGRAPH, LONG, LINES, CODE, TABLE, OTHER), max_size=14)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Markdown in which every word is another one."""
    text = "\n\n".join(draw(BLOCKS))
    for number in range(text.count("@")):
        text = text.replace("@", f"w{number}", 1)
    return text


@settings(max_examples=examples(25, soak=1_500), deadline=None)
@given(bodies())
def test_no_word_of_the_body_is_lost(body: str) -> None:
    kept = {word for chunk in chunk_body(body) for text in (chunk.text, *chunk.heading_path) for word in words(text)}

    assert set(words(body)) <= kept


@settings(max_examples=examples(25, soak=1_500), deadline=None)
@given(bodies())
def test_no_chunk_exceeds_the_budget_and_all_are_counted_up(body: str) -> None:
    chunks = chunk_body(body)

    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(count_pieces(chunk.text) <= PIECES_PER_CHUNK for chunk in chunks)
    assert all(chunk.text.strip() for chunk in chunks)


@settings(max_examples=examples(20, soak=800), deadline=None)
@given(bodies(), st.sampled_from(["\r\n", "\r"]))
def test_line_endings_make_no_difference(body: str, ending: str) -> None:
    assert chunk_body(body.replace("\n", ending)) == chunk_body(body)


@settings(max_examples=examples(25, soak=1_500), deadline=None)
@given(st.text())
def test_any_text_can_be_chunked(body: str) -> None:
    for chunk in chunk_body(body):
        assert count_pieces(chunk.text) <= PIECES_PER_CHUNK


def test_an_empty_body_has_no_chunks() -> None:
    assert (chunk_body(""), chunk_body(" \r\n\r\n ")) == ((), ())


def test_a_chunk_knows_the_headings_above_it() -> None:
    body = f"Intro {'a ' * 200}\n\n# Shore\n\n## *Rock* [pools](x.md)\n\n{'b ' * 200}\n\n# Sea\n\n{'c ' * 200}"

    paths = [chunk.heading_path for chunk in chunk_body(body)]

    assert paths == [(), ("Shore", "Rock pools"), ("Sea",)]


def test_small_sections_join_under_the_headings_they_share() -> None:
    body = "# Shore\n\n## Rock\n\nHard.\n\n## Sand\n\nSoft.\n\n## Mud\n\nSofter."

    (chunk,) = chunk_body(body)

    assert chunk.heading_path == ("Shore",)
    assert "Hard.\n\n## Sand\n\nSoft." in chunk.text


def test_a_heading_ends_no_chunk_when_text_follows_it() -> None:
    sections = "\n\n".join(f"## Part {number}\n\n### Empty\n\n### Full\n\n{'word ' * 130}" for number in range(12))

    chunks = chunk_body(f"# All\n\n{sections}")

    assert len(chunks) > 4
    assert not any(re.match(r"#{1,6} ", chunk.text.rstrip().rsplit("\n", 1)[-1]) for chunk in chunks)


def test_a_heading_without_any_text_is_kept() -> None:
    assert [(chunk.heading_path, chunk.text) for chunk in chunk_body("# Alone")] == [(("Alone",), "# Alone")]


@pytest.mark.parametrize(
    "block",
    [
        "| a | b |\n|---|---|\n" + "\n".join(f"| cell {number} | value |" for number in range(20)),
        "```python\n" + "\n\n".join(f"line_{number} = {number}" for number in range(20)) + "\n```",
    ],
)
def test_tables_and_code_stay_whole_where_they_fit(block: str) -> None:
    body = f"{'before ' * 250}\n\n{block}\n\n{'after ' * 250}"

    assert any(block in chunk.text for chunk in chunk_body(body))


def test_what_does_not_fit_is_cut_between_sentences_before_words() -> None:
    sentences = " ".join(f"Sentence number {number} says very little about the sea." for number in range(120))

    chunks = chunk_body(sentences)

    assert len(chunks) > 2
    assert all(chunk.text.endswith(".") for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks) == sentences


def test_a_stretch_without_spaces_is_cut_all_the_same() -> None:
    stretch = "潮" * 2_000

    chunks = chunk_body(stretch)

    assert "".join(chunk.text for chunk in chunks) == stretch


def test_stretches_are_of_even_size() -> None:
    chunks = chunk_body("\n\n".join("word " * 30 for _ in range(12)))

    sizes = [count_pieces(chunk.text) for chunk in chunks]
    assert len(sizes) == 2
    assert max(sizes) - min(sizes) <= 60


class _Counted:
    """A token that counts how often it is looked at."""

    looks = 0

    def __init__(self, token: Any) -> None:
        self._token = token

    def __getattr__(self, name: str) -> Any:
        type(self).looks += 1
        return getattr(self._token, name)


def test_a_body_of_thousands_of_headings_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # What members write is cut as well: going through everything for each heading took a minute for 32 KB.
    parser = chunks._markdown()
    parse = parser.parse
    monkeypatch.setattr(parser, "parse", lambda body: [_Counted(token) for token in parse(body)])
    looks = []
    for count in (100, 1_000):
        _Counted.looks = 0
        assert chunk_body("# a\n\nb\n\n" * count)
        looks.append(_Counted.looks)
    assert looks[1] <= 11 * looks[0]
