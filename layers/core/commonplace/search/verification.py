"""Verification that an index may take over: it holds what is published, and sampled records are found in it.

Differences from the source are found while writes go on. The amount of work is estimated from a sample: reading every
document only to count its chunks would be half of it.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.search.candidates import CANDIDATES_PER_LEG
from commonplace.search.embeddings import embed_each, embedding_text, model_fingerprint, vector_key
from commonplace.search.filters import Filters
from commonplace.search.indexer import Indexer, wanting
from commonplace.search.model import (
    Candidates,
    EmbeddingProvider,
    Engine,
    LegHit,
    QueryVector,
    Record,
    RecordId,
    VectorMemories,
)
from commonplace.search.query import Query
from commonplace.search.source import Published, Source, arrived
from commonplace.search.text import plain

LOOKS = 3
"""The number of times that what differs is updated and compared again."""

READ = 200
"""Records that an index lacks of which so many are looked for in the source, to find those that cannot be read."""

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

SAMPLE = 40

SAMPLES = 40
WORDS = 16
"""Words of a sampled chunk: enough to be of this chunk and of few others."""

TOP = 10
OVERLAP = 0.5
"""Mean share of the ten best that an index of the same model must have in common with the one it replaces. Another
analysis may well order words otherwise; an index that is broken agrees on nothing."""

NAMED = 20
"""Differences reported by name; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that an index has otherwise than it should."""

    kind: DifferenceKind
    record: RecordId | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Inspected:
    """An index with the model of its vectors, and who can bring it up to date (None: nobody here)."""

    name: str
    engine: Engine
    embeddings: EmbeddingProvider | None
    memories: VectorMemories
    indexer: Indexer | None


def compare(source: Source, index: Inspected, *, vectors: bool) -> list[Difference]:
    """Return where ids and versions differ from the source and, with `vectors`, which records lack theirs."""
    held = dict(index.engine.versions())
    published = source.published()
    if published is None:
        return [Difference("unpublished", None, "Nothing is published in this store: it may be the wrong one.")]
    wrong = _differing(source, published, held, {*held, *published.versions})
    for _ in range(LOOKS - 1):
        if not wrong:
            break
        ids = list(wrong)
        if index.indexer:
            index.indexer.mend(ids)
        later = source.published() or published
        wrong, published = _differing(source, later, index.engine.held(ids), ids), later
    found = list(_differences(source, index, published, wrong))
    if vectors:
        sentence = "It has no vectors: the model did not answer."
        found += [Difference("incomplete", record, sentence) for record in index.engine.incomplete()]
    return found


def _differing(
    source: Source, published: Published, held: Mapping[RecordId, int], ids: Collection[RecordId]
) -> dict[RecordId, DifferenceKind]:
    current = published.versions
    wrong: dict[RecordId, DifferenceKind] = {}
    newer: dict[RecordId, DifferenceKind] = {}
    for record in ids:
        has, wanted = held.get(record), current.get(record)
        if has is None and wanted is not None:
            wrong[record] = "missing"
        elif has is not None and wanted is not None and has < wanted:
            wrong[record] = "outdated"
        elif has is not None and wanted is None:
            newer[record] = "foreign"
        elif has is not None and has > published.newest(record):
            newer[record] = "ahead"
    late = arrived(source, list(newer), published)
    return wrong | {record: kind for record, kind in newer.items() if record not in late}


def _differences(
    source: Source, index: Inspected, published: Published, wrong: Mapping[RecordId, DifferenceKind]
) -> Iterator[Difference]:
    current, held = published.versions, index.engine.held(list(wrong))
    lacking = [record for record, kind in sorted(wrong.items()) if kind in ("missing", "outdated")][:READ]
    unreadable = set(lacking) - source.read(lacking).records.keys()
    for record, kind in sorted(wrong.items()):
        if record in unreadable:
            yield Difference("unreadable", record, "Its object in the store is missing or cannot be read.")
            continue
        sentences: dict[DifferenceKind, str] = {
            "missing": f"It is published with version {current.get(record)}, and the index does not have it.",
            "outdated": f"It is published with version {current.get(record)}, the index has {held.get(record)}.",
            "ahead": f"The index has version {held.get(record)}, which the store has nowhere.",
            "foreign": f"The index has version {held.get(record)}, and it is not published.",
        }
        yield Difference(kind, record, sentences[kind])


@dataclass(frozen=True, slots=True)
class Work:
    documents: int
    """To be written, exactly."""
    chunks: int
    """To be embedded, about; 0 for an index of words alone."""
    total: int = 0
    """Published records."""


def estimate(
    source: Source, engine: Engine | None, provider: EmbeddingProvider | None, memories: VectorMemories
) -> Work:
    """The work that is left until `engine` (None: an empty index) holds what is published."""
    published = source.published()
    if published is None:
        return Work(0, 0)
    held = dict(engine.versions()) if engine else {}
    incomplete = set(engine.incomplete()) if engine and provider else set()
    current = published.versions
    missing = wanting(current, held, incomplete)
    foreign = len(held.keys() - current.keys())
    if provider is None or not missing:
        return Work(len(missing) + foreign, 0, len(current))
    step = max(1, len(missing) // SAMPLE)
    sample = list(source.read(missing[::step][:SAMPLE]).records.values())
    fingerprint = model_fingerprint(provider)
    wanted: dict[str | None, list[str]] = {}
    for record in sample:
        keys = [vector_key(fingerprint, embedding_text(record, chunk)) for chunk in record.chunks]
        wanted.setdefault(record.organisation, []).extend(keys)
    unknown = 0
    for organisation, keys in wanted.items():
        memory = memories(organisation)
        known = memory.known(keys) if memory else {}
        unknown += sum(1 for key in keys if key not in known)
    per_document = unknown / len(sample) if sample else 0
    return Work(len(missing) + foreign, round(per_document * len(missing)), len(current))


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
        # What both hold in the same version: the current index may take no writes any more, which changes its rankings.
        both = set(index.engine.versions()) & set(self._current.versions()) if self._current else set()
        self._alike = {record for record, _ in both}
        self._overlaps: list[float] = []
        self.sampled = 0

    @property
    def overlap(self) -> float | None:
        return sum(self._overlaps) / len(self._overlaps) if self._overlaps else None

    def run(self, ids: Sequence[RecordId]) -> list[Difference]:
        found: list[Difference] = []
        for wanted in ids:
            record = self._source.read([wanted]).records.get(wanted)
            if record is None:
                continue
            self.sampled += 1
            missed = list(self._missed(record))
            # What was published anew meanwhile is another text, which is found now.
            if missed and self._source.read([wanted]).records.get(wanted) == record:
                found += missed
        if self.overlap is not None and self.overlap < OVERLAP:
            sentence = (
                f"Of the ten best hits, {self.overlap:.0%} are those of the current index, and {OVERLAP:.0%} must be."
            )
            found.append(Difference("other-ranking", None, sentence))
        return found

    def _missed(self, record: Record) -> Iterator[Difference]:
        if Query.of(record.title).terms:
            answer = self._ask(record.title, None)
            if not _has(record.id, (*answer.named, *answer.lexical), answer.lexical):
                yield Difference("not-found-by-title", record.id, f"Its title does not find it: {record.title!r}.")
        chunk = record.chunks[len(record.chunks) // 2]
        words = " ".join(plain(chunk.text).split()[:WORDS])
        vector: QueryVector | None = None
        if self._index.embeddings and self._model:
            (embedded,) = embed_each([record], self._index.embeddings, self._index.memories)
            middle = embedded.vectors[len(record.chunks) // 2] if embedded.vectors else None
            vector = QueryVector(self._model, middle) if middle is not None else None
        if not Query.of(words).terms and vector is None:
            return
        answer = self._ask(words, vector)
        if Query.of(words).terms and not _has(record.id, answer.lexical, answer.lexical):
            yield Difference("not-found-by-words", record.id, f"Its own words do not find it: {words!r}.")
        if vector and (answer.degraded or not _has(record.id, answer.vector, answer.vector)):
            yield Difference(
                "not-found-by-meaning", record.id, f"Its own vector does not find it (chunk {chunk.ordinal})."
            )

    def _ask(self, text: str, vector: QueryVector | None) -> Candidates:
        query = Query.of(text)
        answer = self._index.engine.candidates(query, vector, Filters(), CANDIDATES_PER_LEG)
        if self._current:
            before = self._current.candidates(query, vector, Filters(), CANDIDATES_PER_LEG)
            for one, other in ((before.lexical, answer.lexical), (before.vector, answer.vector)):
                ours, theirs = ([hit.id for hit in leg if hit.id in self._alike] for leg in (one, other))
                if ours or theirs:
                    common = len({*ours[:TOP]} & {*theirs[:TOP]})
                    self._overlaps.append(common / max(len(ours[:TOP]), len(theirs[:TOP])))
        return answer


def _has(record: RecordId, hits: Iterable[LegHit], leg: Sequence[LegHit]) -> bool:
    """A full leg proves nothing: so many others may say the very same."""
    return len(leg) >= CANDIDATES_PER_LEG or any(hit.id == record for hit in hits)


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks made and the differences found. An index without differences may take over."""

    index: str
    documents: int
    """Records that are published."""
    sampled: int
    """Those that were searched for by title, words and meaning."""
    overlap: float | None
    """Mean share of the ten best hits in common with the current index; None without one, or when the models differ."""
    counts: Mapping[DifferenceKind, int]
    differences: tuple[Difference, ...]
    """The first ones, by name."""

    @property
    def passed(self) -> bool:
        return not self.counts


def verify(source: Source, index: Inspected, current: Engine | None) -> Verification:
    """Compares ids and versions, then searches. `current` is compared with where its vectors are of the same model.

    Every write must be visible (`Generations.settle`). Raises Unavailable.
    """
    found = compare(source, index, vectors=index.embeddings is not None)
    published = source.published()
    searches = Searches(source, index, current)
    if published and not found:
        found += searches.run(sample(published))
    counts = Counter(difference.kind for difference in found)
    documents = len(published.versions) if published else 0
    return Verification(index.name, documents, searches.sampled, searches.overlap, counts, tuple(found[:NAMED]))
