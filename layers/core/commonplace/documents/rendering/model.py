"""The result of a rendering."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A row of the table of contents. A document's title is the page's level one, so these begin at two."""

    level: int
    id: str  # The fragment that leads to it: GitHub's
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    html: str
    headings: tuple[Heading, ...]
    truncated: bool = False
    """True when the body was longer than is rendered; the whole of it is in the Markdown."""
