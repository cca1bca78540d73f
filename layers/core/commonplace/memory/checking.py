"""From raw arguments to what the memory is asked. Every bound on what callers send is here or in `fields`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.memory import validation
from commonplace.memory.entries import ENTRY_TYPES, PHASES, ROLES, Changes, EntryId, EntryType, NewEntry, Phase, Role
from commonplace.memory.model import (
    BATCH,
    DEFAULT_LIMIT,
    DEFAULT_LISTED,
    DEFAULT_MIN_CONFIDENCE,
    DEFAULT_RELATED,
    MAX_IMPORT,
    MAX_LIMIT,
    MAX_LISTED,
    MAX_RELATED,
    Asked,
    Direction,
    Import,
    Listing,
    Order,
)
from commonplace.search.text import clean_query

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
        content=validation.content_of(content),
        entry_type=cast(EntryType, validation.choice_of("entry_type", entry_type, ENTRY_TYPES)),
        roles=validation.roles_of(roles),
        tags=validation.tags_of(tags),
        source_file=validation.line_of("source_file", source_file),
        source_story=validation.line_of("source_story", source_story),
        parent_id=None if parent_id is None else validation.id_of("parent_id", parent_id),
        confidence=1.0 if confidence is None else validation.confidence_of(confidence),
        metadata={} if metadata is None else _present(validation.metadata_of(metadata)),
    )


def changes(
    *, content: Any = None, roles: Any = None, tags: Any = None, confidence: Any = None, metadata: Any = None
) -> Changes:
    """What an update changes. Raises InvalidInput and TooLarge."""
    if all(value is None for value in (content, roles, tags, confidence, metadata)):
        hint = "Give one or more of: content, roles, tags, confidence, metadata."
        raise InvalidInput("Nothing is to be changed.", hint=hint)
    return Changes(
        content=None if content is None else validation.content_of(content),
        roles=None if roles is None else validation.roles_of(roles),
        tags=None if tags is None else validation.tags_of(tags),
        confidence=None if confidence is None else validation.confidence_of(confidence),
        metadata=None if metadata is None else validation.metadata_of(metadata),
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
        tags=validation.tags_of(tags),
        entry_type=_entry_type(entry_type),
        limit=validation.whole_of("limit", limit, 1, MAX_LIMIT),
        min_confidence=validation.confidence_of(min_confidence, "min_confidence"),
        phase=None if phase is None else cast(Phase, validation.choice_of("phase", phase, PHASES)),
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
        tags=validation.tags_of(tags),
        entry_type=_entry_type(entry_type),
        limit=validation.whole_of("limit", limit, 1, MAX_LISTED),
        offset=validation.whole_of("offset", offset, 0, MAX_OFFSET),
        order_by=cast(Order, validation.choice_of("order_by", order_by, get_args(Order))),
        order=cast(Direction, validation.choice_of("order", order, get_args(Direction))),
    )


def entry_id(value: Any, name: str = "id") -> EntryId:
    """The id of an entry. Raises InvalidInput for what is no UUID."""
    return validation.id_of(name, value)


def related_limit(value: Any = DEFAULT_RELATED) -> int:
    """How many related entries. Raises InvalidInput."""
    return validation.whole_of("limit", value, 1, MAX_RELATED)


def batch_size(value: Any = BATCH) -> int:
    """How many entries are embedded together. Raises InvalidInput."""
    return validation.whole_of("batch_size", value, 1, BATCH)


def expected_version(value: Any) -> int | None:
    """The version that a change is made for. Raises InvalidInput."""
    return None if value is None else validation.whole_of("expected_version", value, 1, validation.EXACT_INTEGER)


def idempotency_key(value: Any) -> str | None:
    """A caller's own name of a request. Raises InvalidInput."""
    return validation.line_of("idempotency_key", value, validation.MAX_REFERENCE_CHARACTERS)


def handle(value: Any) -> str:
    """The name of work that goes on. Raises InvalidInput."""
    return validation.id_of("handle", value)


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
    ref = validation.line_of("ref", told.pop("ref", None), validation.MAX_REFERENCE_CHARACTERS)
    parent_ref = validation.line_of("parent_ref", told.pop("parent_ref", None), validation.MAX_REFERENCE_CHARACTERS)
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
    return None if value is None else cast(Role, validation.choice_of("role", value, ROLES))


def _entry_type(value: Any) -> EntryType | None:
    return None if value is None else cast(EntryType, validation.choice_of("entry_type", value, ENTRY_TYPES))
