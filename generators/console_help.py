"""What a console's source tells people of its commands: tables, rows of JSX, help texts, usage lines, comments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any

from generators import tsx
from generators.commands import sentence
from generators.console_branches import RUNS
from generators.console_usage import Way, tokens, ways
from generators.generated import Unread

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 8
NAMES = ("command", "cmd", "name", "usage", "syntax")
DESCRIPTIONS = ("description", "desc", "summary", "help", "about")
_USAGES = ("usage", "syntax", "use")
_INLINE = {"b", "code", "em", "i", "kbd", "span", "strong", "a", "small", "mark", "br"}
_FUNCTION = object()
"""Stands for a function in what is read of an object."""
_TOOLS = ("eslint", "ts-", "@ts-", "prettier", "istanbul", "todo", "fixme", "xxx", "hack", "#region", "region")
_TELLS = re.compile(r"help|command|descri|usage", re.IGNORECASE)
_NOTICE = re.compile(r"deprecat|legacy|redirect|backward|no longer", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """A way to type a command, and what stands beside it."""

    way: Way
    line: int
    row: bool = False
    """Whether it stands in a table, not in running text."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of an object: what else it says."""
    handler: Any = None
    """The function that stands beside it, and carries it out."""
    shown: str = ""
    """What an example shows; the way is no usage then."""


@dataclass(frozen=True, slots=True)
class Note:
    """What comments say: a summary, the rest, and tags of JSDoc."""

    summary: str = ""
    text: str = ""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)


def told(source: tsx.Source) -> Iterator[Told | Unread]:
    """In the order of the source."""
    for node in tsx.walk(source.root):
        found: Iterator[Told | Unread | str]
        if node.type == "object":
            found = _of_object(node, source)
        elif node.type == "jsx_element":
            found = _of_element(node, source)
        elif node.type == "array" or (node.type in {"string", "template_string"} and not _in_list(node)):
            found = _of_text(node, source)
        else:
            continue
        for one in found:
            what = f"This usage is cut off in the middle: `{one[:200]}`" if isinstance(one, str) else ""
            yield Unread(f"line {tsx.line(node)}", what) if isinstance(one, str) else one


def note(comments: str) -> Note:
    """Of the comments' own text, signs included; what is said to tools, drawn, or of an old name is left out."""
    text: list[str] = []
    tags: list[tuple[str, list[str]]] = []
    for line in comments.splitlines():
        one = re.sub(r"^\s*(?:/\*\*?|///?|\*(?!/))|\*/\s*$", "", line).strip()
        if one.startswith("@"):
            name, _, rest = one[1:].partition(" ")
            tags.append((name.casefold(), [rest]))
        elif tags:
            tags[-1][1].append(one)
        elif not one or not (one.casefold().startswith(_TOOLS) or re.match(r"\W{3}|\W*$", one)):
            text.append(one)
    told: dict[str, list[str]] = {}
    for name, said in tags:
        told.setdefault(name, []).append("\n".join(said).strip())
    whole = "\n".join(text).strip()
    summary = sentence((told.get("summary") or told.get("description") or [whole.partition("\n\n")[0]])[0])
    if _NOTICE.search(summary) or len(summary.split()) < 2 or not summary[:1].isupper():
        summary = whole = ""
    return Note(summary, whole or summary, told)


def _of_text(node: "Node", source: tsx.Source) -> Iterator[Told | Unread | str]:
    if node.type == "array":
        said = [source.constant(one) for one in node.named_children if one.type != "comment"]
        if len(said) == 2 and all(said) and node.parent is not None and node.parent.type == "array":
            yield from _rows(said[0] or "", said[1] or "", tsx.line(node))
            return
        text = "\n".join(one or "" for one in said)
    else:
        text = source.constant(node) or ""
    for one in ways(text):
        yield one if isinstance(one, str) else Told(one, tsx.line(node))


def _in_list(node: "Node") -> bool:
    return node.parent is not None and node.parent.type == "array"


def _of_element(node: "Node", source: tsx.Source) -> Iterator[Told | Unread | str]:
    """`<tr><td>gw users list</td><td>List users</td></tr>`, `<li><strong>help</strong>: Show this</li>`."""
    inner = [one for one in node.named_children if one.type not in {"jsx_opening_element", "jsx_closing_element"}]
    cells = [one for one in inner if one.type == "jsx_element"]
    if not 1 <= len(cells) <= 3 or any(_tag(one) in {"tr", "li", "ul", "table", "tbody"} for one in cells):
        return
    texts = [one for one in inner if _said(one, source).strip()]
    first = _said(cells[0], source)
    if not texts or texts[0].id != cells[0].id or (len(cells) > 1 and len(texts) > len(cells)):
        return
    if len(cells) > 1:
        rest = _said(cells[-1], source)
    else:
        rest = "".join(_said(one, source) for one in inner if one.id != cells[0].id).lstrip(" :–—-")
    if first and rest.strip():
        yield from _rows(first, rest, tsx.line(node))


def _rows(first: str, second: str, line: int) -> Iterator[Told | Unread | str]:
    """A way to type a command and what it does; or what an example shows, and the example."""
    first, second = " ".join(first.split()), " ".join(second.split())
    for one in ways(first):
        if isinstance(one, Way) and not one.summary and "\0" not in first and not one.tokens[0].endswith(":"):
            yield Told(Way(one.tokens, second), line, row=True)
    yield from _example(first, second, line)


def _example(description: str, code: str, line: int) -> Iterator[Told]:
    words = tokens(code)
    if words and "\0" not in code:
        yield Told(Way(tuple(words)), line, shown=description)


def _said(element: "Node", source: tsx.Source) -> str:
    """The text of an element, without that of boxes in it."""
    if element.type == "jsx_text":
        return unescape(tsx.text(element))
    if element.type == "jsx_expression":
        return "".join(source.constant(one) or "\0" for one in element.named_children)
    if element.type != "jsx_element":
        return unescape(tsx.text(element)) if element.type == "html_character_reference" else ""
    inner = [one for one in element.named_children if one.type not in {"jsx_opening_element", "jsx_closing_element"}]
    return "".join(_said(one, source) for one in inner if one.type != "jsx_element" or _tag(one) in _INLINE)


def _tag(element: "Node") -> str:
    opening = element.named_children[0]
    name = opening.child_by_field_name("name")
    return tsx.text(name) if name is not None else ""


def _of_object(node: "Node", source: tsx.Source) -> Iterator[Told | Unread | str]:
    value = _value(node, source)
    if not isinstance(value, dict) or (node.parent is not None and node.parent.type == "jsx_expression"):
        return
    key = node.parent.child_by_field_name("key") if node.parent is not None and node.parent.type == "pair" else None
    above = _key(key, source) if key is not None else None
    name = text_of(value, *NAMES) or above
    handlers = (source.function(one) for key_, one in tsx.pairs(node).items() if key_ in RUNS)
    handler = next((one for one in handlers if one is not None), None)
    summary, usage = text_of(value, *DESCRIPTIONS), text_of(value, *_USAGES)
    given = value.get("args") if isinstance(value.get("args"), str) else None
    named = any(isinstance(value.get(one), str) for one in ("command", "cmd", *_USAGES))
    if handler is not None and any(one in value and value[one] is None for one in ("command", "cmd")):
        what = "The name of a command is computed here: it was left out."
        yield Unread(f"line {tsx.line(node)}", what)
    if name and (named or handler or (above and " " in above)) and (summary or usage or handler or given):
        first = tokens(name)
        if usage and first and tokens(usage) and (tokens(usage) or [""])[0] != first[0]:
            usage = f"{name} {usage}"
        said = next((one for one in ways(usage or f"{name} {given or ''}") if isinstance(one, Way)), None)
        if said is not None:
            yield Told(
                Way(said.tokens, summary or said.summary, bool(usage or given)), tsx.line(node), True, value, handler
            )
    elif len(value) > 1 and all(isinstance(one, str) for one in value.values()) and _TELLS.search(_declared(node)):
        for command, description in value.items():
            yield from _rows(command, description, tsx.line(node))


def _declared(node: "Node") -> str:
    """The name that an object is declared by."""
    while node.parent is not None and node.type not in {"variable_declarator", "statement_block", "pair"}:
        node = node.parent
    name = node.child_by_field_name("name")
    return tsx.text(name) if name is not None else ""


def texts_of(value: Mapping[str, Any], *names: str) -> list[str]:
    found = next((value[name] for name in names if value.get(name)), None)
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str) and one.strip()]


def text_of(value: Mapping[str, Any], *names: str) -> str | None:
    return next((said.strip() for name in names if isinstance(said := value.get(name), str) and said.strip()), None)


def _value(node: "Node", source: tsx.Source, depth: int = 0) -> Any:
    """Objects, lists, texts and truths as they are written; None for all else."""
    node = tsx.bare(node)
    if depth > MAX_DEPTH:
        return None
    if node.type == "object":
        found = {}
        for one in node.named_children:
            key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
            if one.type == "method_definition":
                found[tsx.text(one.child_by_field_name("name") or one)] = _FUNCTION
            elif key is not None and value is not None and (name := _key(key, source)):
                found[name] = _value(value, source, depth + 1)
        return found
    if node.type == "array":
        return [_value(one, source, depth + 1) for one in node.named_children if one.type != "comment"]
    if node.type in {"true", "false"}:
        return node.type == "true"
    return _FUNCTION if source.function(node) is not None else source.constant(node)


def _key(key: "Node", source: tsx.Source) -> str | None:
    if key.type == "computed_property_name":
        return source.constant(key.named_children[0])
    return tsx.key_text(key)
