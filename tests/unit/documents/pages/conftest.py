"""The site over a library in memory and a search that finds what a test wants found."""

from dataclasses import dataclass
from itertools import count

import pytest
from starlette.testclient import TestClient

from commonplace.capabilities import CAPABILITIES
from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.library import Library
from commonplace.documents.pages.routes import document_pages
from commonplace.documents.pages.services import HERE, Services
from commonplace.documents.rendering.renderer import Renderer
from commonplace.kernel.limits import Limiter
from commonplace.web.pages.app import create_app
from commonplace.web.pages.frame import frame_of
from commonplace.web.settings import SiteSettings
from tests.fakes.library import FakeLibrary, garden, links_between
from tests.fakes.search import FakeSearch
from tests.one_loop import one_loop
from tests.site_app import ENVIRONMENT, Counters

__all__ = ["one_loop"]


@dataclass
class World:
    store: FakeLibrary
    search: FakeSearch

    def client(self, **variables: str) -> TestClient:
        """Every look at the library finds what is published by then."""
        settings = SiteSettings.from_environ({**ENVIRONMENT, **variables})
        frame = frame_of(settings, CAPABILITIES, settings.base_url)
        ticks = count(0, 60)
        library = Library(self.store, clock=lambda: float(next(ticks)))
        addresses = DocumentAddresses(settings.document_url, frame.base_url)
        services = Services(library, self.search, Renderer(library, HERE), frame, addresses, settings.site_logo)
        app = create_app([document_pages(services)], frame, Limiter(Counters(), lambda: 0.0), reads=0, searches=0)
        return TestClient(app, follow_redirects=False, headers={"accept-encoding": "identity"})


@pytest.fixture
def world() -> World:
    store = FakeLibrary()
    store.attach("seedlings.png", "image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
    documents = garden()
    store.publish(
        documents,
        graph=links_between(documents),
        former_refs={"pattern/stewardship": "artifacts/patterns/rotating-stewardship.md"},
    )
    return World(store, FakeSearch())


@pytest.fixture
def client(world: World) -> TestClient:
    return world.client()
