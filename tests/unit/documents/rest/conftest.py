"""An application over a library in memory, with clocks a test can move."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.documents.rest.services import Explanations
from commonplace.kernel.limits import Limiter
from commonplace.web.rest.declaration import Site
from tests.fakes.library import SYNCED, FakeLibrary, garden, links_between
from tests.fakes.search import FakeSearch, hit
from tests.one_loop import one_loop
from tests.rest_app import EXPLANATIONS, rest_app

__all__ = ["one_loop"]

ORIGIN = "https://garden.example.org"


class Seconds:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000_020.0

    def __call__(self) -> float:
        return self.now


class Counters:
    def __init__(self) -> None:
        self.totals: dict[str, int] = {}

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.totals[key] = self.totals.get(key, 0) + amount
        return self.totals[key]


@dataclass
class World:
    store: FakeLibrary
    search: FakeSearch
    clock: Seconds = field(default_factory=Seconds)
    counters: Counters = field(default_factory=Counters)

    def app(self, site: Site | None = None, explanations: Explanations = EXPLANATIONS) -> FastAPI:
        return rest_app(
            Library(self.store, clock=self.clock),
            self.search,
            site or Site(name="The garden", base_url=ORIGIN, reads_per_minute=0, searches_per_minute=0),
            Limiter(self.counters, self.clock),
            clock=lambda: SYNCED + timedelta(seconds=42),
            explanations=explanations,
        )

    def client(self, site: Site | None = None, explanations: Explanations = EXPLANATIONS) -> TestClient:
        return TestClient(self.app(site, explanations), base_url=ORIGIN, follow_redirects=False)


@pytest.fixture
def world() -> World:
    store = FakeLibrary()
    store.attach("seedlings.png", "image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
    store.attach("drawing.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    store.attach("notes.md", "text/markdown", "Löwenzahn".encode())
    documents = garden()
    store.publish(
        documents,
        graph=links_between(documents),
        former_refs={
            "practice/swapping-seeds": "artifacts/practices/Seed swap.md",
            "tag/governance": "links/seed-atlas.md",
            "file/gone": "docs/gone.md",
        },
    )
    store.put(
        "metadata/sync.json", b'{"status":"succeeded","commitSha":null,"finishedAt":"2026-03-21T09:30:12Z","counts":{}}'
    )
    return World(store, FakeSearch(hit("pattern", "rotating-stewardship"), hit("tag", "governance")))


@pytest.fixture
def client(world: World) -> TestClient:
    return world.client()
