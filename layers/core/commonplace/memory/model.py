"""What the memory is asked, and what it answers. Interfaces give these values the shapes of seed 001."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from commonplace.memory.entries import Entry, EntryId, EntryType, NewEntry, Phase, Role
from commonplace.memory.jobs import Status

DEFAULT_LIMIT, MAX_LIMIT = 10, 50
"""Of a search."""
DEFAULT_RELATED, MAX_RELATED = 5, 50
DEFAULT_LISTED, MAX_LISTED = 20, 100
DEFAULT_MIN_CONFIDENCE = 0.5
BATCH = 100
"""Entries that are embedded and written together."""
MAX_IMPORT = 10_000
"""Entries of one import."""

Order = Literal["created_at", "updated_at", "confidence"]
Direction = Literal["asc", "desc"]
Relation = Literal["sibling", "parent", "child", "tags"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search: what passes every condition, ranked by words and meaning."""

    query: str
    role: Role | None = None
    """Entries of this role, and those of role `all`; `all` is no condition."""
    tags: tuple[str, ...] = ()
    """Entries with any of them."""
    entry_type: EntryType | None = None
    limit: int = DEFAULT_LIMIT
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    phase: Phase | None = None
    """Only counted."""


@dataclass(frozen=True, slots=True)
class Found:
    """One entry that was found. `excerpt` is its part nearest to the query, the whole of a short one."""

    entry: Entry
    score: float
    excerpt: str
    duplicates: tuple[EntryId, ...] = ()
    """Entries with nearly the same text, which this one stands for."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`fallback` is true when no embedding could be had, and words alone were compared."""

    found: tuple[Found, ...]
    fallback: bool


@dataclass(frozen=True, slots=True)
class Related:
    """An entry beside another. `shared` are the tags that both have."""

    entry: Entry
    relation: Relation
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list without a search. `tags`: entries with all of them. A role as in `Asked`."""

    role: Role | None = None
    tags: tuple[str, ...] = ()
    entry_type: EntryType | None = None
    limit: int = DEFAULT_LISTED
    offset: int = 0
    order_by: Order = "created_at"
    order: Direction = "desc"


@dataclass(frozen=True, slots=True)
class ListAnswer:
    entries: tuple[Entry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Near:
    """An entry that resembles another text, with its cosine similarity."""

    id: EntryId
    similarity: float
    excerpt: str


@dataclass(frozen=True, slots=True)
class Added:
    """`duplicate`: an entry with this content was there already, and `id` is its own. `replayed`: the same request,
    with the same key, was answered before."""

    id: EntryId
    duplicate: bool = False
    replayed: bool = False
    embedded: bool = True
    """False when the text waits for its vectors: it is found by its words meanwhile."""
    nearest: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True)
class Updated:
    entry: Entry
    re_embedded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One entry of an import. `ref` names it within the import, and `parent_ref` names its parent there."""

    entry: NewEntry
    ref: str | None = None
    parent_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How far an import has come. `handle` is there while it goes on: ask with it, or just wait."""

    total: int
    processed: int
    imported: int
    skipped: int
    errors: tuple[str, ...] = ()
    """Each begins with `entries[N]: `, its place in the import from 0."""
    status: Status = "complete"
    handle: str | None = None
    ids: Mapping[str, EntryId] | None = None
    """By `ref`, or by place as text where an entry has none; None for an import that was carried on by a handle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """How far making vectors anew has come. `handle` as in `Imported`."""

    total: int
    processed: int
    status: Status
    handle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Figures of one organisation's memory."""

    total_entries: int
    by_type: Mapping[EntryType, int]
    by_role: Mapping[Role, int]
    avg_confidence: float
    """0 when there are no entries."""
    last_updated: str | None
    cache_size: int
    """Vectors kept of this organisation's texts."""
    queries: Mapping[tuple[str, Role], int]
    """Searches by (phase, or `none`, and role)."""
