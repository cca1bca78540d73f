"""Validation of raw arguments into the values of `model`, whose fields say their bounds.

No message repeats a value: errors are logged and counted by others than who sent it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.memory.model import (
    FORMER,
    FORMER_NEEDED,
    MAX_IMPORT,
    Asked,
    Changes,
    EntryId,
    Former,
    Id,
    Import,
    Listing,
    Moment,
    NewEntry,
    Reference,
    Source,
    Version,
    metadata_too_deep,
)

T = TypeVar("T")
N = TypeVar("N", bound=NewEntry)

LINKS = ("parent_ref", "superseded_by_ref", "ref")
"""Names of entries within an import."""
_QUOTED = re.compile(r"'(.*?)'")

_NEW, _CHANGES = TypeAdapter(NewEntry), TypeAdapter(Changes)
_SEARCH, _LISTING = TypeAdapter(Asked), TypeAdapter(Listing)
_IMPORT: TypeAdapter[Any] = TypeAdapter(
    make_dataclass(
        "_Import",
        [
            *((name, Reference | None, field(default=None)) for name in LINKS),
            *((one.name, one.type | None, field(default=None)) for one in fields(Former)),  # type: ignore[operator]
        ],
        bases=(NewEntry,),
        frozen=True,
        kw_only=True,
    )
)
_ID: TypeAdapter[EntryId] = TypeAdapter(Id)
_REFERENCE: TypeAdapter[str | None] = TypeAdapter(Reference)
_STORY: TypeAdapter[str | None] = TypeAdapter(Source | None)
_MOMENT: TypeAdapter[str | None] = TypeAdapter(Moment | None)
_VERSION: TypeAdapter[int] = TypeAdapter(Version)

_OWN = tuple(one.name for one in fields(NewEntry) if one.name not in FORMER)
IMPORT_FIELDS = (*_OWN, *LINKS, *FORMER)
"""The fields of one entry of an import."""


def _read(type: TypeAdapter[T], value: Any, name: str = "") -> T:
    """Return the value as its type wants it. The first fault is said in our words: pydantic's may repeat what was sent.

    Raises InvalidInput and TooLarge.
    """
    try:
        return type.validate_python(value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
    name, context = name or str(fault["loc"][0]), fault.get("ctx", {})
    match fault["type"]:
        case "value_error" if isinstance(context["error"], UnicodeError):
            message, hint = "contains a lone surrogate", "Send whole Unicode characters."
        case "value_error":
            message, hint = context["error"].args
        case "literal_error":
            message = "is not a valid value"
            hint = f"Use one of: {', '.join(_QUOTED.findall(context['expected']))}."
        case "string_pattern_mismatch":
            message, hint = "is not an id of an entry", "Ids are UUIDs; see kb_search and kb_list."
        case "recursion_loop":
            raise metadata_too_deep()
        case "dict_type" if name == "metadata" and len(fault["loc"]) == 1:
            message, hint = "has to be an object", 'For instance {"gate_result": "PASS"}.'
        case _ if name == "metadata" and "[key]" in fault["loc"]:
            message, hint = "has a key that is not text", "Put quotes around it."
        case _ if name == "metadata":
            message = "contains something that is not JSON"
            hint = "Use text, numbers, true, false, null, lists, objects."
        case "tuple_type":
            message, hint = "has to be a list", f"For instance {name}: [dev]."
        case "string_type":
            message, hint = "has to be text", f"Give `{name}` as text, in quotes where it is YAML."
        case _:
            message, hint = "has to be a number from 0 to 1", "1 is certain, 0.8 not yet validated."
    raise InvalidInput(f"`{name}` {message}.", hint=hint, field=name)


def new_entry(**given: Any) -> NewEntry:
    """Return an entry that may be added, of fields as an import has them, and the one it supersedes.

    Raises InvalidInput and TooLarge.
    """
    return _entry(_NEW, given)


def _entry(type: TypeAdapter[N], given: Mapping[str, Any]) -> N:
    """What is None is left out."""
    required = {"content": None, "entry_type": None, "roles": None}
    found = _read(type, required | {name: value for name, value in given.items() if value is not None})
    # A null removes a key, also where there is none yet.
    for name in [name for name, value in found.metadata.items() if value is None]:
        del found.metadata[name]
    return found


def changes(**given: Any) -> Changes:
    """Return what an update changes. Raises InvalidInput and TooLarge."""
    if all(value is None for value in given.values()):
        hint = f"Give one or more of: {', '.join(one.name for one in fields(Changes))}."
        raise InvalidInput("Nothing is to be changed.", hint=hint)
    return _read(_CHANGES, given)


def asked(**given: Any) -> Asked:
    """Return a search. Raises InvalidInput."""
    return _read(_SEARCH, given)


def listing(**given: Any) -> Listing:
    """Return a list. Raises InvalidInput."""
    return _read(_LISTING, given)


def entry_id(value: Any, name: str = "id") -> EntryId:
    """Return the id of an entry. Raises InvalidInput for what is no UUID."""
    return _read(_ID, value, name)


def story(value: Any) -> str | None:
    """Return the story that a call is made in. Raises InvalidInput."""
    return _read(_STORY, value, "story")


def moment(value: Any, name: str = "as_of") -> str | None:
    """Return a day, or a time as entries have it. Raises InvalidInput."""
    return _read(_MOMENT, value, name)


def handle(value: Any) -> str:
    """Return the name of work that goes on. Raises InvalidInput."""
    return _read(_ID, value, "handle")


def expected_version(value: Any) -> int | None:
    """Return the version that a change is made for. Raises InvalidInput."""
    return None if value is None else _read(_VERSION, value, "expected_version")


def idempotency_key(value: Any) -> str | None:
    """Return a caller's own name of a request. Raises InvalidInput."""
    return None if value is None else _read(_REFERENCE, value, "idempotency_key")


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry of an import that cannot be taken, and why in a sentence."""

    sentence: str

    @classmethod
    def of(cls, error: CommonplaceError) -> "Refused":
        return cls(" ".join(part for part in (error.message, error.hint) if part))


def imports(values: Any) -> list[Import | Refused]:
    """Return each entry of an import by itself: one that is wrong costs the others nothing.

    Raises InvalidInput when this is no list, or an empty one, and TooLarge for more than an import may have.
    """
    if not isinstance(values, list | tuple) or not values:
        hint = "Give a list of entries, each with content, entry_type, roles and what else it has."
        raise InvalidInput("`entries` has to be a list with one entry or more.", hint=hint)
    if len(values) > MAX_IMPORT:
        raise TooLarge(f"`entries` are more than {MAX_IMPORT:,}.", hint="Import them in several calls.")
    found: list[Import | Refused] = []
    for value in values:
        try:
            found.append(_import(value))
        except CommonplaceError as error:
            found.append(Refused.of(error))
    return found


def _import(value: Any) -> Import:
    known = f"Its fields are: {', '.join(IMPORT_FIELDS)}."
    if not isinstance(value, Mapping):
        raise InvalidInput("This is not an entry.", hint=known)
    if unknown := [str(name) for name in value if name not in IMPORT_FIELDS]:
        raise InvalidInput(f"Entries have no field {unknown[0][:40]!r}.", hint=known)
    one = _entry(_IMPORT, value)
    was = {name: value for name in FORMER if (value := getattr(one, name)) is not None}
    if was and not was.keys() >= {*FORMER_NEEDED}:
        needed = ", ".join(FORMER_NEEDED)
        raise InvalidInput("A restored entry has all of these fields or none.", hint=f"Give {needed}.")
    if one.parent_ref is not None and one.parent_id is not None:
        hint = "`parent_id` is for an entry that is there, `parent_ref` for one of this import."
        raise InvalidInput("It has both `parent_id` and `parent_ref`.", hint=hint)
    entry = NewEntry(**{name: getattr(one, name) for name in _OWN})
    return Import(entry=entry, former=Former(**was) if was else None, **{name: getattr(one, name) for name in LINKS})
