"""A reference over a real store, index and model, behind the whole HTTP application, and people who call its tools."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.identity.principals import Principal
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter
from commonplace.reference.index_source import StoredCatalogues
from commonplace.reference.library import CatalogueLibrary
from commonplace.reference.model import Catalogue, Gap
from commonplace.reference.search import VectorMeaning
from commonplace.reference.service import Reference
from commonplace.reference.store import DynamoGaps
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.search.indexer import Indexer
from commonplace.search.model import Engine
from commonplace.search.models.local import LocalEmbeddings
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import CallRecord, Surface
from commonplace.web.mcp.declaration import Cost
from commonplace.web.mcp.rendering import ERROR_META
from commonplace.web.mcp.throttle import Throttle
from tests.dynamodb_fixture import new_table
from tests.fakes.catalogues import publish
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.search import FakeSearch
from tests.fakes.store import FakeObjectStore
from tests.reference_files import helios
from tests.unit.web.mcp.talking import text_of
from tests.unit.web.mcp.world import NO_LIMITS, ByToken, Clock, Counters

BASE_URL = "http://commonplace.test"
NAME = "helios"


def account(organisation: str) -> dict[str, Principal]:
    """By token: a member who may report, and one who may only read."""
    told: dict[str, Any] = {"subject": "0xabc", "organisation": organisation, "tier": "member"}
    return {
        "member": Principal(**told, token="member", scopes=frozenset({"reference:write"})),
        "reader": Principal(**told, token="reader", scopes=frozenset({"reference:read"})),
    }


class Fragile(FakeObjectStore):
    """Fails when told to, and counts who asks it."""

    down = False
    asked = 0

    def get(self, key: str) -> Any:
        self._answer()
        return super().get(key)

    def get_if_changed(self, key: str, etag: str | None) -> Any:
        self._answer()
        return super().get_if_changed(key, etag)

    def _answer(self) -> None:
        self.asked += 1
        if self.down:
            raise Unavailable("The store does not answer just now.")


@dataclass
class World:
    """One deployment. Tests share it, each with an organisation of its own."""

    client: Any
    engine: Engine
    model: LocalEmbeddings
    catalogue: Catalogue = field(default_factory=helios)
    names: Sequence[str] = (NAME,)
    """Of the catalogues of the deployment."""
    objects: Fragile = field(default_factory=Fragile)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.gaps = DynamoGaps(self.client, new_table(self.client, "records"), clock=self.clock)
        self.publish(self.catalogue)

    def publish(self, catalogue: Catalogue) -> None:
        publish(self.objects, catalogue)
        Indexer(StoredCatalogues(self.objects, self.names), self.engine, self.model).reconcile()

    def live_commands(self) -> list[str]:
        """Names of those that nothing replaces."""
        entries = (placed.entry for placed in self.catalogue.entries)
        return [entry.called for entry in entries if entry.type == "command" and not entry.deprecated]

    def reference(self) -> Reference:
        """As one of many functions has it."""
        shelf = CatalogueLibrary(self.objects, self.names, clock=self.clock)
        return Reference(shelf, VectorMeaning(self.engine, [self.model]), self.gaps)

    def app(self, organisation: str, limits: Mapping[Cost, int], records: list[CallRecord]) -> ASGIApp:
        throttle = Throttle(Limiter(Counters(), self.clock), limits)
        knowledge = KnowledgeServices(library=Library(FakeLibrary(garden())), search=FakeSearch())
        return create_app(
            [knowledge_toolset(knowledge), reference_toolset(ReferenceServices(reference=self.reference()))],
            Surface(base_url=BASE_URL, spend=throttle.spend, record=records.append),
            throttle=throttle,
            default=("reference",),
            principals=ByToken(account(organisation)),
        )


@dataclass
class Guest:
    """Somebody who calls the tools over one connection, in one era of the protocol."""

    world: World
    organisation: str
    portal: BlockingPortal
    client: Client
    records: list[CallRecord]

    def result(self, name: str, /, **arguments: Any) -> Any:
        return self.portal.call(self.client.call_tool, name, arguments)

    def data(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        result = self.result(name, **arguments)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] = result.structured_content
        return data

    def error(self, name: str, /, **arguments: Any) -> tuple[str, str]:
        """The code and the text of a call that fails."""
        result = self.result(name, **arguments)
        assert result.is_error, text_of(result)
        return result.meta[ERROR_META]["code"], text_of(result)

    def search(self, query: str, **more: Any) -> list[str]:
        """Ids of what is found, the best first."""
        return [one["id"] for one in self.data("search_knowledge", query=query, **more)["results"]]

    def ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        async def asked() -> Any:
            return await getattr(self.client, method)(*arguments, **named)

        return self.portal.call(asked)

    def gaps(self) -> list[Gap]:
        return list(self.world.gaps.gaps(self.organisation, 100))


@contextmanager
def calling(
    world: World,
    era: str,
    organisation: str,
    *,
    token: str = "",
    path: str = "/mcp/reference",
    limits: Mapping[Cost, int] = NO_LIMITS,
) -> Iterator[Guest]:
    records: list[CallRecord] = []
    app = world.app(organisation, limits, records)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_connected(app, era, path, headers)) as client,
    ):
        yield Guest(world, organisation, portal, client, records)


@asynccontextmanager
async def _connected(app: ASGIApp, era: str, path: str, headers: Mapping[str, str]) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=dict(headers)) as http,
        Client(streamable_http_client(f"{BASE_URL}{path}", http_client=http), mode=era) as client,
    ):
        yield client
