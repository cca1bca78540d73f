"""What a console's source tells people of its commands: tables, rows of JSX, help texts, usage lines, comments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from commonplace_generators import tsx
from commonplace_generators.commands import sentence
from commonplace_generators.console_branches import RUNS
from commonplace_generators.console_usage import Way, tokens, ways
from commonplace_generators.generated import Unread
from commonplace_generators.tsx import Node

MAX_DEPTH = 8
DESCRIPTIONS = ("description", "desc", "summary", "help", "about")
_NAMES = ("command", "cmd", "name")
_USAGES = ("usage", "syntax", "use")
_BOXES = {"div", "p", "pre", "ul", "ol", "table", "tr", "td", "li", "dl", "section"}
_TOOLS = re.compile(r"eslint|@?ts-|prettier|istanbul|todo|fixme|xxx|hack|#?region|\W{3}|\W*$", re.IGNORECASE)
_NOTICE = re.compile(r"deprecat|legacy|redirect|backward|no longer", re.IGNORECASE)
_REGISTERS = re.compile(r"register|(?:command|cmd|handler)s?\.(?:set|add|on)$|add\w*command|\.command$", re.IGNORECASE)
_TELLS = re.compile(r"help|command|descri|usage", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """A way to type a command, and what stands beside it."""

    way: Way
    line: int
    row: bool = False
    """Whether it stands in a table, not in running text."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of an object: what else it says."""
    handler: Node | None = None
    """The function that stands beside it, and carries it out."""
    text: int = 0
    """Of which text it is a line; rows are all of one."""
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
    for node in source.root.walk():
        if node.type == "object" and node.parent.type != "jsx_expression":
            yield from _of_object(node, source)
        elif node.type == "jsx_element":
            yield from _of_element(node, source)
        elif node.type == "call_expression" and len(node.arguments) > 1:
            yield from _registered(node, source)
        elif node.type == "array" and node.parent.type == "array" and len(node.parts) == 2:
            yield from _row(*(source.constant(one) or "" for one in node.parts), line=node.line)
        elif node.type == "array" or (node.type in {"string", "template_string"} and node.parent.type != "array"):
            lines = node.parts if node.type == "array" else [node]
            for one in ways("\n".join(source.constant(line) or "" for line in lines)):
                if isinstance(one, Way):
                    yield Told(one, node.line, text=node.id)
                else:
                    yield Unread(f"line {node.line}", f"This usage is cut off in the middle: `{one[:200]}`")


def note(comments: str) -> Note:
    """Of the comments' own text, signs included; what is said to tools, drawn, or of an old name is left out."""
    tags: dict[str, list[str]] = {"": [""]}
    said = tags[""]
    for line in comments.splitlines():
        one = re.sub(r"^\s*(?:/\*\*?|///?|\*(?!/))|\*/\s*$", "", line).strip()
        if tag := re.match(r"@(\w+) ?(.*)", one):
            said = tags.setdefault(tag[1].casefold(), [])
            said.append(tag[2])
        elif said is not tags[""] or not one or not _TOOLS.match(one):
            said[-1] = f"{said[-1]}\n{one}".strip("\n")
    text = tags.pop("")[0].strip()
    summary = sentence((tags.get("summary") or tags.get("description") or [text.partition("\n\n")[0]])[0])
    if _NOTICE.search(summary) or len(summary.split()) < 2 or not summary[:1].isupper():
        return Note(tags=tags)
    return Note(summary, text or summary, tags)


def text_of(value: Mapping[str, Any], *names: str) -> str | None:
    return next((said.strip() for name in names if isinstance(said := value.get(name), str) and said.strip()), None)


def texts_of(value: Mapping[str, Any], *names: str) -> list[str]:
    found = next((value[name] for name in names if value.get(name)), None)
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str) and one.strip()]


def _of_element(node: Node, source: tsx.Source) -> Iterator[Told]:
    """`<tr><td>gw users list</td><td>List users</td></tr>`, `<li><strong>help</strong>: Show this</li>`."""
    inner = [one for one in node.parts if _said(one, source).strip()]
    cells = [one for one in inner if one.type == "jsx_element"]
    boxed = any(_tag(one) in _BOXES - {"td", "div"} for one in cells)
    if len(inner) < 2 or not cells or inner[0].id != cells[0].id or len(cells) > 3 or boxed:
        return
    if len(cells) == 1 or len(inner) == len(cells):
        rest = _said(cells[-1], source) if len(cells) > 1 else "".join(_said(one, source) for one in inner[1:])
        yield from _row(_said(cells[0], source), rest.lstrip(" :–—-"), line=node.line)


def _row(first: str, second: str, *, line: int) -> Iterator[Told]:
    """A way to type a command and what it does; or what an example shows, and the example."""
    first, second = " ".join(first.split()), " ".join(second.split())
    if "\0" in first + second:
        return
    for one in ways(first):
        if isinstance(one, Way) and not one.summary and not one.tokens[0].endswith(":") and " " in second:
            yield Told(Way(one.tokens, second), line, row=True)
    if words := tokens(second):
        yield Told(Way(tuple(words)), line, shown=first)


def _said(element: Node, source: tsx.Source) -> str:
    """The text of an element, without that of boxes in it; NUL stands for what is computed."""
    match element.type:
        case "jsx_text" | "html_character_reference":
            return unescape(element.text)
        case "jsx_expression":
            return "".join(source.constant(one) or "\0" for one in element.parts)
        case "jsx_element":
            return "".join(_said(one, source) for one in element.parts if _tag(one) not in _BOXES)
    return ""


def _tag(element: Node) -> str:
    return element.parts[0]["name"].text if element.type == "jsx_element" else ""


def _of_object(node: Node, source: tsx.Source) -> Iterator[Told | Unread]:
    value, key = _value(node, source), node.parent["key"]
    above = source.constant(key.parts[0] if key.type == "computed_property_name" and key.parts else key)
    handlers = (source.function(one) for run, one in node.pairs.items() if run in RUNS)
    handler = next((one for one in handlers if one), None)
    if handler and any(one in value and value[one] is None for one in ("command", "cmd")):
        yield Unread(f"line {node.line}", "The name of a command is computed here; it was skipped.")
    keyed = handler and key.type == "property_identifier" and not text_of(value, *_NAMES)
    above = key.text if keyed else above
    listed = _label(value) if node.parent.type == "array" and _TELLS.search(_declared(node)) else None
    summary, usage = text_of(value, *DESCRIPTIONS), text_of(value, *_USAGES)
    name = text_of(value, "command", "cmd") or listed or text_of(value, "name") or above or usage
    given = text_of(value, "args")
    named = handler or text_of(value, "command", "cmd", *_USAGES) or listed or (above and " " in above)
    if name and named and (summary or usage or handler or given):
        bare = usage and (tokens(usage) or [""])[0] != (tokens(name) or [""])[0]
        said = f"{name} {usage}" if bare else usage or f"{name} {given or ''}"
        if way := next((one for one in ways(said) if isinstance(one, Way)), None):
            own = Way(way.tokens, summary or way.summary, bool(usage or given))
            yield Told(own, node.line, True, value, None if keyed else handler)
    elif len(value) > 1 and all(isinstance(one, str) for one in value.values()) and _TELLS.search(_declared(node)):
        for command, description in value.items():
            yield from _row(command, description, line=node.line)


def _label(value: Mapping[str, Any]) -> str | None:
    """Return what an element of a list of commands is called, where it is called by one word."""
    called = (text_of(value, one) or "" for one in ("name", "label", "key"))
    return next((one for one in called if re.fullmatch(r"[/!.]?[a-z][\w-]*", one)), None)


def _registered(node: Node, source: tsx.Source) -> Iterator[Told]:
    """`registerCommand('dive <depth>', 'Go down', dive)`, `commands.set('dive', {description, execute})`."""
    called, (first, *others) = node["function"], node.arguments
    said, handlers = source.constant(first), [found for one in others if (found := source.function(one))]
    if not said or not _REGISTERS.search(called.text):
        return
    value = next((one for other in others if isinstance(one := _value(other, source), dict)), {})
    inner = (source.function(one) for other in others for run, one in other.bare.pairs.items() if run in RUNS)
    handler = next((one for one in (*handlers, *inner) if one), None)
    summary = next((one for other in others if (one := source.constant(other))), "")
    usage = text_of(value, *_USAGES) or text_of(value, "args") or ""
    whole = usage if usage.startswith(said) else f"{said} {usage}"
    for way in ways(whole):
        if handler and isinstance(way, Way):
            own = Way(way.tokens, text_of(value, *DESCRIPTIONS) or summary, way.text != said)
            yield Told(own, node.line, True, value, handler)


def _declared(node: Node) -> str:
    """The name that an object is declared by."""
    while node and node.type not in {"variable_declarator", "statement_block", "pair"}:
        node = node.parent
    return node["name"].text


def _value(node: Node, source: tsx.Source, depth: int = 0) -> Any:
    """Objects, lists, texts and truths as they are written; None for all else."""
    node = node.bare
    match node.type if depth < MAX_DEPTH else "":
        case "object":
            pairs = ((one["key"], one["value"]) for one in node.parts if one.type == "pair")
            inner = ((key.parts[0] if "computed" in key.type and key.parts else key, one) for key, one in pairs)
            return {source.constant(key) or key.text: _value(one, source, depth + 1) for key, one in inner}
        case "array":
            return [_value(one, source, depth + 1) for one in node.parts]
        case "true" | "false":
            return node.type == "true"
    return source.constant(node)
