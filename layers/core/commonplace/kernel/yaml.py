"""YAML that others wrote, as plain values with their lines: bounded, and nothing in it can act.

Built from parser events, as frontmatter is: nothing is resolved but null, true, false and plain decimal numbers, so
that dates, versions and `0755` stay text. Anchors, aliases, tags and repeated keys are refused, and the reading stops
at the first value too many or too deep, before it is built. The parser runs in C and nothing recurses.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

Reason = Literal["syntax", "half-character", "documents", "values", "reference", "depth", "duplicate", "key"]
"""Why a text was refused: no YAML, a lone surrogate, more than one document, too many values, an anchor, alias or tag,
nested too deeply, a key given twice, a key that is no scalar."""

Place = tuple[str | int, ...]
"""Keys and indexes from the root to a value."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,15})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,15})\.[0-9]{1,20}\Z")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class YamlError(Exception):
    """The text is no YAML that is accepted. Neither reason nor line carries a piece of it."""

    def __init__(self, reason: Reason, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        """1-based."""


@dataclass(frozen=True, slots=True)
class Parsed:
    value: Any
    lines: Mapping[Place, int] = field(default_factory=dict)
    """1-based; of the key for a member of a mapping."""


def read(text: str, *, max_depth: int, max_values: int, lines_to_depth: int = 0) -> Parsed:
    """Raises YamlError. `lines_to_depth`: how long the places are whose lines are kept."""
    import yaml

    try:
        return _Builder(max_depth, max_values, lines_to_depth).build(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise YamlError("syntax", mark.line + 1 if mark is not None else None) from None
    except UnicodeEncodeError:
        raise YamlError("half-character") from None


class _Builder:
    """Puts values together from events, with a stack of open collections instead of recursion."""

    def __init__(self, max_depth: int, max_values: int, lines_to_depth: int) -> None:
        from yaml import events

        self._events = events
        self._max_depth = max_depth
        self._max_values = max_values
        self._lines_to_depth = lines_to_depth
        self._lines: dict[Place, int] = {}
        self._root: Any = None
        self._open: list[dict[str, Any] | list[Any]] = []
        self._key: list[str | None] = []
        """Of each open collection: the key whose value comes next."""
        self._places: list[Place] = []
        """Of each open collection."""
        self._values = 0
        self._documents = 0

    def build(self, text: str) -> Parsed:
        import yaml

        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, self._events.NodeEvent):
                self._node(event)
            elif isinstance(event, self._events.CollectionEndEvent):
                self._open.pop()
                self._key.pop()
                self._places.pop()
            elif isinstance(event, self._events.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise YamlError("documents", _line(event))
        return Parsed(self._root, self._lines)

    def _node(self, event: "Event") -> None:
        self._values += 1
        if self._values > self._max_values:
            raise YamlError("values", _line(event))
        if isinstance(event, self._events.AliasEvent) or getattr(event, "anchor", None) or _tagged(event):
            raise YamlError("reference", _line(event))
        if isinstance(event, self._events.ScalarEvent):
            self._scalar(event)
            return
        if len(self._open) >= self._max_depth:
            raise YamlError("depth", _line(event))
        value: dict[str, Any] | list[Any] = {} if isinstance(event, self._events.MappingStartEvent) else []
        place = self._put(value, event)
        self._open.append(value)
        self._key.append(None)
        self._places.append(place)

    def _scalar(self, event: "ScalarEvent") -> None:
        inside = self._open[-1] if self._open else None
        if not isinstance(inside, dict) or self._key[-1] is not None:
            self._put(resolved(event), event)
            return
        if event.value in inside:
            raise YamlError("duplicate", _line(event))
        self._key[-1] = event.value
        # Taken here: a value may begin lines below its key.
        self._keep_line((*self._places[-1], event.value), event)

    def _put(self, value: Any, event: "Event") -> Place:
        """The place of the value that was put where it belongs."""
        if not self._open:
            self._root = value
            return ()
        inside, key = self._open[-1], self._key[-1]
        if isinstance(inside, list):
            place = (*self._places[-1], len(inside))
            inside.append(value)
            self._keep_line(place, event)
            return place
        if key is None:
            raise YamlError("key", _line(event))
        inside[key] = value
        self._key[-1] = None
        return (*self._places[-1], key)

    def _keep_line(self, place: Place, event: "Event") -> None:
        line = _line(event)
        if len(place) <= self._lines_to_depth and line is not None:
            self._lines[place] = line


def _line(event: "Event") -> int | None:
    mark = event.start_mark
    return mark.line + 1 if mark is not None else None


def _tagged(event: "Event") -> bool:
    return getattr(event, "tag", None) is not None


def resolved(event: "ScalarEvent") -> Any:
    """The value of a scalar. Quoted ones are text, always."""
    text = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text
