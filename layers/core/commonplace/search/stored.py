"""What the canonical store holds, as records to index."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from commonplace.content.document import Document
from commonplace.content.manifest import MANIFEST_KEY, Manifest
from commonplace.content.store import CONTENT_PREFIX, ObjectReader
from commonplace.search.documents import record_from_document
from commonplace.search.model import Record, RecordId

logger = logging.getLogger(__name__)

PARALLEL_READS = 16

RECORDS_PER_BATCH = 500
"""Read, or written, at a time."""


@dataclass(slots=True)
class Reading:
    """What was found for some records."""

    records: dict[RecordId, Record] = field(default_factory=dict)
    missing: list[RecordId] = field(default_factory=list)
    unreadable: list[RecordId] = field(default_factory=list)


def published(manifest: Manifest) -> dict[RecordId, int]:
    """What the manifest publishes, by id, with the version an index should have of it."""
    return {RecordId(entry.ref): entry.generation for entry in manifest.documents}


def batches(ids: Sequence[RecordId], size: int = RECORDS_PER_BATCH) -> Iterator[Sequence[RecordId]]:
    """The ids in runs of at most so many."""
    return (ids[start : start + size] for start in range(0, len(ids), size))


class StoredRecords:
    """Reads documents of the store. A document that cannot be read is an outcome, a store that fails raises."""

    def __init__(self, objects: ObjectReader) -> None:
        self._objects = objects

    def manifest(self) -> Manifest | None:
        stored = self._objects.get(MANIFEST_KEY)
        return Manifest.model_validate_json(stored.body) if stored else None

    def arriving(self, ids: Sequence[RecordId], manifest: Manifest, size: int = RECORDS_PER_BATCH) -> set[RecordId]:
        """Those of `ids` that a publication under way has written: newer than what the manifest knows."""
        return {
            record.id
            for batch in batches(ids, size)
            for record in self.read(batch).records.values()
            if record.version > manifest.generation
        }

    def read(self, ids: Iterable[RecordId]) -> Reading:
        """The records as the store holds them now."""
        reading = Reading()
        wanted = list(ids)
        with ThreadPoolExecutor(PARALLEL_READS) as pool:
            found = list(pool.map(self._objects.get, [f"{CONTENT_PREFIX}{record}.json" for record in wanted]))
        for record, stored in zip(wanted, found, strict=True):
            if stored is None:
                reading.missing.append(record)
                continue
            try:
                reading.records[record] = _parse(record, stored.body)
            except ValueError as error:
                logger.error("a document cannot be read", extra={"record": record, "error": type(error).__name__})
                reading.unreadable.append(record)
        return reading


def _parse(record: RecordId, body: bytes) -> Record:
    document = Document.model_validate_json(body)
    if document.ref != str(record):
        raise ValueError("the document is stored under another name")
    return record_from_document(document)
