"""Clients, metadata documents and single uses, in memory; and documents of the Web that were never fetched."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from threading import Lock

from commonplace.identity.records import Client
from commonplace.kernel.audit import Audit, AuditRecord, Lost
from commonplace.kernel.fetch import JSON_TYPES, Fetched, FetchFailed


class FakeClients:
    """What DynamoDB does: `commonplace.identity.ports.ClientStore`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._clients: dict[str, Client] = {}
        self._documents: dict[str, tuple[Client | None, int]] = {}
        self._marks: dict[tuple[str, str], int] = {}
        self.audit: list[AuditRecord] = []
        self._lock = Lock()

    def client(self, client_id: str) -> Client | None:
        found = self._clients.get(client_id)
        return found if found and self._lives(found.expires_at) else None

    def add_client(self, client: Client, audit: Audit = ()) -> None:
        if client.id in self._clients:
            raise Lost
        self._clients[client.id] = client
        self.audit += audit

    def renew_client(self, client_id: str, expires_at: int) -> None:
        found = self.client(client_id)
        if found and found.expires_at is not None and found.expires_at < expires_at:
            self._clients[client_id] = replace(found, expires_at=expires_at)

    def remove_client(self, client_id: str, audit: Audit = ()) -> bool:
        if self._clients.pop(client_id, None) is None:
            return False
        self.audit += audit
        return True

    def clients(self) -> Iterator[Client]:
        return iter([client for client in self._clients.values() if self._lives(client.expires_at)])

    def document(self, url: str) -> tuple[Client | None, int] | None:
        found = self._documents.get(url)
        return found if found and self._lives(found[1]) else None

    def keep_document(self, url: str, client: Client | None, expires_at: int) -> None:
        self._documents[url] = (client, expires_at)

    def forget_document(self, url: str) -> None:
        self._documents.pop(url, None)

    def once(self, kind: str, value: str, expires_at: int) -> bool:
        with self._lock:
            if self._marks.get((kind, value), 0) > self._clock():
                return False
            self._marks[kind, value] = expires_at
        return True

    def _lives(self, expires_at: int | None) -> bool:
        return expires_at is None or expires_at > self._clock()


@dataclass
class FakeWeb:
    """Answers to fetches, by URL: bytes, a `Fetched`, or a reason to fail. `asked` has every URL that was fetched."""

    pages: dict[str, bytes | str | Fetched] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def get(self, url: str, *, max_bytes: int, seconds: float, media_types: Collection[str] = JSON_TYPES) -> Fetched:
        self.asked.append(url)
        page = self.pages.get(url, "status_404")
        if isinstance(page, str):
            raise FetchFailed(page)
        fetched = page if isinstance(page, Fetched) else Fetched(page)
        if len(fetched.body) > max_bytes:
            raise FetchFailed("too_large")
        return fetched
