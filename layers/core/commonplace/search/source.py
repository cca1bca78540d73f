"""The ports to a collection's records (`Source`) and to its feed of changes (`ChangeLog`, `ChangeFeed`).

A change is a hint, like every event here: it may be late, repeated or lost, and the order says little; the store is
true. So a reader reads the store before it reports anything, and looks there now and then all the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from commonplace.search.model import Record, RecordId

T = TypeVar("T")

Collection = str
"""Name of a capability whose records have an index of their own, and their own way from source to index."""

RECORDS_PER_BATCH = 500
"""Read, or written, at a time."""

FOR_EVER = 2**40
"""The version of a tombstone whose record never comes back: above whatever a record is written with, unless it is
restored on purpose."""


Horizon = Callable[[RecordId], int]
"""The version under which a record is gone that a later look does not find."""

CHANGES_PER_NOTE = 500
"""Reported together: a first sync of 20,000 documents is some hundred notes, not 20,000."""

Kind = Literal["written", "removed"]


@dataclass(frozen=True, slots=True)
class Published:
    """The records that a source publishes, at one moment."""

    versions: Mapping[RecordId, int]
    """By id, with the version an index should have of it."""
    generation: Horizon | None = None
    """Of a source that publishes records together: the number of the last publication that the record could be part of.
    None where each record has versions of its own, and no id ever comes back."""

    def horizon(self, record: RecordId) -> int:
        return FOR_EVER if self.generation is None else self.generation(record)

    def newest(self, record: RecordId) -> int:
        """Return what is newer than this was written after the moment."""
        return self.versions.get(record, -1) if self.generation is None else self.generation(record)


@dataclass(slots=True)
class Reading:
    """The result of reading some records."""

    records: dict[RecordId, Record] = field(default_factory=dict)
    missing: list[RecordId] = field(default_factory=list)
    unreadable: list[RecordId] = field(default_factory=list)


class Source(Protocol):
    """Where the records of one collection are kept. A record that cannot be read is an outcome, a store that fails
    raises."""

    def named(self, body: str) -> tuple[RecordId, ...]:
        """The records that a message asks to look at. Raises ValueError for a message of another form."""
        ...

    def horizon(self) -> Horizon:
        """Return what `Published.horizon` is, without the list."""
        ...

    def published(self) -> Published | None:
        """None when the source does not know: nothing was ever published."""
        ...

    def read(self, ids: Iterable[RecordId]) -> Reading:
        """The records as they are now."""
        ...


def batches(items: Sequence[T], size: int = RECORDS_PER_BATCH) -> Iterator[Sequence[T]]:
    """The items in runs of at most so many."""
    return (items[start : start + size] for start in range(0, len(items), size))


def arrived(
    source: Source, ids: Sequence[RecordId], published: Published, size: int = RECORDS_PER_BATCH
) -> set[RecordId]:
    """Those of `ids` that were written after the moment of `published`."""
    return {
        record.id
        for batch in batches(ids, size)
        for record in source.read(batch).records.values()
        if record.version > published.newest(record.id)
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One record that the index holds now in this version, or holds no more."""

    record: RecordId
    kind: Kind
    version: int
    """Of the record that was written, or of its tombstone."""
    added: bool | None = None
    """Says whether the index had not held the record before; None where that does not apply."""


class ChangeLog(Protocol):
    """Receives changes."""

    def append(self, changes: Sequence[Change]) -> None:
        """Adds these changes, any number of them. May raise: the caller has done its work already, and goes on."""
        ...


class ChangeFeed(Protocol):
    """The port that reads changes. Raises Unavailable."""

    def position(self) -> str:
        """The present end of the feed, as a text that only the feed reads."""
        ...

    def since(self, position: str) -> tuple[list[Change], str]:
        """Some of the changes after the position, oldest first, and the position after them.

        It answers at once, with an empty list when there is nothing new. After very many changes it answers the first
        of them; the next call goes on. Raises ValueError for a text that is no position.
        """
        ...
