"""A Markdown file as a flat list of blocks with their lines: headings, list items, paragraphs, code, rows of tables.

Frontmatter, comments and thematic breaks are left out; quotations are read as what they quote, `<details>` as a heading
with what it holds. Text is as a reader sees it: wrapped lines are joined, emphasis is gone, code keeps its ticks and
links their targets.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace_local.memory.dates import is_date

if TYPE_CHECKING:
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

MAX_CHARACTERS = 2_000_000
"""Of a file. A parser is not made for more, and no person reads as much."""

MAX_FOLDS = 20
"""Levels of `<details>` within each other; deeper ones are of the last level."""
MAX_BROKEN = 20
"""Fences that are never closed. The file is read anew after each; behind the last of them all is code."""

_FRONTMATTER = re.compile(
    r"\A---[ \t]*\n(?=(?:[ \t]*(?:#[^\n]*)?\n)*[\w\"'][^\n:]*:)(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
_FRONT_FIELD = re.compile(r"([\w\"'][^:]*):(?:\s+(.*)|\s*)")
_FOLD = re.compile(r"(<details\b[^>]*>|<summary\b[^>]*>.*?</summary>|</details>)", re.IGNORECASE)
_FOLDED = re.compile(r"<!--fold (.*)-->")
_CHECKBOX = re.compile(r"\A\[[ xX]\][ \t]+")
_SPACES = re.compile(r"[ \t\n]+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>")
_AFTER_LABEL = re.compile(r"\s*[:：]\s*|\s+[-–—→]+\s+|\s*\Z")
_MARGIN_LABEL = re.compile(r"\*\*[^*]{1,60}(?::\*\*|\*\*:)")
_PLAIN_LABEL = re.compile(r"(\w[\w/&'’ -]{0,40}?)\s*:(?:\s+|\Z)")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a paragraph. `label` is what stands in bold, or before a colon, at its begin; `rest` what follows."""

    text: str
    line: int
    label: str = ""
    rest: str = ""
    bold: bool = False
    """The label is in bold."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list. `text` is the whole of it; `first` its own words, before what is nested in it."""

    text: str
    line: int
    first: Line
    items: tuple["Item", ...] = ()


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    line: int
    lines: tuple[Line, ...] = ()
    """As they are in the file: people write fields one below the other."""
    bold: bool = False
    """Nothing but bold text: what people write in the place of a heading."""
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code within its fences."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: column -> cell, both as text."""

    cells: tuple[tuple[str, str], ...]
    line: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is no Markdown, or is broken."""

    reason: str
    line: int


@dataclass(frozen=True, slots=True)
class End:
    """The end of `<details>`: headings of this level, or deeper ones, are closed."""

    level: int
    line: int


Block = Heading | Item | Paragraph | Code | Row | Unreadable | End


def normalised(text: str) -> str:
    """Without byte order mark, and with `\\n` between lines."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def front_matter(text: str) -> list[Line]:
    """Return the fields of the frontmatter, each as a line with its label; lists are joined by commas."""
    found = _FRONTMATTER.match(normalised(text))
    fields: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(found[1].split("\n") if found else (), start=2):
        if new := _FRONT_FIELD.fullmatch(line):
            fields.append((new[1].strip("\"' ").replace("_", " "), number, [new[2] or ""]))
        elif fields:
            fields[-1][2].append(line.strip().removeprefix("- "))
    told = [
        (label, at, ", ".join(one for part in parts if (one := part.strip("[]|>\"' ")))) for label, at, parts in fields
    ]
    return [Line(f"{label}: {rest}", at, label, rest, bold=True) for label, at, rest in told if rest]


def without_front_matter(text: str) -> str:
    """Return the text with empty lines in place of its frontmatter, so that lines keep their numbers."""
    return _FRONTMATTER.sub(lambda found: "\n" * found[0].count("\n"), normalised(text), count=1)


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a file, in order. A fence that is never closed is reported, and what follows it is read as text."""
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    body = without_front_matter(text)
    parse = MarkdownIt("commonmark").enable("table").parse
    lines = body.split("\n")
    tokens = parse(body)
    for _ in range(MAX_BROKEN):
        if (broken := _never_closed(tokens, lines)) is None:
            break
        lines[broken] = ""
        tokens = parse("\n".join(lines))
        yield Unreadable("a block of code begins here and is never closed; what follows is read as text", broken + 1)
    fenced = {at for one in tokens if one.type == "fence" and one.map for at in range(*one.map)}
    origin = list(range(len(lines)))
    if "<details" in body.casefold():
        lines, origin = _unfolded(lines, fenced)
        tokens = parse("\n".join(lines))
    # Lines that CommonMark takes for the end of a list item, though a label begins at their margin.
    inside = (one.map for one in tokens if one.type == "paragraph_open" and one.level and one.map)
    if apart := {at for begin, end in inside for at in range(begin + 1, end) if _MARGIN_LABEL.match(lines[at])}:
        origin = [one for at, one in enumerate(origin) for _ in range(2 if at in apart else 1)]
        tokens = parse("\n".join(f"\n{line}" if at in apart else line for at, line in enumerate(lines)))
    for token in tokens:
        token.map = [origin[min(at, len(origin) - 1)] for at in token.map or ()]
    yield from _below(SyntaxTreeNode(tokens))


def _unfolded(lines: list[str], fenced: set[int]) -> tuple[list[str], list[int]]:
    """Return the lines with a mark of its own for each `<summary>` and `</details>`, and the line that each was."""
    found: list[tuple[str, int]] = []
    for at, line in enumerate(lines):
        plain = at in fenced or "`" in line or line.lstrip().startswith("|")
        for part in [line] if plain else _FOLD.split(line):
            title = _joined(_MARKUP.sub("", part).replace("*", ""))
            mark = not plain and _FOLD.fullmatch(part) and not part.lower().startswith("<details")
            found += [(one, at) for one in (("", f"<!--fold {title}-->", "") if mark else (part,))]
    return [one for one, _ in found], [at for _, at in found]


def _never_closed(tokens: "list[Token]", lines: list[str]) -> int | None:
    """The line, from 0, of a fence outside of lists and quotations that nothing closes."""
    for token in tokens:
        if token.type == "fence" and token.level == 0 and token.map:
            begin, end = token.map
            last = lines[end - 1].strip() if end - 1 < len(lines) else ""
            if end - begin < 2 or not (last.startswith(token.markup) and not last.strip(token.markup[0])):
                return begin
    return None


def _at(node: "SyntaxTreeNode") -> int:
    return node.map[0] + 1 if node.map else 0


def _below(node: "SyntaxTreeNode", quoted: bool = False) -> Iterator[Block]:
    level, folds = 0, 0
    for child in node.children:
        match child.type:
            case "heading" if not quoted and not _is_ruled_off(child):
                level, folds = int(child.tag[1:]), 0
                yield Heading(level, _inline(child), _at(child))
            case "paragraph" | "heading":
                if text := _inline(child):
                    bold = _is_bold(child) or (child.type == "heading" and quoted)
                    yield Paragraph(text, _at(child), tuple(_lines(child)), bold, quoted)
            case "bullet_list" | "ordered_list":
                yield from (found for item in child.children if (found := _item(item)).text)
            case "fence" | "code_block":
                yield Code(_code(child), _at(child))
            case "table":
                yield from _rows(child)
            case "blockquote":
                yield from _below(child, quoted=True)
            case "html_block" if (mark := _FOLDED.fullmatch(child.content.strip())) and (mark[1] or folds):
                folds = min(folds + bool(mark[1]), MAX_FOLDS)
                yield Heading(level + folds, mark[1], _at(child)) if mark[1] else End(level + folds, _at(child))
                folds -= not mark[1]
            case "html_block":
                if _MARKUP.sub("", _COMMENT.sub("", child.content)).strip():
                    yield Unreadable("HTML is not read", _at(child))
            case _:
                pass


def _is_ruled_off(heading: "SyntaxTreeNode") -> bool:
    """Return whether it is a text with a line of dashes right below it, which was meant to end the text."""
    text = _inline(heading)
    first = next(_lines(heading), None)
    labelled = first is not None and first.bold and first.rest
    return heading.markup.startswith("-") and bool(labelled or text[-1:] in ".!?" or len([*_lines(heading)]) > 1)


def _item(item: "SyntaxTreeNode") -> Item:
    parts: list[str] = []
    first: Line | None = None
    nested: list[Item] = []
    for child in item.children:
        match child.type:
            case "paragraph" | "heading":
                first = first or next(_lines(child, joined=True), None)
                parts.append(_inline(child))
            case "bullet_list" | "ordered_list":
                below = [_item(one) for one in child.children]
                nested += below
                parts.extend("- " + one.text.replace("\n", "\n  ") for one in below)
            case "fence" | "code_block":
                parts.append(_code(child))
            case "blockquote":
                parts.append(_item(child).text)
            case _:
                pass
    text = _CHECKBOX.sub("", "\n".join(part for part in parts if part.strip("- \n")))
    return Item(text, _at(item), first or Line("", _at(item)), tuple(one for one in nested if one.text))


def _rows(table: "SyntaxTreeNode") -> Iterator[Row]:
    lines = [row for part in table.children for row in part.children]
    if not lines:
        return
    columns = [_inline(cell) for cell in lines[0].children]
    for line in lines[1:]:
        cells = [_inline(cell) for cell in line.children]
        if any(cells):
            yield Row(tuple(zip(columns, cells, strict=False)), _at(line))


def _code(node: "SyntaxTreeNode") -> str:
    fence = "```"
    while fence in node.content:
        fence += "`"
    return f"{fence}{node.info.strip()}\n{node.content.rstrip()}\n{fence}"


def _is_bold(paragraph: "SyntaxTreeNode") -> bool:
    parts = [part for inline in paragraph.children for part in inline.children]
    said = [part for part in parts if part.type != "text" or any(map(str.isalnum, part.content))]
    return len(said) == 1 and said[0].type == "strong"


def _lines(node: "SyntaxTreeNode", *, joined: bool = False) -> Iterator[Line]:
    """The lines of a paragraph, or all of it as one, with the label at the begin of each."""
    leaves = [one for inline in node.children if inline.token for one in inline.token.children or ()]
    line: list[Token] = []
    number = _at(node)
    for token in leaves:
        if token.type in ("softbreak", "hardbreak") and not joined:
            if found := _labelled(line, number):
                yield found
            line, number = [], number + 1
        else:
            line.append(token)
    if found := _labelled(line, number):
        yield found


def _labelled(tokens: "list[Token]", number: int) -> Line | None:
    text = _CHECKBOX.sub("", _joined("".join(_words(tokens))))
    if not text:
        return None
    begin = next((at for at, one in enumerate(tokens) if one.type != "text" or any(map(str.isalnum, one.content))), 0)
    close = tokens[begin].type.replace("open", "close")
    ends = (at for at, one in enumerate(tokens) if one.type == close and one.level == tokens[begin].level)
    if tokens[begin].type in ("strong_open", "em_open") and (end := next(ends, None)) is not None:
        label, rest = (_joined("".join(_words(part))) for part in (tokens[begin : end + 1], tokens[end + 1 :]))
        if label.endswith(":"):
            return Line(text, number, label.rstrip(": "), rest, bold=True)
        after = _AFTER_LABEL.match("".join(_words(tokens[end + 1 :])))
        if close == "strong_close" and is_date(rest):
            return Line(text, number, label, rest, bold=True)
        if after and (close == "strong_close" or ":" in after[0]):
            return Line(text, number, label, rest[len(after[0].strip()) :].strip(), bold=True)
        if inside := _PLAIN_LABEL.match(label):
            return Line(text, number, inside[1], f"{label[inside.end() :]} {rest}".strip(), bold=True)
    elif plain := _PLAIN_LABEL.match(text):
        return Line(text, number, plain[1], text[plain.end() :])
    return Line(text, number)


def _inline(node: "SyntaxTreeNode") -> str:
    inlines = (child.token for child in node.children if child.type == "inline")
    return _joined("".join(word for inline in inlines if inline for word in _words(inline.children or ())))


def _joined(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


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
