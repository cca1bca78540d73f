"""An example of a value: the document's own, else one made from the schema, with placeholders for what is not said."""

from collections.abc import Mapping
from typing import Any

from generators.openapi.credentials import masked, placeholder, secret
from generators.openapi.operation_reader import Reader, listed, mappings
from generators.openapi.schemas import shape, types, visible

MAX_DEPTH = 5
MAX_VALUES = 60
MAX_OPTIONAL = 4
"""Properties that nothing requires, where nothing is required."""

_FORMATS = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "user@example.com",
    "uri": "https://example.com",
    "url": "https://example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.com",
}


def given(media: Mapping[str, Any], reader: Reader) -> list[tuple[str, Any]]:
    """The examples that a document gives of a body, by name, credentials masked. The unnamed one is called ``."""
    if "example" in media:
        return [("", masked(media["example"]))]
    found: list[tuple[str, Any]] = []
    for name, one in mappings(media.get("examples")):
        example = reader.mapping(one, f"The example {name[:60]}")
        if "value" in example:
            said = example.get("summary")
            found.append((said if isinstance(said, str) and said else name, masked(example["value"])))
    return found


class Sample:
    """Of one schema. Bounded in depth and in number of values, so that circles end."""

    def __init__(self, reader: Reader, *, hidden: str) -> None:
        self._reader = reader
        self._hidden = hidden
        self._left = MAX_VALUES

    def of(self, schema: Any, name: str = "", depth: int = 0) -> Any:
        self._left -= 1
        value = self._reader.follow(schema).value
        if not isinstance(value, dict):
            return placeholder(name)
        if secret(name) or name.lower() in self._reader.secret_names:
            return placeholder(name)
        said, example = _said(value)
        if said:
            return masked(example, name)
        if depth > MAX_DEPTH or self._left <= 0:
            return {} if "object" in types(value) else [] if "array" in types(value) else placeholder(name)
        return self._made(schema, value, name, depth)

    def _made(self, schema: Any, value: Mapping[str, Any], name: str, depth: int) -> Any:
        variants = listed(value.get("oneOf")) or listed(value.get("anyOf"))
        if variants and not value.get("properties"):
            first = next((one for one in variants if not self._is_null(one)), variants[0])
            return self.of(first, name, depth + 1)
        kind = next((one for one in types(value) if one != "null"), "null")
        if kind == "object":
            return self._object(schema, value, depth)
        if kind == "array":
            return [self.of(value.get("items", {}), name, depth + 1)]
        return _scalar(kind, value, name)

    def _object(self, schema: Any, value: Mapping[str, Any], depth: int) -> Any:
        composed = listed(value.get("allOf"))
        found = shape(schema, self._reader)
        if not found.properties and len(composed) == 1:
            return self.of(composed[0], "", depth + 1)
        names = visible(found, self._reader, self._hidden)
        wanted = [one for one in names if one in found.required] or names[:MAX_OPTIONAL]
        told: dict[str, Any] = {}
        for one in wanted:
            if self._left <= 0:
                break
            told[one] = self.of(found.properties[one], one, depth + 1)
        return told

    def _is_null(self, schema: Any) -> bool:
        value = self._reader.follow(schema).value
        return isinstance(value, dict) and types(value) == ["null"]


def _said(schema: Mapping[str, Any]) -> tuple[bool, Any]:
    """What the schema itself gives for an example."""
    if "example" in schema:
        return True, schema["example"]
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return True, examples[0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return True, schema[key]
    values = [one for one in listed(schema.get("enum")) if one is not None]
    return (True, values[0]) if values else (False, None)


def _scalar(kind: str, schema: Mapping[str, Any], name: str) -> Any:
    if kind in ("integer", "number"):
        least = schema.get("minimum")
        return least if isinstance(least, int | float) and not isinstance(least, bool) and least > 1 else 1
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    given_format = schema.get("format")
    return _FORMATS.get(given_format if isinstance(given_format, str) else "", placeholder(name))
