"""Faces of records: the models that show a kind of thing, derived from the class that declares its fields.

A face names what it shows: `face("Own", Contribution, "id title counts.helpful:helpful_count")`. Types, descriptions
and values come from the class. Each surface derives its own model from a face: names in camel case or not, and whether
absent values are null or left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.fields import FieldInfo


class Face(BaseModel):
    """What is shown of a record. `of` reads it from the record."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    read: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """How each field is read from a record; empty where attributes have the names of the fields."""

    @classmethod
    def of(cls, record: Any) -> Self:
        """Return this face of a record, or of a mapping with its fields."""
        return cls.model_validate(record)

    @model_validator(mode="before")
    @classmethod
    def _values(cls, record: Any) -> Any:
        if isinstance(record, dict | cls):
            return record
        if not cls.read or isinstance(record, Face):  # of another surface
            return {name: getattr(record, name) for name in cls.model_fields}
        return {name: read(record) for name, read in cls.read.items()}


def face(name: str, source: type, shown: str, *, description: str = "", **nested: Any) -> type[Face]:
    """Return the face with these attributes of a class, in this order.

    `shown` has attributes separated by spaces, each a path, with `:name` where the face calls it otherwise. `nested`
    gives the type of a field that is shown by a face of its own. A description stands beside the field in its class:
    `Annotated[str, Field(description=...)]`.
    """
    fields: dict[str, Any] = {}
    read: dict[str, Callable[[Any], Any]] = {}
    for path in shown.split():
        attribute, _, alias = path.partition(":")
        field = alias or attribute.rpartition(".")[2]
        hint = _hint(source, attribute)
        fields[field] = Annotated[nested[field], *_metadata(hint)] if field in nested else hint
        read[field] = attrgetter(attribute)
    shape: dict[str, Any] = {one: (hint, ...) for one, hint in fields.items()}
    made = create_model(name, __base__=Face, __doc__=description or None, **shape)
    made.read = read
    return made


@cache
def derived(shown: type[BaseModel], whole: type[BaseModel], part: type[BaseModel], nulls: bool) -> type[Any]:
    """Return a face as one surface has it: over `whole`, with the faces inside it over `part`.

    With `nulls` every field is required, and absent values are null; else what can be absent has the default None.
    """
    fields: dict[str, Any] = {}
    for name, info in shown.model_fields.items():
        hint = _replaced(info.annotation, lambda inner: derived(inner, part, part, nulls))
        optional = not nulls and info.is_required() and NoneType in get_args(info.annotation)
        changed = {"annotation": hint} | ({"default": None} if optional else {})
        fields[name] = (hint, FieldInfo.merge_field_infos(info, **changed))
    bases: Any = (Face, whole) if issubclass(shown, Face) else whole
    build: Any = create_model
    made: type[Any] = build(shown.__name__, __base__=bases, __doc__=shown.__doc__, **fields)
    if issubclass(shown, Face):
        made.read = shown.read
    return made


def _hint(kind: Any, path: str) -> Any:
    """Return the annotation of an attribute or a property, with its description."""
    hint = kind
    for step in path.split("."):
        owner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        attribute = getattr(owner, step, None)
        if isinstance(attribute, property):
            hint = get_type_hints(attribute.fget, include_extras=True)["return"]
        else:
            hint = get_type_hints(owner, include_extras=True)[step]
    return hint


def _metadata(hint: Any) -> tuple[Any, ...]:
    return tuple(get_args(hint)[1:]) if get_origin(hint) is Annotated else (Field(),)


def _replaced(hint: Any, replace: Callable[[Any], Any]) -> Any:
    """Return an annotation with the models inside it replaced."""
    if isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, BaseModel):
        return replace(hint)
    arguments = get_args(hint)
    if not any(_has_model(one) for one in arguments):
        return hint
    changed = tuple(_replaced(one, replace) for one in arguments)
    if get_origin(hint) in (Union, UnionType):
        return Union[changed]  # noqa: UP007
    return get_origin(hint)[changed]


def _has_model(hint: Any) -> bool:
    own = isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, BaseModel)
    return own or any(_has_model(one) for one in get_args(hint))
