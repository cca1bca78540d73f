"""What an index has otherwise than the manifest says, while writes go on."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from commonplace.content.manifest import Manifest
from commonplace.search.indexing import Indexer
from commonplace.search.model import EmbeddingProvider, Engine, RecordId, VectorMemory
from commonplace.search.stored import StoredRecords, published

LOOKS = 3
"""What differs is brought up to date and looked at again, so often."""

READ = 200
"""So many of the documents that an index lacks are looked for in the store, to tell those that cannot be read."""

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
    memory: VectorMemory | None
    indexer: Indexer | None


def compare(store: StoredRecords, index: Inspected, *, vectors: bool) -> list[Difference]:
    """Where ids and versions differ from the manifest and, with `vectors`, which records lack theirs."""
    held = dict(index.engine.versions())
    manifest = store.manifest()
    if manifest is None:
        return [Difference("unpublished", None, "Nothing is published in this store: it may be the wrong one.")]
    wrong = _differing(store, manifest, held, {*held, *published(manifest)})
    for _ in range(LOOKS - 1):
        if not wrong:
            break
        wrong, manifest = _looked_at_again(store, index, manifest, list(wrong))
    found = list(_told(store, index, manifest, wrong))
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
    current = published(manifest)
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
        elif has is not None and has > manifest.generation:
            newer[record] = "ahead"
    arrived = store.arriving(list(newer), manifest)
    return wrong | {record: kind for record, kind in newer.items() if record not in arrived}


def _told(
    store: StoredRecords, index: Inspected, manifest: Manifest, wrong: Mapping[RecordId, DifferenceKind]
) -> Iterator[Difference]:
    current, held = published(manifest), index.engine.held(list(wrong))
    lacking = [record for record, kind in sorted(wrong.items()) if kind in ("missing", "outdated")][:READ]
    unreadable = set(lacking) - store.read(lacking).records.keys()
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
