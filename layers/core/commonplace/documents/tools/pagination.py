"""Pages of a document's body: cut to a budget, continued by a handle while the document stays the same."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from commonplace.documents.content.document import Entry
from commonplace.kernel.objects import StoredObject
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, MAX_TOKENS, Piece, estimate_tokens, piece
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import compact, data_of, link_block

PAGE_CHARACTERS = 7_000
"""Of a body by default: with what stands above it the text stays under 8 KB, which every client
shows in full."""

LEAST_TOKENS = 500
"""Less would be all metadata."""

MARGIN = 60
"""Tokens for the description of a page: its position and its handle, in text and in data."""

TOOL = "get_document"
"""Whose handles these are, whichever tool gives them out."""


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
        """Which characters these are, for a reader."""
        return f"characters {self.piece.start + 1:,} to {self.piece.end:,} of {self.piece.whole:,}"


def body_of(stored: StoredObject) -> str:
    """The Markdown of a stored document, exactly as in its file."""
    content: str = json.loads(stored.body)["content"]
    return content


def position(entry: Entry, cursor: str | None) -> int:
    """Where a handle goes on. Raises InvalidInput when it belongs to another document, or to an earlier text of it."""
    if not cursor:
        return 0
    found = budgets.resume(cursor, tool=TOOL, question=entry.ref, version=entry.etag)
    return found if isinstance(found, int) else 0


def excerpt(
    entry: Entry,
    body: str,
    start: int,
    tokens: int,
    max_characters: int | None = None,
    *,
    weigh: Callable[[str], int] | None = None,
) -> Excerpt:
    """As much of a body as costs at most so many tokens; `weigh` says what a part does, by default as `twice`."""
    weigh = weigh or twice
    share = max(tokens // 2, 1)
    found = piece(body, start, max_tokens=share, max_characters=max_characters)
    while (weight := weigh(found.text)) > tokens and share > 1:
        share = min(share - 1, share * tokens // weight)
        found = piece(body, start, max_tokens=share, max_characters=max_characters)
    if found.complete:
        return Excerpt(found, None)
    return Excerpt(found, budgets.handle(found.end, tool=TOOL, question=entry.ref, version=entry.etag))


def twice(text: str) -> int:
    """Tokens of a text that stands in both text and data."""
    return estimate_tokens(text) + estimate_tokens(compact(text))


def twice_as_data(text: str) -> int:
    """Tokens of a text in an answer whose text is its data."""
    return 2 * estimate_tokens(compact(text))


def cost(answer: Answer) -> int:
    """Tokens of a whole answer, with its links."""
    links = [link_block(link) for link in answer.links]
    return sum(map(estimate_tokens, (answer.text, compact(data_of(answer)), compact(links))))


def budget(max_tokens: int | None) -> int:
    """Tokens of a whole answer, within what is allowed; some are left for what the frame has to say."""
    return min(max(max_tokens or DEFAULT_TOKENS, LEAST_TOKENS), MAX_TOKENS) - MARGIN


def shares(needs: Sequence[int], room: int) -> list[int]:
    """Divides `room` among needs: nobody gets more than needed, and what the small leave goes to the large."""
    given = [0] * len(needs)
    waiting = sorted(range(len(needs)), key=lambda at: needs[at])
    for passed, at in enumerate(waiting):
        given[at] = min(needs[at], max(room, 0) // (len(waiting) - passed))
        room -= given[at]
    return given
