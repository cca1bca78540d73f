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
        self._alphabetical = numpy.argsort(numpy.argsort(numpy.array(self._ids, dtype=object)))

    def nearest(
        self, vector: Vector, allowed: Collection[int] | None, floor: float, size: int
    ) -> tuple[list[LegHit], set[RecordId]]:
        """The `size` best allowed records by their best chunk, ties by id; and all that are at least so similar."""
        import numpy

        if not self._ids:
            return [], set()
        similarities = self._vectors @ numpy.asarray(vector, dtype=numpy.float32)
        best = numpy.maximum.reduceat(similarities, self._starts)
        kept = best >= floor
        if allowed is not None:
            kept &= numpy.isin(self._records, numpy.fromiter(allowed, dtype=numpy.int64, count=len(allowed)))
        positions = numpy.flatnonzero(kept)
        order = numpy.lexsort((self._alphabetical[positions], -best[positions]))
        hits = [
            LegHit(self._ids[position], float(best[position]), self._chunk(similarities, position))
            for position in positions[order[:size]].tolist()
        ]
        return hits, {self._ids[position] for position in positions.tolist()}

    def fits(self, vector: Vector) -> bool:
        return not self._ids or len(vector) == self._vectors.shape[1]

    def _chunk(self, similarities: "numpy.ndarray[Any, Any]", position: int) -> int:
        start = int(self._starts[position])
        end = int(self._starts[position + 1]) if position + 1 < len(self._starts) else len(self._ordinals)
        return self._ordinals[start + int(similarities[start:end].argmax())]
