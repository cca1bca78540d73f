"""A Markdown file as a flat list of blocks: headings, list items, paragraphs, code, rows of tables.

Comments and thematic breaks are left out; quotations are read as what they quote. Text is as a reader sees it: wrapped
lines are joined, emphasis is gone, code keeps its ticks and links their targets.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

MAX_CHARACTERS = 2_000_000
"""Of a file. A parser is not made for more, and no person reads as much."""

_FRONTMATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_CHECKBOX = re.compile(r"\A\[[ xX]\][ \t]+")
_SPACES = re.compile(r"[ \t\n]+")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list, whatever is nested in it included."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    lines: tuple[str, ...] = ()
    """As they are in the file: people write fields one below the other."""
    bold: bool = False
    """Nothing but bold text: what people write in the place of a heading."""


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code within its fences."""

    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: column -> cell, both as text."""

    cells: tuple[tuple[str, str], ...]


Block = Heading | Item | Paragraph | Code | Row


def normalised(text: str) -> str:
    """Without byte order mark, and with `\\n` between lines."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a file, in order; a frontmatter is left out."""
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    body = _FRONTMATTER.sub("", normalised(text), count=1)
    parser = MarkdownIt("commonmark").enable("table")
    yield from _below(SyntaxTreeNode(parser.parse(body)))


def _below(node: "SyntaxTreeNode") -> Iterator[Block]:
    for child in node.children:
        match child.type:
            case "heading":
                yield Heading(int(child.tag[1:]), _inline(child))
            case "paragraph":
                if text := _inline(child):
                    lines = (_joined(line) for line in _raw(child).split("\n"))
                    yield Paragraph(text, tuple(line for line in lines if line), bold=_is_bold(child))
            case "bullet_list" | "ordered_list":
                yield from (Item(text) for item in child.children if (text := _item(item)))
            case "fence" | "code_block":
                yield Code(_code(child))
            case "table":
                yield from _rows(child)
            case "blockquote":
                yield from _below(child)
            case _:
                pass


def _item(item: "SyntaxTreeNode") -> str:
    parts: list[str] = []
    for child in item.children:
        match child.type:
            case "paragraph" | "heading":
                parts.append(_inline(child))
            case "bullet_list" | "ordered_list":
                parts.extend("- " + _item(nested).replace("\n", "\n  ") for nested in child.children)
            case "fence" | "code_block":
                parts.append(_code(child))
            case "blockquote":
                parts.append(_item(child))
            case _:
                pass
    return _CHECKBOX.sub("", "\n".join(part for part in parts if part.strip("- \n")))


def _rows(table: "SyntaxTreeNode") -> Iterator[Row]:
    lines = [row for part in table.children for row in part.children]
    if not lines:
        return
    columns = [_inline(cell) for cell in lines[0].children]
    for line in lines[1:]:
        cells = [_inline(cell) for cell in line.children]
        if any(cells):
            yield Row(tuple(zip(columns, cells, strict=False)))


def _code(node: "SyntaxTreeNode") -> str:
    fence = "```"
    while fence in node.content:
        fence += "`"
    return f"{fence}{node.info.strip()}\n{node.content.rstrip()}\n{fence}"


def _is_bold(paragraph: "SyntaxTreeNode") -> bool:
    parts = [part for inline in paragraph.children for part in inline.children]
    said = [part for part in parts if part.type != "text" or part.content.strip()]
    return len(said) == 1 and said[0].type == "strong"


def _inline(node: "SyntaxTreeNode") -> str:
    return _joined(_raw(node))


def _joined(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _raw(node: "SyntaxTreeNode") -> str:
    inlines = (child.token for child in node.children if child.type == "inline")
    return "".join(word for inline in inlines if inline for word in _words(inline.children or ()))


def _words(tokens: "Iterable[Token]") -> Iterator[str]:
    targets: list[str] = []
    for token in tokens:
        match token.type:
            case "text":
                yield token.content
            case "code_inline":
                ticks = "``" if "`" in token.content else "`"
                yield f"{ticks}{token.content}{ticks}"
            case "softbreak" | "hardbreak":
                yield "\n"
            case "image":
                yield token.content
            case "link_open":
                targets.append("" if token.info == "auto" else str(token.attrGet("href") or ""))
                yield "[" if targets[-1] else ""
            case "link_close":
                target = targets.pop() if targets else ""
                yield f"]({target})" if target else ""
            case _:
                pass
