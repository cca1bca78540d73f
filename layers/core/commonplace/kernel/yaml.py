"""A bounded parser of untrusted YAML into plain values with their lines.

Scalars are those of YAML 1.2 core without its odder numbers, so that dates, versions, `yes` and `0755` stay text.
Built from parser events with a stack: the parser is the one in C, nothing recurses, and the reading stops at the first
value too many or too deep, before it is built.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from yaml.events import AliasEvent, Event, ScalarEvent

Reason = Literal["syntax", "half-character", "documents", "values", "reference", "depth", "duplicate", "key"]
"""Why a text was refused: no YAML, a lone surrogate, more than one document, too many values, an anchor, alias or tag
(where aliases are followed: one of nothing, or of what it stands in), nested too deeply, a key given twice, a key that
is no scalar."""

Place = tuple[str | int, ...]
"""Keys and indexes from the root to a value."""

MERGE = "<<"

_SAFE_INTEGER = 2**53 - 1
"""Beyond this, JSON readers round: such numbers (ids, mostly) stay text."""
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,15})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]+\Z")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class YamlError(Exception):
    """The text is no YAML that is accepted. Nothing but `key` carries a piece of it."""

    def __init__(self, reason: Reason, mark: Any = None, *, problem: str | None = None, key: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line: int | None = mark.line + 1 if mark is not None else None
        """1-based, as is the column."""
        self.column: int | None = mark.column + 1 if mark is not None else None
        self.problem = problem
        """The parser's own words on a syntax error."""
        self.key = key
        """The one that is given twice."""


@dataclass(frozen=True, slots=True)
class Parsed:
    value: Any
    lines: Mapping[Place, int] = field(default_factory=dict)
    """1-based; of the key for a member of a mapping."""
    authored: Mapping[Place, str] = field(default_factory=dict)
    """Numbers and booleans as they were written."""
    line: int | None = None
    """The line on which the value begins."""


def read(
    text: str, *, max_depth: int, max_values: int, lines_to_depth: int = 0, follow_aliases: bool = False
) -> Parsed:
    """Raises YamlError.

    `max_values`: keys and values, those that aliases stand for counted each time. `lines_to_depth`: how long the places
    are whose lines are recorded; with 0 no authored text is recorded either. `follow_aliases`: anchors, aliases and
    merge keys are understood and tags are passed over, where they are refused otherwise.
    """
    import yaml

    try:
        return _Builder(max_depth, max_values, lines_to_depth, follow_aliases).build(text)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        if problem == "could not find expected ':'":  # noticed lines below the text that is no field
            mark = getattr(error, "context_mark", None) or mark
        raise YamlError("syntax", mark, problem=problem) from None
    except UnicodeEncodeError:
        raise YamlError("half-character") from None


@dataclass(slots=True)
class _Open:
    """A collection that is not closed yet."""

    value: dict[str, Any] | list[Any]
    place: Place
    anchor: str | None
    first: int
    """The number of values before it."""
    key: str | None = None
    """The key whose value comes next."""

    @property
    def expects_key(self) -> bool:
        return self.key is None and isinstance(self.value, dict)


class _Builder:
    def __init__(self, max_depth: int, max_values: int, lines_to_depth: int, follow_aliases: bool) -> None:
        self._max_depth = max_depth
        self._max_values = max_values
        self._lines_to_depth = lines_to_depth
        self._follow_aliases = follow_aliases
        self._root: Any = None
        self._line: int | None = None
        self._lines: dict[Place, int] = {}
        self._authored: dict[Place, str] = {}
        self._open: list[_Open] = []
        self._values = 0
        self._anchors: dict[str, tuple[Any, int]] = {}
        """Name -> the value itself, and how many values it holds with all that its aliases stand for."""

    def build(self, text: str) -> Parsed:
        import yaml

        documents = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.CollectionStartEvent():
                    value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
                    first = self._values
                    self._count(event)
                    if len(self._open) >= self._max_depth:
                        raise YamlError("depth", event.start_mark)
                    self._open.append(_Open(value, self._put(value, event), event.anchor, first))
                case yaml.CollectionEndEvent():
                    closed = self._open.pop()
                    if self._follow_aliases and isinstance(closed.value, dict) and MERGE in closed.value:
                        _merge(closed.value)
                    if closed.anchor:
                        self._anchors[closed.anchor] = (closed.value, self._values - closed.first)
                case yaml.AliasEvent():
                    self._alias(event)
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise YamlError("documents", event.start_mark)
        return Parsed(self._root, self._lines, self._authored, self._line)

    def _scalar(self, event: "ScalarEvent") -> None:
        self._count(event)
        inside = self._open[-1] if self._open else None
        if inside is not None and inside.expects_key:
            if event.value in inside.value:
                raise YamlError("duplicate", event.start_mark, key=event.value)
            inside.key = event.value
            # Taken here: a value may begin lines below its key.
            self._keep_line((*inside.place, event.value), event)
            return
        value = _resolve(event)
        place = self._put(value, event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        if isinstance(value, bool | int | float) and self._lines_to_depth:
            self._authored[place] = event.value

    def _alias(self, event: "AliasEvent") -> None:
        """The very value that its anchor named, never a copy; an alias bomb is refused before anything walks it."""
        value, size = self._anchors.get(event.anchor or "", (None, 0))
        self._count(event, size)
        if not size:
            raise YamlError("reference", event.start_mark)
        self._put(value, event)

    def _count(self, event: Any, size: int = 1) -> None:
        self._values += size
        if self._values > self._max_values:
            raise YamlError("values", event.start_mark)
        if not self._follow_aliases and (event.anchor or getattr(event, "tag", None) not in (None, "!")):
            raise YamlError("reference", event.start_mark)

    def _put(self, value: Any, event: "Event") -> Place:
        """The place of the value that was put where it belongs."""
        if not self._open:
            self._root, self._line = value, _line(event)
            return ()
        inside = self._open[-1]
        if isinstance(inside.value, list):
            place = (*inside.place, len(inside.value))
            inside.value.append(value)
            self._keep_line(place, event)
            return place
        if inside.key is None:
            raise YamlError("key", event.start_mark)
        place = (*inside.place, inside.key)
        inside.value[inside.key], inside.key = value, None
        return place

    def _keep_line(self, place: Place, event: "Event") -> None:
        if len(place) <= self._lines_to_depth:
            self._lines[place] = _line(event)


def _line(event: "Event") -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _resolve(event: "ScalarEvent") -> Any:
    """The value of a scalar. Quoted ones are text, always."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.match(text) and abs(number := int(text)) <= _SAFE_INTEGER:
        return number
    if _FLOAT.match(text) and math.isfinite(fraction := float(text)):
        return fraction
    return text


def _merge(mapping: dict[str, Any]) -> None:
    """`<<: *defaults` and lists of such; what the mapping says itself goes before."""
    given = mapping[MERGE]
    sources = given if isinstance(given, list) else [given]
    if not all(isinstance(one, dict) for one in sources):
        return
    del mapping[MERGE]
    for one in sources:
        for key, value in one.items():
            mapping.setdefault(key, value)
