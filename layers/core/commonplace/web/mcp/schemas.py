"""JSON Schemas of tools as lists carry them: 2020-12, nothing a model pays for without use."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from commonplace.web.mcp.declaration import Tool

_DEFINITIONS = "#/$defs/"
_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")
"""Keywords whose value maps names to schemas: a name is not a keyword, even if it reads `title`."""


def input_schema(tool: Tool) -> dict[str, Any]:
    """What a call may hold. Models see it with every conversation, so notes on parsing stay out of it."""
    given = tool.input_schema
    schema = dict(given if given is not None else _of(tool.arguments))
    schema.setdefault("type", "object")
    schema.setdefault("properties", {})
    schema.setdefault("additionalProperties", False)
    return schema


def output_schema(tool: Tool) -> dict[str, Any] | None:
    """What `structuredContent` holds; absent values are left out, so nothing with a default is required."""
    if tool.output is None:
        return None
    schema = dict(_of(tool.output))
    if tool.verbatim:
        schema["properties"] = {name: one for name, one in schema["properties"].items() if name != "notes"}
    return schema


@cache
def _of(model: type[BaseModel]) -> Mapping[str, Any]:
    """Made once: it takes milliseconds, and a client asks for every tool's whenever it connects."""
    return compact_schema(model.model_json_schema(by_alias=True, mode="validation"))


def compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles, docstrings of models, null defaults and alternatives; definitions inlined where it is shorter."""
    definitions = {name: _model(one) for name, one in schema.get("$defs", {}).items()}
    bare: dict[str, Any] = _model({key: value for key, value in schema.items() if key != "$defs"})
    while chosen := next((name for name in definitions if _better_inline(name, bare, definitions)), None):
        body = definitions.pop(chosen)
        bare = _inlined(bare, chosen, body)
        definitions = {name: _inlined(one, chosen, body) for name, one in definitions.items()}
    return bare | ({"$defs": definitions} if definitions else {})


def _model(schema: Mapping[str, Any]) -> Any:
    """A model's own description is its docstring, written for who reads the code; those of its fields stay."""
    return _plain({key: value for key, value in schema.items() if key != "description"})


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            kept[key] = {name: _plain(one) for name, one in value.items()}
        elif key in ("const", "enum", "examples", "default"):
            kept |= {} if key == "default" and value in (None, [], {}, "") else {key: value}
        elif not (key == "title" and isinstance(value, str)):
            kept[key] = _plain(value)
    return _without_null(kept)


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """`X or null` is X: absence says null here, and null is taken for absence."""
    options = node.get("anyOf")
    if not isinstance(options, list) or {"type": "null"} not in options:
        return node
    rest = [one for one in options if one != {"type": "null"}]
    outside = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest[0], **outside} if len(rest) == 1 else {"anyOf": rest, **outside}


def _references(node: Any, name: str) -> int:
    if isinstance(node, list):
        return sum(_references(one, name) for one in node)
    if not isinstance(node, dict):
        return 0
    return (node.get("$ref") == _DEFINITIONS + name) + sum(_references(one, name) for one in node.values())


def _better_inline(name: str, bare: Any, definitions: Mapping[str, Any]) -> bool:
    body = definitions[name]
    if any(_references(body, other) for other in definitions):
        return False
    uses = _references(bare, name) + sum(_references(one, name) for one in definitions.values())
    size, reference = len(json.dumps(body)), len(json.dumps({"$ref": _DEFINITIONS + name}))
    return uses * size <= uses * reference + size + len(name) + 6


def _inlined(node: Any, name: str, body: Any) -> Any:
    if isinstance(node, list):
        return [_inlined(one, name, body) for one in node]
    if not isinstance(node, dict):
        return node
    told = {key: _inlined(one, name, body) for key, one in node.items() if key != "$ref"}
    if "$ref" not in node:
        return told
    return {**body, **told} if node["$ref"] == _DEFINITIONS + name else {"$ref": node["$ref"], **told}
