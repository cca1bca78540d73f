"""API documents resolved by another library, `jsonref`: references to other files of the folder are followed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonref  # type: ignore[import-untyped]
import yaml

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
DEEPEST = 12
"""Of a body; a required field further down is not asked for."""


class Outside(ValueError):
    """A reference that leads out of the folder of the document."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of a path, as the document has it."""

    method: str
    path: str
    """As it is called: with the path of the document's first server before it."""
    base: str
    said: str
    """Its summary and its description."""
    parameters: frozenset[str]
    """Those that are required."""
    body: frozenset[str]
    """Names of fields that every request has to have, nested ones as well. None of alternatives (`oneOf`)."""
    fields: frozenset[str]
    """Names of all fields of a body that may be sent: at its top, and below a field that holds all the others."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def written(self) -> str:
        """As the document writes it."""
        return f"{self.method} {self.path.removeprefix(self.base)}"


def operations(document: Path) -> tuple[Operation, ...]:
    """Raises Outside, OSError and what `jsonref` raises."""
    whole = jsonref.replace_refs(
        _loaded(document), base_uri=document.resolve().as_uri(), loader=_loader(document), proxies=True, lazy_load=True
    )
    base = urlsplit(next((str(one.get("url", "")) for one in whole.get("servers") or ()), "")).path.rstrip("/")
    return tuple(_operations(whole, base))


def _loader(document: Path) -> Any:
    top = document.resolve().parent

    @cache
    def load(uri: str) -> Any:
        parts = urlsplit(uri)
        file = Path(unquote(parts.path)).resolve()
        if parts.scheme != "file" or not file.is_relative_to(top):
            raise Outside(uri)
        return _loaded(file)

    return load


def _loaded(file: Path) -> Any:
    raw = file.read_bytes()
    return json.loads(raw) if file.suffix == ".json" else yaml.load(raw, Loader=_Loader)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Dates stay text, as in JSON."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


def _operations(whole: Mapping[str, Any], base: str) -> Iterator[Operation]:
    for path, item in whole["paths"].items():
        for method in METHODS:
            if isinstance(item.get(method), Mapping):
                yield _operation(method.upper(), f"{base}{path}", item, item[method], base)


def _operation(method: str, path: str, item: Mapping[str, Any], own: Mapping[str, Any], base: str) -> Operation:
    given = {(one["in"], one["name"]): one for owner in (item, own) for one in owner.get("parameters") or ()}
    parameters = [name for (place, name), one in given.items() if one.get("required") and place != "header"]
    body = own.get("requestBody") or {}
    kinds = body.get("content") or {}
    first: Mapping[str, Any] = next((kinds[one] for one in sorted(kinds, key=lambda one: "json" not in one)), {})
    fields = _required(first.get("schema"), 0) if body.get("required") else []
    return Operation(
        method=method,
        path=path,
        base=base,
        said=f"{own.get('summary') or ''} {own.get('description') or ''}",
        parameters=frozenset(parameters),
        body=frozenset(fields),
        fields=frozenset(_fields(first.get("schema"))),
    )


def _required(schema: Any, depth: int) -> Iterator[str]:
    """Fields without which no request is right, and fields of those. One that can only be read is none."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return
    for part in schema.get("allOf") or ():
        yield from _required(part, depth + 1)
    properties = dict(_properties(schema, depth))
    for name in _names(schema):
        below = properties.get(name)
        if isinstance(below, Mapping) and below.get("readOnly"):
            continue
        yield name
        yield from _required(below, depth + 1)
    if isinstance(items := schema.get("items"), Mapping):
        yield from _required(items, depth + 1)


def _names(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("required")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _properties(schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    if depth > DEEPEST:
        return
    for part in schema.get("allOf") or ():
        if isinstance(part, Mapping):
            yield from _properties(part, depth + 1)
    yield from (schema.get("properties") or {}).items()


def _fields(schema: Any) -> Iterator[str]:
    """Those of every alternative as well."""
    if not isinstance(schema, Mapping):
        return
    found = [
        (name, below)
        for one in (schema, *(schema.get("oneOf") or ()), *(schema.get("anyOf") or ()))
        if isinstance(one, Mapping)
        for name, below in _properties(one, 0)
        if not (isinstance(below, Mapping) and below.get("readOnly"))
    ]
    yield from (name for name, _ in found)
    if len(found) == 1 and isinstance(found[0][1], Mapping):
        yield from (name for name, one in _properties(found[0][1], 0) if not one.get("readOnly"))
