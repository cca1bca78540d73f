"""Exact search over every chunk's vector, in memory. numpy is imported when there is something to search."""

import sqlite3
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from commonplace.search.embedded.tables import CHUNK_BITS, MOST_CHUNKS
from commonplace.search.model import LegHit, RecordId, Vector

if TYPE_CHECKING:
    import numpy


class VectorMatrix:
    """The vectors of one state of the index, chunks of a record side by side."""

    def __init__(self, database: sqlite3.Connection) -> None:
        import numpy

        rows = database.execute(
            "SELECT chunks.rowid >> :bits, records.id, chunks.rowid & :ordinals, vectors.vector, records.fingerprint"
            " FROM chunks JOIN vectors ON vectors.rowid = chunks.vector"
            " JOIN records ON records.rowid = chunks.rowid >> :bits ORDER BY chunks.rowid",
            {"bits": CHUNK_BITS, "ordinals": MOST_CHUNKS - 1},
        ).fetchall()
        owners = numpy.array([row[0] for row in rows], dtype=numpy.int64)
        self._vectors: numpy.ndarray[Any, Any] = numpy.frombuffer(b"".join(row[3] for row in rows), dtype="<f4")
        self._vectors = self._vectors.reshape(len(rows), -1) if rows else self._vectors.reshape(0, 0)
        self._ordinals = [int(row[2]) for row in rows]
        self._records, self._starts = numpy.unique(owners, return_index=True)
        self._ids = [RecordId(rows[start][1]) for start in self._starts]
        self._fingerprints: list[str | None] = [rows[start][4] for start in self._starts]
        self._positions = {record: position for position, record in enumerate(self._ids)}
        self._alphabetical = numpy.argsort(numpy.argsort(numpy.array(self._ids, dtype=object)))

    def nearest(self, vector: Vector, allowed: Collection[int] | None, floor: float, size: int) -> list[LegHit]:
        """The `size` best allowed records by their best chunk that are at least so similar, ties by id."""
        if not self._ids:
            return []
        similarities, best = self._compared(vector)
        return [
            LegHit(
                self._ids[position],
                float(best[position]),
                self._chunk(similarities, position),
                self._fingerprints[position],
            )
            for position in self._ranked(best, allowed, floor)[:size]
        ]

    def standing(
        self, record: RecordId, vector: Vector, allowed: Collection[int] | None, floor: float
    ) -> tuple[int | None, float] | None:
        """Rank from 1 and score of an allowed record; no rank below the floor; None for one without vectors."""
        position = self._positions.get(record)
        if position is None:
            return None
        _, best = self._compared(vector)
        ranked = self._ranked(best, allowed, floor)
        return (ranked.index(position) + 1 if position in ranked else None), float(best[position])

    def nearest_chunk(self, record: RecordId, vector: Vector) -> int | None:
        """The ordinal of the record's chunk that is most similar; None for a record without vectors."""
        import numpy

        position = self._positions.get(record)
        if position is None:
            return None
        start, end = self._span(position)
        similarities = self._vectors[start:end] @ numpy.asarray(vector, dtype=numpy.float32)
        return self._ordinals[start + int(similarities.argmax())]

    def fits(self, vector: Vector) -> bool:
        return not self._ids or len(vector) == self._vectors.shape[1]

    def _compared(self, vector: Vector) -> "tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]":
        """The similarity of each chunk, and of each record's best."""
        import numpy

        similarities = self._vectors @ numpy.asarray(vector, dtype=numpy.float32)
        return similarities, numpy.maximum.reduceat(similarities, self._starts)

    def _ranked(self, best: "numpy.ndarray[Any, Any]", allowed: Collection[int] | None, floor: float) -> list[int]:
        import numpy

        kept = best >= floor
        if allowed is not None:
            kept &= numpy.isin(self._records, numpy.fromiter(allowed, dtype=numpy.int64, count=len(allowed)))
        positions = numpy.flatnonzero(kept)
        ranked: list[int] = positions[numpy.lexsort((self._alphabetical[positions], -best[positions]))].tolist()
        return ranked

    def _chunk(self, similarities: "numpy.ndarray[Any, Any]", position: int) -> int:
        start, end = self._span(position)
        return self._ordinals[start + int(similarities[start:end].argmax())]

    def _span(self, position: int) -> tuple[int, int]:
        end = int(self._starts[position + 1]) if position + 1 < len(self._starts) else len(self._ordinals)
        return int(self._starts[position]), end
