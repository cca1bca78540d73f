"""Validation of raw arguments into the values of `model`. Every bound on what callers send is here or there.

No message repeats a value: errors are logged and counted by others than who sent it.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, JsonValue, TypeAdapter, ValidationError

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.kernel.terms import compatible_length
from commonplace.memory.model import (
    DEFAULT_LIMIT,
    DEFAULT_LISTED,
    DEFAULT_MIN_CONFIDENCE,
    FORMER,
    FORMER_NEEDED,
    MAX_CONTENT_BYTES,
    MAX_IMPORT,
    MAX_LIMIT,
    MAX_LISTED,
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_SEEN_IN,
    MAX_SOURCE_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    ROLES,
    Asked,
    Changes,
    Direction,
    EntryId,
    EntryType,
    Former,
    Import,
    Listing,
    NewEntry,
    Order,
    Phase,
    Role,
)
from commonplace.search.text import clean_query

MAX_REFERENCE_CHARACTERS = 200
"""Of an idempotency key, and of a name within an import."""
MAX_QUERY_CHARACTERS = 1_000
MAX_OFFSET = 1_000_000
EXACT_INTEGER = 2**53 - 1
"""Beyond this, readers of JSON round."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_QUOTED = re.compile(r"'(.*?)'")
_AROUND = re.compile(r"\A(?:\ufeff|[ \t]*\n)+")
"""A byte order mark, and empty lines before the first."""

_LOWER = BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)
_LISTED = BeforeValidator(lambda value: () if value is None else (value,) if isinstance(value, str) else value)
"""One value stands for a list of it."""

Type = Annotated[EntryType, _LOWER]

Confidence = Annotated[float, Field(strict=True, ge=0, le=1), AfterValidator(lambda value: value + 0.0)]

Id = Annotated[str, _LOWER, Field(pattern=r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]

_ID: TypeAdapter[str] = TypeAdapter(Id)

T = TypeVar("T")


def _whole_characters(text: str) -> str:
    text.encode()
    return text


def content_of(text: str) -> str:
    """The text as it is kept and hashed: lines ended by LF, no empty lines before or after it."""
    too_large = TooLarge(
        f"`content` is larger than {MAX_CONTENT_BYTES:,} bytes.",
        hint="Keep a summary, and its parts as entries of their own.",
    )
    # Before anything is made of it: a text far too large is not worth a copy.
    if len(text) > 2 * MAX_CONTENT_BYTES:
        raise too_large
    kept = _AROUND.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip()
    if not any(char.isprintable() and not char.isspace() for char in kept):
        raise InvalidInput("`content` is empty.", hint="Say what is worth knowing later, in a sentence or more.")
    if len(kept.encode()) > MAX_CONTENT_BYTES or compatible_length(kept) > MAX_CONTENT_BYTES:
        raise too_large
    if _CONTROL.search(kept):
        raise InvalidInput("`content` holds control characters.", hint="Send plain text or Markdown.")
    return kept


def check_metadata_size(value: Mapping[str, Any]) -> None:
    """Raises TooLarge for more than an entry may carry."""
    if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > MAX_METADATA_BYTES:
        raise TooLarge(
            f"`metadata` is larger than {MAX_METADATA_BYTES} bytes.", hint="Keep names and figures; text is `content`."
        )


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    level: list[Any] = [value]
    for _ in range(MAX_METADATA_DEPTH + 1):
        for one in level:
            if isinstance(one, float) and not math.isfinite(one):
                raise InvalidInput("`metadata` holds a number that is not finite.", hint="Give digits.")
            if isinstance(one, int) and abs(one) > EXACT_INTEGER:
                raise InvalidInput("`metadata` holds a number that readers would round.", hint="Give it as text.")
        held = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [inner for values in held for inner in values]
    if level:
        raise _too_deep()
    check_metadata_size(value)
    return value


def _too_deep() -> InvalidInput:
    hint = f"Nest lists and objects at most {MAX_METADATA_DEPTH} deep."
    return InvalidInput("`metadata` is nested too deeply.", hint=hint)


def _tag(text: str) -> str:
    tag = " ".join(unicodedata.normalize("NFC", text).lower().split())
    if not tag or not tag.isprintable():
        raise InvalidInput("`tags` holds one that is empty.", hint="Give words, such as: routing, database, failure.")
    if len(tag) > MAX_TAG_CHARACTERS:
        raise InvalidInput(f"`tags` holds one of more than {MAX_TAG_CHARACTERS} characters.", hint="Shorten it.")
    return tag


def _tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tags))
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"`tags` are more than {MAX_TAGS}.", hint="Keep those that others use too.")
    return tags


def _roles(given: tuple[Role, ...]) -> tuple[Role, ...]:
    if not given:
        raise InvalidInput("`roles` is empty.", hint=f"Name one or more of: {', '.join(ROLES)}.")
    return tuple(role for role in ROLES if role in given)


def _line(most: int) -> AfterValidator:
    """One line of text; None when there is nothing in it."""

    def line_of(text: str) -> str | None:
        line = " ".join(unicodedata.normalize("NFC", text).split())
        if len(line) > most:
            raise ValueError(f"is longer than {most} characters", "Shorten it.")
        if not line.isprintable():
            raise ValueError("holds control characters", "Give plain text.")
        return line or None

    return AfterValidator(line_of)


def _whole(least: int, most: int) -> BeforeValidator:
    """A whole number within bounds. Nothing is cut to size: 0 and one too many are both refused."""

    def whole_of(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"has to be a whole number from {least} to {most}", f"Give {least} to {most}.")
        return value

    return BeforeValidator(whole_of)


def _query(text: str) -> str:
    if not clean_query(text[: MAX_QUERY_CHARACTERS + 1]):
        raise InvalidInput("`query` is empty.", hint="Ask in a sentence or a few words; kb_list lists without a query.")
    if compatible_length(text[: MAX_QUERY_CHARACTERS + 1]) > MAX_QUERY_CHARACTERS:
        hint = "Ask for the subject in a sentence or a few words."
        raise InvalidInput(f"`query` is longer than {MAX_QUERY_CHARACTERS} characters.", hint=hint)
    return text


Text = Annotated[str, AfterValidator(_whole_characters)]
Content = Annotated[Text, AfterValidator(content_of)]
Roles = Annotated[tuple[Annotated[Role, _LOWER], ...], _LISTED, AfterValidator(_roles)]
"""One role or more, each once, in their usual order."""
Tags = Annotated[tuple[Annotated[Text, AfterValidator(_tag)], ...], _LISTED, AfterValidator(_tags)]
"""In lower case, each once, in the order given."""
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_metadata)]
"""Nulls stay: their meaning is the caller's."""
Source = Annotated[Text, _line(MAX_SOURCE_CHARACTERS)]
NewSource = Annotated[Source, AfterValidator(lambda line: line or "")]
"""Empty where it is to be removed; `NewParent` likewise."""
NewParent = Annotated[str, _LOWER, Field(pattern=r"^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?$")]
Reference = Annotated[Text, _line(MAX_REFERENCE_CHARACTERS)]


def _moment(value: Any) -> Any:
    """An ISO date, or a time in UTC as entries have it; without a zone it is UTC."""
    given = value.isoformat() if isinstance(value, date) else value
    if not isinstance(given, str) or not given.strip():
        return given or None
    try:
        if _DAY.fullmatch(told := given.strip()):
            return date.fromisoformat(told).isoformat()
        time = datetime.fromisoformat(told)
        moment = time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is no date or time", "Give 2026-11-24, or 2026-11-24T08:30:00Z.") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


Moment = Annotated[str, BeforeValidator(_moment)]
"""A day, or a moment in the form of `Entry.created_at`."""


class _Entry(BaseModel):
    content: Content
    entry_type: Type
    roles: Roles
    tags: Tags = ()
    source_file: Source | None = None
    source_story: Source | None = None
    parent_id: Id | None = None
    confidence: Confidence = 1.0
    metadata: Metadata = Field(default_factory=dict)


class _New(_Entry):
    supersedes: Id | None = None


class _Import(_Entry):
    parent_ref: Reference | None = None
    ref: Reference | None = None
    id: Id | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    version: Annotated[int, _whole(1, EXACT_INTEGER)] | None = None
    supersedes: Id | None = None
    superseded_by: Id | None = None
    seen: Annotated[int, _whole(0, EXACT_INTEGER)] | None = None
    seen_in: Annotated[tuple[Source, ...], _LISTED, Field(max_length=MAX_SEEN_IN)] | None = None


class _Changes(BaseModel):
    content: Content | None = None
    entry_type: Type | None = None
    roles: Roles | None = None
    tags: Tags | None = None
    confidence: Confidence | None = None
    source_file: NewSource | None = None
    source_story: NewSource | None = None
    parent_id: NewParent | None = None
    metadata: Metadata | None = None


class _Conditions(BaseModel):
    role: Annotated[Role, _LOWER] | None = None
    tags: Tags = ()
    entry_type: Type | None = None
    source_story: Source | None = None
    source_file: Source | None = None
    since: Moment | None = None
    until: Moment | None = None


class _Asked(_Conditions):
    query: Annotated[str, AfterValidator(_query)]
    limit: Annotated[int, _whole(1, MAX_LIMIT)] = DEFAULT_LIMIT
    min_confidence: Confidence = DEFAULT_MIN_CONFIDENCE
    phase: Annotated[Phase, _LOWER] | None = None
    story: Source | None = None
    collapse: bool = True


class _Listing(_Conditions):
    limit: Annotated[int, _whole(1, MAX_LISTED)] = DEFAULT_LISTED
    offset: Annotated[int, _whole(0, MAX_OFFSET)] = 0
    order_by: Annotated[Order, _LOWER] = "created_at"
    order: Annotated[Direction, _LOWER] = "desc"


_REFERENCE: TypeAdapter[str | None] = TypeAdapter(Reference)
_STORY: TypeAdapter[str | None] = TypeAdapter(Source | None)
_MOMENT: TypeAdapter[str | None] = TypeAdapter(Moment | None)
_VERSION: TypeAdapter[int] = TypeAdapter(Annotated[int, _whole(1, EXACT_INTEGER)])

IMPORT_FIELDS = tuple(_Import.model_fields)
"""Of one entry of an import."""


def _checked(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(model.model_validate(values))
    except ValidationError as error:
        raise _refusal(error) from None


def _single(name: str, type: TypeAdapter[T], value: Any) -> T:
    try:
        return type.validate_python(value)
    except ValidationError as error:
        raise _refusal(error, name) from None


def _refusal(error: ValidationError, name: str = "") -> InvalidInput:
    """The first fault in our words. Pydantic's may repeat what was sent."""
    fault = error.errors(include_url=False, include_input=False)[0]
    name, context = name or str(fault["loc"][0]), fault.get("ctx", {})
    match fault["type"]:
        case "value_error" if isinstance(context["error"], UnicodeError):
            message, hint = "holds half a character", "Send whole Unicode characters."
        case "value_error":
            message, hint = context["error"].args
        case "literal_error":
            message = "is none of the values it can have"
            hint = f"Use one of: {', '.join(_QUOTED.findall(context['expected']))}."
        case "string_pattern_mismatch":
            message, hint = "is no id of an entry", "Ids are UUIDs; kb_search and kb_list tell them."
        case "recursion_loop":
            return _too_deep()
        case "dict_type" if name == "metadata" and len(fault["loc"]) == 1:
            message, hint = "has to be an object", 'For instance {"gate_result": "PASS"}.'
        case _ if name == "metadata" and "[key]" in fault["loc"]:
            message, hint = "has a key that is no text", "Put quotes around it."
        case _ if name == "metadata":
            message = "holds something that is no JSON"
            hint = "Use text, numbers, true, false, null, lists, objects."
        case "tuple_type":
            message, hint = "has to be a list", f"For instance {name}: [dev]."
        case "string_type":
            message, hint = "has to be text", f"Give `{name}` as text, in quotes where it is YAML."
        case _:
            message, hint = "has to be a number from 0 to 1", "1 is certain, 0.8 not yet validated."
    return InvalidInput(f"`{name}` {message}.", hint=hint)


def new_entry(**told: Any) -> NewEntry:
    """An entry that may be kept, of fields as an import has them, and the one it supersedes.

    Raises InvalidInput and TooLarge.
    """
    return NewEntry(**_entry(_New, told))


def _entry(model: type[_Entry], told: Mapping[str, Any]) -> dict[str, Any]:
    """What is None is left out."""
    required = {"content": None, "entry_type": None, "roles": None}
    found = _checked(model, required | {name: value for name, value in told.items() if value is not None})
    # A null removes a key, also where there is none yet.
    return found | {"metadata": {key: value for key, value in found["metadata"].items() if value is not None}}


def changes(**told: Any) -> Changes:
    """What an update changes. Raises InvalidInput and TooLarge."""
    if all(value is None for value in told.values()):
        hint = f"Give one or more of: {', '.join(_Changes.model_fields)}."
        raise InvalidInput("Nothing is to be changed.", hint=hint)
    return Changes(**_checked(_Changes, told))


def asked(**told: Any) -> Asked:
    """A search. Raises InvalidInput."""
    return Asked(**_checked(_Asked, told))


def listing(**told: Any) -> Listing:
    """A list. Raises InvalidInput."""
    return Listing(**_checked(_Listing, told))


def entry_id(value: Any, name: str = "id") -> EntryId:
    """The id of an entry. Raises InvalidInput for what is no UUID."""
    return EntryId(_single(name, _ID, value))


def story(value: Any) -> str | None:
    """The story that a call is made in. Raises InvalidInput."""
    return _single("story", _STORY, value)


def moment(value: Any, name: str = "as_of") -> str | None:
    """A day, or a time as entries have it. Raises InvalidInput."""
    return _single(name, _MOMENT, value)


def handle(value: Any) -> str:
    """The name of work that goes on. Raises InvalidInput."""
    return _single("handle", _ID, value)


def expected_version(value: Any) -> int | None:
    """The version that a change is made for. Raises InvalidInput."""
    return None if value is None else _single("expected_version", _VERSION, value)


def idempotency_key(value: Any) -> str | None:
    """A caller's own name of a request. Raises InvalidInput."""
    return None if value is None else _single("idempotency_key", _REFERENCE, value)


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry of an import that cannot be taken, and why in a sentence."""

    sentence: str


def imports(values: Any) -> list[Import | Refused]:
    """Each entry of an import by itself: one that is wrong costs the others nothing.

    Raises InvalidInput when this is no list, or an empty one, and TooLarge for more than an import may have.
    """
    if not isinstance(values, list | tuple) or not values:
        hint = "Give a list of entries, each with content, entry_type, roles and what else it has."
        raise InvalidInput("`entries` has to be a list with one entry or more.", hint=hint)
    if len(values) > MAX_IMPORT:
        raise TooLarge(f"`entries` are more than {MAX_IMPORT:,}.", hint="Import them in several calls.")
    return [_import(value) for value in values]


def _import(value: Any) -> Import | Refused:
    try:
        return _taken(value)
    except CommonplaceError as error:
        return Refused(" ".join(part for part in (error.message, error.hint) if part))


def _taken(value: Any) -> Import:
    known = f"Its fields are: {', '.join(IMPORT_FIELDS)}."
    if not isinstance(value, Mapping):
        raise InvalidInput("This is no entry.", hint=known)
    if unknown := [str(name) for name in value if name not in IMPORT_FIELDS]:
        raise InvalidInput(f"Entries have no field {unknown[0][:40]!r}.", hint=known)
    entry = _entry(_Import, value)
    ref, parent_ref = entry.pop("ref"), entry.pop("parent_ref")
    was = {name: value for name in FORMER if (value := entry.pop(name)) is not None}
    if was and not was.keys() >= {*FORMER_NEEDED}:
        needed = ", ".join(FORMER_NEEDED)
        raise InvalidInput("What is brought back has all of them or none.", hint=f"Give {needed}.")
    if parent_ref is not None and entry["parent_id"] is not None:
        hint = "`parent_id` is for an entry that is there, `parent_ref` for one of this import."
        raise InvalidInput("It has both `parent_id` and `parent_ref`.", hint=hint)
    former = Former(**was) if was else None
    return Import(entry=NewEntry(**entry), former=former, ref=ref, parent_ref=parent_ref)
