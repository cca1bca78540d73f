"""The ports of the memory, and the parts that its work uses in the tools and in the index function."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from commonplace.kernel.audit import AuditRecord, Author
from commonplace.kernel.errors import NotFound
from commonplace.memory.facets import AllCounts, Counts, Key, Place, Tally
from commonplace.memory.model import (
    BATCH,
    Card,
    Entry,
    EntryId,
    Job,
    NewEntry,
    Phase,
    Rating,
    Recurrence,
    Role,
    Vote,
    content_hash,
)
from commonplace.search.model import EmbeddingProvider, VectorMemory

KEYS_PER_PAGE = 500
"""Some 200 KB."""


class Stale(Exception):
    """The entry is not in the version that the change was made for, or is gone. Nothing was written."""


class Taken(Exception):
    """Another entry of the organisation has this content. Nothing was written."""

    def __init__(self, id: EntryId) -> None:
        super().__init__(id)
        self.id = id


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be done once, however often it is sent."""

    key: str
    """SHA-256 of the caller's key."""
    request: str
    """SHA-256 of the request: the same key with another request is a conflict."""
    expires_at: int
    """Epoch seconds; at least a day ahead."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """This was done before, under the same key."""

    id: EntryId
    request: str


class EntryStore(Protocol):
    """The record of what is remembered. Reads are consistent. All methods raise Unavailable.

    Each call concerns one organisation, which comes first; no id, hash or key reaches another's items. A mutation and
    its audit record are one transaction.
    """

    def get(self, organisation: str, id: EntryId) -> Entry | None: ...

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
        """Those that are there, in no order."""
        ...

    def holders(self, organisation: str, hashes: Sequence[str]) -> dict[str, EntryId]:
        """Which entries have these contents, by content hash."""
        ...

    def add(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        """Adds the entries whose content nobody has yet, in as few transactions as DynamoDB takes.

        Answers who has each content now, by hash: an entry's own id when it was added, another's when it was not.
        Each transaction carries a copy of the audit record, under an id of its own, with the number of its entries.
        """
        ...

    def add_once(self, organisation: str, entry: Entry, audit: AuditRecord, once: Once) -> EntryId | Replayed:
        """As `add`, of one entry, remembered under the key: also when the content was there already."""
        ...

    def replace(
        self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord, above: Sequence[Entry] = ()
    ) -> None:
        """Puts `entry` in the place of `was`, if those `above` it are as they were read. Raises Stale and Taken.

        Where its version grows, `was` is kept among its versions.
        """
        ...

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        """Removes the entry, its card and its hash, and keeps it aside for 30 days; False when there is none."""
        ...

    def deleted(self, organisation: str, id: EntryId) -> Entry | None:
        """An entry that was deleted in the last 30 days."""
        ...

    def restore(self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord) -> None:
        """Adds `entry`, which is `was` among the deleted, and keeps its versions. Raises Stale and Taken."""
        ...

    def versions(self, organisation: str, id: EntryId) -> tuple[Entry, ...]:
        """The entry as it was before each of its last 20 changes, the oldest first; of a deleted one as well."""
        ...

    def forget_parent(self, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
        """Takes the parent that is gone out of these entries. Their version stays, for nobody has changed them."""
        ...

    def touch(self, organisation: str, ids: Sequence[EntryId]) -> None:
        """Raises the revision of these entries, so that the index writes them again. Those that are gone stay gone."""
        ...

    def keys(
        self,
        organisation: str,
        facet: str,
        *,
        newest_first: bool = True,
        low: str = "",
        high: str = "",
        page: int = KEYS_PER_PAGE,
    ) -> Iterator[Key]:
        """The entries of a facet in order of their positions, from `low` to `high`, both included where they are given.

        `page` is how many are wanted, as far as is known: so many are read at a time.
        """
        ...

    def counts(self, organisation: str, facet: str) -> Counts:
        """What the entries of a facet that is counted add up to."""
        ...

    def tally(self, organisation: str) -> Tally:
        """All counts."""
        ...

    def correct(self, organisation: str, drift: AllCounts, tally: Tally) -> None:
        """Adds to counts what they lack, unless somebody has done so since `tally`."""
        ...

    def place(self, organisation: str, id: EntryId, places: Sequence[Place]) -> None:
        """Puts every key of the entry where it belongs, and removes those `places` that are not its own.

        Does nothing to an entry that is changed meanwhile, for its keys were written with it.
        """
        ...

    def cards(self, organisation: str, *, after: str = "") -> Iterator[Card]:
        """The cards of the entries whose ids come after this one, in order of ids: of all without one."""
        ...

    def organisations(self) -> Iterator[str]:
        """Every organisation that ever added an entry."""
        ...


class JobStore(Protocol):
    """Work that takes longer than one call. Each write of a job is an event that has it carried on."""

    def create(self, job: Job, pieces: Sequence[str] = (), audit: AuditRecord | None = None) -> None:
        """Keeps the job, and what it works on: texts of at most 300,000 bytes each."""
        ...

    def job(self, organisation: str, id: str) -> Job | None: ...

    def piece(self, organisation: str, id: str, number: int) -> str | None: ...

    def advance(self, job: Job, was: Job) -> bool:
        """Puts `job` in the place of `was`, if nobody else did meanwhile (`Job.step` shows it)."""
        ...

    def unfinished(self, organisation: str) -> Iterator[Job]:
        """Those that are in progress."""
        ...


class QueryCounts(Protocol):
    """How often the memory was searched, by phase and role. Never fails its caller."""

    def count(self, organisation: str, phase: Phase | None, role: Role) -> None: ...

    def counts(self, organisation: str) -> Mapping[tuple[str, Role], int]:
        """By (phase, or `none`, and role). Raises Unavailable."""
        ...


class UsageStore(Protocol):
    """What becomes of lessons. Stories and votes are kept for a year, what they add to totals and ratings stays."""

    def recur(self, organisation: str, id: EntryId, story: str, at: str, audit: AuditRecord) -> Recurrence | None:
        """Notes in one transaction that this story learned the entry again.

        The same again notes nothing, and answers what is noted. None when it is the story that learned it first, and
        when there is no such entry. Raises Unavailable.
        """
        ...

    def searched(self, organisation: str, story: str, tokens: int) -> None:
        """Counts a search, and the tokens of its answer. Never fails its caller."""
        ...

    def recorded(self, organisation: str, story: str, tokens_used: int | None) -> None:
        """The story left a summary, and took so many tokens where that is known. Never fails its caller."""
        ...

    def vote(self, organisation: str, vote: Vote) -> Rating:
        """In place of the one that the voter gave the entry in that story. Raises Unavailable, as do those below."""
        ...

    def rating(self, organisation: str, id: EntryId) -> Rating: ...

    def lowest(self, organisation: str, most: int) -> Sequence[Rating]:
        """The entries that were rated lowest, of equal ones those with more votes first."""
        ...

    def recurring(self, organisation: str, most: int) -> Sequence[Recurrence]:
        """The last recurrence of each lesson that was learned again most often."""
        ...

    def totals(self, organisation: str) -> Mapping[str, int]:
        """The cells of `memory.usage` and how many `recurrences` there are, of all that was ever noted."""
        ...


class VectorCaches(Protocol):
    """The vectors computed before, of each organisation apart."""

    def of(self, organisation: str) -> VectorMemory: ...

    def clear(self, organisation: str) -> int:
        """Forgets this organisation's vectors and says how many. Raises Unavailable."""
        ...

    def size(self, organisation: str) -> int:
        """How many vectors are kept for this organisation. Raises Unavailable."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Stores, model, clock. `embedder` None is a deployment that compares words only.

    `clock` returns the time with its zone, `new_id` makes UUIDs, `batch` says how many texts are embedded in one call.
    """

    store: EntryStore
    jobs: JobStore
    caches: VectorCaches
    usage: UsageStore
    embedder: EmbeddingProvider | None
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    batch: int = BATCH

    def now(self) -> str:
        """The time as entries and jobs have it."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def record(self, author: Author, event: str, **details: str) -> AuditRecord:
        """What was done on whose behalf. `details` are names and figures, never text."""
        return author.record(event, self.clock().timestamp(), **details)

    def entry(self, author: Author, new: NewEntry, id: EntryId, parent: EntryId | None) -> Entry:
        """The entry that is to be, as of now."""
        now = self.now()
        return Entry(
            organisation=author.organisation,
            id=id,
            content=new.content,
            content_hash=content_hash(new.content),
            entry_type=new.entry_type,
            roles=new.roles,
            tags=new.tags,
            confidence=new.confidence,
            created_at=now,
            updated_at=now,
            parent_id=parent,
            source_file=new.source_file,
            source_story=new.source_story,
            supersedes=new.supersedes,
            metadata=new.metadata,
        )


def unknown(id: str) -> NotFound:
    """Nobody's entry, or another organisation's: an answer never says which."""
    return NotFound(f"There is no entry {id}.", hint="Take ids from kb_search or kb_list; this one may be deleted.")


def deleted(id: str) -> NotFound:
    return NotFound(f"The entry {id} was deleted.", hint="kb_delete with undo=true brings it back.")
