"""An index that does not answer: search says so and when to come back, and everything else goes on."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.documents.rest.services import Explanations
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter
from commonplace.search.service import DeferredSearch, SearchService
from commonplace.web.rest.declaration import Site
from tests.fakes.library import FakeLibrary, garden
from tests.rest_app import rest_app
from tests.unit.documents.rest.conftest import Counters, Seconds

SITE = Site(reads_per_minute=0, searches_per_minute=0)
READS = (
    *("entries", "entries/tag/governance", "entries/tag/governance.md", "entries/tag/governance/links"),
    *("tags", "groups", "manifest", "graph", "feed.json", "llms.txt", "llms-full.txt"),
)


class Switch:
    """An engine that is off, or on and empty. Every call of the port comes here."""

    def __init__(self) -> None:
        self.off = True
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(*_: Any, **__: Any) -> Any:
            self.calls.append(name)
            if self.off:
                raise Unavailable("The index does not answer.", retry_after_seconds=7)
            return {"model": None, "held": {}}[name]

        return call


@pytest.fixture
def engine() -> Switch:
    return Switch()


@pytest.fixture
def client(engine: Switch) -> TestClient:
    index: Any = engine
    search = DeferredSearch(lambda: SearchService(index, None))
    app = rest_app(
        Library(FakeLibrary(garden())),
        search,
        SITE,
        Limiter(Counters(), Seconds()),
        explanations=Explanations("anyone"),
    )
    return TestClient(app)


@pytest.mark.parametrize("more", ["", "&mode=lexical", "&explain=true&expect=tag/governance", "&include=documents"])
def test_search_is_503_and_says_when_to_come_back(client: TestClient, more: str) -> None:
    answer = client.get(f"/api/v1/search?q=governance{more}")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert answer.json()["error"]["code"] == "UNAVAILABLE"
    assert "no-store" in answer.headers["cache-control"]


def test_documents_and_lists_answer_from_the_store(client: TestClient) -> None:
    assert client.get("/api/v1/search?q=x").status_code == 503
    answers = {address: client.get(f"/api/v1/{address}").status_code for address in READS}
    assert set(answers.values()) == {200}, answers


def test_health_is_degraded_and_well_again_without_a_restart(client: TestClient, engine: Switch) -> None:
    assert client.get("/health").json()["status"] == "degraded"
    engine.off = False
    assert client.get("/health").json()["status"] == "ok"


def test_health_asks_the_index_one_small_thing(client: TestClient, engine: Switch) -> None:
    engine.off = False
    client.get("/health")
    assert len(engine.calls) == 1
    assert "versions" not in engine.calls


def test_an_index_that_cannot_be_opened_is_tried_again(engine: Switch) -> None:
    def build() -> SearchService:
        if engine.off:
            raise Unavailable("There is no index yet.", retry_after_seconds=9)
        index: Any = engine
        return SearchService(index, None)

    app = rest_app(Library(FakeLibrary(garden())), DeferredSearch(build), SITE, Limiter(Counters(), Seconds()))
    client = TestClient(app)
    answer = client.get("/api/v1/search?q=x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "9")
    assert client.get("/health").json()["index"] == {"status": "unavailable"}
    engine.off = False
    assert client.get("/health").json()["index"] == {"status": "ok"}
