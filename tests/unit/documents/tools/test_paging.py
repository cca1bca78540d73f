"""Bodies a page at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.document import Entry
from commonplace.documents.tools.pagination import Room, excerpt, page_starts, position, shares
from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.budgets import escaped, estimate_tokens
from tests.fakes.library import FakeLibrary, make

texts = st.text(st.sampled_from('abc de.\n\r"\\#é漢🌱'), max_size=400)


def entry() -> Entry:
    return FakeLibrary()._store(make("file", "long", "long.md"))


@given(texts, st.integers(1, 200))
def test_pages_laid_end_to_end_are_the_body(body: str, tokens: int) -> None:
    told, start, of = "", 0, entry()
    while True:
        page = excerpt(of, body, start, Room(tokens, tokens))
        told += page.piece.text
        if page.cursor is None:
            break
        assert page.piece.text
        start = position(of, body, page.cursor, Room(tokens, tokens))
        assert start == len(told)
    assert told == body


@given(texts, st.integers(8, 200), st.integers(8, 200))
def test_a_page_costs_no_more_than_it_may(body: str, text: int, data: int) -> None:
    page = excerpt(entry(), body, 0, Room(text, data)).piece.text
    assert estimate_tokens(page) <= text
    assert estimate_tokens(escaped(page)) <= data


@given(texts, st.integers(8, 200))
def test_pages_by_number_are_those_that_handles_lead_to(body: str, tokens: int) -> None:
    room, of = Room(tokens, tokens), entry()
    starts, page = [0], excerpt(of, body, 0, room)
    while page.cursor is not None:
        starts.append(page.piece.end)
        page = excerpt(of, body, position(of, body, page.cursor, room), room)
    assert list(page_starts(body, room)) == starts
    assert [position(of, body, str(number), room) for number in range(1, len(starts) + 1)] == starts
    for number in (0, len(starts) + 1):
        with pytest.raises(InvalidInput, match="There is no page"):
            position(of, body, str(number), room)


@given(st.lists(st.integers(0, 1_000), max_size=20), st.integers(-10, 5_000))
def test_room_is_shared_until_it_is_used_or_nobody_needs_more(needs: list[int], room: int) -> None:
    given_out = shares(needs, room)
    assert all(0 <= got <= need for got, need in zip(given_out, needs, strict=True))
    left = max(room, 0) - sum(given_out)
    assert left >= 0
    assert given_out == needs or left < len(needs)


def test_the_small_leave_their_share_to_the_large() -> None:
    assert shares([10, 1_000, 300, 1_000], 1_010) == [10, 350, 300, 350]
