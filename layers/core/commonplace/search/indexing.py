"""Bringing the index to what the store holds: for the records a message names, or for all of them.

The order of reading makes late and doubled messages harmless. What the index holds is read first, then the manifest,
then the object. So an object that is missing was removed after whatever the index holds was written, and at or before
a publication that writes anything newer: a tombstone may stand above the first and must not stand above the second.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from commonplace.content.manifest import Manifest
from commonplace.content.store import ObjectReader
from commonplace.search.changes import Change, ChangeLog
from commonplace.search.embedding import embed_records
from commonplace.search.events import records_of
from commonplace.search.model import (
    EmbeddingProvider,
    Engine,
    IndexMismatch,
    Record,
    RecordId,
    Tombstone,
    VectorMemory,
)
from commonplace.search.stored import RECORDS_PER_BATCH, StoredRecords, batches, published

logger = logging.getLogger(__name__)

TOMBSTONES_KEPT = timedelta(days=15)
"""SQS keeps a message for 14 days at most: what is buried longer has no late writer left."""

Enough = Callable[[], bool]
"""Whether the time given is used up. Asked between two writes; one write is always done."""

Told = Callable[[int, int], None]
"""Is told after each write how many records are done, and how many remain."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the queue."""

    id: str
    body: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a reconciliation did, in numbers of records."""

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


class Indexer:
    """Writes documents of the store to the index. `memory` lets unchanged text keep its vectors.

    `changes` is told what the index has taken: each newer version and each removal, but not what is written again. Of
    an index that is rebuilt it is told nothing, for no document has changed.

    An index that was built otherwise is rebuilt on the spot when `rebuilds` is set, as a small one in one file can be.
    Else IndexMismatch leaves every method, with the command to run, and what was to be written is to come again.
    """

    def __init__(
        self,
        objects: ObjectReader,
        engine: Engine,
        embeddings: EmbeddingProvider | None,
        memory: VectorMemory | None = None,
        *,
        changes: ChangeLog | None = None,
        rebuilds: bool = True,
        records_per_write: int = RECORDS_PER_BATCH,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = StoredRecords(objects)
        self._engine = engine
        self._embeddings = embeddings
        self._memory = memory
        self._changes = changes
        self._rebuilds = rebuilds
        self._records_per_write = records_per_write
        self._now = now

    def take(self, messages: Sequence[Message]) -> list[str]:
        """Indexes what the messages name and answers the ids of those that failed, in order.

        Raises Unavailable when the index does not take writes: then every message is to come again.
        """
        wanted: dict[str, tuple[RecordId, ...]] = {}
        failed: set[str] = set()
        for message in messages:
            try:
                wanted[message.id] = records_of(message.body)
            except ValueError:
                logger.error("a message is no notification of S3", extra={"messageId": message.id})
                failed.add(message.id)
        unreadable = self._look_at(list(dict.fromkeys(record for records in wanted.values() for record in records)))
        failed |= {message for message, records in wanted.items() if unreadable.intersection(records)}
        return [message.id for message in messages if message.id in failed]

    def reconcile(self, enough: Enough = never, told: Told | None = None) -> Report:
        """Compares the index with the manifest and mends what differs, until there is `enough`.

        What is mended stays so: the next call goes on with the rest, and one more changes nothing.
        """
        try:
            self._engine.write((), ())
        except IndexMismatch as mismatch:
            return self._rebuild_because(mismatch)
        return self._reconcile(enough, told)

    def mend(self, ids: Sequence[RecordId]) -> None:
        """Brings these records to what the manifest says, as `reconcile` does with all that differ."""
        held = self._engine.held(ids)
        manifest = self._store.manifest()
        if manifest is None:
            return
        current = published(manifest)
        self._index_stale([record for record in ids if held.get(record, -1) < current.get(record, -1)], manifest, held)
        self._bury_foreign([record for record in held if record not in current], manifest, held)

    def rebuild(self) -> Report:
        """Builds the index anew from the store, then catches up with what was published meanwhile."""
        manifest = self._store.manifest()
        reading = self._store.read([RecordId(entry.ref) for entry in manifest.documents] if manifest else [])
        self._engine.replace(embed_records(list(reading.records.values()), self._embeddings, self._memory))
        return self._reconcile() + Report(indexed=len(reading.records))

    def _look_at(self, ids: Sequence[RecordId]) -> set[RecordId]:
        """Indexes or buries these records as the store has them now; answers those that cannot be read."""
        if not ids:
            return set()
        try:
            return self._apply(ids)
        except IndexMismatch as mismatch:
            self._rebuild_because(mismatch)
            return self._apply(ids)

    def _apply(self, ids: Sequence[RecordId]) -> set[RecordId]:
        held = self._engine.held(ids)
        manifest = self._store.manifest()
        reading = self._store.read(ids)
        generation = manifest.generation if manifest else 0
        tombstones = [_tombstone(record, generation, held) for record in reading.missing]
        self._write(list(reading.records.values()), tombstones)
        self._tell(reading.records.values(), tombstones, held)
        return set(reading.unreadable)

    def _reconcile(self, enough: Enough = never, told: Told | None = None) -> Report:
        held = dict(self._engine.versions())
        incomplete = set(self._engine.incomplete()) if self._embeddings else set()
        manifest = self._store.manifest()
        if manifest is None:
            logger.info("nothing is published yet, the index is left as it is")
            return Report()
        current = published(manifest)
        stale = wanting(current, held, incomplete)
        foreign = [record for record in held if record not in current]
        done = unreadable = 0
        for batch in batches(stale, self._records_per_write):
            if done and enough():
                break
            unreadable += len(self._index_stale(batch, manifest, held))
            done += len(batch)
            if told:
                told(done, len(stale) + len(foreign) - done)
        remaining = len(stale) - done
        removed = self._bury_foreign(foreign, manifest, held)
        waiting = sum(1 for _ in self._engine.incomplete())
        swept = 0 if remaining else self._engine.sweep(self._now() - TOMBSTONES_KEPT)
        report = Report(done - unreadable, removed, unreadable, waiting, remaining, swept)
        logger.info("the index was compared with the store", extra={"report": str(report)})
        return report

    def _index_stale(
        self, ids: Sequence[RecordId], manifest: Manifest, before: Mapping[RecordId, int]
    ) -> list[RecordId]:
        """Answers those that could not be read. `before` is what the index held."""
        reading = self._store.read(ids)
        self._write(list(reading.records.values()), ())
        held = self._engine.held(ids)
        # A tombstone can stand above a document that was restored. The manifest names the document, so it is current as
        # of the manifest's generation, too.
        buried = [
            replace(record, version=manifest.generation)
            for record in reading.records.values()
            if record.id not in held and record.version < manifest.generation
        ]
        self._write(buried, ())
        restored = {record.id: record for record in buried}
        self._tell([restored.get(record.id, record) for record in reading.records.values()], (), before)
        return reading.unreadable + reading.missing

    def _bury_foreign(self, ids: Sequence[RecordId], manifest: Manifest, held: Mapping[RecordId, int]) -> int:
        """Removes what the manifest does not name, except what a publication under way has just written."""
        arriving = self._store.arriving(ids, manifest, self._records_per_write)
        tombstones = [_tombstone(record, manifest.generation, held) for record in ids if record not in arriving]
        self._write((), tombstones)
        self._tell((), tombstones, held)
        return len(tombstones)

    def _write(self, records: Sequence[Record], tombstones: Sequence[Tombstone]) -> None:
        if records or tombstones:
            self._engine.write(embed_records(records, self._embeddings, self._memory), tombstones)

    def _tell(self, records: Iterable[Record], tombstones: Iterable[Tombstone], before: Mapping[RecordId, int]) -> None:
        """Tells what has changed since `before`. The index has taken it all: a failure here is nobody else's."""
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
    """Which published records an index lacks in their version, and then which of the others lack their vectors.

    What waits for a model comes last: while the model fails, all else goes on.
    """
    stale = [record for record, generation in current.items() if held.get(record, -1) < generation]
    return stale + [record for record in current if record in incomplete and held.get(record, -1) >= current[record]]


def _tombstone(record: RecordId, generation: int, held: Mapping[RecordId, int]) -> Tombstone:
    return Tombstone(record, max(generation, held[record] + 1 if record in held else 0))
