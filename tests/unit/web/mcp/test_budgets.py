"""What an answer costs, and where a long text is cut."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from commonplace.search.models.local import TOKENIZER, bundled
from commonplace.web.mcp.budgets import estimate_tokens, fitting, piece, shortened
from commonplace.web.mcp.rendering import compact

ROOT = Path(__file__).parents[4]

texts = st.text(st.sampled_from("ab é漢🎉.\n \t0{"), max_size=300) | st.text(max_size=80)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    path = bundled() / TOKENIZER
    loaded = Tokenizer.from_file(str(path))
    loaded.no_truncation()
    return loaded


def counted(tokenizer: Tokenizer, texts: list[str]) -> tuple[int, int]:
    """Tokens as they are, and as they are estimated."""
    real = sum(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts)
    return real, sum(map(estimate_tokens, texts))


def prose() -> list[str]:
    return [path.read_text("utf-8") for folder in ("samples", "docs") for path in sorted((ROOT / folder).rglob("*.md"))]


def as_json() -> list[str]:
    rows = [
        {
            "id": f"doc-{at}",
            "contentType": "pattern",
            "score": 0.5123,
            "url": f"https://x.example/{at}.md",
            "text": text,
        }
        for at, text in enumerate(prose())
    ]
    template = json.loads((ROOT / "packages" / "commonplace_local" / "template.json").read_text("utf-8"))
    return [compact(row) for row in rows] + [compact(one) for one in template["Resources"].values()]


@pytest.mark.parametrize("kind", [prose, as_json])
def test_the_estimate_is_a_little_above_what_a_small_vocabulary_needs(
    kind: Callable[[], list[str]], tokenizer: Tokenizer
) -> None:
    real, estimated = counted(tokenizer, kind())
    assert real <= estimated <= 1.25 * real


@pytest.mark.parametrize(
    "text", ["日本語の文章はどうでしょうか。", "Größe über alles", "Привет, мир", "Pool 12 at 10:30", '{"a":[1,2,3]}']
)
def test_no_kind_of_text_is_taken_for_a_fraction_of_what_it_is(text: str, tokenizer: Tokenizer) -> None:
    real, estimated = counted(tokenizer, [text * 10])
    assert estimated >= 0.6 * real


@given(texts, texts)
def test_more_text_never_costs_less(one: str, other: str) -> None:
    assert estimate_tokens(one + other) >= estimate_tokens(one)
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


@given(texts, st.integers(1, 60))
def test_pieces_laid_end_to_end_are_the_whole_and_none_is_longer_than_allowed(text: str, limit: int) -> None:
    pieces, start = [], 0
    while start < len(text):
        one = piece(text, start, max_characters=limit)
        assert 1 <= len(one.text) <= limit
        pieces.append(one)
        start = one.end
    assert "".join(one.text for one in pieces) == text
    assert [one.complete for one in pieces] == [*(False for _ in pieces[1:]), *(True for _ in pieces[:1])]


@given(texts, st.integers(3, 60))
def test_pieces_measured_in_tokens_are_the_whole_and_cost_no_more_than_allowed(text: str, limit: int) -> None:
    start, whole = 0, ""
    while start < len(text):
        one = piece(text, start, max_tokens=limit)
        assert estimate_tokens(one.text) <= limit
        whole, start = whole + one.text, one.end
    assert whole == text


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("one two\n\nthree four five", 20, "one two\n\nthree four "),
        ("one two three\n\nfour five", 20, "one two three\n\n"),
        ("one two three\nfour five", 20, "one two three\n"),
        ("One two three. Four five", 20, "One two three. "),
        ("one two three four five", 20, "one two three four "),
        ("onetwothreefourfivesix", 20, "onetwothreefourfives"),
        ("short", 20, "short"),
    ],
)
def test_a_text_is_cut_where_it_pauses(text: str, limit: int, cut: str) -> None:
    assert piece(text, max_characters=limit).text == cut


@pytest.mark.parametrize("start", [-5, 0, 10, 1_000])
def test_a_start_outside_of_the_text_is_its_beginning_or_end(start: int) -> None:
    one = piece("0123456789", start, max_characters=100)
    assert one.text == ("0123456789" if start <= 0 else "")
    assert one.complete


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(0, 100))
def test_as_many_items_fit_as_there_is_room_for_and_at_least_one(costs: list[int], limit: int) -> None:
    kept = fitting(costs, lambda cost: cost, limit)
    assert kept == costs[: len(kept)]
    assert len(kept) <= 1 or sum(kept) <= limit
    assert len(kept) == len(costs) or sum(costs[: len(kept) + 1]) > limit


@given(texts, st.integers(1, 50))
def test_a_shortened_text_is_no_longer_than_allowed_and_says_that_it_is_cut(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= max(limit, 1)
    assert short == text or short.endswith("…")
