"""Lists page by page. A cursor is opaque, good for the same list and the same view of it, and gives no authority."""

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from commonplace.web.sealed import opened, sealed

MAX_CURSOR_CHARACTERS = 4_096

_PURPOSE = b"mcp-list"

Row = TypeVar("Row")


def page(
    rows: Sequence[Row], cursor: str | None, question: str, size: int, key: Callable[[Row], str]
) -> tuple[Sequence[Row], str | None]:
    """The rows of one page, and the cursor of the next. Raises MCPError -32602 for a cursor that is none of ours.

    A cursor holds the last row's key beside its place, so that rows which come and go meanwhile are neither shown
    twice nor skipped. An empty cursor is a cursor: only its absence begins at the beginning.
    """
    start = 0 if cursor is None else _start(rows, *_position(cursor, question), key)
    end = start + size
    if end >= len(rows):
        return rows[start:], None
    told = json.dumps([end, key(rows[end - 1])]).encode()
    return rows[start:end], sealed(told, question, purpose=_PURPOSE)


def refuse_cursor(cursor: str | None) -> None:
    """Of a list that has one page only. Raises MCPError -32602."""
    if cursor is not None:
        raise MCPError(INVALID_PARAMS, "Invalid cursor")


def _position(cursor: str, question: str) -> tuple[int, str]:
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS:
            raise ValueError("longer than any cursor")
        place, last = json.loads(opened(cursor, question, purpose=_PURPOSE))
    except ValueError:
        raise MCPError(INVALID_PARAMS, "Invalid cursor") from None
    if not isinstance(place, int) or not isinstance(last, str) or place < 1:
        raise MCPError(INVALID_PARAMS, "Invalid cursor")
    return place, last


def _start(rows: Sequence[Row], place: int, last: str, key: Callable[[Row], str]) -> int:
    if place <= len(rows) and key(rows[place - 1]) == last:
        return place
    return next((at + 1 for at, row in enumerate(rows) if key(row) == last), min(place, len(rows)))
