"""The properties of a schema as a nested list, within a bound of lines."""

from typing import Any

from generators.openapi.operation_reader import Reader
from generators.openapi.schemas import MAX_DEPTH, MAX_LOOKED, MAX_VARIANTS, Shape, label, limits, shape, visible
from generators.openapi.texts import code, line

MAX_LINES = 30
MAX_PROPERTIES = 20
MAX_INNER = 6
"""Properties of an object within another."""


class Outline:
    """Of one schema: its own properties have their lines before those within them."""

    def __init__(self, reader: Reader, *, hidden: str, most: int = MAX_LINES) -> None:
        self._reader = reader
        self._hidden = hidden
        """`readOnly` for what is sent, `writeOnly` for what comes back."""
        self._left = most
        self._lines: list[str] = []

    def of(self, schema: Any) -> str:
        self._walk(schema, 0, frozenset(), 0)
        return "\n".join(self._lines)

    def _walk(self, schema: Any, depth: int, above: frozenset[str], kept: int) -> None:
        """`kept`: lines that are left for what comes after, further out."""
        if depth >= MAX_DEPTH or (depth and self._left <= kept):
            return
        schema = self._element(schema)
        followed = self._reader.follow(schema)
        if followed.ref in above:
            return
        above = above | {followed.ref} if followed.ref else above
        found = shape(schema, self._reader)
        names = visible(found, self._reader, self._hidden)
        shown = min(len(names), MAX_PROPERTIES if depth == 0 else MAX_INNER)
        for place, name in enumerate(names):
            if place >= shown or self._left <= kept:
                if depth == 0 or self._left > kept:
                    self._lines.append(f"{'  ' * depth}- and {max(len(found.ordered), shown) - place} more")
                return
            self._property(name, found, depth, above, kept + shown - place - 1)
        self._variants(found.variants, depth, above, kept)

    def _variants(self, variants: list[Any], depth: int, above: frozenset[str], kept: int) -> None:
        """What may be there besides: each alternative by name, with its properties if it has any."""
        described = [one for one in variants[:MAX_LOOKED] if shape(one, self._reader).properties]
        for one in described[:MAX_VARIANTS]:
            if self._left <= kept or self._reader.follow(one).ref in above:
                return
            self._left -= 1
            self._lines.append(f"{'  ' * depth}- either: {label(one, self._reader)}")
            self._walk(one, depth + 1, above, kept)

    def _property(self, name: str, found: Shape, depth: int, above: frozenset[str], kept: int) -> None:
        self._left -= 1
        schema = found.properties[name]
        value = self._reader.follow(schema).value
        sent = self._hidden == "readOnly"
        marks = (["required"] if name in found.required and sent else []) + limits(schema, self._reader, name)
        if isinstance(value, dict) and value.get("deprecated") is True:
            marks.append("deprecated")
        said = line(value.get("description"), 120) if isinstance(value, dict) else ""
        head = f"{'  ' * depth}- {code(name)} {label(schema, self._reader)}"
        self._lines.append(", ".join([head, *marks]) + (f": {said}" if said else ""))
        self._walk(schema, depth + 1, above, kept)

    def _element(self, schema: Any) -> Any:
        """What an array or a map holds: its own properties are those of its elements."""
        for _ in range(MAX_DEPTH):
            value = self._reader.follow(schema).value
            if not isinstance(value, dict) or value.get("properties"):
                break
            inner = value.get("items") if "items" in value else value.get("additionalProperties")
            if not isinstance(inner, dict):
                break
            schema = inner
        return schema
