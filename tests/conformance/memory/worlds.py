"""A memory over real stores and a real index, and its toolset over HTTP: what a deployment has, without its queue."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client

from commonplace.identity.principals import Principal
from commonplace.memory.entries import Memory
from commonplace.memory.index_source import StoredEntries
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.model import EntryId
from commonplace.memory.operations import MemoryServices
from commonplace.memory.search import MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.memory.usage import DynamoUsage
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.indexer import Indexer, Message
from commonplace.search.model import Engine
from commonplace.search.opensearch.client import OpenSearchClient
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.store import DynamoVectorCaches
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.rendering import ERROR_META
from commonplace.web.mcp.server import build_server
from tests.dynamodb_fixture import new_table
from tests.fakes.embeddings import FakeEmbeddings
from tests.opensearch_fixture import remove_indexes
from tests.unit.web.mcp.over_http import connected, serving
from tests.unit.web.mcp.talking import text_of

START = datetime(2026, 11, 22, tzinfo=UTC)
PATIENT_SECONDS = 60.0


@dataclass
class World:
    """One deployment. Tests share it, each with an organisation of its own."""

    client: Any
    engine: Engine
    model: FakeEmbeddings
    ticks: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.records, self.activity, self.cache = (
            new_table(self.client, kind) for kind in ("records", "activity", "cache")
        )
        self.store = DynamoEntries(self.client, self.records, self.activity, clock=START.timestamp)
        self.caches = DynamoVectorCaches(self.client, self.cache)
        self._indexer = Indexer(
            StoredEntries(self.store), self.engine, self.model, lambda of: self.caches.of(of or "-")
        )
        # Who asks an index that is not there yet remembers for two seconds that there is none.
        self._indexer.reconcile()

    def memory(self) -> Memory:
        """As one of many functions has it."""
        store = DynamoEntries(self.client, self.records, self.activity, clock=START.timestamp)
        return Memory(
            store=store,
            jobs=DynamoJobs(self.client, self.records, self.activity, clock=START.timestamp),
            counts=DynamoQueryCounts(self.client, self.records),
            caches=self.caches,
            usage=DynamoUsage(self.client, self.records, self.activity, clock=START.timestamp),
            search_index=MemorySearch(self.engine, [self.model], store),
            embedder=self.model,
            clock=lambda: START + timedelta(seconds=next(self.ticks)),
            new_id=lambda: str(uuid4()),
        )

    def take(self, organisation: str, ids: Iterable[EntryId]) -> None:
        """Does what the index function does when the table's stream names these entries."""
        pk = f"{organisation}#memory#entries"
        bodies = [json.dumps({"table": "records", "pk": pk, "sk": id}) for id in sorted(ids)]
        failed = self._indexer.take([Message(str(number), body) for number, body in enumerate(bodies)])
        assert failed == []
        self._indexer.complete()


@dataclass
class Team:
    """Somebody of an organisation who calls the tools over one connection, in one era of the protocol."""

    world: World
    organisation: str
    portal: BlockingPortal
    client: Client
    _seen: set[EntryId] = field(default_factory=set)

    def results(self, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        """What the calls came to, one after the other."""
        return [self.portal.call(self.client.call_tool, name, arguments) for name, arguments in calls]

    def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        (result,) = self.results((name, arguments))
        assert not result.is_error, text_of(result)
        data: dict[str, Any] = result.structured_content
        return data

    def error(self, name: str, **arguments: Any) -> tuple[str, str]:
        """The code and the text of a call that fails."""
        (result,) = self.results((name, arguments))
        assert result.is_error, text_of(result)
        return result.meta[ERROR_META]["code"], text_of(result)

    def tools(self) -> set[str]:
        """Names of those that are offered."""
        return {tool.name for tool in self.portal.call(self.client.list_tools).tools}

    def add(self, content: str, **more: Any) -> str:
        told = self.data("kb_add", **({"content": content, "entry_type": "fact", "roles": ["dev"]} | more))
        assert not told["duplicate"]
        return str(told["id"])

    def found(self, query: str, **more: Any) -> list[str]:
        """Contents that a search gives."""
        return [entry["content"] for entry in self.data("kb_search", query=query, **more)["entries"]]

    def settle(self) -> None:
        """Brings the index to what the store says: of what there is, and of what there was the last time."""
        self._seen |= {card.id for card in self.world.store.cards(self.organisation)}
        self.world.take(self.organisation, self._seen)


@contextmanager
def calling(world: World, era: str, organisation: str = "", level: str = "admin") -> Iterator[Team]:
    """A team of its own, unless one is named."""
    organisation = organisation or f"team-{uuid4().hex[:12]}"
    principal = Principal(
        subject="0xabc",
        organisation=organisation,
        tier="member",
        scopes=frozenset({f"memory:{level}"}),
        account="a" * 32,
    )
    server = build_server([memory_toolset(MemoryServices(memory=world.memory()))], Surface())
    app = serving(server, Caller(principal, address="192.0.2.1"))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected(app, era)) as client:
        yield Team(world, organisation, portal, client)


def embedded(folder: Path, model: FakeEmbeddings) -> Engine:
    return EmbeddedEngine(folder / "memory.sqlite", model)


@contextmanager
def opensearch(url: str, model: FakeEmbeddings) -> Iterator[Engine]:
    """An index of its own, whose writes are seen at once.

    It waits longer than a search may: how fast a machine of tests is says nothing of the tools.
    """
    parts = urlsplit(url)
    host = {"host": parts.hostname, "port": parts.port or 80}
    client, stem = OpenSearchClient(host, local=True, timeout=PATIENT_SECONDS), f"test-{uuid4().hex[:10]}-memory"
    try:
        yield OpenSearchEngine(client, stem, model, refresh="true")
    finally:
        remove_indexes(client, stem)
        client.close()
