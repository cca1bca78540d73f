"""The indexer: updates an index from its source, for a message's records or for all, and completes missing vectors.

The order of reading makes late and repeated messages harmless: first what the index holds, then the source's horizon,
then the record. So a record that is missing was removed after whatever the index holds was written, and before anything
newer than the horizon: a tombstone may stand above the first and must not stand above the second.

Records without vectors are noted where a look is cheap, so that an idle index stays idle.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from commonplace.search.embeddings import embed_each, no_memories, with_tokens
from commonplace.search.model import (
    EmbeddingProvider,
    Engine,
    IndexedRecord,
    IndexMismatch,
    Record,
    RecordId,
    Tombstone,
    VectorMemories,
)
from commonplace.search.source import RECORDS_PER_BATCH, Change, ChangeLog, Published, Source, arrived, batches

logger = logging.getLogger(__name__)

TOMBSTONES_KEPT = timedelta(days=15)
"""SQS keeps a message for 14 days at most: what is buried longer has no late writer left."""

Enough = Callable[[], bool]
"""Says whether the time given is used up. Checked between two writes; one write is always done."""

Told = Callable[[int, int], None]
"""Called after each write with how many records are done, and how many remain."""

SETTLED_SECONDS = 60.0
"""So old a note is when everything written before it can be found in lists of the index."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the queue."""

    id: str
    body: str


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a reconciliation, in numbers of records."""

    indexed: int = 0
    removed: int = 0
    unreadable: int = 0
    incomplete: int = 0
    """Found by words only, until the model answers again."""
    remaining: int = 0
    """Left for the next time, because the time given was used up."""
    swept: int = 0
    """Tombstones that are no longer needed."""

    def __add__(self, other: "Report") -> "Report":
        return Report(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})


def never() -> bool:
    """There is all the time in the world."""
    return False


def nobody_waits() -> None:
    """Ignores which records wait for vectors."""


class Indexer:
    """Writes the records of a source to the index. `memories` let unchanged text keep its vectors.

    `changes` receives what the index has taken: each newer version and each removal, but not what is written again. Of
    an index that is rebuilt it receives nothing, for no record has changed. `waiting` is called when records were
    written without vectors, because the model did not answer.

    An index that was built otherwise is rebuilt on the spot when `rebuilds` is set, as a small one in one file can be.
    Else IndexMismatch leaves every method, with the command to run, and what was to be written is to come again.
    """

    def __init__(
        self,
        source: Source,
        engine: Engine,
        embeddings: EmbeddingProvider | None,
        memories: VectorMemories = no_memories,
        *,
        changes: ChangeLog | None = None,
        waiting: Callable[[], None] = nobody_waits,
        rebuilds: bool = True,
        records_per_write: int = RECORDS_PER_BATCH,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._source = source
        self.engine = engine
        self._embeddings = embeddings
        self._memories = memories
        self._changes = changes
        self._waiting = waiting
        self._rebuilds = rebuilds
        self._records_per_write = records_per_write
        self._now = now

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """Indexes what the messages name and answers the ids of those that failed, in order.

        What a model has not embedded when there is `enough` is indexed by its words, and waits for `complete`.

        Raises Unavailable when the index does not take writes: then every message is to come again.
        """
        wanted: dict[str, tuple[RecordId, ...]] = {}
        failed: set[str] = set()
        for message in messages:
            try:
                wanted[message.id] = self._source.named(message.body)
            except ValueError:
                logger.error("a message names nothing to look at", extra={"messageId": message.id})
                failed.add(message.id)
        ids = list(dict.fromkeys(one for records in wanted.values() for one in records))
        unreadable: set[RecordId] = set()
        try:
            unreadable = self._apply(ids, enough) if ids else unreadable
        except IndexMismatch as mismatch:
            self._rebuild_because(mismatch)
            unreadable = self._apply(ids, enough)
        failed |= {message for message, records in wanted.items() if unreadable.intersection(records)}
        return [message.id for message in messages if message.id in failed]

    def reconcile(self, enough: Enough = never, told: Told | None = None) -> Report:
        """Compares the index with its source and mends what differs, until there is `enough`.

        What is mended stays so: the next call goes on with the rest, and one more changes nothing.
        """
        try:
            self.engine.write((), ())
        except IndexMismatch as mismatch:
            return self._rebuild_because(mismatch)
        return self._reconcile(enough, told)

    def mend(self, ids: Sequence[RecordId]) -> None:
        """Brings these records to what the source says, as `reconcile` does with all that differ."""
        held = self.engine.held(ids)
        published = self._source.published()
        if published is None:
            return
        current = published.versions
        self._index_stale([record for record in ids if held.get(record, -1) < current.get(record, -1)], published, held)
        self._bury_foreign([record for record in held if record not in current], published, held)

    def complete(self, enough: Enough = never) -> Report:
        """Gives vectors to the records that wait for them, until there is `enough` or the model answers for none.

        Raises IndexMismatch where this index cannot be read: that is for `reconcile`.
        """
        ids = list(self.engine.incomplete()) if self._embeddings else []
        done = 0
        for batch in batches(ids, self._records_per_write):
            if done and enough():
                break
            reading = self._source.read(batch)
            whole = [indexed for indexed in self._embedded(list(reading.records.values()), enough) if indexed.vectors]
            if not whole:
                break
            self.engine.write(whole, ())
            done += len(whole)
        return Report(indexed=done, incomplete=len(ids) - done)

    def rebuild(self) -> Report:
        """Builds the index anew from its source, then catches up with what was published meanwhile."""
        published = self._source.published()
        reading = self._source.read(published.versions if published else [])
        self.engine.replace(self._embedded(list(reading.records.values())))
        return self._reconcile() + Report(indexed=len(reading.records))

    def _apply(self, ids: Sequence[RecordId], enough: Enough) -> set[RecordId]:
        """Index or bury these records as the source has them now, and return those that cannot be read."""
        held = self.engine.held(ids)
        horizon = self._source.horizon()
        reading = self._source.read(ids)
        tombstones = [_tombstone(record, horizon(record), held) for record in reading.missing]
        self._write(list(reading.records.values()), tombstones, enough)
        self._publish_changes(reading.records.values(), tombstones, held)
        return set(reading.unreadable)

    def _reconcile(self, enough: Enough = never, told: Told | None = None) -> Report:
        held = dict(self.engine.versions())
        incomplete = set(self.engine.incomplete()) if self._embeddings else set()
        published = self._source.published()
        if published is None:
            logger.info("nothing is published yet, the index is left as it is")
            return Report()
        current = published.versions
        stale = wanting(current, held, incomplete)
        foreign = [record for record in held if record not in current]
        done = unreadable = 0
        for batch in batches(stale, self._records_per_write):
            if done and enough():
                break
            unreadable += len(self._index_stale(batch, published, held, enough))
            done += len(batch)
            if told:
                told(done, len(stale) + len(foreign) - done)
        remaining = len(stale) - done
        removed = self._bury_foreign(foreign, published, held)
        waiting = sum(1 for _ in self.engine.incomplete())
        swept = 0 if remaining else self.engine.sweep(self._now() - TOMBSTONES_KEPT)
        report = Report(done - unreadable, removed, unreadable, waiting, remaining, swept)
        logger.info("the index was compared with its source", extra={"report": str(report)})
        return report

    def _index_stale(
        self, ids: Sequence[RecordId], published: Published, before: Mapping[RecordId, int], enough: Enough = never
    ) -> list[RecordId]:
        """Answers those that could not be read. `before` is what the index held."""
        reading = self._source.read(ids)
        self._write(list(reading.records.values()), (), enough)
        held = self.engine.held(ids)
        # A tombstone can stand above a document that was restored. The manifest names the document, so it is current as
        # of the manifest's generation, too.
        buried = [
            replace(record, version=newest)
            for record in reading.records.values()
            if record.id not in held and record.version < (newest := published.newest(record.id))
        ]
        self._write(buried, ())
        restored = {record.id: record for record in buried}
        self._publish_changes([restored.get(record.id, record) for record in reading.records.values()], (), before)
        return reading.unreadable + reading.missing

    def _bury_foreign(self, ids: Sequence[RecordId], published: Published, held: Mapping[RecordId, int]) -> int:
        """Removes what is not published, except what was written a moment ago."""
        arriving = arrived(self._source, ids, published, self._records_per_write)
        tombstones = [_tombstone(record, published.horizon(record), held) for record in ids if record not in arriving]
        self._write((), tombstones)
        self._publish_changes((), tombstones, held)
        return len(tombstones)

    def _write(self, records: Sequence[Record], tombstones: Sequence[Tombstone], enough: Enough = never) -> None:
        if not records and not tombstones:
            return
        embedded = self._embedded(records, enough)
        if self._embeddings and not all(indexed.vectors for indexed in embedded):
            # First: a worker that ends between the two leaves a note too many, and not one too few.
            self._waiting()
        self.engine.write(embedded, tombstones)

    def _embedded(self, records: Sequence[Record], enough: Enough = never) -> list[IndexedRecord]:
        return with_tokens(embed_each(records, self._embeddings, self._memories, enough))

    def _publish_changes(
        self, records: Iterable[Record], tombstones: Iterable[Tombstone], before: Mapping[RecordId, int]
    ) -> None:
        """Reports what has changed since `before`. The index has taken it all, so a failure here is only logged."""
        if self._changes is None:
            return
        told = [
            Change(record.id, "written", record.version, added=record.id not in before)
            for record in records
            if before.get(record.id, -1) < record.version
        ] + [Change(gone.id, "removed", gone.version) for gone in tombstones if gone.id in before]
        try:
            if told:
                self._changes.append(told)
        except Exception:
            logger.exception("what has changed could not be told", extra={"changes": len(told)})

    def _rebuild_because(self, mismatch: IndexMismatch) -> Report:
        if not self._rebuilds:
            raise mismatch
        logger.warning("the index is rebuilt from the store", extra={"reason": mismatch.message})
        return self.rebuild()


def wanting(
    current: Mapping[RecordId, int], held: Mapping[RecordId, int], incomplete: Collection[RecordId]
) -> list[RecordId]:
    """Return which published records an index lacks in their version, and then which of the others lack their vectors.

    What waits for a model comes last: while the model fails, all else goes on.
    """
    stale = [record for record, generation in current.items() if held.get(record, -1) < generation]
    return stale + [record for record in current if record in incomplete and held.get(record, -1) >= current[record]]


def _tombstone(record: RecordId, horizon: int, held: Mapping[RecordId, int]) -> Tombstone:
    return Tombstone(record, max(horizon, held[record] + 1 if record in held else 0))


class Note(Protocol):
    """The note that records of one collection may wait for vectors."""

    def put(self) -> None:
        """Notes that some wait, as of now. Never fails its caller: `reconcile` looks without a note."""
        ...

    def read(self) -> float | None:
        """Return when it was noted last, in epoch seconds; None when nothing is noted. Raises Unavailable."""
        ...

    def clear(self, noted: float) -> None:
        """Takes the note of this moment away; a later one stays. Raises Unavailable."""
        ...


def complete(
    look: Callable[[Enough], Report], note: Note, enough: Enough = never, clock: Callable[[], float] = time.time
) -> Report | None:
    """Does for the records that wait what `look` does, if some are noted; None when none is.

    The note goes when none is found to wait some time after it was written. `clock` is in epoch seconds.
    """
    noted = note.read()
    if noted is None:
        return None
    report = look(enough)
    waiting = report.indexed or report.incomplete or report.remaining
    if not waiting and clock() - noted >= SETTLED_SECONDS:
        note.clear(noted)
    return report
