"""Records as DynamoDB items.

Attribute names are the fields' in camel case. What cannot be read as the record it should be counts as absent: a
decision never rests on half a record.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

logger = logging.getLogger(__name__)

Item = dict[str, Any]
T = TypeVar("T")


class Corrupt(Exception):
    """An item that is no record of its kind."""


def key(pk: str, sk: str) -> Item:
    return {"pk": pk, "sk": sk}


def encode(record: Any) -> Item:
    """The fields of a dataclass; None is left out where it is the default.

    A dataclass inside is JSON text: that keeps any bytes of a request's `state`.
    """
    found, needed = _values(record), _needed(type(record))
    return {_camel(name): _flat(value) for name, value in found.items() if value is not None or name in needed}


def decode(kind: type[T], item: Mapping[str, Any]) -> T:
    """Raises Corrupt unless every field is there, or has a default, and is of its type."""
    values = {name: item[_camel(name)] for name in _hints(kind) if _camel(name) in item}
    return _built(kind, values)


def decoded(kind: type[T], item: Mapping[str, Any] | None) -> T | None:
    """None for an item that is not there, and for a corrupt one, which is logged by its kind alone."""
    if not item:
        return None
    try:
        return decode(kind, item)
    except Corrupt:
        logger.error("an item cannot be read as its record", extra={"kind": kind.__name__})
        return None


def _flat(value: Any) -> Any:
    return json.dumps(_values(value), separators=(",", ":")) if is_dataclass(value) else value


def _values(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _built(kind: type[T], values: Mapping[str, Any]) -> T:
    hints, needed = _hints(kind), _needed(kind)
    if needed - values.keys():
        raise Corrupt(kind.__name__)
    return kind(**{name: _fitted(hints[name], values[name]) for name in hints if name in values})


def _fitted(hint: Any, value: Any) -> Any:
    """The value as the field's type wants it: tuples for lists, records for JSON. Raises Corrupt."""
    hint = getattr(hint, "__supertype__", hint)  # of a NewType
    if get_origin(hint) in (Union, UnionType):
        for one in get_args(hint):
            with suppress(Corrupt):
                return _fitted(one, value)
        raise Corrupt(str(get_args(hint)))
    if hint is NoneType and value is None:
        return None
    if get_origin(hint) is Literal and value in get_args(hint):
        return value
    if is_dataclass(hint) and isinstance(value, str):
        kind: Any = hint
        try:
            values = json.loads(value)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise Corrupt(kind.__name__)
        return _built(kind, values)
    if get_origin(hint) is tuple and isinstance(value, list | tuple):
        return tuple(_fitted(get_args(hint)[0], one) for one in value)
    if get_origin(hint) is not None and isinstance(value, Mapping) and get_origin(hint) is not tuple:
        inner = get_args(hint)[1]
        return {name: one if inner is Any else _fitted(inner, one) for name, one in value.items()}
    if isinstance(hint, type) and get_origin(hint) is None and type(value) is hint:
        return value
    if hint is float and type(value) is int:
        return float(value)
    raise Corrupt(str(hint))


def _hints(kind: Any) -> dict[str, Any]:
    return _shape(kind)[0]


def _needed(kind: Any) -> frozenset[str]:
    return _shape(kind)[1]


@cache
def _shape(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """The types of a dataclass's fields, and which of them have no default."""
    hints = get_type_hints(kind)
    bare = (one for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING)
    return {one.name: hints[one.name] for one in fields(kind)}, frozenset(one.name for one in bare)


@cache
def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
