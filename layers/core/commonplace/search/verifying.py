"""Whether an index may take over: it holds what the manifest publishes, and sampled documents are found in it."""

import hashlib
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.content.filters import Filters
from commonplace.content.manifest import Manifest
from commonplace.search.embedding import embed_records, model_fingerprint
from commonplace.search.indexing import Indexer
from commonplace.search.model import (
    Candidates,
    EmbeddingProvider,
    Engine,
    LegHit,
    QueryVector,
    Record,
    RecordId,
    VectorMemory,
)
from commonplace.search.stored import StoredRecords
from commonplace.search.text import plain, query_terms

logger = logging.getLogger(__name__)

SAMPLES = 40
NAMED = 20
"""Differences told by name; the rest is counted."""

LOOKS = 3
"""Writes go on meanwhile: what differs is brought up to date and looked at again, so often."""

LEG = 200
"""Hits of a leg, as a search asks for."""

WORDS = 16
"""Of a sampled chunk: enough to be of this chunk and of few others."""

TOP = 10
OVERLAP = 0.5
"""Mean share of the ten best that an index of the same model must have in common with the one it replaces. Another
analysis may well order words otherwise; an index that is broken agrees on nothing."""

DifferenceKind = Literal[
    "unpublished",
    "missing",
    "unreadable",
    "outdated",
    "ahead",
    "foreign",
    "incomplete",
    "not-found-by-title",
    "not-found-by-words",
    "not-found-by-meaning",
    "other-ranking",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that an index has otherwise than it should."""

    kind: DifferenceKind
    record: RecordId | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at and what differs. An index without differences may take over."""

    index: str
    documents: int
    """As the manifest has it."""
    sampled: int
    """Documents that were searched for by title, words and meaning."""
    overlap: float | None
    """Mean share of the ten best hits in common with the current index; None without one, or when the models differ."""
    counts: Mapping[DifferenceKind, int]
    differences: tuple[Difference, ...]
    """The first ones, by name."""

    @property
    def passed(self) -> bool:
        return not self.counts


@dataclass(frozen=True, slots=True)
class Inspected:
    """An index with the model of its vectors, and who can bring it up to date (None: nobody here)."""

    name: str
    engine: Engine
    embeddings: EmbeddingProvider | None
    memory: VectorMemory | None
    indexer: Indexer | None


def verify(store: StoredRecords, index: Inspected, current: Engine | None) -> Verification:
    """Compares ids and versions, then searches. `current` is compared with where its vectors are of the same model.

    Every write must be visible (`Generations.settle`). Raises Unavailable.
    """
    found = compare(store, index, vectors=index.embeddings is not None)
    manifest = store.manifest()
    searches = _Searches(store, index, current)
    if manifest and not found:
        found += searches.run(_sample(manifest))
    counts = Counter(difference.kind for difference in found)
    documents = len(manifest.documents) if manifest else 0
    return Verification(index.name, documents, searches.sampled, searches.overlap, counts, tuple(found[:NAMED]))


def compare(store: StoredRecords, index: Inspected, *, vectors: bool) -> list[Difference]:
    """Where ids and versions differ from the manifest and, with `vectors`, which records lack theirs."""
    held = dict(index.engine.versions())
    manifest = store.manifest()
    if manifest is None:
        return [Difference("unpublished", None, "Nothing is published in this store: it may be the wrong one.")]
    wrong = _differing(store, manifest, held, {*held, *_published(manifest)})
    for _ in range(LOOKS - 1):
        if not wrong:
            break
        wrong, manifest = _looked_at_again(store, index, manifest, list(wrong))
    found = [_named(store, record, kind, manifest, index) for record, kind in sorted(wrong.items())]
    if vectors:
        sentence = "It has no vectors: the model did not answer."
        found += [Difference("incomplete", record, sentence) for record in index.engine.incomplete()]
    return found


def _looked_at_again(
    store: StoredRecords, index: Inspected, manifest: Manifest, ids: Sequence[RecordId]
) -> tuple[dict[RecordId, DifferenceKind], Manifest]:
    if index.indexer:
        index.indexer.mend(ids)
    later = store.manifest() or manifest
    return _differing(store, later, index.engine.held(ids), ids), later


def _differing(
    store: StoredRecords, manifest: Manifest, held: Mapping[RecordId, int], ids: Collection[RecordId]
) -> dict[RecordId, DifferenceKind]:
    published = _published(manifest)
    wrong: dict[RecordId, DifferenceKind] = {}
    newer: dict[RecordId, DifferenceKind] = {}
    for record in ids:
        has, wanted = held.get(record), published.get(record)
        if has is None and wanted is not None:
            wrong[record] = "missing"
        elif has is not None and wanted is not None and has < wanted:
            wrong[record] = "outdated"
        elif has is not None and wanted is None:
            newer[record] = "foreign"
        elif has is not None and has > manifest.generation:
            newer[record] = "ahead"
    arrived = {
        record.id
        for batch in _batches(list(newer))
        for record in store.read(batch).records.values()
        if record.version > manifest.generation
    }
    return wrong | {record: kind for record, kind in newer.items() if record not in arrived}


def _named(
    store: StoredRecords, record: RecordId, kind: DifferenceKind, manifest: Manifest, index: Inspected
) -> Difference:
    wanted, held = _published(manifest).get(record), index.engine.held([record]).get(record)
    if kind in ("missing", "outdated") and record not in store.read([record]).records:
        return Difference("unreadable", record, "Its object in the store is missing or cannot be read.")
    sentences: dict[DifferenceKind, str] = {
        "missing": f"It is published with version {wanted}, and the index does not have it.",
        "outdated": f"It is published with version {wanted}, and the index has version {held}.",
        "ahead": f"The index has version {held}, which the store has nowhere.",
        "foreign": f"The index has version {held}, and it is not published.",
    }
    return Difference(kind, record, sentences[kind])


def _published(manifest: Manifest) -> dict[RecordId, int]:
    return {RecordId(entry.ref): entry.generation for entry in manifest.documents}


def _sample(manifest: Manifest) -> list[RecordId]:
    """The same documents every time, from all over the knowledge base."""
    ids = (RecordId(entry.ref) for entry in manifest.documents)
    return sorted(ids, key=lambda record: hashlib.sha256(record.encode()).digest())[:SAMPLES]


class _Searches:
    """Looks for sampled documents: by their titles, by words of one of their chunks, and by that chunk's vector."""

    def __init__(self, store: StoredRecords, index: Inspected, current: Engine | None) -> None:
        self._store = store
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
        found = [difference for record in ids for difference in self._document(record)]
        if self.overlap is not None and self.overlap < OVERLAP:
            sentence = (
                f"Of the ten best hits, {self.overlap:.0%} are those of the current index, and {OVERLAP:.0%} must be."
            )
            found.append(Difference("other-ranking", None, sentence))
        return found

    def _document(self, wanted: RecordId) -> list[Difference]:
        record = self._store.read([wanted]).records.get(wanted)
        if record is None:
            return []
        self.sampled += 1
        found = list(self._missed(record))
        if found and self._store.read([wanted]).records.get(wanted) != record:
            return []  # published anew meanwhile: it is another document that is found now
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
        (embedded,) = embed_records([record], self._index.embeddings, self._index.memory)
        if not embedded.vectors:
            return None
        return QueryVector(self._model, embedded.vectors[len(record.chunks) // 2])

    def _ask(self, text: str, vector: QueryVector | None) -> Candidates:
        answer = self._index.engine.candidates(text, vector, Filters(), LEG)
        if self._current:
            before = self._current.candidates(text, vector, Filters(), LEG)
            for one, other in ((before.lexical, answer.lexical), (before.vector, answer.vector)):
                ours, theirs = ([hit.id for hit in leg if hit.id in self._alike] for leg in (one, other))
                if ours or theirs:
                    self._overlaps.append(_overlap(ours[:TOP], theirs[:TOP]))
        return answer


def _has(record: RecordId, hits: Iterable[LegHit], leg: Sequence[LegHit]) -> bool:
    """A full leg proves nothing: so many others may say the very same."""
    return len(leg) >= LEG or any(hit.id == record for hit in hits)


def _alike(one: Engine, other: Engine) -> set[RecordId]:
    """What both hold in the same version: the current index may take no writes any more, which changes its rankings."""
    return {record for record, _ in set(one.versions()) & set(other.versions())}


def _overlap(ours: Collection[RecordId], theirs: Collection[RecordId]) -> float:
    return len({*ours} & {*theirs}) / max(len(ours), len(theirs))


def _batches(ids: Sequence[RecordId]) -> Iterator[Sequence[RecordId]]:
    return (ids[start : start + 500] for start in range(0, len(ids), 500))
