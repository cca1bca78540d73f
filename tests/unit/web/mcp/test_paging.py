"""Pages of a list: together they are the list, whatever happens to it meanwhile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from commonplace.web.mcp.lists import page

names = st.lists(st.text(min_size=1, max_size=5), unique=True, max_size=30)


def same(row: str) -> str:
    return row


def every_page(rows: list[str], size: int) -> list[list[str]]:
    found, cursor = page(rows, None, "q", size, same)
    pages = [list(found)]
    while cursor is not None:
        found, cursor = page(rows, cursor, "q", size, same)
        pages.append(list(found))
    return pages


@given(names, st.integers(1, 10))
def test_pages_laid_end_to_end_are_the_list(rows: list[str], size: int) -> None:
    pages = every_page(rows, size)
    assert [row for one in pages for row in one] == rows
    assert all(len(one) == size for one in pages[:-1])
    assert all(pages[1:])


@given(names, st.integers(1, 10), st.data())
def test_what_stays_in_the_list_is_shown_once_whatever_comes_and_goes(
    rows: list[str], size: int, data: st.DataObject
) -> None:
    first, cursor = page(rows, None, "q", size, same)
    if cursor is None:
        return
    gone = data.draw(st.sets(st.sampled_from(rows)).filter(lambda some: first[-1] not in some))
    come = [f"{row}, new" for row in data.draw(st.sets(st.sampled_from(rows)))]
    second, _ = page([*come, *(row for row in rows if row not in gone)], cursor, "q", 100, same)
    assert list(second) == [row for row in rows[size:] if row not in gone]


@given(st.text(max_size=40) | st.text(alphabet="ABCabc019-_", max_size=60))
def test_a_cursor_that_was_never_given_out_is_refused(cursor: str) -> None:
    with pytest.raises(MCPError, match="Invalid cursor"):
        page(["a", "b"], cursor, "q", 1, same)


@given(st.text(max_size=10), st.text(max_size=10))
def test_a_cursor_of_another_list_is_refused(question: str, other: str) -> None:
    cursor = page(["a", "b"], None, question, 1, same)[1]
    if question != other:
        with pytest.raises(MCPError):
            page(["a", "b"], cursor, other, 1, same)
