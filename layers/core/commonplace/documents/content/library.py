"""Access to what is published. An object that the manifest does not name does not exist for readers.

`Library` implements `Documents` and `Publication` of `commonplace.search.model`.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from time import monotonic

from commonplace.documents.content.document import MANIFEST_KEY, Attachment, Document, DocumentRef, Entry, Manifest
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.graph import Graph
from commonplace.documents.content.keys import METADATA_PREFIX, raw_key
from commonplace.kernel.byte_cache import ByteCache
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.objects import ObjectReader, StoredObject

logger = logging.getLogger(__name__)

SYNC_SUMMARY_KEY = f"{METADATA_PREFIX}sync.json"
DOCUMENT_CACHE_BYTES = 48_000_000
PARALLEL_READS = 16
MAX_AGE_SECONDS = 0.5
"""A look is one conditional read, which S3 answers with 304 in some ten milliseconds. With fewer of them a document
would be found by search before it is served: the index is told of it when its object is written."""

NOTHING_PUBLISHED = Manifest.model_construct(
    pipeline="", repository="", branch="", commit_sha="", generation=0, synced_at=datetime.fromtimestamp(0, UTC)
)
"""The library before the first sync has finished. Not validated: that would build the model's validator at import."""


@dataclass(frozen=True, slots=True)
class Edition:
    """The library as of one manifest. `etag` changes whenever anything published does; it is None before the first."""

    catalogue: Catalogue
    etag: str | None

    @property
    def manifest(self) -> Manifest:
        return self.catalogue.manifest


class Library:
    """Published documents over an object store, with the caches that one serving process needs.

    The manifest is read again at most every `max_age_seconds`, and then only when its ETag differs, so a change
    shows within that time. Every method raises Unavailable when the store does not answer.

    Any thread may ask: a lock is held while something is remembered, never while the store is read.
    """

    def __init__(
        self, objects: ObjectReader, *, clock: Callable[[], float] = monotonic, max_age_seconds: float = MAX_AGE_SECONDS
    ) -> None:
        """`clock` gives seconds and never goes back."""
        self._objects = objects
        self._clock = clock
        self._max_age_seconds = max_age_seconds
        self._edition = Edition(Catalogue(NOTHING_PUBLISHED), None)
        self._fresh_until = float("-inf")
        self._lock = Lock()
        self._looks = self._last_look = 0
        self._documents: ByteCache[tuple[str, str], StoredObject] = ByteCache(
            DOCUMENT_CACHE_BYTES, lambda stored: len(stored.body)
        )
        self._graph: tuple[str, Graph] | None = None

    def manifest(self) -> Manifest:
        return self.edition().manifest

    def edition(self, *, fresh: bool = False) -> Edition:
        """What is published now; `fresh` reads the manifest however recently it was read."""
        with self._lock:
            now = self._clock()
            if not fresh and now < self._fresh_until:
                return self._edition
            held = self._edition
            self._looks += 1
            look = self._looks
        found = self._current(held)
        with self._lock:
            # Whoever began to look later has seen what is newer, however long the store took for either.
            if look > self._last_look:
                self._edition, self._last_look = found, look
                self._fresh_until = now + self._max_age_seconds
            return self._edition

    def find(self, choose: Callable[[Catalogue], Entry | None]) -> tuple[Entry, StoredObject] | None:
        """What `choose` picks, with its stored document; looks at a fresh manifest when the object has gone."""
        entry = choose(self.edition().catalogue)
        if entry is None:
            return None
        if (found := self._document_or_none(entry)) is not None:
            return entry, found
        entry = choose(self.edition(fresh=True).catalogue)
        if entry is None:
            return None
        if (found := self._document_or_none(entry)) is not None:
            return entry, found
        raise self._missing(entry.ref)

    def documents(self, entries: Iterable[Entry]) -> list[StoredObject | None]:
        """Many documents at once, in order; one that has gone meanwhile is None."""
        wanted = list(entries)
        held = {entry.key: self._documents.get((entry.key, entry.etag)) for entry in wanted}
        absent = [entry for entry in wanted if held[entry.key] is None]
        with ThreadPoolExecutor(PARALLEL_READS) as threads:
            read = threads.map(self._get, [entry.key for entry in absent])
            held |= {entry.key: found for entry, found in zip(absent, read, strict=True)}
        for entry in absent:
            if (stored := held[entry.key]) is not None:
                self._documents.put((entry.key, stored.etag), stored)
        return [held[entry.key] for entry in wanted]

    def read(self, records: Sequence[str]) -> list[Document | None]:
        """Whole documents by `{contentType}/{id}`, aligned with `records`; None for what is gone or unreadable."""
        by_ref = self.manifest().by_ref
        entries = {record: entry for record in records if (entry := by_ref.get(DocumentRef(record))) is not None}
        stored = dict(zip(entries, self.documents(entries.values()), strict=True))
        return [_parsed(record, stored.get(record)) for record in records]

    def version(self) -> str | None:
        """Changes whenever anything published does."""
        return self.edition().etag

    def generation_of(self, record: str) -> int | None:
        """The generation of what is published as `{contentType}/{id}` right now; None when nothing is."""
        entry = self.edition(fresh=True).manifest.by_ref.get(DocumentRef(record))
        return entry.generation if entry else None

    def graph(self) -> Graph:
        """Links between the documents of the current edition."""
        key = self.manifest().graph_key
        if key is None:
            return Graph()
        held = self._graph
        if held is None or held[0] != key:
            stored = self._get(key)
            if stored is None:
                raise self._missing("the link graph")
            held = self._graph = (key, Graph.model_validate_json(stored.body))
        return held[1]

    def raw(self, entry: Entry) -> StoredObject:
        """The file of a document, as it is in the repository."""
        found = self._get(raw_key(entry.path))
        if found is None:
            raise self._missing(entry.ref)
        return found

    def attachment(self, attachment: Attachment) -> StoredObject:
        found = self._get(attachment.key)
        if found is None:
            raise self._missing(attachment.name)
        return found

    def sync_summary(self) -> bytes | None:
        """What the public may know of the last run, JSON as it was written; None before the first."""
        found = self._get(SYNC_SUMMARY_KEY)
        return found.body if found else None

    def _current(self, held: Edition) -> Edition:
        try:
            changed = self._reading(self._objects.get_if_changed, MANIFEST_KEY, held.etag)
        except KeyError:
            return Edition(Catalogue(NOTHING_PUBLISHED), None)
        if changed is None:
            return held
        return Edition(Catalogue(Manifest.model_validate_json(changed.body)), changed.etag)

    def _document_or_none(self, entry: Entry) -> StoredObject | None:
        if (known := self._documents.get((entry.key, entry.etag))) is not None:
            return known
        if (found := self._get(entry.key)) is not None:
            self._documents.put((entry.key, found.etag), found)
        return found

    def _get(self, key: str) -> StoredObject | None:
        return self._reading(self._objects.get, key)

    def _reading(self, read: Callable[..., StoredObject | None], *arguments: str | None) -> StoredObject | None:
        try:
            return read(*arguments)
        except KeyError:
            raise
        except Exception as error:
            logger.exception("the store does not answer", extra={"error": type(error).__name__})
            raise Unavailable("The document store does not answer. Try again shortly.") from error

    def _missing(self, what: str) -> Unavailable:
        """The manifest names it and the store has it not: a publication is under way, or the next one repairs it."""
        with self._lock:
            self._fresh_until = float("-inf")
        logger.warning("published object is missing", extra={"ref": what})
        return Unavailable("This part of the library is being replaced. Try again shortly.", retry_after_seconds=5)


def _parsed(record: str, stored: StoredObject | None) -> Document | None:
    if stored is None:
        return None
    try:
        return Document.model_validate_json(stored.body)
    except ValueError as error:
        logger.error("a document cannot be read", extra={"ref": record, "error": type(error).__name__})
        return None
