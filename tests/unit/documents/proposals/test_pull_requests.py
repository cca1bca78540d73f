import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commonplace.documents.proposals.proposal import NEXT_STEPS, pull_request_body, pull_request_title

CLOSES = re.compile(r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:#|gh-|https?://|[\w.-]+/)")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Rotating stewardship", "Draft: Rotating stewardship"),
        ("Don’t @everyone, please!", "Draft: Don’t everyone, please!"),
        ("Fixes #12 and closes GH-7", "Draft: Fixes 12 and closes gh 7"),
        ("closes https://github.com/a/b/issues/1", "Draft: closes https github.com a b issues 1"),
        ("`code` <b>bold</b> [x](y)", "Draft: code b bold b x (y)"),
        ("🙂", "Draft: untitled"),
    ],
)
def test_a_title_holds_nothing_that_github_acts_on(title: str, shown: str) -> None:
    assert pull_request_title("Draft", title) == shown


@given(st.text(max_size=80), st.sampled_from(["fixes #1", "closes gh-1", "resolves a/b#1", "@all", ""]))
def test_no_title_calls_anybody_or_closes_anything(title: str, more: str) -> None:
    shown = pull_request_title("Draft", f"{title} {more}")
    assert not set(shown) & set("@#<>`[]/\n\r")
    assert not CLOSES.search(shown)


@given(st.lists(st.one_of(st.text(max_size=20), st.sampled_from(["```", "`````", "~~~", "@all", "<!--"])), max_size=5))
def test_a_strangers_words_stay_in_their_block(pieces: list[str]) -> None:
    fact = " ".join("".join(pieces).split()) or "x"
    tokens = MarkdownIt().parse(pull_request_body("Introduction.", {"Title": fact}, None))
    kinds = [token.type for token in tokens if token.type != "inline" and not token.type.startswith("paragraph")]
    assert kinds == ["fence"]
    words = [token.content for token in tokens if token.type == "inline"]
    assert words == ["Introduction.", NEXT_STEPS]
