"""Entries written as YAML: a list of them, or `entries:` with a list.

Built from parser events, as frontmatter is: nothing is resolved but null, true, false and plain decimal numbers, so
that dates, versions and `0755` stay text. Anchors, aliases, tags and repeated keys are refused, and the reading stops
at the first value too many or too deep, before it is built.
"""

import re
from typing import TYPE_CHECKING, Any

from commonplace.errors import InvalidInput, TooLarge
from commonplace.memory.results import MAX_IMPORT

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

MAX_BYTES = 4_000_000
MAX_DEPTH = 9
"""Of a whole text: the list, an entry, and what its metadata may hold."""
MAX_VALUES = 500_000
"""Keys and values, nested ones included: what ten thousand entries with all their fields and tags need, and more."""

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,15})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,15})\.[0-9]{1,20}\Z")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_EXAMPLE = "Write a list of entries, each beginning with `- content:`."


def read(text: str) -> list[Any]:
    """The entries as they are written, unchecked. Raises InvalidInput, and TooLarge for more than is read."""
    root = document(text)
    entries = root.get("entries") if isinstance(root, dict) else root
    if not isinstance(entries, list):
        raise InvalidInput("The YAML is no list of entries.", hint=_EXAMPLE)
    if len(entries) > MAX_IMPORT:
        raise TooLarge(f"The YAML has more than {MAX_IMPORT:,} entries.", hint="Import it in several parts.")
    return entries


def document(text: str, *, max_bytes: int = MAX_BYTES, max_values: int = MAX_VALUES) -> Any:
    """Whatever one document holds, read with the same care. Raises InvalidInput and TooLarge."""
    import yaml

    if len(text) > max_bytes or len(text.encode("utf-8", "replace")) > max_bytes:
        raise TooLarge(f"The YAML is larger than {max_bytes:,} bytes.", hint="Import it in several parts.")
    try:
        return _Builder(max_values).build(text)
    except yaml.YAMLError as error:
        raise _unreadable("The YAML cannot be read", getattr(error, "problem_mark", None)) from None
    except UnicodeEncodeError:
        raise InvalidInput("The YAML holds half a character.", hint="Send whole Unicode characters.") from None


class _Builder:
    """Puts values together from events, with a stack of open collections instead of recursion."""

    def __init__(self, max_values: int) -> None:
        self._max_values = max_values
        from yaml import events

        self._events = events
        self._root: Any = None
        self._open: list[dict[str, Any] | list[Any]] = []
        self._key: list[str | None] = []
        """Of each open collection: the key whose value comes next."""
        self._values = 0
        self._documents = 0

    def build(self, text: str) -> Any:
        import yaml

        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, self._events.NodeEvent):
                self._node(event)
            elif isinstance(event, self._events.CollectionEndEvent):
                self._open.pop()
                self._key.pop()
            elif isinstance(event, self._events.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise _unreadable("The YAML holds more than one document", event.start_mark)
        return self._root

    def _node(self, event: "Event") -> None:
        self._values += 1
        if self._values > self._max_values:
            raise TooLarge("The YAML holds too many values.", hint="Import it in several parts.")
        if isinstance(event, self._events.AliasEvent) or getattr(event, "anchor", None) or _tagged(event):
            raise _unreadable("The YAML has an anchor, an alias or a tag, which are not read", event.start_mark)
        if isinstance(event, self._events.ScalarEvent):
            self._scalar(event)
            return
        if len(self._open) >= MAX_DEPTH:
            raise _unreadable(f"The YAML is nested deeper than {MAX_DEPTH} levels", event.start_mark)
        value: dict[str, Any] | list[Any] = {} if isinstance(event, self._events.MappingStartEvent) else []
        self._put(value, event)
        self._open.append(value)
        self._key.append(None)

    def _scalar(self, event: "ScalarEvent") -> None:
        inside = self._open[-1] if self._open else None
        if not isinstance(inside, dict) or self._key[-1] is not None:
            self._put(_resolved(event), event)
            return
        if event.value in inside:
            raise _unreadable("The YAML gives a field of an entry twice", event.start_mark)
        self._key[-1] = event.value

    def _put(self, value: Any, event: "Event") -> None:
        if not self._open:
            self._root = value
            return
        inside, key = self._open[-1], self._key[-1]
        if isinstance(inside, list):
            inside.append(value)
        elif key is None:
            raise _unreadable("The YAML has a list or a mapping for a field's name", event.start_mark)
        else:
            inside[key] = value
            self._key[-1] = None


def _tagged(event: "Event") -> bool:
    return getattr(event, "tag", None) is not None


def _resolved(event: "ScalarEvent") -> Any:
    text = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _unreadable(what: str, mark: Any) -> InvalidInput:
    """The place is told and never the text: a parser's own words may carry a piece of it."""
    where = f" (line {mark.line + 1})" if mark is not None else ""
    return InvalidInput(f"{what}{where}.", hint=_EXAMPLE)
