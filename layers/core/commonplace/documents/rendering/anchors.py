"""Anchors: the ids that fragments lead to, GitHub's of headings and Obsidian's of blocks."""

from urllib.parse import unquote

from markdown_it.token import Token

from commonplace.documents.rendering.sanitiser import RAW_ID_PREFIX
from commonplace.repository.dialect import plain
from commonplace.repository.headings import BLOCK, anchor, fragment_of
from commonplace.repository.links import RAW_ID

RESERVED = frozenset({"content", "found", "main", "q", "results", "search", "status", "theme", "toc"})
"""Ids that pages have for themselves: a heading of that name gets a number, as the second of two on GitHub does."""


class Anchors:
    """The ids of one page, each given once."""

    def __init__(self) -> None:
        self._taken: set[str] = set(RESERVED)
        self._counts: dict[str, int] = {}
        self._raw: set[str] = set()

    def take(self, text: str) -> str:
        """Return an id for the heading of this text."""
        wanted = name = anchor(text) or "section"
        while name in self._taken:
            self._counts[wanted] = self._counts.get(wanted, 0) + 1
            name = f"{wanted}-{self._counts[wanted]}"
        self._taken.add(name)
        return name

    def note_raw(self, html: str) -> None:
        """Remembers the ids that an author gave in HTML."""
        self._raw.update(RAW_ID.findall(html))

    def lead(self, href: str) -> str:
        """Return the fragment to use for one that an author wrote, `#` included."""
        written = unquote(href[1:])
        if written in self._raw and anchor(written) not in self._taken:
            return f"#{RAW_ID_PREFIX}{written}"
        return fragment_of(written)


def slice_of(tokens: list[Token], fragment: str) -> list[Token]:
    """Return the section under a heading, or the one block, that a fragment names. Empty when there is none."""
    inner = fragment.rpartition("#")[2].strip()
    if inner.startswith("^"):
        name = inner[1:]
        for position, block in enumerate(tokens):
            last = block.children[-1] if block.children else None
            if last is None or last.type != "text" or not (found := BLOCK.search(last.content)) or found[1] != name:
                continue
            first = position - 1
            while first > 0 and (tokens[first].hidden or tokens[first].nesting != 1):
                first -= 1
            if tokens[first].type == "list_item_open":
                return [
                    Token("bullet_list_open", "ul", 1),
                    *_until_closed(tokens, first),
                    Token("bullet_list_close", "ul", -1),
                ]
            return _until_closed(tokens, first)
        return []
    wanted = anchor(inner)
    for start, token in enumerate(tokens):
        if token.type == "heading_open" and anchor(plain(tokens[start + 1].children)) == wanted:
            levels = (f"h{level}" for level in range(1, int(token.tag[1]) + 1))
            same = set(levels)
            end = next(
                (
                    later
                    for later in range(start + 1, len(tokens))
                    if (tokens[later].type == "heading_open" and tokens[later].tag in same)
                    or tokens[later].type == "footnote_block_open"
                    or tokens[later].level < token.level
                ),
                len(tokens),
            )
            return tokens[start:end]
    return []


def _until_closed(tokens: list[Token], start: int) -> list[Token]:
    depth = 0
    for end in range(start, len(tokens)):
        depth += tokens[end].nesting
        if depth == 0:
            return tokens[start : end + 1]
    return []
