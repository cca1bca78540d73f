"""One field at a time: from a raw value to the one that is kept, or InvalidInput with a hint at what is valid.

No message repeats a value: errors are logged and counted by others than who sent it.

From raw arguments to what the memory is asked. Every bound on what callers send is here or in `fields`.
"""

import json
import math
import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.memory.model import (
    BATCH,
    DEFAULT_LIMIT,
    DEFAULT_LISTED,
    DEFAULT_MIN_CONFIDENCE,
    DEFAULT_RELATED,
    ENTRY_TYPES,
    MAX_CONTENT_BYTES,
    MAX_IMPORT,
    MAX_LIMIT,
    MAX_LISTED,
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_RELATED,
    MAX_SOURCE_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    PHASES,
    ROLES,
    Asked,
    Changes,
    Direction,
    EntryId,
    EntryType,
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
EXACT_INTEGER = 2**53 - 1
"""Beyond this, readers of JSON round."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_AROUND = re.compile(r"\A(?:\ufeff|[ \t]*\n)+")
"""A byte order mark, and empty lines before the first."""


def content_of(value: Any) -> str:
    """The text as it is kept and hashed: lines ended by LF, no empty lines before or after it."""
    text = _storable("content", _text("content", value))
    # Before anything is made of it: a text far too large is not worth a copy.
    if len(text) > 2 * MAX_CONTENT_BYTES:
        raise _too_large()
    kept = _AROUND.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip()
    if not any(char.isprintable() and not char.isspace() for char in kept):
        raise InvalidInput("`content` is empty.", hint="Say what is worth knowing later, in a sentence or more.")
    if len(kept.encode()) > MAX_CONTENT_BYTES:
        raise _too_large()
    if _CONTROL.search(kept):
        raise InvalidInput("`content` holds control characters.", hint="Send plain text or Markdown.")
    return kept


def choice_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of these, whatever its case."""
    found = value.strip().lower() if isinstance(value, str) else ""
    if found not in choices:
        raise InvalidInput(f"`{name}` is none of the values it can have.", hint=f"Use one of: {', '.join(choices)}.")
    return found


def roles_of(value: Any) -> tuple[Role, ...]:
    """One role or more, each once, in their usual order."""
    given = {choice_of("roles", one, ROLES) for one in _listed("roles", value)}
    if not given:
        raise InvalidInput("`roles` is empty.", hint=f"Name one or more of: {', '.join(ROLES)}.")
    return tuple(role for role in ROLES if role in given)


def tags_of(value: Any) -> tuple[str, ...]:
    """Tags in lower case, each once, in the order given."""
    tags = tuple(dict.fromkeys(_tag(one) for one in _listed("tags", value)))
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"`tags` are more than {MAX_TAGS}.", hint="Keep those that others use too.")
    return tags


def confidence_of(value: Any, name: str = "confidence") -> float:
    """From 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"`{name}` has to be a number from 0 to 1.", hint="1 is certain, 0.8 not yet validated.")
    return float(value) + 0.0


def whole_of(name: str, value: Any, least: int, most: int) -> int:
    """A whole number within bounds. Nothing is cut to size: 0 and one too many are both refused."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(
            f"`{name}` has to be a whole number from {least} to {most}.", hint=f"Give `{name}` from {least} to {most}."
        )
    return value


def line_of(name: str, value: Any, most: int = MAX_SOURCE_CHARACTERS) -> str | None:
    """One line of text; None when there is nothing in it."""
    if value is None:
        return None
    line = " ".join(_storable(name, _text(name, value)).split())
    if len(line) > most:
        raise InvalidInput(f"`{name}` is longer than {most} characters.", hint=f"Shorten `{name}`.")
    if not line.isprintable():
        raise InvalidInput(f"`{name}` holds control characters.", hint=f"Give `{name}` as plain text.")
    return line or None


def id_of(name: str, value: Any) -> EntryId:
    """A UUID as ids are written here."""
    text = value.strip() if isinstance(value, str) else ""
    if not _UUID.match(text):
        hint = "Ids are UUIDs; kb_search and kb_list tell them."
        raise InvalidInput(f"`{name}` is no id of an entry.", hint=hint)
    return EntryId(str(uuid.UUID(text)))


def metadata_of(value: Any) -> dict[str, Any]:
    """An object of JSON, within its bounds. Nulls stay: what they mean is for who asked."""
    if not isinstance(value, Mapping):
        raise InvalidInput("`metadata` has to be an object.", hint='For instance {"gate_result": "PASS"}.')
    _check_value(value, MAX_METADATA_DEPTH)
    kept = cast(dict[str, Any], json.loads(_json(value)))
    check_metadata_size(kept)
    return kept


def check_metadata_size(value: Mapping[str, Any]) -> None:
    """Raises TooLarge for more than an entry may carry."""
    if len(_json(value).encode()) > MAX_METADATA_BYTES:
        raise TooLarge(
            f"`metadata` is larger than {MAX_METADATA_BYTES} bytes.", hint="Keep names and figures; text is `content`."
        )


def _check_value(value: Any, depth: int) -> None:
    if isinstance(value, str):
        _storable("metadata", value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("`metadata` holds a number that is not finite.", hint="Give digits.")
    elif isinstance(value, int) and abs(value) > EXACT_INTEGER:
        raise InvalidInput("`metadata` holds a number that readers would round.", hint="Give it as text.")
    elif isinstance(value, Mapping | list | tuple):
        _check_inside(value, depth)
    elif not isinstance(value, bool | int | float | None):
        raise InvalidInput(
            "`metadata` holds something that is no JSON.", hint="Use text, numbers, true, false, null, lists, objects."
        )


def _check_inside(value: Mapping[Any, Any] | Sequence[Any], depth: int) -> None:
    if depth == 0:
        hint = f"Nest lists and objects at most {MAX_METADATA_DEPTH} deep."
        raise InvalidInput("`metadata` is nested too deeply.", hint=hint)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InvalidInput("`metadata` has a key that is no text.", hint="Put quotes around it.")
        for key in value:
            _storable("metadata", key)
        value = list(value.values())
    for one in value:
        _check_value(one, depth - 1)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _tag(value: Any) -> str:
    tag = " ".join(unicodedata.normalize("NFC", _storable("tags", _text("tags", value))).lower().split())
    if not tag or not tag.isprintable():
        raise InvalidInput("`tags` holds one that is empty.", hint="Give words, such as: routing, database, failure.")
    if len(tag) > MAX_TAG_CHARACTERS:
        raise InvalidInput(f"`tags` holds one of more than {MAX_TAG_CHARACTERS} characters.", hint="Shorten it.")
    return tag


def _listed(name: str, value: Any) -> Sequence[Any]:
    """A list, or the one value that stands for it."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"`{name}` has to be a list.", hint=f"For instance {name}: [dev].")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"`{name}` has to be text.", hint=f"Give `{name}` as text, in quotes where it is YAML.")
    return value


def _storable(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"`{name}` holds half a character.", hint="Send whole Unicode characters.") from None
    return text


def _too_large() -> TooLarge:
    limit = f"{MAX_CONTENT_BYTES:,} bytes"
    return TooLarge(f"`content` is larger than {limit}.", hint="Keep a summary, and its parts as entries of their own.")


MAX_QUERY_CHARACTERS = 1_000
MAX_OFFSET = 1_000_000

IMPORT_FIELDS = (
    "content",
    "entry_type",
    "roles",
    "tags",
    "source_file",
    "source_story",
    "parent_id",
    "parent_ref",
    "ref",
    "confidence",
    "metadata",
)
"""Of one entry of an import."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry of an import that cannot be taken, and why in a sentence."""

    sentence: str


def new_entry(
    *,
    content: Any,
    entry_type: Any,
    roles: Any,
    tags: Any = None,
    source_file: Any = None,
    source_story: Any = None,
    parent_id: Any = None,
    confidence: Any = None,
    metadata: Any = None,
) -> NewEntry:
    """An entry that may be kept. Raises InvalidInput and TooLarge."""
    return NewEntry(
        content=content_of(content),
        entry_type=cast(EntryType, choice_of("entry_type", entry_type, ENTRY_TYPES)),
        roles=roles_of(roles),
        tags=tags_of(tags),
        source_file=line_of("source_file", source_file),
        source_story=line_of("source_story", source_story),
        parent_id=None if parent_id is None else id_of("parent_id", parent_id),
        confidence=1.0 if confidence is None else confidence_of(confidence),
        metadata={} if metadata is None else _present(metadata_of(metadata)),
    )


def changes(
    *, content: Any = None, roles: Any = None, tags: Any = None, confidence: Any = None, metadata: Any = None
) -> Changes:
    """What an update changes. Raises InvalidInput and TooLarge."""
    if all(value is None for value in (content, roles, tags, confidence, metadata)):
        hint = "Give one or more of: content, roles, tags, confidence, metadata."
        raise InvalidInput("Nothing is to be changed.", hint=hint)
    return Changes(
        content=None if content is None else content_of(content),
        roles=None if roles is None else roles_of(roles),
        tags=None if tags is None else tags_of(tags),
        confidence=None if confidence is None else confidence_of(confidence),
        metadata=None if metadata is None else metadata_of(metadata),
    )


def asked(
    *,
    query: Any,
    role: Any = None,
    tags: Any = None,
    entry_type: Any = None,
    limit: Any = DEFAULT_LIMIT,
    min_confidence: Any = DEFAULT_MIN_CONFIDENCE,
    phase: Any = None,
) -> Asked:
    """A search. Raises InvalidInput."""
    if not isinstance(query, str) or not clean_query(query[: MAX_QUERY_CHARACTERS + 1]):
        raise InvalidInput("`query` is empty.", hint="Ask in a sentence or a few words; kb_list lists without a query.")
    if len(query) > MAX_QUERY_CHARACTERS:
        hint = "Ask for the subject in a sentence or a few words."
        raise InvalidInput(f"`query` is longer than {MAX_QUERY_CHARACTERS} characters.", hint=hint)
    return Asked(
        query=query,
        role=_role(role),
        tags=tags_of(tags),
        entry_type=_entry_type(entry_type),
        limit=whole_of("limit", limit, 1, MAX_LIMIT),
        min_confidence=confidence_of(min_confidence, "min_confidence"),
        phase=None if phase is None else cast(Phase, choice_of("phase", phase, PHASES)),
    )


def listing(
    *,
    role: Any = None,
    tags: Any = None,
    entry_type: Any = None,
    limit: Any = DEFAULT_LISTED,
    offset: Any = 0,
    order_by: Any = "created_at",
    order: Any = "desc",
) -> Listing:
    """A list. Raises InvalidInput."""
    return Listing(
        role=_role(role),
        tags=tags_of(tags),
        entry_type=_entry_type(entry_type),
        limit=whole_of("limit", limit, 1, MAX_LISTED),
        offset=whole_of("offset", offset, 0, MAX_OFFSET),
        order_by=cast(Order, choice_of("order_by", order_by, get_args(Order))),
        order=cast(Direction, choice_of("order", order, get_args(Direction))),
    )


def entry_id(value: Any, name: str = "id") -> EntryId:
    """The id of an entry. Raises InvalidInput for what is no UUID."""
    return id_of(name, value)


def related_limit(value: Any = DEFAULT_RELATED) -> int:
    """How many related entries. Raises InvalidInput."""
    return whole_of("limit", value, 1, MAX_RELATED)


def batch_size(value: Any = BATCH) -> int:
    """How many entries are embedded together. Raises InvalidInput."""
    return whole_of("batch_size", value, 1, BATCH)


def expected_version(value: Any) -> int | None:
    """The version that a change is made for. Raises InvalidInput."""
    return None if value is None else whole_of("expected_version", value, 1, EXACT_INTEGER)


def idempotency_key(value: Any) -> str | None:
    """A caller's own name of a request. Raises InvalidInput."""
    return line_of("idempotency_key", value, MAX_REFERENCE_CHARACTERS)


def handle(value: Any) -> str:
    """The name of work that goes on. Raises InvalidInput."""
    return id_of("handle", value)


def imports(values: Any) -> list[Import | Refused]:
    """Each entry of an import by itself: one that is wrong costs the others nothing.

    Raises InvalidInput when this is no list, or an empty one, and TooLarge for more than an import may have.
    """
    if not isinstance(values, list | tuple) or not values:
        hint = f"Give a list of entries, each with {', '.join(IMPORT_FIELDS[:3])} and what else it has."
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
    if not isinstance(value, Mapping):
        raise InvalidInput("This is no entry.", hint=f"Its fields are: {', '.join(IMPORT_FIELDS)}.")
    if not value.keys() <= set(IMPORT_FIELDS):
        raise InvalidInput(
            "It has a field that entries do not have.", hint=f"Its fields are: {', '.join(IMPORT_FIELDS)}."
        )
    told = dict(value)
    ref = line_of("ref", told.pop("ref", None), MAX_REFERENCE_CHARACTERS)
    parent_ref = line_of("parent_ref", told.pop("parent_ref", None), MAX_REFERENCE_CHARACTERS)
    if parent_ref is not None and told.get("parent_id") is not None:
        hint = "`parent_id` is for an entry that is there, `parent_ref` for one of this import."
        raise InvalidInput("It has both `parent_id` and `parent_ref`.", hint=hint)
    required: Sequence[str] = ("content", "entry_type", "roles")
    entry = new_entry(**{**dict.fromkeys(required), **told})
    return Import(entry=entry, ref=ref, parent_ref=parent_ref)


def _present(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A null removes a key, also where there is none yet."""
    return {key: value for key, value in metadata.items() if value is not None}


def _role(value: Any) -> Role | None:
    return None if value is None else cast(Role, choice_of("role", value, ROLES))


def _entry_type(value: Any) -> EntryType | None:
    return None if value is None else cast(EntryType, choice_of("entry_type", value, ENTRY_TYPES))
