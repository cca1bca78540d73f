"""One state of the index in memory: its records, the vectors of its chunks, and the scores of the terms looked for.

Records are in the order of their ids, so that ties go by place; chunks of a record stand side by side, in their order.
This module is imported when the first snapshot is taken, and numpy with it.
"""

import sqlite3
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy

from commonplace.kernel.byte_cache import ByteCache
from commonplace.search.embedded.tables import CHUNK_BITS, MOST_CHUNKS, State, chunk_rows
from commonplace.search.filters import Filters
from commonplace.search.model import LegHit, Position, RecordId, Vector

Array = numpy.ndarray[Any, Any]

LABEL_WEIGHTS = "3.0, 3.0, 1.0, 1.0, 1.0, 1.0"
"""The weights of title, aliases, description, tags, authors and content type, measured on judged queries."""

PASSAGE_WEIGHTS = "2.0, 1.0"
"""The weights of heading path and text."""

SCORES_PER_CHUNK = 64
"""Of terms, kept for each chunk of the index: half the memory of vectors of 256 numbers. The score of a query is the
sum of those of its terms, and few terms of a query are new, least of all those that many chunks have."""

MOST_MASKS = 64

TOKEN_BYTES = 32_000_000
"""The tokens that are kept in memory: those of some 4,000 documents of ten passages."""

_SCORES = {
    "labels": f"SELECT rowid, -bm25(labels, {LABEL_WEIGHTS}) FROM labels WHERE labels MATCH ?",  # noqa: S608 - constants
    "passages": f"SELECT rowid, -bm25(passages, {PASSAGE_WEIGHTS}) FROM passages WHERE passages MATCH ?",  # noqa: S608
}

_VECTORS = "SELECT chunks.rowid, vectors.vector FROM chunks LEFT JOIN vectors ON vectors.rowid = chunks.vector"

BLOCK = 1_000
"""Rows that are read together."""

LAST = "\U0010ffff"


class Scores(NamedTuple):
    """The scores of each record in one leg, and of each chunk."""

    records: Array
    chunks: Array
    least: float
    """What a chunk has to be above to be shown for it."""


class Chunks(NamedTuple):
    """Their rows in the table, their vectors, and which of them have one."""

    rows: Array
    vectors: Array
    embedded: Array


class Snapshot:
    """The live records of one `state`. What no write has touched since `earlier` is taken from there."""

    def __init__(self, database: sqlite3.Connection, state: State, earlier: "Snapshot | None" = None) -> None:
        self.state = state
        found = database.execute(
            "SELECT rowid, id, fingerprint FROM records INDEXED BY live_records WHERE deleted = 0 ORDER BY id"
        ).fetchall()
        self._rows = numpy.fromiter((row for row, _, _ in found), numpy.int64, len(found))
        self._by_row = numpy.argsort(self._rows)
        self._ids = [RecordId(record) for _, record, _ in found]
        self._fingerprints: list[str | None] = [mark for _, _, mark in found]
        follows = "SELECT 1 FROM writes WHERE number = ? AND token = ?"
        if earlier and database.execute(follows, earlier.state).fetchone():
            # The chunks of `earlier`, but for those of the records that were written since: they are read.
            number, _ = earlier.state
            written = [row for (row,) in database.execute("SELECT rowid FROM records WHERE written > ?", (number,))]
            one = f"{_VECTORS} WHERE chunks.rowid BETWEEN ? AND ?"
            pairs = [pair for row in written for pair in database.execute(one, chunk_rows(row))]
            fresh = _loaded(iter(pairs), len(pairs))
            kept = ~numpy.isin(earlier.chunks.rows >> CHUNK_BITS, written)
            size = int(kept.sum())
            dimension = max(fresh.vectors.shape[1], earlier.chunks.vectors.shape[1])
            vectors = numpy.zeros((size + len(fresh.rows), dimension), dtype=numpy.float32)
            if earlier.chunks.vectors.shape[1]:
                # Copied once: of a large index these are a hundred megabytes.
                numpy.compress(kept, earlier.chunks.vectors, axis=0, out=vectors[:size])
            if fresh.vectors.shape[1]:
                vectors[size:] = fresh.vectors
            self._chunks = Chunks(
                numpy.concatenate((earlier.chunks.rows[kept], fresh.rows)),
                vectors,
                numpy.concatenate((earlier.chunks.embedded[kept], fresh.embedded)),
            )
        else:
            self._chunks = _loaded(
                database.execute(_VECTORS), *database.execute("SELECT count(*) FROM chunks").fetchone()
            )
        self._by_chunk = numpy.argsort(self._chunks.rows, kind="stable")
        records = self._chunks.rows >> CHUNK_BITS
        self._starts = numpy.flatnonzero(numpy.diff(records, prepend=-1))
        self._owners = self._places(records[self._starts])
        spans = numpy.zeros((len(found), 2), dtype=numpy.int64)
        spans[self._owners, 0] = self._starts
        spans[self._owners, 1] = numpy.append(self._starts[1:], len(records))[: len(self._starts)]
        self._spans: Array = spans
        self._masks = {Filters(): numpy.ones(len(found), dtype=bool)}
        self._terms: OrderedDict[tuple[str, str], tuple[Array, Array]] = OrderedDict()
        self._kept_scores = 0
        self._words: dict[str, list[tuple[str, int]]] = {}
        self.tokens: ByteCache[RecordId, tuple[bytes, ...]] = ByteCache(TOKEN_BYTES, lambda parts: sum(map(len, parts)))
        """The tokens of records that searches compared."""

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def chunks(self) -> Chunks:
        return self._chunks

    def by_words(self, database: sqlite3.Connection, terms: Sequence[str]) -> Scores:
        """Return the scores by labels and best passage, as a nested query of OpenSearch scores a record; 0 without any
        term.
        """
        records, chunks = numpy.zeros(len(self._ids)), numpy.zeros(len(self._chunks.rows))
        for term in terms:
            for table, scores in (("passages", chunks), ("labels", records)):
                places, added = self._scores_of(database, table, term)
                scores[places] += added
        return Scores(records + self._best(chunks, 0.0), chunks, 0.0)

    def by_vector(self, vector: Vector) -> Scores:
        """Return the scores by similarity; minus infinity without a vector."""
        embedded = self._chunks.embedded
        chunks: Array = numpy.full(len(embedded), -numpy.inf, dtype=numpy.float32)
        if embedded.any():
            numpy.matmul(self._chunks.vectors, numpy.asarray(vector, dtype=numpy.float32), out=chunks)
            chunks[~embedded] = -numpy.inf
        return Scores(self._best(chunks, -numpy.inf), chunks, -numpy.inf)

    def hits(self, scores: Scores, kept: Array, size: int, after: Position | None = None) -> list[LegHit]:
        """The `size` best of the kept records after that position, ties by id."""
        values = scores.records
        if after:
            later = numpy.arange(len(values)) >= bisect_right(self._ids, after.id)
            kept = kept & ((values < after.score) | ((values == after.score) & later))
        places = numpy.flatnonzero(kept)
        if len(places) > size:
            places = places[values[places] >= numpy.partition(values[places], -size)[-size]]
        ranked = places[numpy.argsort(-values[places], kind="stable")][:size]
        chunks = self._best_chunks(scores, ranked)
        return [
            LegHit(self._ids[place], score, chunk if chunk >= 0 else None, self._fingerprints[place])
            for place, score, chunk in zip(ranked.tolist(), values[ranked].tolist(), chunks, strict=True)
        ]

    def rank(self, scores: Scores, kept: Array, place: int) -> tuple[int | None, float]:
        """The rank from 1 of the record at this place, None where it is not kept; and its score."""
        values = scores.records
        better = values > values[place]
        better[:place] |= values[:place] == values[place]
        return (1 + int((kept & better).sum()) if kept[place] else None), float(values[place])

    def place(self, record: RecordId) -> int | None:
        """Return the place of a live record in the order of ids."""
        at = bisect_left(self._ids, record)
        return at if at < len(self._ids) and self._ids[at] == record else None

    def rows_of_chunks(self, record: RecordId) -> list[int]:
        """Return the rows in order; none where the record is gone."""
        place = self.place(record)
        rows: list[int] = [] if place is None else self._chunks.rows[slice(*self._spans[place])].tolist()
        return rows

    def shown(self, record: RecordId, ordinal: int | None, legs: Iterable[Scores]) -> int | None:
        """The row of the wanted chunk, else of the best in the first leg that has one, else of the first chunk."""
        rows = self.rows_of_chunks(record)
        if ordinal is None and (place := self.place(record)) is not None:
            ordinals = (self._best_chunks(leg, numpy.array([place]))[0] for leg in legs)
            ordinal = next((found for found in ordinals if found >= 0), None)
        return next((row for row in rows if row & (MOST_CHUNKS - 1) == ordinal), rows[0] if rows else None)

    def mask(self, filters: Filters, allowed: Callable[[], Iterable[int]]) -> Array:
        """Return which records pass the filters; `allowed` gives their rows."""
        mask = self._masks.get(filters)
        if mask is None:
            if len(self._masks) > MOST_MASKS:
                self._masks.popitem()
            mask = self._masks[filters] = numpy.zeros(len(self._ids), dtype=bool)
            mask[self._places(numpy.fromiter(allowed(), numpy.int64))] = True
        return mask

    def without(self, mask: Array, rows: Iterable[int]) -> Array:
        """The mask, but for the records in these rows."""
        left_out = self._places(numpy.fromiter(rows, numpy.int64))
        if not len(left_out):
            return mask
        kept: Array = mask.copy()
        kept[left_out] = False
        return kept

    def fits(self, vector: Vector) -> bool:
        """Return whether a vector can be compared with those of the chunks."""
        return not self._chunks.embedded.any() or len(vector) == self._chunks.vectors.shape[1]

    def knows(self, database: sqlite3.Connection, term: str) -> bool:
        """Return whether a record has the term."""
        return any(len(self._scores_of(database, table, term)[0]) for table in ("passages", "labels"))

    def words(self, database: sqlite3.Connection, letter: str) -> list[tuple[str, int]]:
        """The words that begin with the letter (with none: all), and in how many records each occurs."""
        if letter not in self._words:
            query = "SELECT term, doc FROM vocabulary WHERE term >= ? AND term <= ?"
            self._words[letter] = database.execute(query, (letter, letter + LAST)).fetchall()
        return self._words[letter]

    def _scores_of(self, database: sqlite3.Connection, table: str, term: str) -> tuple[Array, Array]:
        """The places of the records, or of the chunks, that have the term, and their scores."""
        kept = self._terms.get((table, term))
        if kept is None:
            found = numpy.fromiter(database.execute(_SCORES[table], (f'"{term}"',)), "i8,f4")
            if table == "labels":
                places = self._places(found["f0"])
            else:
                places = self._by_chunk[numpy.searchsorted(self._chunks.rows, found["f0"], sorter=self._by_chunk)]
            kept = self._terms[table, term] = places.astype(numpy.int32), found["f1"].copy()
            self._kept_scores += len(places)
            while self._kept_scores > SCORES_PER_CHUNK * len(self._chunks.rows) and len(self._terms) > 1:
                _, (dropped, _) = self._terms.popitem(last=False)
                self._kept_scores -= len(dropped)
        self._terms.move_to_end((table, term))
        return kept

    def _places(self, rows: Array) -> Array:
        places: Array = self._by_row[numpy.searchsorted(self._rows, rows, sorter=self._by_row)]
        return places

    def _best(self, chunks: Array, none: float) -> Array:
        best = numpy.full(len(self._ids), none)
        if len(self._starts):
            best[self._owners] = numpy.maximum.reduceat(chunks, self._starts)
        return best

    def _best_chunks(self, scores: Scores, places: Array) -> list[int]:
        """Return the ordinals of the best chunks in a leg of the records at these places, -1 where there is none."""
        found = numpy.full(len(places), -1)
        spans = self._spans[places]
        lengths = spans[:, 1] - spans[:, 0]
        having = numpy.flatnonzero(lengths)
        if len(having):
            lengths = lengths[having]
            starts = numpy.cumsum(lengths) - lengths
            rows = numpy.arange(lengths.sum()) + numpy.repeat(spans[having, 0] - starts, lengths)
            values = scores.chunks[rows]
            best = numpy.maximum.reduceat(values, starts)
            first = numpy.flatnonzero(values == numpy.repeat(best, lengths))
            first = first[numpy.searchsorted(first, starts)]
            found[having] = numpy.where(best > scores.least, self._chunks.rows[rows[first]] & (MOST_CHUNKS - 1), -1)
        ordinals: list[int] = found.tolist()
        return ordinals


def _loaded(found: Iterator[tuple[int, bytes | None]], count: int) -> Chunks:
    """Return the chunks of so many rows. They are read in blocks, so that all of them are in memory once, not twice."""
    rows, embedded = numpy.zeros(count, numpy.int64), numpy.zeros(count, bool)
    vectors = numpy.zeros((count, 0), "<f4")
    for start in range(0, count, BLOCK):
        block = list(islice(found, BLOCK))
        part = slice(start, start + len(block))
        rows[part] = [row for row, _ in block]
        embedded[part] = [blob is not None for _, blob in block]
        if size := next((len(blob) for _, blob in block if blob), 0):
            if not vectors.shape[1]:
                vectors = numpy.zeros((count, size // 4), "<f4")
            blobs = b"".join([blob or bytes(size) for _, blob in block])
            vectors[part] = numpy.frombuffer(blobs, "<f4").reshape(len(block), -1)
    if (numpy.diff(rows) > 0).all():
        return Chunks(rows, vectors, embedded)
    order = numpy.argsort(rows)
    return Chunks(rows[order], vectors[order], embedded[order])
