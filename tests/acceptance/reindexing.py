"""A knowledge base that is written and searched without pause, and that knows at any time which answers are right.

Every document says which edition it is. An edition is right from the moment its publication begins until the index
function has taken the next one; an answer that shows any other, or lacks a document it must have, is wrong.
"""

import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench.synthetic import Prose
from commonplace.documents.content.document import MANIFEST_KEY, Document, Entry, Manifest
from commonplace.documents.content.keys import content_key
from commonplace.kernel.errors import CommonplaceError, Unavailable
from commonplace.kernel.objects import ListedObject, StoredObject
from commonplace.repository.blobs import BlobSha
from commonplace.search.indexer import Message
from commonplace.search.model import EmbeddingProvider, Hit, SearchRequest, Vector
from commonplace.search.operations import Operations
from commonplace.search.service import SearchService

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ABSENT = 0
"""The edition of what is not published."""


class MemoryStore:
    """The store, in memory; safe for threads as a dictionary is."""

    def __init__(self) -> None:
        self.objects: dict[str, StoredObject] = {}

    def get(self, key: str) -> StoredObject | None:
        return self.objects.get(key)

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        found = self.objects[key]
        return None if found.etag == etag else found

    def put(
        self,
        key: str,
        body: bytes,
        *,
        media_type: str = "application/json",
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> str:
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        self.objects[key] = StoredObject(body, etag)
        return etag

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.objects.pop(key, None)

    def list(self, prefix: str) -> Iterator[ListedObject]:
        found = sorted(key for key in self.objects if key.startswith(prefix))
        return (ListedObject(key, self.objects[key].etag, len(self.objects[key].body)) for key in found)


class OtherModel:
    """Another model of the same texts: the numbers of the first one in another order."""

    def __init__(self, model: EmbeddingProvider) -> None:
        self._model = model
        self.name, self.revision, self.dimension = f"{model.name}-turned", model.revision, model.dimension
        self.fails_after: int | None = None
        """Calls until the process dies, for tests."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if self.fails_after is not None and not query:
            self.fails_after -= 1
            if self.fails_after < 0:
                self.fails_after = None
                raise Died
        return [tuple(reversed(vector)) for vector in self._model.embed(texts, query=query)]


class Died(BaseException):
    """The process that builds ends here."""


@dataclass(slots=True)
class _Shown:
    edition: int
    since: float
    until: float | None = None


class Truth:
    """Which editions of a document may be seen when."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: dict[int, list[_Shown]] = {}

    def begins(self, number: int, edition: int) -> None:
        """From now on the edition may be seen."""
        with self._lock:
            self._shown.setdefault(number, [_Shown(ABSENT, 0.0)]).append(_Shown(edition, time.monotonic()))

    def settled(self, numbers: Iterable[int]) -> None:
        """From now on only the newest edition may."""
        with self._lock:
            for number in numbers:
                for shown in self._shown[number][:-1]:
                    shown.until = shown.until or time.monotonic()

    def right(self, number: int, began: float, ended: float) -> set[int]:
        """What a search between these moments may show of a document."""
        with self._lock:
            shown = self._shown.get(number, [_Shown(ABSENT, 0.0)])
            return {each.edition for each in shown if each.since <= ended and (each.until or ended) >= began}

    def newest(self, number: int) -> int:
        with self._lock:
            return self._shown[number][-1].edition if number in self._shown else ABSENT


class KnowledgeBase:
    """Documents with numbers; `publish` does what a sync does, and `tell` what the queue does."""

    def __init__(self, documents: int, *, paragraphs: int, seed: int = 7) -> None:
        self.store = MemoryStore()
        self.truth = Truth()
        self.writes = 0
        self._prose = Prose(seed)
        self._random = random.Random(seed)
        self._paragraphs = paragraphs
        self._entries: dict[int, Entry] = {}
        self._next = documents + 1
        self._generation = 0
        self.publish(dict.fromkeys(range(1, documents + 1), 1))

    @property
    def published(self) -> dict[str, int]:
        return {f"note/{number}": entry.generation for number, entry in self._entries.items()}

    def any_number(self) -> int:
        return self._random.randrange(1, self._next)

    def some_changes(self, count: int) -> dict[int, int]:
        """Mostly new editions; some documents go, some are new, some come back."""
        changes: dict[int, int] = {}
        for _ in range(count):
            number = self.any_number()
            if self._random.random() < 0.1:
                number, self._next = self._next, self._next + 1
            gone = self._random.random() < 0.2 and self.truth.newest(number) != ABSENT
            changes[number] = ABSENT if gone else self._generation + 1
        return changes

    def publish(self, changes: dict[int, int]) -> list[int]:
        """Objects, then the manifest, then what it does not own is deleted. Answers the numbers that changed."""
        self._generation += 1
        for number, edition in changes.items():
            self.truth.begins(number, edition)
            if edition != ABSENT:
                self._entries[number] = self._put(number, edition)
            else:
                self._entries.pop(number, None)
        manifest = Manifest(
            pipeline="bench",
            repository="example/knowledge-base",
            branch="main",
            commit_sha="c0ffee",
            generation=self._generation,
            synced_at=NOON,
            documents=list(self._entries.values()),
        )
        self.store.put(MANIFEST_KEY, manifest.to_json())
        self.store.delete(
            [content_key("note", str(number)) for number, edition in changes.items() if edition == ABSENT]
        )
        self.writes += len(changes)
        return list(changes)

    def _put(self, number: int, edition: int) -> Entry:
        text = "\n\n".join(self._prose.paragraph() for _ in range(self._paragraphs))
        document = Document(
            id=str(number),
            content_type="note",
            title=f"{self._prose.title(3)} mark{number}",
            path=f"{number}.md",
            commit_sha="c0ffee",
            synced_at=NOON,
            metadata={},
            frontmatter={},
            description=f"edition {edition}",
            content=f"# mark{number}\n\nmark{number} edition{edition}. {text}",
            blob_sha=BlobSha("0" * 40),
            generation=self._generation,
        )
        key = content_key("note", str(number))
        etag = self.store.put(key, document.to_json())
        told = document.model_dump(exclude={"metadata", "frontmatter", "content"})
        return Entry(**told, key=key, etag=etag, raw_etag=etag, size=len(text))


def message(number: int) -> Message:
    """What S3 says of a changed object."""
    body = f'{{"Records": [{{"eventVersion": "2.1", "s3": {{"object": {{"key": "content/note/{number}.json"}}}}}}]}}'
    return Message(str(number), body)


@dataclass(slots=True)
class Tally:
    """What was seen while everything went on."""

    searches: int = 0
    failed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    fallbacks: int = 0
    """Answers by words only: nothing wrong, but none should be needed here."""


class Traffic:
    """Searches and writes, each in a thread of its own, until the end of the `with`."""

    def __init__(
        self,
        base: KnowledgeBase,
        service: Callable[[], SearchService],
        writer: Operations,
        *,
        searchers: int = 2,
        changes: int = 3,
        pause_seconds: float = 0.05,
    ) -> None:
        self._base, self._writer = base, writer
        self._changes, self._pause = changes, pause_seconds
        self._stop = threading.Event()
        self.tally = Tally()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._search, args=(service(), at)) for at in range(searchers)]
        self._threads.append(threading.Thread(target=self._write))

    def __enter__(self) -> "Traffic":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, searches: int, *, deadline_seconds: float = 120) -> None:
        """Until so many more searches are answered. Raises TimeoutError."""
        wanted, end = self.tally.searches + searches, time.monotonic() + deadline_seconds
        while self.tally.searches < wanted:
            if time.monotonic() > end:
                raise TimeoutError("the searches do not go on")
            self._stop.wait(0.01)

    def _write(self) -> None:
        while not self._stop.wait(self._pause):
            numbers = self._base.publish(self._base.some_changes(self._changes))
            messages = [message(number) for number in numbers]
            while messages:
                try:
                    failed = set(self._writer.take(messages))
                except Unavailable:
                    failed = {each.id for each in messages}  # the queue brings them again
                messages = [each for each in messages if each.id in failed]
            self._base.truth.settled(numbers)

    def _search(self, service: SearchService, seed: int) -> None:
        chance = random.Random(seed)
        newest = self._base.any_number
        while not self._stop.is_set():
            number = chance.choice((newest(), newest(), 1))
            self._ask(service, number)

    def _ask(self, service: SearchService, number: int) -> None:
        began = time.monotonic()
        try:
            found = service.search(SearchRequest(f"mark{number}", limit=10, collapse=False))
        except CommonplaceError as error:
            with self._lock:
                self.tally.failed.append(f"mark{number}: {error.message}")
            return
        except Exception as error:
            with self._lock:
                self.tally.failed.append(f"mark{number}: {error!r}")
            return
        ended = time.monotonic()
        wrong = list(self._faults(number, found.results, began, ended))
        with self._lock:
            self.tally.searches += 1
            self.tally.seconds.append(ended - began)
            self.tally.fallbacks += found.fallback
            self.tally.wrong += wrong

    def _faults(self, wanted: int, hits: Sequence[Hit], began: float, ended: float) -> Iterator[str]:
        seen = {int(hit.id): int((hit.description or "edition -1").split()[1]) for hit in hits}
        for number, edition in {wanted: ABSENT, **seen}.items():
            right = self._base.truth.right(number, began, ended)
            if edition not in right:
                yield f"mark{wanted}: {number} shown in edition {edition}, right were {sorted(right)}"
        if hits and wanted in seen and int(hits[0].id) != wanted:
            yield f"mark{wanted}: {hits[0].id} stands before it"
