"""Stored documents as records of the search index."""

import logging
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from commonplace.documents.content.document import MANIFEST_KEY, Document, Manifest
from commonplace.documents.content.keys import CONTENT_PREFIX
from commonplace.kernel.events import keys_of
from commonplace.kernel.objects import ObjectReader
from commonplace.repository.comments import visible
from commonplace.search.chunks import chunk_body
from commonplace.search.model import Chunk, Record, RecordId
from commonplace.search.near_duplicates import fingerprint
from commonplace.search.source import Horizon, Published, Reading
from commonplace.search.text import plain

logger = logging.getLogger(__name__)

PARALLEL_READS = 16
SAME = ("content_type", "title", "description", "path", "url", "source_url", "group", "release", "status", "date")
"""The fields that a record takes from its document as they are."""

_DOCUMENT_KEY = re.compile(re.escape(CONTENT_PREFIX) + r"(?P<id>[^/]+/[^/]+)\.json")


def record_from_document(document: Document) -> Record:
    """Return the searchable record; its version is the generation of the publication that wrote the document.

    A document without text gets one empty chunk, so that its title and description are found by meaning too.
    """
    body = visible(document.content)
    return Record(
        id=RecordId(document.ref),
        version=document.generation,
        document_id=document.id,
        **{name: getattr(document, name) for name in SAME},
        tags=tuple(document.tags),
        tag_parents=tuple(tag for tag in document.tag_branches if tag not in document.tags),
        aliases=tuple(document.aliases),
        updated_at=document.updated_at.isoformat() if document.updated_at else None,
        body=body,
        chunks=chunk_body(body) or (Chunk(0, (), ""),),
        fingerprint=fingerprint(plain(body)),
        authors=tuple(document.author),
    )


class StoredDocuments:
    """The source of the collection of documents: objects of the store, named by S3's notifications.

    What is published, the manifest says. An object is read after it, so one that is missing was removed at or before a
    publication that writes anything newer.
    """

    def __init__(self, objects: ObjectReader) -> None:
        self._objects = objects
        self._read: tuple[str | None, Manifest | None] = (None, None)

    def named(self, body: str) -> tuple[RecordId, ...]:
        return records_of(body)

    def horizon(self) -> Horizon:
        manifest = self._manifest()
        generation = manifest.generation if manifest else 0
        return lambda _record: generation  # every document is part of each publication

    def published(self) -> Published | None:
        manifest = self._manifest()
        if manifest is None:
            return None
        versions = {RecordId(entry.ref): entry.generation for entry in manifest.documents}
        generation = manifest.generation
        return Published(versions, lambda _record: generation)

    def read(self, ids: Iterable[RecordId]) -> Reading:
        """Return the documents as the store holds them now, read concurrently."""
        reading = Reading()
        wanted = list(ids)
        with ThreadPoolExecutor(PARALLEL_READS) as pool:
            found = list(pool.map(self._objects.get, [f"{CONTENT_PREFIX}{record}.json" for record in wanted]))
        for record, stored in zip(wanted, found, strict=True):
            if stored is None:
                reading.missing.append(record)
                continue
            try:
                document = Document.model_validate_json(stored.body)
                if document.ref != str(record):
                    raise ValueError("the document is stored under another name")
                reading.records[record] = record_from_document(document)
            except ValueError as error:
                logger.error("a document cannot be read", extra={"record": record, "error": type(error).__name__})
                reading.unreadable.append(record)
        return reading

    def _manifest(self) -> Manifest | None:
        """Return the manifest as it is now, read once more only if it has changed: each batch of messages needs it."""
        etag, manifest = self._read
        try:
            stored = self._objects.get_if_changed(MANIFEST_KEY, etag)
        except KeyError:
            return None
        if stored is not None:
            manifest = Manifest.model_validate_json(stored.body)
            self._read = stored.etag, manifest
        return manifest


def record_of_key(key: str) -> RecordId | None:
    """Return the record that an object stands for; None when it is no document."""
    match = _DOCUMENT_KEY.fullmatch(key)
    return RecordId(match["id"]) if match else None


def records_of(body: str) -> tuple[RecordId, ...]:
    """Return the records that a message asks to look at; none for S3's test message and for keys that are no documents.

    Raises ValueError when the message is no notification of S3 in the known structure.
    """
    found = (record_of_key(key) for key in keys_of(body))
    return tuple(dict.fromkeys(record for record in found if record))
