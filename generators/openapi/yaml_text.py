"""An API document written as YAML: aliases are understood, and cannot become more than they are.

Built from parser events with a stack, so that nothing recurses; the parser is the one in C. An alias is the very value
that its anchor named, never a copy, and counts as many values as that has: an alias bomb is refused at the bound before
anything walks it. Scalars are those of YAML 1.2 core, so that dates, versions and `no` stay text.
"""

from typing import TYPE_CHECKING, Any

from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.kernel.yaml import resolved

if TYPE_CHECKING:
    from yaml.events import AliasEvent, ScalarEvent

MERGE = "<<"


def read(text: str, *, max_depth: int, max_values: int) -> Any:
    """The one document of the text. Raises InvalidInput, and TooLarge for more values than are read."""
    import yaml

    try:
        return _Builder(max_depth, max_values).build(text)
    except yaml.YAMLError as error:
        raise _refused("The YAML cannot be read", getattr(error, "problem_mark", None)) from None
    except UnicodeEncodeError:
        raise InvalidInput("The YAML holds half a character.", hint="Save it as UTF-8.") from None


class _Open:
    """A collection that is not closed yet."""

    __slots__ = ("anchor", "key", "size", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.size = 1


class _Builder:
    def __init__(self, max_depth: int, max_values: int) -> None:
        from yaml import events

        self._events = events
        self._max_depth = max_depth
        self._max_values = max_values
        self._root: Any = None
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        """Name -> the value, and how many values it holds with all that its aliases stand for."""
        self._values = 0
        self._documents = 0

    def build(self, text: str) -> Any:
        import yaml

        events = self._events
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, events.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, events.CollectionStartEvent):
                self._start(event)
            elif isinstance(event, events.CollectionEndEvent):
                self._end()
            elif isinstance(event, events.AliasEvent):
                self._alias(event)
            elif isinstance(event, events.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    raise _refused("The YAML holds more than one document", event.start_mark)
        return self._root

    def _start(self, event: Any) -> None:
        if len(self._open) >= self._max_depth:
            raise _refused(f"The YAML is nested deeper than {self._max_depth} levels", event.start_mark)
        if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None:
            raise _refused("The YAML has a collection for a key", event.start_mark)
        value: dict[str, Any] | list[Any] = {} if isinstance(event, self._events.MappingStartEvent) else []
        self._open.append(_Open(value, event.anchor))

    def _end(self) -> None:
        closed = self._open.pop()
        if isinstance(closed.value, dict) and MERGE in closed.value:
            _merge(closed.value)
        if closed.anchor:
            self._anchors[closed.anchor] = (closed.value, closed.size)
        self._put(closed.value, closed.size)

    def _scalar(self, event: "ScalarEvent") -> None:
        inside = self._open[-1] if self._open else None
        if inside is not None and isinstance(inside.value, dict) and inside.key is None:
            if event.value in inside.value:
                raise _refused("The YAML gives a key twice", event.start_mark)
            inside.key = event.value
            return
        value = resolved(event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, 1)

    def _alias(self, event: "AliasEvent") -> None:
        """Of what is closed: an alias to what it stands in would be a value without an end."""
        if event.anchor not in self._anchors:
            raise _refused("The YAML has an alias of nothing, or of what it stands in", event.start_mark)
        value, size = self._anchors[event.anchor]
        if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None:
            raise _refused("The YAML has an alias for a key", event.start_mark)
        self._put(value, size)

    def _put(self, value: Any, size: int) -> None:
        self._values += 1
        if not self._open:
            self._root = value
            return
        inside = self._open[-1]
        inside.size += size
        if max(self._values, inside.size) > self._max_values:
            raise TooLarge(
                f"The YAML holds more than {self._max_values:,} values, its aliases written out.",
                hint="Take out aliases of aliases, or cut the document into several.",
            )
        if isinstance(inside.value, list):
            inside.value.append(value)
        elif inside.key is not None:
            inside.value[inside.key] = value
            inside.key = None


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


def _refused(what: str, mark: Any) -> InvalidInput:
    """The place is told and never the text: a parser's own words may carry a piece of it."""
    where = f" (line {mark.line + 1})" if mark is not None else ""
    return InvalidInput(f"{what}{where}.", hint="Mend the document, or write it as JSON.")
