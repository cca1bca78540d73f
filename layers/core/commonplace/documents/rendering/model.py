"""What a rendering needs to be told, and what it gives."""

from dataclasses import dataclass
from typing import Protocol

from commonplace.documents.content.document import Attachment, Summary


class Addresses(Protocol):
    """Where readers find what documents link to: `commonplace.documents.addresses.DocumentAddresses`, for one."""

    def of(self, document: Summary, /) -> str: ...
    def of_attachment(self, attachment: Attachment, /) -> str: ...
    def of_tag(self, name: str, /) -> str: ...


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
