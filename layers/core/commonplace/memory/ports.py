"""What the memory needs of the outside world."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.entries import Card, Entry, EntryId, Phase, Role
from commonplace.memory.jobs import Job
from commonplace.search.model import VectorMemory


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
    """SHA-256 of what was asked: the same key with another request is a conflict."""
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

    def replace(self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord) -> None:
        """Puts `entry` in the place of `was`. Raises Stale and Taken."""
        ...

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        """Removes the entry, its card and its hash; False when there is none."""
        ...

    def forget_parent(self, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
        """Takes the parent that is gone out of these entries. Their version stays, for nobody has changed them."""
        ...

    def touch(self, organisation: str, ids: Sequence[EntryId]) -> None:
        """Raises the revision of these entries, so that the index writes them again. Those that are gone stay gone."""
        ...

    def cards(self, organisation: str) -> Iterator[Card]:
        """Every entry's card, in order of ids."""
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
        """Puts `job` in the place of `was`, if nobody else did meanwhile (`Job.step` tells)."""
        ...

    def unfinished(self, organisation: str) -> Iterator[Job]:
        """Those that are in progress."""
        ...


class QueryCounts(Protocol):
    """How often the memory was asked, by phase and role. Never fails its caller."""

    def count(self, organisation: str, phase: Phase | None, role: Role) -> None: ...

    def counts(self, organisation: str) -> Mapping[tuple[str, Role], int]:
        """By (phase, or `none`, and role). Raises Unavailable."""
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
