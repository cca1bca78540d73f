"""What an index has otherwise than its source, while writes go on."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.search.indexer import Indexer
from commonplace.search.model import EmbeddingProvider, Engine, RecordId, VectorMemories
from commonplace.search.source import Published, Source, arrived

LOOKS = 3
"""What differs is brought up to date and looked at again, so often."""

READ = 200
"""So many of the records that an index lacks are looked for in the source, to tell those that cannot be read."""

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
class Inspected:
    """An index with the model of its vectors, and who can bring it up to date (None: nobody here)."""

    name: str
    engine: Engine
    embeddings: EmbeddingProvider | None
    memories: VectorMemories
    indexer: Indexer | None


def compare(source: Source, index: Inspected, *, vectors: bool) -> list[Difference]:
    """Where ids and versions differ from the source and, with `vectors`, which records lack theirs."""
    held = dict(index.engine.versions())
    published = source.published()
    if published is None:
        return [Difference("unpublished", None, "Nothing is published in this store: it may be the wrong one.")]
    wrong = _differing(source, published, held, {*held, *published.versions})
    for _ in range(LOOKS - 1):
        if not wrong:
            break
        wrong, published = _looked_at_again(source, index, published, list(wrong))
    found = list(_told(source, index, published, wrong))
    if vectors:
        sentence = "It has no vectors: the model did not answer."
        found += [Difference("incomplete", record, sentence) for record in index.engine.incomplete()]
    return found


def _looked_at_again(
    source: Source, index: Inspected, published: Published, ids: Sequence[RecordId]
) -> tuple[dict[RecordId, DifferenceKind], Published]:
    if index.indexer:
        index.indexer.mend(ids)
    later = source.published() or published
    return _differing(source, later, index.engine.held(ids), ids), later


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


def _told(
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
