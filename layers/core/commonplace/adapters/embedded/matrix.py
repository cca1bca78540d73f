"""Every chunk's vector in memory, and exact search over them. numpy is imported when there is something to search."""

import sqlite3
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from commonplace.search.model import LegHit, RecordId, Vector

if TYPE_CHECKING:
    import numpy


class VectorMatrix:
    """The vectors of one state of the index, chunks of a record side by side."""

    def __init__(self, database: sqlite3.Connection) -> None:
        import numpy

        rows = database.execute(
            "SELECT chunks.record, records.id, chunks.ordinal, vectors.vector FROM chunks"
            " JOIN vectors ON vectors.rowid = chunks.vector JOIN records ON records.rowid = chunks.record"
            " ORDER BY chunks.record, chunks.ordinal"
        ).fetchall()
        owners = numpy.array([row[0] for row in rows], dtype=numpy.int64)
        self._vectors: numpy.ndarray[Any, Any] = numpy.frombuffer(b"".join(row[3] for row in rows), dtype="<f4")
        self._vectors = self._vectors.reshape(len(rows), -1) if rows else self._vectors.reshape(0, 0)
        self._ordinals = [int(row[2]) for row in rows]
        self._records, self._starts = numpy.unique(owners, return_index=True)
        self._ids = [RecordId(rows[start][1]) for start in self._starts]

    def nearest(self, vector: Vector, allowed: Collection[int] | None, floor: float) -> list[LegHit]:
        """Every allowed record whose best chunk is at least `floor` similar, best first, ties by id."""
        import numpy

        if not self._ids or len(vector) != self._vectors.shape[1]:
            return []
        similarities = self._vectors @ numpy.asarray(vector, dtype=numpy.float32)
        best = numpy.maximum.reduceat(similarities, self._starts)
        kept = best >= floor
        if allowed is not None:
            kept &= numpy.isin(self._records, numpy.fromiter(allowed, dtype=numpy.int64, count=len(allowed)))
        found = [(position, float(best[position])) for position in numpy.flatnonzero(kept).tolist()]
        found.sort(key=lambda hit: (-hit[1], self._ids[hit[0]]))
        return [LegHit(self._ids[position], score, self._chunk(similarities, position)) for position, score in found]

    def fits(self, vector: Vector) -> bool:
        return not self._ids or len(vector) == self._vectors.shape[1]

    def _chunk(self, similarities: "numpy.ndarray[Any, Any]", position: int) -> int:
        start = int(self._starts[position])
        end = int(self._starts[position + 1]) if position + 1 < len(self._starts) else len(self._ordinals)
        return self._ordinals[start + int(similarities[start:end].argmax())]
