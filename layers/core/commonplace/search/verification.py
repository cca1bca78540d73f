"""Searches an index for sampled records: an index may hold everything and still find nothing."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence

from commonplace.search.candidates import CANDIDATES_PER_LEG
from commonplace.search.differences import Difference, Inspected
from commonplace.search.embeddings import embed_each, model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.model import Candidates, Engine, LegHit, QueryVector, Record, RecordId
from commonplace.search.source import Published, Source
from commonplace.search.text import plain, query_terms

SAMPLES = 40
WORDS = 16
"""Of a sampled chunk: enough to be of this chunk and of few others."""

TOP = 10
OVERLAP = 0.5
"""Mean share of the ten best that an index of the same model must have in common with the one it replaces. Another
analysis may well order words otherwise; an index that is broken agrees on nothing."""


def sample(published: Published) -> list[RecordId]:
    """The same records every time, from all over the collection."""
    return sorted(published.versions, key=lambda record: hashlib.sha256(record.encode()).digest())[:SAMPLES]


class Searches:
    """Looks for sampled records: by their titles, by words of one of their chunks, and by that chunk's vector."""

    def __init__(self, source: Source, index: Inspected, current: Engine | None) -> None:
        self._source = source
        self._index = index
        self._model = model_fingerprint(index.embeddings) if index.embeddings else None
        self._current = current if current and current.model() == self._model else None
        self._alike = _alike(index.engine, self._current) if self._current else set()
        self._overlaps: list[float] = []
        self.sampled = 0

    @property
    def overlap(self) -> float | None:
        return sum(self._overlaps) / len(self._overlaps) if self._overlaps else None

    def run(self, ids: Sequence[RecordId]) -> list[Difference]:
        found = [difference for record in ids for difference in self._record(record)]
        if self.overlap is not None and self.overlap < OVERLAP:
            sentence = (
                f"Of the ten best hits, {self.overlap:.0%} are those of the current index, and {OVERLAP:.0%} must be."
            )
            found.append(Difference("other-ranking", None, sentence))
        return found

    def _record(self, wanted: RecordId) -> list[Difference]:
        record = self._source.read([wanted]).records.get(wanted)
        if record is None:
            return []
        self.sampled += 1
        found = list(self._missed(record))
        if found and self._source.read([wanted]).records.get(wanted) != record:
            return []  # published anew meanwhile: it is another text that is found now
        return found

    def _missed(self, record: Record) -> Iterator[Difference]:
        if query_terms(record.title):
            answer = self._ask(record.title, None)
            if not _has(record.id, (*answer.named, *answer.lexical), answer.lexical):
                yield Difference("not-found-by-title", record.id, f"Its title does not find it: {record.title!r}.")
        chunk = record.chunks[len(record.chunks) // 2]
        words = " ".join(plain(chunk.text).split()[:WORDS])
        vector = self._vector(record)
        if not query_terms(words) and vector is None:
            return
        answer = self._ask(words, vector)
        if query_terms(words) and not _has(record.id, answer.lexical, answer.lexical):
            yield Difference("not-found-by-words", record.id, f"Its own words do not find it: {words!r}.")
        if vector and (answer.degraded or not _has(record.id, answer.vector, answer.vector)):
            yield Difference(
                "not-found-by-meaning", record.id, f"Its own vector does not find it (chunk {chunk.ordinal})."
            )

    def _vector(self, record: Record) -> QueryVector | None:
        if self._index.embeddings is None or self._model is None:
            return None
        (embedded,) = embed_each([record], self._index.embeddings, self._index.memories)
        if not embedded.vectors:
            return None
        return QueryVector(self._model, embedded.vectors[len(record.chunks) // 2])

    def _ask(self, text: str, vector: QueryVector | None) -> Candidates:
        answer = self._index.engine.candidates(text, vector, Filters(), CANDIDATES_PER_LEG)
        if self._current:
            before = self._current.candidates(text, vector, Filters(), CANDIDATES_PER_LEG)
            for one, other in ((before.lexical, answer.lexical), (before.vector, answer.vector)):
                ours, theirs = ([hit.id for hit in leg if hit.id in self._alike] for leg in (one, other))
                if ours or theirs:
                    self._overlaps.append(_overlap(ours[:TOP], theirs[:TOP]))
        return answer


def _has(record: RecordId, hits: Iterable[LegHit], leg: Sequence[LegHit]) -> bool:
    """A full leg proves nothing: so many others may say the very same."""
    return len(leg) >= CANDIDATES_PER_LEG or any(hit.id == record for hit in hits)


def _alike(one: Engine, other: Engine) -> set[RecordId]:
    """What both hold in the same version: the current index may take no writes any more, which changes its rankings."""
    return {record for record, _ in set(one.versions()) & set(other.versions())}


def _overlap(ours: Collection[RecordId], theirs: Collection[RecordId]) -> float:
    return len({*ours} & {*theirs}) / max(len(ours), len(theirs))
