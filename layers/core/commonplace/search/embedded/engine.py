"""The search index in one SQLite file: words by FTS5, meaning by exact vectors, versions and tombstones in a table."""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from math import isfinite
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal

from commonplace.kernel.errors import Unavailable
from commonplace.search.embedded import queries, tables
from commonplace.search.embedded.queries import Conditions, suggestions
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.model import (
    VECTOR_FLOOR,
    Candidates,
    EmbeddingProvider,
    Found,
    IndexedRecord,
    IndexMismatch,
    LegHit,
    Page,
    Position,
    QueryVector,
    RecordId,
    Standing,
    Tombstone,
    Vector,
)
from commonplace.search.query import Query

if TYPE_CHECKING:
    import numpy

    from commonplace.search.embedded.snapshot import Scores, Snapshot

logger = logging.getLogger(__name__)

BUSY_SECONDS = 10.0

Look = Literal["no", "soon", "now"]
"""When a newer version of a published index is looked for before it is read: never, if the last look is some time ago,
or in any case."""

MAPPED_BYTES = 1 << 30
"""Bytes of the file that are read without being copied."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class EmbeddedEngine:
    """One file, one writer at a time, any number of readers in any number of processes.

    Of `provider` only the facts are used. A reader of a file that is not there yet finds nothing; a query whose vector
    is of another model searches words and says so; a writer of another model gets IndexMismatch until `replace`.
    `clock`, in seconds since 1970, dates tombstones.
    """

    def __init__(
        self,
        path: Path,
        provider: EmbeddingProvider | None,
        *,
        read_only: bool = False,
        journal: Literal["wal", "delete"] = "wal",
        vector_floor: float = VECTOR_FLOOR,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self._model = model_fingerprint(provider) if provider else tables.LEXICAL_ONLY
        self._read_only = read_only
        self._journal = journal
        self._vector_floor = vector_floor
        self._clock = clock
        self._lock = RLock()
        self._database: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._connections = 0
        self._facts: dict[str, str] = {}
        self.snapshot: Snapshot | None = None
        """The snapshot that was read last. Another engine over a copy of the same index goes on from it."""

    def write(self, upserts: Sequence[IndexedRecord], tombstones: Sequence[Tombstone]) -> None:
        """Applies what is newer than what is there. Raises IndexMismatch and Unavailable."""
        self.apply(upserts, tombstones)

    def apply(self, upserts: Sequence[IndexedRecord], tombstones: Sequence[Tombstone]) -> bool:
        """Write as `write` does, and return whether anything changed."""
        with self._writing() as database:
            found = tables.facts(database)
            if found:
                tables.check_writable(found, self._model)
            else:
                tables.create(database, self._model)
            return tables.apply(database, upserts, tombstones, self._model, self._clock())

    def replace(self, records: Sequence[IndexedRecord]) -> None:
        """Makes these the only records, in one transaction; a file that is damaged is made anew."""
        with self._lock:
            try:
                self._replace(records)
            except IndexMismatch:
                logger.warning("the index file is damaged and is made anew")
                self._disconnect()
                for name in (self.path.name, f"{self.path.name}-wal", f"{self.path.name}-shm"):
                    self.path.with_name(name).unlink(missing_ok=True)
                self._replace(records)

    def model(self) -> str | None:
        """The model of the vectors in the file; None when it has none."""
        with self._reading() as database:
            model = self._facts["model"] if database else tables.LEXICAL_ONLY
            return model if model != tables.LEXICAL_ONLY else None

    def state(self) -> str | None:
        """The connection, and what SQLite counts for it: `data_version` others' writes, `total_changes` ours."""
        with self._lock, self._translated():
            database = self._open()
            if database is None:
                return None
            (version,) = database.execute("PRAGMA data_version").fetchone()
            return f"{self._connections}.{version}.{database.total_changes}"

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        """Both legs and the named records, filters applied before ranking. Raises Unavailable."""
        with self._reading() as database:
            if database is None:
                return Candidates(lexical=(), vector=(), total=0)
            conditions, snapshot = Conditions(filters), self._read(database)
            kept = self._mask(database, snapshot, conditions)
            words = snapshot.by_words(database, query.terms)
            matched = kept & (words.records > 0)
            near = self._by_vector(snapshot, vector)

            def by_grade(hit: LegHit) -> tuple[float, float, RecordId]:
                place = snapshot.place(hit.id)
                return -hit.score, 0.0 if place is None else -float(words.records[place]), hit.id

            return Candidates(
                lexical=tuple(snapshot.hits(words, matched, size)),
                vector=tuple(snapshot.hits(near, kept & (near.records >= self._vector_floor), size)) if near else (),
                total=int(matched.sum()),
                named=tuple(sorted(queries.named(database, query, conditions), key=by_grade)[:size]),
                degraded=vector is not None and near is None,
                suggestions=suggestions(database, snapshot, query, conditions),
                records=len(snapshot),
            )

    def page(self, query: Query, filters: Filters, size: int, after: Position | None = None) -> Page:
        """A page of the ranking by words. Raises Unavailable."""
        with self._reading() as database:
            if database is None:
                return Page((), 0, None)
            conditions, snapshot = Conditions(filters), self._read(database)
            words = snapshot.by_words(database, query.terms)
            matched = self._mask(database, snapshot, conditions) & (words.records > 0)
            hits = snapshot.hits(words, matched, size + 1, after)
            last = hits[size - 1] if len(hits) > size else None
            return Page(
                hits=tuple(hits[:size]),
                total=int(matched.sum()),
                after=Position(last.score, last.id) if last else None,
                suggestions=suggestions(database, snapshot, query, conditions) if after is None else (),
            )

    def fetch(
        self, wanted: Sequence[tuple[RecordId, int | None]], query: Query, vector: QueryVector | None = None
    ) -> dict[RecordId, Found]:
        """Return what is shown of the wanted records; those that are gone are left out. Raises Unavailable."""
        with self._reading("no") as database:
            if database is None:
                return {}
            snapshot = self._read(database)
            legs: list[Scores] = []
            if any(ordinal is None for _, ordinal in wanted):
                near = self._by_vector(snapshot, vector)
                legs = [snapshot.by_words(database, query.terms), *([near] if near else [])]
            return queries.found(
                database, {record: snapshot.shown(record, ordinal, legs) for record, ordinal in wanted}
            )

    def tokens(self, wanted: Sequence[RecordId]) -> dict[RecordId, tuple[bytes, ...]]:
        """The token ids of the records' chunks. Raises Unavailable."""
        with self._reading("no") as database:
            if database is None:
                return {}
            snapshot = self._read(database)
            found = {record: snapshot.tokens.get(record) for record in wanted}
            missing = {record: snapshot.rows_of_chunks(record) for record, parts in found.items() if parts is None}
            for record, parts in queries.tokens(database, missing).items() if missing else ():
                found[record] = parts
                snapshot.tokens.put(record, parts)
            return {record: parts for record, parts in found.items() if parts is not None}

    def ranks(self, record: RecordId, query: Query, vector: QueryVector | None, filters: Filters) -> Standing:
        """Return where the record stands in each leg. Raises Unavailable."""
        with self._reading("no") as database:
            held = self._held(database, record) if database else None
            if database is None or held is None:
                return Standing(None, None)
            snapshot = self._read(database)
            kept, place = self._mask(database, snapshot, Conditions(filters)), snapshot.place(record)
            if place is None or not kept[place]:
                return Standing(None, None, held=held)
            words, near = snapshot.by_words(database, query.terms), self._by_vector(snapshot, vector)
            by_words, score = snapshot.rank(words, kept & (words.records > 0), place)
            by_vector, similarity = None, float("-inf")
            if near:
                by_vector, similarity = snapshot.rank(near, kept & (near.records >= self._vector_floor), place)
            return Standing(
                lexical=(by_words, score) if by_words else None,
                vector=(by_vector, similarity) if by_vector else None,
                below_floor=similarity if by_vector is None and isfinite(similarity) else None,
                held=held,
                admitted=True,
            )

    def versions(self) -> Iterator[tuple[RecordId, int]]:
        with self._reading("now") as database:
            rows = database.execute("SELECT id, version FROM records WHERE deleted = 0 ORDER BY id") if database else ()
            return iter([(RecordId(record), version) for record, version in rows])

    def held(self, ids: Sequence[RecordId]) -> dict[RecordId, int]:
        with self._reading("now" if ids else "soon") as database:
            found = {record: self._held(database, record) for record in ids} if database else {}
            return {record: version for record, version in found.items() if version is not None}

    def incomplete(self) -> Iterator[RecordId]:
        with self._reading("now") as database:
            if database is None or self._facts["model"] == tables.LEXICAL_ONLY:
                return iter(())
            rows = database.execute("SELECT id FROM records WHERE deleted = 0 AND embedded = 0 ORDER BY id")
            return iter([RecordId(record) for (record,) in rows])

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors kept under these keys; none when the file cannot be read, for they can be computed again."""
        with suppress(IndexMismatch), self._reading() as database:
            if database:
                return tables.known_vectors(database, keys)
        return {}

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        """Nothing: vectors are kept with the chunks that are written."""

    def sweep(self, before: datetime) -> int:
        """Forgets tombstones buried before then. Raises IndexMismatch and Unavailable."""
        with self._writing() as database:
            found = tables.facts(database)
            if not found:
                return 0
            tables.check_writable(found, self._model)
            return tables.sweep(database, before.timestamp())

    def close(self) -> None:
        """Lets go of the file."""
        self._disconnect()

    def _disconnect(self) -> None:
        with self._lock:
            if self._database:
                self._database.close()
            self._database, self._facts = None, {}

    def _replace(self, records: Sequence[IndexedRecord]) -> None:
        with self._writing() as database:
            tables.drop(database)
            tables.create(database, self._model)
            tables.apply(database, records, (), self._model, self._clock())

    def _read(self, database: sqlite3.Connection) -> Snapshot:
        """The present state of the file, in memory."""
        state = tables.state(database)
        if self.snapshot is None or self.snapshot.state != state:
            from commonplace.search.embedded.snapshot import Snapshot

            self.snapshot = Snapshot(database, state, self.snapshot)
        return self.snapshot

    def _mask(
        self, database: sqlite3.Connection, snapshot: Snapshot, conditions: Conditions
    ) -> numpy.ndarray[Any, Any]:
        # A search asks for another moment each time, and few records do not hold at it: the rest is known.
        lasting = Conditions(replace(conditions.filters, valid_at=None))
        mask = snapshot.mask(lasting.filters, lambda: queries.allowed(database, lasting))
        if conditions.filters.valid_at is None:
            return mask
        return snapshot.without(mask, queries.outside(database, conditions.filters.valid_at))

    def _by_vector(self, snapshot: Snapshot, vector: QueryVector | None) -> Scores | None:
        """None where the vector is of another model than the index."""
        if vector is None or self._facts["model"] != vector.model or not snapshot.fits(vector.values):
            return None
        return snapshot.by_vector(vector.values)

    def _held(self, database: sqlite3.Connection, record: RecordId) -> int | None:
        query = "SELECT version FROM records WHERE deleted = 0 AND id = ?"
        row = database.execute(query, (record,)).fetchone()
        return int(row[0]) if row else None

    @contextmanager
    def _reading(self, look: Look = "soon") -> Iterator[sqlite3.Connection | None]:  # noqa: ARG002 - see PublishedEngine
        """One consistent state of the file, or None when there is nothing in it yet."""
        with self._lock, self._translated():
            database = self._open()
            if database is None:
                yield None
                return
            database.execute("BEGIN")
            try:
                self._facts = tables.facts(database)
                if self._facts:
                    tables.check_readable(self._facts)
                yield database if self._facts else None
            finally:
                if database.in_transaction:
                    database.execute("COMMIT")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated():
            if self._read_only:
                raise Unavailable("This index is open for reading only.")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            database = self._open()
            if database is None:
                raise Unavailable("The search index could not be opened.")
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
            if self._journal == "wal":
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log holds what pages said before

    def _open(self) -> sqlite3.Connection | None:
        """The connection, opened again when another file has taken the place of the one it knew."""
        inode = self.path.stat().st_ino if self.path.exists() else None
        if self._database and inode == self._inode:
            return self._database
        self._disconnect()
        if inode is None and (self._read_only or not self.path.parent.exists()):
            return None
        mode = "ro" if self._read_only else "rwc"
        self._database = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        if not self._read_only:
            with _locked(self.path.parent):  # SQLite does not wait for others while it switches the mode of a new file
                self._database.execute(f"PRAGMA journal_mode = {self._journal}")
            self._database.execute("PRAGMA synchronous = NORMAL")
            # What was unpublished must not linger in free pages of the file.
            self._database.execute("PRAGMA secure_delete = ON")
        self._database.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
        self._inode = self.path.stat().st_ino
        self._connections += 1
        return self._database

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            self._disconnect()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                raise IndexMismatch("The search index is damaged.", hint=tables.REBUILD) from error
            raise Unavailable("The search index does not answer.") from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keeps other processes and threads that lock this folder waiting."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)
