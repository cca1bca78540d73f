"""Schemas in a few lines: what type a value has, what bounds it, which properties an object has."""

import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generators.openapi.credentials import masked, secret
from generators.openapi.operation_reader import Reader, listed
from generators.openapi.pointers import ANNOTATIONS, Pointers
from generators.openapi.texts import code, line

MAX_DEPTH = 3
MAX_VARIANTS = 4
MAX_LOOKED = 60
"""Properties, or variants, of one schema that are looked at."""
MAX_ENUM = 12
MAX_COMPOSED = 32
"""Schemas that are looked into for the properties of one."""

ALONE = ANNOTATIONS | {"$ref"}
"""Keys of a reference that adds no properties to what it leads to (they may, since 3.1)."""

_LIMITS = (
    ("minimum", "≥ {}"),
    ("exclusiveMinimum", "> {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("multipleOf", "multiple of {}"),
)


@dataclass(slots=True)
class Shape:
    """An object's properties, those of everything that it is composed of included."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    """In the order in which the document requires them."""
    variants: list[Any] = field(default_factory=list)
    """Of `oneOf` and `anyOf`."""
    ordered: tuple[str, ...] = ()
    """Required ones first, as the document has them; then the others by name."""
    broken: tuple[Any, ...] = ()
    """Parts whose references lead nowhere."""
    visible: dict[str, list[str]] = field(default_factory=dict)
    """What `visible` said before."""


def shape(schema: Any, reader: Reader) -> Shape:
    """`allOf` joined; circles are cut. Made once of what has a name, and what is broken in it is told each time."""
    ref = reader.pointers.follow(schema).ref
    ref = ref if ref and schema.keys() <= ALONE else None
    found = reader.known.get(ref) if ref else None
    if not isinstance(found, Shape):
        found = _shape(schema, reader.pointers)
        if ref:
            reader.known[ref] = found
    for one in found.broken:
        reader.follow(one)
    return found


def _shape(schema: Any, pointers: Pointers) -> Shape:
    found, seen, broken = Shape(), set[str](), []
    waiting: deque[Any] = deque([schema])
    for _ in range(MAX_COMPOSED):
        if not waiting:
            break
        one = waiting.popleft()
        followed = pointers.follow(one)
        if followed.problem:
            broken.append(one)
        if followed.ref in seen or not isinstance(followed.value, dict):
            continue
        if followed.ref:
            seen.add(followed.ref)
        _join(found, followed.value)
        waiting.extend(listed(followed.value.get("allOf"))[:MAX_COMPOSED])
        if followed.ref and not one.keys() <= ALONE:
            waiting.append({key: value for key, value in one.items() if key != "$ref"})
    first = tuple(name for name in found.required if name in found.properties)
    found.ordered = first + tuple(sorted(found.properties.keys() - set(first)))
    found.broken = tuple(broken)
    return found


def _join(found: Shape, schema: Mapping[str, Any]) -> None:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name in properties:
            found.properties.setdefault(name, properties[name])
    found.required |= {one: None for one in listed(schema.get("required")) if isinstance(one, str)}
    found.variants += listed(schema.get("oneOf")) + listed(schema.get("anyOf"))


def visible(found: Shape, reader: Reader, hidden: str) -> list[str]:
    """Names of the properties that are sent, or that come back: those that `readOnly` or `writeOnly` does not hide."""
    if hidden not in found.visible:
        names = found.ordered[:MAX_LOOKED]
        found.visible[hidden] = [one for one in names if not _hidden(found.properties[one], reader, hidden)]
    return found.visible[hidden]


def _hidden(schema: Any, reader: Reader, hidden: str) -> bool:
    value = reader.pointers.follow(schema).value
    return isinstance(value, dict) and value.get(hidden) is True


def label(schema: Any, reader: Reader, depth: int = 0) -> str:
    """The type in a few words: `array of User`, `string (date-time) or null`."""
    followed = reader.follow(schema)
    value = followed.value
    if not isinstance(value, dict):
        return "nothing" if value is False else "any"
    if depth > MAX_DEPTH:
        return _named(followed.name) or "object"
    told = _label(value, followed.name, reader, depth)
    return f"{told} or null" if value.get("nullable") is True and not told.endswith("null") else told


def _label(schema: Mapping[str, Any], name: str | None, reader: Reader, depth: int) -> str:
    variants = listed(schema.get("oneOf")) or listed(schema.get("anyOf"))
    if variants and not schema.get("properties"):
        return _either((label(one, reader, depth + 1) for one in variants[:MAX_VARIANTS]), len(variants) - MAX_VARIANTS)
    kinds = types(schema)
    return _either((_kind(one, schema, name, reader, depth) for one in kinds), 0)


def _kind(kind: str, schema: Mapping[str, Any], name: str | None, reader: Reader, depth: int) -> str:
    if kind == "array":
        return f"array of {label(schema.get('items', {}), reader, depth + 1)}"
    if kind == "object":
        return _object(schema, name, reader, depth)
    given = schema.get("format")
    told = line(given, 30)
    return f"{kind} ({told})" if told else kind


def _object(schema: Mapping[str, Any], name: str | None, reader: Reader, depth: int) -> str:
    inner = schema.get("additionalProperties")
    if isinstance(inner, dict) and inner and not schema.get("properties"):
        return f"map of {label(inner, reader, depth + 1)}"
    composed = listed(schema.get("allOf"))
    if not name and len(composed) == 1 and not schema.get("properties"):
        return label(composed[0], reader, depth + 1)
    return _named(name) or "object"


def types(schema: Mapping[str, Any]) -> list[str]:
    """Of a schema, said or to be seen. `any` for one that says nothing."""
    given = schema.get("type")
    said = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]
    if said:
        return [line(one, 30) or "any" for one in said]
    if isinstance(schema.get("properties"), dict) or schema.get("allOf") or schema.get("additionalProperties"):
        return ["object"]
    if "items" in schema:
        return ["array"]
    values = [schema["const"]] if "const" in schema else listed(schema.get("enum"))[:MAX_ENUM]
    return list(dict.fromkeys(_type_of(one) for one in values)) or ["any"]


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    names: tuple[tuple[type, str], ...] = ((str, "string"), (int, "integer"), (float, "number"), (list, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def _either(labels: Iterable[str], more: int) -> str:
    found = list(dict.fromkeys(labels))
    if more > 0:
        found.append(f"{more} more")
    return " or ".join(found) or "any"


def _named(name: str | None) -> str:
    return code(name, 60) if name else ""


def limits(schema: Any, reader: Reader, name: str = "") -> list[str]:
    """What bounds a value, and its default: `one of …`, `≤ 100`, `default 20`. Never of a credential."""
    followed = reader.follow(schema).value
    if not isinstance(followed, dict) or secret(name) or name.lower() in reader.secret_names:
        return []
    inner = reader.follow(followed.get("items")).value
    found = _values(followed, "one of") or (_values(inner, "items: one of") if isinstance(inner, dict) else [])
    found += [text.format(written(followed[key])) for key, text in _LIMITS if _bounds(followed.get(key))]
    if isinstance(followed.get("pattern"), str) and followed["pattern"]:
        found.append(f"pattern {code(followed['pattern'], 60)}")
    if "default" in followed and followed["default"] not in (None, "", [], {}):
        found.append(f"default {code(written(masked(followed['default'], name)), 60)}")
    return found


def _bounds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _values(schema: Mapping[str, Any], said: str) -> list[str]:
    if "const" in schema:
        return [f"always {code(written(schema['const']), 60)}"]
    values = listed(schema.get("enum"))
    if not values:
        return []
    shown = ", ".join(code(written(masked(one)), 60) for one in values[:MAX_ENUM] if one is not None)
    return [f"{said} {shown}" + (f" and {len(values) - MAX_ENUM} more" if len(values) > MAX_ENUM else "")]


def written(value: Any) -> str:
    """A value of JSON in one line; the same whatever the order of its keys."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
