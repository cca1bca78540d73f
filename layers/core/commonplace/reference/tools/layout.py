"""Items laid on pages, each within its room of tokens."""

from typing import Any, NamedTuple

from commonplace.reference.model import Place
from commonplace.reference.tools.markdown import closed, open_fence
from commonplace.web.mcp.budgets import escaped, estimate_tokens, piece
from commonplace.web.mcp.rendering import compact

GROUP_TOKENS = 12
"""For what begins a group of lines, or ends a code block."""
LEAST_CONTENT = 25
"""Tokens below which a beginning of a text says nothing."""


class Item(NamedTuple):
    """A part of a page after its head. Items of one kind and place that follow each other are a group."""

    kind: str
    """`required`, `parameters`, `content`, `examples` or `related_ids`, as the data has them."""
    place: Place | None
    text: str
    data: Any

    @property
    def tokens(self) -> int:
        return tokens(self.text, self.data)


def tokens(text: str, data: Any) -> int:
    """Return the tokens of the larger of text and data, with what stands before the next."""
    return max(estimate_tokens(text), estimate_tokens(compact(data))) + 1


class Pages:
    """Items laid on pages one after the other. What is too large for an empty page stands there alone."""

    def __init__(self, first: int, room: int) -> None:
        """`first` is what the head of the first page leaves, `room` that of any other."""
        self.pages: list[list[Item]] = [[]]
        self.left = first
        """Of the page that is being filled."""
        self._room = room

    def add(self, item: Item) -> None:
        left = self._left_by(item)
        if left < 0 and self._turn():
            left = self._left_by(item)
        self.left = left
        self.pages[-1].append(item)

    def add_content(self, content: str, beginning: str) -> None:
        """Add the content in pieces that are it when laid end to end. `beginning` is how a reader sees one that is
        whole.
        """
        start = 0
        while start < len(content):
            if self.left < LEAST_CONTENT + 2 * GROUP_TOKENS:
                self._turn()
            room = max(self.left - 2 * GROUP_TOKENS, LEAST_CONTENT)
            found = piece(content, start, max_tokens=room, write=escaped)
            fence = open_fence(content[:start])
            text = beginning if found.complete and not start else f"{fence}\n{found.text}" if fence else found.text
            self.add(Item("content", None, closed(text).strip("\n"), found.text))
            start = found.end
            if start < len(content):
                self._turn()

    def fits(self, item: Item) -> bool:
        """Return whether it has room on the page that is being filled."""
        return self._left_by(item) >= 0

    def _left_by(self, item: Item) -> int:
        last = self.pages[-1][-1] if self.pages[-1] else None
        group = 0 if last and (last.kind, last.place) == (item.kind, item.place) else GROUP_TOKENS
        return self.left - item.tokens - group

    def _turn(self) -> bool:
        """Begins a page, unless this one is empty and any other would be as small."""
        if not self.pages[-1] and len(self.pages) > 1:
            return False
        self.pages.append([])
        self.left = self._room
        return True
