"""The REST API over a real OpenSearch node: pages, explanations, and a node that goes away and comes back."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.documents.index_source import record_from_document
from commonplace.documents.rest.services import Explanations
from commonplace.kernel.limits import Limiter
from commonplace.kernel.retry import CircuitBreaker
from commonplace.search.embeddings import embed_records
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.opensearch.client import connect
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.opensearch.indices import Aliases
from commonplace.search.service import DeferredSearch, SearchService
from commonplace.web.rest.declaration import Site
from tests.fakes.library import FakeLibrary, garden, make
from tests.rest_app import rest_app
from tests.unit.documents.rest.conftest import Counters, Seconds

pytestmark = pytest.mark.opensearch

OPEN_SECONDS = 5.0
NOTES = 37
READS = ("entries", "entries/tag/governance", "tags", "manifest", "graph", "llms.txt")


class Gate:
    """A port that leads to the node while it is open, and refuses everybody while it is shut."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (str(parts.hostname), int(parts.port or 80))
        self._held: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.port = 0
        self.open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen()
        self.port, self._listener = listener.getsockname()[1], listener
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        """Whoever is inside is thrown out, too."""
        held, self._held = self._held, []
        for one in [*held, *([self._listener] if self._listener else [])]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._listener = None

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                caller, _ = listener.accept()
                node = socket.create_connection(self._target)
                self._held += [caller, node]
                for source, sink in ((caller, node), (node, caller)):
                    threading.Thread(target=_pour, args=(source, sink), daemon=True).start()


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)


def documents() -> FakeLibrary:
    notes = [
        make("file", f"note-{number}", f"notes/{number}.md", content="The tide hides a crab again. " * (number % 9 + 1))
        for number in range(NOTES)
    ]
    return FakeLibrary([*garden(), *notes])


@pytest.fixture
def gate(opensearch_url: str) -> Iterator[Gate]:
    gate = Gate(opensearch_url)
    yield gate
    gate.shut()


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


@pytest.fixture
def client(gate: Gate, clock: Seconds, opensearch_url: str, unique_stem: str) -> Iterator[TestClient]:
    """The garden and some notes, all but one of them indexed, searched through the gate."""
    store, model = documents(), LocalEmbeddings()
    library = Library(store, clock=clock)
    direct = connect(opensearch_url, "none")
    published = library.read([entry.ref for entry in library.manifest().documents if entry.id != "seed-swap"])
    records = [record_from_document(document) for document in published if document]
    OpenSearchEngine(direct, unique_stem, model, refresh="true").write(embed_records(records, model), ())
    breaker = CircuitBreaker("OpenSearch", failures=2, open_seconds=OPEN_SECONDS, clock=clock)
    connection = connect(gate.url, "none", breaker=breaker)
    engine = OpenSearchEngine(connection, unique_stem, model)
    search = DeferredSearch(lambda: SearchService(engine, model, documents=library, publication=library))
    site = Site(reads_per_minute=0, searches_per_minute=0)
    yield TestClient(rest_app(library, search, site, Limiter(Counters(), clock), explanations=Explanations("anyone")))
    for name in Aliases(direct, unique_stem).roles().every:
        direct.indices.delete(index=name)
    direct.close()
    connection.close()


def test_pages_hold_every_match_once(client: TestClient) -> None:
    seen, link = [], "/api/v1/search?q=crabs&mode=lexical&limit=7"
    while link:
        answer = client.get(link)
        assert (answer.status_code, answer.json()["total"]) == (200, NOTES)
        seen += [one["id"] for one in answer.json()["results"]]
        link = answer.links["next"]["url"] if answer.json()["nextCursor"] else ""
    assert sorted(seen) == sorted(f"note-{number}" for number in range(NOTES))


def test_a_search_is_explained_with_the_index_that_answered(client: TestClient, unique_stem: str) -> None:
    asked = {"q": "season of stewardship", "explain": "true", "expect": "practice/seed-swap", "highlight": "true"}
    answer = client.get("/api/v1/search", params=asked | {"include": "documents"}).json()
    first, told = answer["results"][0], answer["explanation"]
    assert (told["engine"], told["index"].startswith(unique_stem)) == ("opensearch", True)
    assert told["hits"][0]["id"] == "pattern/rotating-stewardship"
    assert told["expectation"]["verdict"] == "not-indexed"
    assert first["document"]["path"] == "artifacts/patterns/rotating-stewardship.md"
    assert first["highlight"].startswith("Every <mark>season</mark> — ask who carries what. &lt;b&gt;")


def test_a_misspelt_word_is_put_right(client: TestClient) -> None:
    answer = client.get("/api/v1/search", params={"q": "stewrdship"}).json()
    assert answer["suggestion"] == "stewardship"


def test_a_node_that_goes_away_takes_searches_with_it_and_nothing_else(
    client: TestClient, gate: Gate, clock: Seconds
) -> None:
    asked = "/api/v1/search?q=crabs"
    before = client.get(asked)
    assert before.status_code == 200
    gate.shut()
    clock.now += 3
    for _ in range(4):
        answer = client.get(asked)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert str(gate.port) not in answer.text
    assert {client.get(f"/api/v1/{address}").status_code for address in READS} == {200}
    assert client.get("/health").json()["status"] == "degraded"
    gate.open()
    clock.now += OPEN_SECONDS
    answer = client.get(asked)
    assert (answer.status_code, answer.json()["total"]) == (200, before.json()["total"])
    assert client.get("/health").json()["status"] == "ok"
