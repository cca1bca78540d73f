"""A link as authored, defined apart from the Markdown parser that finds it."""

import dataclasses
from dataclasses import dataclass
from typing import Literal

LinkKind = Literal["link", "wiki", "embed", "image"]


@dataclass(frozen=True, slots=True)
class Link:
    """A reference to something in the repository; addresses on the web are not among them."""

    target: str  # As authored, percent-decoded, without fragment; never empty
    fragment: str | None
    kind: LinkKind
    text: str
    line: int  # 1-based in the file
    field: str | None = None  # Of the frontmatter, when it stands there
    written: str = dataclasses.field(default="", compare=False)
    """The address between the parentheses, or the whole of `[[…]]`, letter by letter."""
