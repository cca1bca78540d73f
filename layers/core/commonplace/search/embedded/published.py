"""The one-file index as an object in the store: a writer replaces it under its ETag, readers pick up the new one."""

import logging
import shutil
import sqlite3
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.objects import ObjectStore, PreconditionFailed
from commonplace.search.embedded.engine import EmbeddedEngine, Look
from commonplace.search.model import (
    VECTOR_FLOOR,
    EmbeddingProvider,
    IndexedRecord,
    Tombstone,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/vnd.sqlite3"
ATTEMPTS = 3
REFRESH_SECONDS = 2.0


class PublishedEngine(EmbeddedEngine):
    """The index at one key of the store, worked on in a copy of this process's own.

    Reading looks for a newer version at most every `refresh_seconds` and goes on with the copy at hand when the store
    does not answer. What is shown comes from the version that was searched, what is compared with the store from that
    which is published now. Writing takes the newest version, applies, and puts it back if nobody else did meanwhile:
    else it begins again, three times in all.
    """

    def __init__(
        self,
        objects: ObjectStore,
        key: str,
        provider: EmbeddingProvider | None,
        *,
        folder: Path | None = None,
        refresh_seconds: float = REFRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        vector_floor: float = VECTOR_FLOOR,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="index-", dir=folder))
        self._copies = 0
        # One complete file, without a log beside it: it is published as it is.
        super().__init__(self._next_path(), provider, read_only=True, journal="delete", vector_floor=vector_floor)
        self._objects = objects
        self._key = key
        self._provider = provider
        self._clean = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._refresh_seconds = refresh_seconds
        self._seconds = clock
        self._etag: str | None = None
        self._looked: float | None = None

    def write(self, upserts: Sequence[IndexedRecord], tombstones: Sequence[Tombstone]) -> None:
        """Applies what is newer and publishes; nothing new publishes nothing. Raises IndexMismatch and Unavailable."""
        self._publish(lambda engine: engine.apply(upserts, tombstones))

    def replace(self, records: Sequence[IndexedRecord]) -> None:
        """Publishes an index of these records alone."""

        def change(engine: EmbeddedEngine) -> bool:
            engine.replace(records)
            return True

        self._publish(change, afresh=True)

    def state(self) -> str | None:
        """The ETag of the copy at hand."""
        self._look()
        with self._lock:
            return self._etag

    def sweep(self, before: datetime) -> int:
        """Publishes an index without the tombstones buried before then, if there are any."""
        swept: list[int] = []

        def change(engine: EmbeddedEngine) -> bool:
            swept.append(engine.sweep(before))
            return swept[-1] > 0

        self._publish(change)
        return swept[-1]

    def close(self) -> None:
        """Lets go of the copy and removes it."""
        with self._lock:
            super().close()
            self._clean()

    @contextmanager
    def _reading(self, look: Look = "soon") -> Iterator[sqlite3.Connection | None]:
        if look == "soon":
            self._look()
        with self._lock:
            if look == "now":
                self._newest()
            with super()._reading() as database:
                yield database

    def _publish(self, change: Callable[[EmbeddedEngine], bool], *, afresh: bool = False) -> None:
        with self._lock:
            for attempt in range(ATTEMPTS):
                self._newest()
                try:
                    self._try_publishing(change, afresh=afresh)
                    return
                except PreconditionFailed:
                    logger.info("another writer was faster", extra={"attempt": attempt + 1})
                except (BotoCoreError, ClientError, OSError) as error:
                    raise Unavailable("The search index could not be published.") from error
        raise Unavailable("Other writers publish the search index all the time.", retry_after_seconds=10)

    def _try_publishing(self, change: Callable[[EmbeddedEngine], bool], *, afresh: bool) -> None:
        path = self._next_path()
        if self.path.exists() and not afresh:
            path.write_bytes(self.path.read_bytes())
        writer = EmbeddedEngine(path, self._provider, journal="delete", vector_floor=self._vector_floor)
        try:
            changed = change(writer)
        finally:
            writer.close()
        if not changed:
            path.unlink(missing_ok=True)
            return
        body = path.read_bytes()
        condition = self._etag
        try:
            etag = self._objects.put(
                self._key, body, media_type=MEDIA_TYPE, if_match=condition, if_absent=condition is None
            )
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._take(path, etag)

    def _look(self) -> None:
        """Takes the version that is published now, if the last look is some time ago.

        The store is read without the lock: while one thread waits for it, the others search the copy at hand. Without
        a copy each waits for its own.
        """
        with self._lock:
            now = self._seconds()
            if self._looked is not None and now - self._looked < self._refresh_seconds:
                return
            etag, path = self._etag, self._next_path()
            if etag is not None:
                self._looked = now
        try:
            newer = self._fetched(path, etag)
        except Unavailable:
            if etag is None:
                raise
            logger.warning("the store does not answer, searching the copy at hand")
            return
        with self._lock:
            self._looked = now
            if newer != etag and self._etag == etag:
                self._take(path, newer)
            else:
                path.unlink(missing_ok=True)

    def _fetched(self, path: Path, etag: str | None) -> str | None:
        """Writes the version that is published now to `path`, unless it is the known one. Its ETag; None for none."""
        try:
            stored = self._objects.get_if_changed(self._key, etag)
        except KeyError:
            return None
        except (BotoCoreError, ClientError, OSError) as error:
            raise Unavailable("The search index does not answer.") from error
        if stored is None:
            return etag
        path.write_bytes(stored.body)
        return stored.etag

    def _newest(self) -> None:
        """Takes the version that is published now."""
        now, path = self._seconds(), self._next_path()
        newer = self._fetched(path, self._etag)
        if newer != self._etag:
            self._take(path, newer)
        self._looked = now

    def _take(self, path: Path, etag: str | None) -> None:
        self._disconnect()
        self.path.unlink(missing_ok=True)
        self.path, self._etag = path, etag

    def _next_path(self) -> Path:
        self._copies += 1
        return self._folder / f"documents-{self._copies}.sqlite"


def open_index(
    location: str,
    objects: ObjectStore | None,
    provider: EmbeddingProvider | None,
    *,
    read_only: bool,
    refresh_seconds: float = REFRESH_SECONDS,
) -> EmbeddedEngine:
    """The index at `file:///PATH` or at `s3://BUCKET/KEY`, where `objects` is the store of that bucket."""
    parts = urlsplit(location)
    if parts.scheme == "file":
        return EmbeddedEngine(Path(unquote(parts.path)), provider, read_only=read_only)
    if parts.scheme == "s3" and parts.path.strip("/") and objects:
        return PublishedEngine(objects, parts.path.lstrip("/"), provider, refresh_seconds=refresh_seconds)
    raise ValueError("the location of an index is file:///PATH, or s3://BUCKET/KEY with the store of that bucket")
