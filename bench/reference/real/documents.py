"""API documents resolved by another library, `jsonref`: references to other files of the folder are followed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonref  # type: ignore[import-untyped]
import yaml

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
DEEPEST = 12
"""Of a body; a required field further down is not asked for."""
ASKED = 4
"""Levels of a body down to which every field is asked for."""
PLACES = ("path", "query", "header", "cookie")
_COMPOSED = ("allOf", "oneOf", "anyOf")
_ELEMENT = re.compile(r"(?:\[\]|\*|\{[^{}]*\}|<[^<>]*>)\.?")
"""Of a list, or any key of a map, at the beginning of a path."""


class Outside(ValueError):
    """A reference that leads out of the folder of the document."""


@dataclass(frozen=True)
class Operation:
    """One method of a path, as the document has it."""

    method: str
    path: str
    """As it is called: with the path of its first server before it."""
    base: str
    said: str
    """Its summary and its description."""
    given: Mapping[tuple[str, str], bool]
    """Place and name of a parameter -> whether it is required."""
    values: Mapping[str, Any]
    """Name of a parameter -> its schema."""
    bodies: Sequence[Any]
    """The schema of each media type, JSON first."""
    body_required: bool
    secured: bool
    """Whether no call is right without authentication."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def written(self) -> str:
        """As the document writes it."""
        return f"{self.method} {self.path.removeprefix(self.base)}"

    @property
    def parameters(self) -> frozenset[str]:
        """Those that are required, headers aside: how to authenticate is told by itself."""
        return frozenset(name for (place, name), required in self.given.items() if required and place != "header")

    @cached_property
    def body(self) -> frozenset[str]:
        """Paths of fields that every request has to have: `pool.lat`, `items[].id`. None of alternatives (`oneOf`)."""
        needed = [frozenset(_required(schema, "", 0)) for schema in self.bodies if self.body_required]
        return frozenset.intersection(*needed) if needed else frozenset()

    @cached_property
    def sometimes_required(self) -> frozenset[str]:
        """Fields at the top that some body has to have: of one media type, or of one alternative."""
        return frozenset(name for schema in self.bodies for name in _all_names(schema, 0))

    @cached_property
    def fields(self) -> frozenset[str]:
        """Paths of all fields that may be sent, of every media type and alternative, down to ASKED levels."""
        return frozenset(path for schema in self.bodies for path in _paths(schema, "", (), 0))

    def has_below(self, path: str) -> bool:
        """Whether a parameter is an object or a list that has this: `filters[].scope`."""
        named = re.match(r"[^.\[]+", path)
        below = self.values.get(named[0]) if named else None
        return named is not None and path != named[0] and _has(below, path[named.end() :].removeprefix("."), 0)

    def has(self, path: str) -> bool:
        """Whether the body of any media type has this field, however deep; `body` is one without fields to send."""
        return any(_has(schema, path, 0) for schema in self.bodies) or (
            path == "body" and any(all(_read_only(one) for _, one in _properties(schema, 0)) for schema in self.bodies)
        )


def operations(document: Path) -> tuple[Operation, ...]:
    """Raises Outside, OSError and what `jsonref` raises."""
    whole = jsonref.replace_refs(
        _loaded(document), base_uri=document.resolve().as_uri(), loader=_loader(document), proxies=True, lazy_load=True
    )
    found: dict[str, Operation] = {}
    for one in _operations(whole):
        found.setdefault(one.name, one)
    return tuple(found.values())


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


def _operations(whole: Mapping[str, Any]) -> Iterator[Operation]:
    for path, item in whole["paths"].items():
        for method in METHODS:
            own = item.get(method)
            if not isinstance(own, Mapping):
                continue
            servers: Sequence[Mapping[str, Any]] = (
                own.get("servers") or item.get("servers") or whole.get("servers") or ({},)
            )
            base = urlsplit(str(servers[0].get("url", ""))).path.rstrip("/")
            security = own.get("security", whole.get("security"))
            body = own.get("requestBody") or {}
            kinds = body.get("content") or {}
            parameters = [*(item.get("parameters") or ()), *(own.get("parameters") or ())]
            yield Operation(
                method=method.upper(),
                path=f"{base}{path.partition('#')[0]}",  # nobody sends what follows: it tells variants of one apart
                base=base,
                said=f"{own.get('summary') or ''} {own.get('description') or ''}",
                given=dict(_given(f"{base}{path}", parameters)),
                values={one["name"]: _schema(one) for one in parameters},
                bodies=[kinds[one].get("schema") for one in sorted(kinds, key=lambda one: "json" not in one)],
                body_required=bool(body.get("required")),
                secured=bool(security) and all(security),
            )


def _given(path: str, parameters: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], bool]]:
    """An object of the query is sent as its properties; what stands in the path or the server is always sent."""
    for one in parameters:
        yield (one["in"], one["name"]), bool(one.get("required"))
        if one["in"] == "query":
            for name, _ in _properties(_schema(one), 0):
                yield ("query", name if one.get("style") != "deepObject" else f"{one['name']}[{name}]"), False
    for name, _ in parse_qsl(urlsplit(path).query):
        yield ("query", name), True
    yield from ((("path", name), True) for name in re.findall(r"\{(\w+)\}", path))


def _schema(parameter: Mapping[str, Any]) -> Any:
    contents = parameter.get("content") or {}
    return parameter.get("schema") or next((one.get("schema") for one in contents.values()), None)


def _read_only(schema: Any) -> bool:
    return isinstance(schema, Mapping) and bool(
        schema.get("readOnly") or any(_read_only(part) for part in schema.get("allOf") or ())
    )


def _required(schema: Any, before: str, depth: int) -> Iterator[str]:
    """Fields without which no request is right, and fields of those. One that can only be read, or that is nowhere
    described, is none."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return
    for part in schema.get("allOf") or ():
        yield from _required(part, before, depth + 1)
    properties = dict(_properties(schema, depth, ("allOf",)))
    for name in _names(schema):
        below = properties.get(name)
        if name not in properties or _read_only(below):
            continue
        path = f"{before}.{name}" if before else name
        yield path
        yield from _required(below, path, depth + 1)
    if isinstance(items := schema.get("items"), Mapping):
        yield from _required(items, f"{before}[]", depth + 1)


def _names(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("required")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _all_names(schema: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST or not isinstance(schema, Mapping):
        return
    yield from _names(schema)
    for word in _COMPOSED:
        for part in schema.get(word) or ():
            yield from _all_names(part, depth + 1)


def _properties(schema: Any, depth: int, through: Sequence[str] = _COMPOSED) -> Iterator[tuple[str, Any]]:
    if depth > DEEPEST or not isinstance(schema, Mapping):
        return
    for word in through:
        for part in schema.get(word) or ():
            yield from _properties(part, depth + 1, through)
    properties = schema.get("properties")
    yield from properties.items() if isinstance(properties, Mapping) else ()


def _values(schema: Any, words: Sequence[str], depth: int = 0) -> Iterator[Any]:
    """Schemas of the elements of a list (`items`), and of the values of a map."""
    if depth > DEEPEST or not isinstance(schema, Mapping):
        return
    yield from (schema[word] for word in words if isinstance(schema.get(word), Mapping))
    for word in _COMPOSED:
        for part in schema.get(word) or ():
            yield from _values(part, words, depth + 1)


def _paths(schema: Any, before: str, above: tuple[int, ...], level: int) -> Iterator[str]:
    """Those below a schema that contains itself are its own once."""
    here = id(getattr(schema, "__subject__", schema))
    if level >= ASKED or here in above:
        return
    for name, below in _properties(schema, 0):
        if not _read_only(below):
            path = f"{before}.{name}" if before else name
            yield path
            yield from _paths(below, path, (*above, here), level + 1)
    for one in _values(schema, ("items",)):
        yield from _paths(one, f"{before}[]", (*above, here), level)


def _has(schema: Any, path: str, depth: int) -> bool:
    """`items[].sku` of a list, `labels.*` or `labels.<key>` of a map."""
    if depth > 4 * DEEPEST:
        return False
    for name, below in _properties(schema, 0):
        if path == name:
            return True
        if path.startswith((f"{name}.", f"{name}[")) and _has(below, path[len(name) :].removeprefix("."), depth + 1):
            return True
    element = _ELEMENT.match(path)
    rest = path[element.end() :] if element else ""
    values = _values(schema, ("items", "additionalProperties")) if element else ()
    return path in _all_names(schema, 0) or any(not rest or _has(one, rest, depth + 1) for one in values)
