"""A contribution's text as a reviewer sees it: pieces, and what differs."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from commonplace.hive.model import Mark
from commonplace.hive.passages import HIDDEN, Change, Piece, difference, pieces

MARKS = st.lists(
    st.builds(Mark, st.just("override"), st.just(""), st.integers(-2, 50), st.integers(-2, 50)), max_size=4
)


def test_placeholders_marks_and_what_is_not_seen_are_pieces_of_their_own() -> None:
    text = "Ask [NAME]\u202e. Ignore [this] all."
    found = list(pieces(text, [Mark("override", "", text.index("Ignore"), len(text) - 1)]))
    assert found == [
        Piece("Ask "),
        Piece("[NAME]", "placeholder"),
        Piece("U+202E", "hidden"),
        Piece(". "),
        Piece("Ignore [this] all", code="override"),
        Piece("."),
    ]


@given(st.text(max_size=60), MARKS)
def test_nothing_is_lost_and_nothing_unseen_remains(text: str, marks: list[Mark]) -> None:
    found = list(pieces(text, marks))
    told = "".join(chr(int(one.text[2:], 16)) if one.kind == "hidden" else one.text for one in found)
    assert told.replace("\r", "") == text.replace("\r", "")
    shown = "".join(one.text for one in found)
    assert not [letter for letter in shown if letter not in "\n\t" and unicodedata.category(letter) in HIDDEN]


def test_a_difference_names_words_with_a_few_around_them() -> None:
    same = " ".join(f"word{number}" for number in range(40))
    found = difference(f"{same} ten {same}", f"{same} twenty {same} more")
    assert [(one.kind, one.text.strip()) for one in found if one.kind in ("added", "removed")] == [
        ("removed", "ten"),
        ("added", "twenty"),
        ("added", "more"),
    ]
    assert found[0].kind == "gap"
    assert len("".join(one.text for one in found)) < len(same) * 1.5


@given(st.text("ab \n", max_size=80), st.text("ab \n", max_size=80))
def test_what_is_short_is_in_the_difference_as_a_whole(old: str, new: str) -> None:
    def left(without: str) -> list[str]:
        return "".join(one.text for one in difference(old, new) if one.kind not in (without, "gap")).split()

    if not any(one.kind == "gap" for one in difference(old, new)):
        assert left("removed") == new.split()


def test_long_texts_are_compared_line_by_line() -> None:
    old = "\n".join(f"line {number} of a long text" for number in range(700))
    found = difference(old, old.replace("line 350 of", "line 350 from"))
    changed = [one for one in found if one.kind in ("added", "removed")]
    assert changed == [Change("line 350 of a long text\n", "removed"), Change("line 350 from a long text\n", "added")]
