"""Frontmatter as YAML 1.2 core, read from parser events: small, strict, and with the lines of its fields.

Nothing is resolved but null, true/false and plain decimal numbers, so dates, times, `yes`, `on` and `0755` stay
strings. Anchors, aliases, tags, duplicate keys, keys that are not scalars and deep nesting are refused. Building from
events keeps the parser in C, never recurses, and stops at the depth limit before a deeper value exists.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from commonplace.repository.problems import Problem

MAX_DEPTH = 8
_SAFE_INTEGER = 2**53 - 1
"""Beyond this, JSON readers round: such numbers (ids, mostly) stay text."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+\Z")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

# libyaml's own words, and what they mean to someone who writes Markdown. Anything else is reported without words,
# so that no message of a parser can ever carry a piece of the file.
_MENDING = {
    "mapping values are not allowed in this context": "put quotes around a value that contains `: `",
    "could not find expected ':'": "write `name: value`, and close the frontmatter with a line `---` before the text",
    "did not find expected key": "check the quotes and the indentation of this field and the one before it",
    "did not find expected <document start>": "write `name: value`, and close the frontmatter before the text",
    "found character that cannot start any token": "put quotes around the value, and indent with spaces, not tabs",
    "found unexpected end of stream": "a quote or bracket is never closed",
    "did not find expected ',' or ']'": "close the list with `]`, or put quotes around the value",
    "did not find expected ',' or '}'": "close the mapping with `}`, or put quotes around the value",
    "did not find expected node content": "put quotes around the value",
    "did not find expected '-' indicator": "start every line of the list with `- `, at the same indentation",
    "block sequence entries are not allowed in this context": "start the list on a line of its own",
    "found unknown escape character": "use single quotes, or write `\\\\` for a backslash",
}


class FrontmatterError(Exception):
    """The block is no mapping that we accept. The problem's lines count from 1 at the first line of the block."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


@dataclass(slots=True)
class Mapping:
    """The top-level fields: their values, where they stand, and the numbers and booleans as they were written."""

    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    authored: dict[str, str] = field(default_factory=dict)


def read_mapping(block: str) -> Mapping:
    """Reads a block (line ends normalised to LF). Raises FrontmatterError."""
    try:
        return _Builder().build(yaml.parse(block, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise FrontmatterError(_malformed(error)) from None


class _Builder:
    """Puts values together from events, with a stack of open collections instead of recursion."""

    def __init__(self) -> None:
        self._mapping = Mapping()
        self._open: list[dict[str, Any] | list[Any]] = []
        self._key: str | None = None
        self._documents = 0

    def build(self, events: Iterator[Event]) -> Mapping:
        for event in events:
            if isinstance(event, NodeEvent):
                self._node(event)
            elif isinstance(event, CollectionEndEvent):
                self._open.pop()
                self._key = None
            elif isinstance(event, DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise _refused("malformed-frontmatter", "the frontmatter holds more than one document", event)
        return self._mapping

    def _node(self, event: NodeEvent) -> None:
        _refuse_references(event)
        if not self._open:
            self._open_root(event)
        elif self._expects_key():
            self._take_key(event)
        elif isinstance(event, ScalarEvent):
            self._scalar(event)
        elif isinstance(event, CollectionStartEvent):
            self._start(event)

    def _open_root(self, event: NodeEvent) -> None:
        """An empty block is an empty mapping; any other root than a mapping is refused."""
        if isinstance(event, MappingStartEvent):
            self._open.append(self._mapping.values)
        elif not (isinstance(event, ScalarEvent) and _resolve(event) is None):
            raise _refused("not-a-mapping", "the frontmatter is not a list of fields", event, "write `name: value`")

    def _expects_key(self) -> bool:
        return isinstance(self._open[-1], dict) and self._key is None

    def _take_key(self, event: NodeEvent) -> None:
        container = self._open[-1]
        if not isinstance(event, ScalarEvent):
            hint = "put quotes around values that begin with `{` or `[`"
            raise _refused("malformed-frontmatter", "a field's name is a collection", event, hint)
        if event.value in container:
            raise _refused("duplicate-key", "a field is given twice", event, "keep one of them", event.value)
        self._key = event.value
        if len(self._open) == 1:
            self._mapping.lines[event.value] = _position(event)[0]

    def _scalar(self, event: ScalarEvent) -> None:
        value = _resolve(event)
        if len(self._open) == 1 and self._key is not None and isinstance(value, bool | int | float):
            self._mapping.authored[self._key] = event.value
        self._put(value)
        self._key = None

    def _start(self, event: CollectionStartEvent) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _refused("nested-too-deeply", f"the frontmatter nests deeper than {MAX_DEPTH} levels", event)
        value: dict[str, Any] | list[Any] = {} if isinstance(event, MappingStartEvent) else []
        self._put(value)
        self._open.append(value)
        self._key = None

    def _put(self, value: Any) -> None:
        container = self._open[-1]
        if isinstance(container, list):
            container.append(value)
        elif self._key is not None:
            container[self._key] = value


def _refuse_references(event: NodeEvent) -> None:
    if isinstance(event, AliasEvent) or event.anchor is not None:
        hint = "write the value out; put quotes around one that begins with `&` or `*`"
        raise _refused("malformed-frontmatter", "anchors and aliases are not allowed", event, hint)
    tag = getattr(event, "tag", None)
    if tag is not None and tag != "!":
        hint = "put quotes around a value that begins with `!`"
        raise _refused("malformed-frontmatter", "tags are not allowed", event, hint)


def _resolve(event: ScalarEvent) -> Any:
    """The value of a scalar. Quoted ones are strings, always."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.match(text) and abs(int(text)) <= _SAFE_INTEGER:
        return int(text)
    if _FLOAT.match(text) and math.isfinite(number := float(text)):
        return number
    return text


def _position(event: Event) -> tuple[int, int]:
    """Line and column of the block, both from 1."""
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _refused(
    code: str, message: str, event: Event, hint: str | None = None, name: str | None = None
) -> FrontmatterError:
    line, column = _position(event)
    return FrontmatterError(Problem(code, message, hint, line, column, name))


def _malformed(error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    hint = _MENDING.get(getattr(error, "problem", None) or "", "put quotes around values with special characters")
    return Problem(
        "malformed-frontmatter",
        "the frontmatter is not valid YAML",
        hint,
        mark.line + 1 if mark else None,
        mark.column + 1 if mark else None,
    )
