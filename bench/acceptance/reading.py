"""A Markdown file as the rules for editors say it is read, written anew: what checks must not be what is checked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent

Gate = Literal["published", "private", "unreadable"]

MOST_BYTES = 5_000_000
MOST_FRONTMATTER_BYTES = 64_000
MOST_LEVELS = 8
MARK = b"\xef\xbb\xbf"
_TRUE, _FALSE, _NULL = {"true", "True", "TRUE"}, {"false", "False", "FALSE"}, {"", "~", "null", "Null", "NULL"}
_SAYS_PRIVATE = re.compile(rb"^publish[ \t]*:[ \t]*false[ \t\r]*$", re.MULTILINE)
_TITLE_LINE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """`unreadable`: nobody can tell, so a path that was published once may keep its last good version."""

    gate: Gate
    body: str = ""
    title: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """Every text of the frontmatter."""


def read(raw: bytes) -> Page:
    """Only an unquoted `publish: true` publishes, unless there is a `draft` other than null or false."""
    cut = _cut(raw)
    if cut is None:
        return Page("private", _text(raw))
    block, body = cut
    fields = _fields(block) if body is not None and len(raw) <= MOST_BYTES and _is_text(raw) else None
    if fields is None:
        gate: Gate = "private" if _SAYS_PRIVATE.search(block) else "unreadable"
        found = _TITLE_LINE.search(_text(block))
        return Page(gate, _text(block + (body or b"")), found[1].strip("\"'") if found else None)
    return Page(
        "published" if _is_open(fields) else "private",
        _text(body or b""),
        _title(fields.get("title")),
        tuple(dict.fromkeys(tag for text in _list(fields.get("tags"), ",") if (tag := _tag(text)))),
        tuple(_list(fields.get("aliases"), None)),
        tuple(text for node in fields.values() for text in _scalars(node)),
    )


def _cut(raw: bytes) -> tuple[bytes, bytes | None] | None:
    """Frontmatter and body; no body when the frontmatter is never closed. None: there is no frontmatter."""
    lines = raw.removeprefix(MARK).splitlines(keepends=True)
    rules = [number for number, line in enumerate(lines) if line.rstrip(b" \t\r\n") == b"---"]
    if not rules or rules[0] != 0:
        return None
    if len(rules) == 1:
        return b"".join(lines[1:]), None
    return b"".join(lines[1 : rules[1]]), b"".join(lines[rules[1] + 1 :])


def _fields(block: bytes) -> dict[str, yaml.Node] | None:
    """None for what is not plain YAML: references, tags, a name given twice, a list, too large, too deep."""
    text = _text(block).replace("\r\n", "\n").replace("\r", "\n")
    try:
        if len(block) > MOST_FRONTMATTER_BYTES or not _is_plain(text):
            return None
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return None
    if root is None or (isinstance(root, yaml.ScalarNode) and _is(root, _NULL)):
        return {}
    return _named(root) if isinstance(root, yaml.MappingNode) and _no_doubles(root) else None


def _is_plain(text: str) -> bool:
    levels = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            return False
        if isinstance(event, NodeEvent) and getattr(event, "tag", None) not in (None, "!"):
            return False
        levels += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if levels > MOST_LEVELS:
            return False
    return True


def _no_doubles(node: yaml.Node) -> bool:
    if isinstance(node, yaml.MappingNode):
        names = [key.value for key, _ in node.value]
        if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value) or len(set(names)) < len(names):
            return False
        return all(_no_doubles(value) for _, value in node.value)
    return all(map(_no_doubles, node.value)) if isinstance(node, yaml.SequenceNode) else True


def _named(root: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in root.value}


def _is_open(fields: dict[str, yaml.Node]) -> bool:
    """Other spellings of the two names can shut the gate and never open it."""
    publish = [value for name, value in fields.items() if name.strip().casefold() == "publish"]
    draft = [value for name, value in fields.items() if name.strip().casefold() == "draft"]
    if "publish" not in fields or not all(_is(value, _TRUE) for value in publish):
        return False
    return all(_is(value, _FALSE | _NULL) for value in draft)


def _is(node: yaml.Node | None, words: set[str]) -> bool:
    """Whether it is one of the words, without quotes."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in words


def _title(node: yaml.Node | None) -> str | None:
    if not isinstance(node, yaml.ScalarNode) or _is(node, _NULL):
        return None
    return " ".join(node.value.split()) or None


def _list(node: yaml.Node | None, comma: str | None) -> Iterator[str]:
    """The texts of a list; a single text stands for a list of one, or of several between commas."""
    if isinstance(node, yaml.ScalarNode):
        yield from () if _is(node, _NULL) else node.value.split(comma) if comma else [node.value]
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _list(item, None)


def _tag(text: str) -> str:
    return "-".join(" ".join(text.split()).lstrip("#").casefold().split())


def _scalars(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.ScalarNode):
        yield node.value
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _scalars(value)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
