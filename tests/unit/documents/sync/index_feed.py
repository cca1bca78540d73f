"""The real indexer over the real embedded engine, fed with the fake store's events in whatever order a test likes."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote_plus

from commonplace.documents.index_source import StoredDocuments
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.indexer import Indexer, Message
from tests.fakes.store import FakeObjectStore


class IndexFeed:
    """`pending` are the numbers of events that have not been delivered yet."""

    def __init__(self, objects: FakeObjectStore) -> None:
        self.objects = objects
        self.folder = tempfile.TemporaryDirectory()
        self.engine = EmbeddedEngine(Path(self.folder.name) / "index.sqlite", None)
        self.indexer = Indexer(StoredDocuments(objects), self.engine, None)
        self.seen: set[int] = set()

    def close(self) -> None:
        self.engine.close()
        self.folder.cleanup()

    def pending(self) -> list[int]:
        events = self.objects.events
        return [at for at, event in enumerate(events) if event.key.startswith("content/") and at not in self.seen]

    def deliver(self, chosen: Sequence[int]) -> None:
        """One batch of the queue."""
        messages = [Message(str(at), _body(self.objects.events[at].key)) for at in chosen]
        failed = {int(number) for number in self.indexer.take(messages)}
        self.seen |= set(chosen) - failed

    def reconcile(self) -> None:
        self.indexer.reconcile()

    def live(self) -> dict[str, int]:
        return {str(record): version for record, version in self.engine.versions()}


def _body(key: str) -> str:
    record = {"eventVersion": "2.1", "eventName": "ObjectCreated:Put", "s3": {"object": {"key": quote_plus(key)}}}
    return json.dumps({"Records": [record]})
