"""What a model of arguments expects, in the few terms that forgiving needs. Built once for each model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

MAX_DEPTH = 8
"""Of nested models; beyond it anything goes, and the model itself decides."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One value. No kinds: anything."""

    kinds: frozenset[str] = frozenset()
    """`string`, `integer`, `number`, `boolean`, `array`, `object`."""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    items: "Shape | None" = None
    fields: "Mapping[str, Shape]" = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    free: bool = False
    """An object that takes whatever names."""

    def only(self, *kinds: str) -> bool:
        return bool(self.kinds) and self.kinds <= set(kinds)


@lru_cache(maxsize=256)
def shape_of(model: type[BaseModel]) -> Shape:
    """Names are those of the outside, in the order of the model."""
    schema = model.model_json_schema(by_alias=True)
    return _shape(schema, schema.get("$defs", {}), 0)


def _shape(node: Any, definitions: Mapping[str, Any], depth: int) -> Shape:
    if not isinstance(node, Mapping) or depth > MAX_DEPTH:
        return Shape()
    if (reference := node.get("$ref")) is not None:
        return _shape(definitions.get(reference.rpartition("/")[2]), definitions, depth + 1)
    options = [one for key in ("anyOf", "oneOf", "allOf") for one in node.get(key, ())]
    if options:
        return _joined([_shape(one, definitions, depth + 1) for one in options if one.get("type") != "null"])
    kind = node.get("type")
    properties = node.get("properties", {})
    return Shape(
        kinds=frozenset([kind] if isinstance(kind, str) else []),
        choices=_choices(node),
        minimum=node.get("minimum", node.get("exclusiveMinimum")),
        maximum=node.get("maximum", node.get("exclusiveMaximum")),
        items=_shape(node["items"], definitions, depth + 1) if "items" in node else None,
        fields={name: _shape(one, definitions, depth + 1) for name, one in properties.items()},
        required=frozenset(node.get("required", ())),
        free=kind == "object" and node.get("additionalProperties", not properties) is not False,
    )


def _choices(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The valid texts; choices of another type are the model's to check."""
    values = node.get("enum", [node["const"]] if "const" in node else [])
    return tuple(values) if all(isinstance(one, str) for one in values) else ()


def _joined(shapes: list[Shape]) -> Shape:
    """Any of them: an open one makes all open."""
    if len(shapes) == 1:
        return shapes[0]
    if any(not one.kinds for one in shapes):
        return Shape()
    return Shape(
        kinds=frozenset().union(*(one.kinds for one in shapes)),
        choices=tuple(choice for one in shapes for choice in one.choices) if all(one.choices for one in shapes) else (),
        minimum=next((one.minimum for one in shapes if one.minimum is not None), None),
        maximum=next((one.maximum for one in shapes if one.maximum is not None), None),
        items=next((one.items for one in shapes if one.items is not None), None),
        fields=next((one.fields for one in shapes if one.fields), {}),
        required=next((one.required for one in shapes if one.fields), frozenset()),
        free=any(one.free for one in shapes),
    )
