"""Pages of a document's body: cut to a budget, continued by a handle of one version, or by a number."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonplace.documents.content.document import Entry
from commonplace.kernel.errors import InvalidInput
from commonplace.kernel.objects import StoredObject
from commonplace.repository.comments import visible
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import MAX_TOKENS, Piece, escaped, estimate_tokens, piece
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import compact, data_of, link_block

LEAST_TOKENS = 500  # Less would be all metadata

MARGIN = 60  # Tokens of the largest answer that are left for what the frame has to say

_ANY_CURSOR = "0" * 32  # Costs as much as any handle, and little more than most

TOOL = "get_document"  # Whose handles these are, whichever tool gives them out


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A page of a body. `cursor` continues it; None at its end."""

    piece: Piece
    cursor: str | None

    @property
    def complete(self) -> bool:
        """Nothing comes after it."""
        return self.cursor is None

    @property
    def place(self) -> str:
        """Return which characters these are, for a reader."""
        return f"characters {self.piece.start + 1:,} to {self.piece.end:,} of {self.piece.whole:,}"


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens that an answer has left for a body: in its text, and in its data, where the body is written as JSON."""

    text: int
    data: int

    @classmethod
    def beside(cls, answer: Answer, max_tokens: int) -> "Room":
        """Return what is left by an answer that holds everything but the body."""
        links = compact([link_block(link) for link in answer.links])
        spent = estimate_tokens(answer.text) + estimate_tokens(links)
        return cls(max_tokens - spent, max_tokens - estimate_tokens(compact(data_of(answer))))


def nothing(body: str) -> Excerpt:
    """None of a body, with as much to say of it as of any page: for what stands around pages, the same for each."""
    return Excerpt(Piece("", len(body), len(body), len(body)), _ANY_CURSOR)


def body_of(stored: StoredObject) -> str:
    """Return the Markdown of a stored document as agents may read it: without its comments."""
    return visible(json.loads(stored.body)["content"])


def budget(max_tokens: int) -> int:
    """Tokens of a whole answer, within what is allowed."""
    return min(max(max_tokens, LEAST_TOKENS), MAX_TOKENS - MARGIN)


def position(entry: Entry, body: str, cursor: str | None, room: Room) -> int:
    """Return where a handle, or the number of a page, goes on.

    Raises InvalidInput for a handle of another document, or of an earlier text of it, and for a page that is not there.
    """
    if not cursor:
        return 0
    if cursor.isascii() and cursor.isdigit():
        return page_start(body, int(cursor), room)
    found = budgets.resume(cursor, tool=TOOL, question=entry.ref, version=entry.etag)
    return found if isinstance(found, int) else 0


def excerpt(entry: Entry, body: str, start: int, room: Room) -> Excerpt:
    """As much of a body as there is room for, in text and in data."""
    found = _page(body, start, room)
    if found.complete:
        return Excerpt(found, None)
    return Excerpt(found, budgets.handle(found.end, tool=TOOL, question=entry.ref, version=entry.etag))


def page_start(body: str, number: int, room: Room) -> int:
    """Return where a page begins, counted from 1. Raises InvalidInput when there is no such page."""
    starts = page_starts(body, room)
    if not 1 <= number <= len(starts):
        pages = "is one page" if len(starts) == 1 else f"are {len(starts)} pages"
        raise InvalidInput(f"There is no page {number}.", hint=f"There {pages} of this document.")
    return starts[number - 1]


@lru_cache(maxsize=32)
def page_starts(body: str, room: Room) -> tuple[int, ...]:
    """Return where each page of a body begins; the first one always at 0."""
    starts = [0]
    while not (found := _page(body, starts[-1], room)).complete:
        starts.append(found.end)
    return tuple(starts)


def _page(body: str, start: int, room: Room) -> Piece:
    """JSON costs more than the text it stands for: the data nearly always decides."""
    as_data = piece(body, start, max_tokens=room.data, write=escaped)
    return as_data if estimate_tokens(as_data.text) <= room.text else piece(body, start, max_tokens=room.text)


def shares(needs: Sequence[int], room: int) -> list[int]:
    """Divides `room` among needs: nobody gets more than needed, and what the small leave goes to the large."""
    given = [0] * len(needs)
    waiting = sorted(range(len(needs)), key=lambda at: needs[at])
    for passed, at in enumerate(waiting):
        given[at] = min(needs[at], max(room, 0) // (len(waiting) - passed))
        room -= given[at]
    return given
