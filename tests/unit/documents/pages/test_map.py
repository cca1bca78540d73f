"""The page `/map`."""

import gzip
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from commonplace.documents import pages
from commonplace.documents.content.library import Library
from commonplace.documents.pages.map import map_routes
from commonplace.kernel.limits import Limiter
from commonplace.web.pages.app import create_app
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import Frame
from tests.fakes.library import FakeLibrary, garden, links_between, make
from tests.unit.documents.pages.webs import web

FOLDER = Path(pages.__file__).parent
HOSTILE = """</title><script>alert(1)</script>"' onload=alert(2) <img src=x onerror=alert(3)> {{ 7 * 7 }} ]]>"""


class Counters:
    def add(self, key: str, amount: int, expires_at: int) -> int:
        return 0


def serving(store: FakeLibrary) -> TestClient:
    frame = Frame(name="The garden")
    declared = Pages(routes=map_routes(frame, Library(store)), templates=FOLDER / "templates", assets=FOLDER / "assets")
    app = create_app([declared], frame, Limiter(Counters(), lambda: 0.0), reads=0, searches=0)
    return TestClient(app, follow_redirects=False)


@pytest.fixture
def store() -> FakeLibrary:
    documents = garden()
    return FakeLibrary(documents, graph=links_between(documents))


@pytest.fixture
def client(store: FakeLibrary) -> TestClient:
    return serving(store)


class Read(HTMLParser):
    """What a browser would make of the page: its elements, and the links of its drawing."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def drawn(self) -> list[str | None]:
        return [attributes["href"] for tag, attributes in self.elements if tag == "a" and "data-at" in attributes]

    def listed(self) -> set[str | None]:
        return {attributes["href"] for tag, attributes in self.elements if tag == "a" and "data-at" not in attributes}


def test_every_published_document_is_a_link_in_the_drawing_and_in_the_list(client: TestClient) -> None:
    read = Read(client.get("/map").text)
    expected = {f"/d/{document.content_type}/{document.id}" for document in garden()}
    assert set(read.drawn()) == expected
    assert len(read.drawn()) == len(expected)
    assert expected <= read.listed()


def test_a_name_says_the_type_and_how_many_link_to_it(client: TestClient) -> None:
    assert "<title>Seed swap: practice, 2 links here</title>" in client.get("/map").text
    assert "<title>Governance: tag, 1 link here</title>" in client.get("/map").text


def test_a_type_narrows_the_map(client: TestClient) -> None:
    assert set(Read(client.get("/map", params={"type": "tag"}).text).drawn()) == {"/d/tag/governance"}


def test_a_type_of_types_stands_for_all_of_them(client: TestClient) -> None:
    found = set(Read(client.get("/map", params={"type": "resource"}).text).drawn())
    assert found == {"/d/pattern/rotating-stewardship", "/d/practice/seed-swap"}


def test_a_group_narrows_the_map(client: TestClient) -> None:
    assert set(Read(client.get("/map", params={"group": "kitchen"}).text).drawn()) == {"/d/file/rules"}


def test_around_a_document_is_its_neighbourhood_with_the_document_marked(client: TestClient) -> None:
    text = client.get("/map", params={"around": "tag/governance"}).text
    assert set(Read(text).drawn()) == {"/d/tag/governance", "/d/pattern/rotating-stewardship"}
    assert "<h1>Around Governance</h1>" in text
    current = [attributes["href"] for _, attributes in Read(text).elements if attributes.get("aria-current") == "true"]
    assert current == ["/d/tag/governance"]


def test_a_former_name_leads_to_its_document(store: FakeLibrary) -> None:
    documents = garden()
    store.publish(documents, graph=links_between(documents), former_refs={"tag/old": "tags/governance.md"})
    assert "Around Governance" in serving(store).get("/map", params={"around": "tag/old"}).text


@pytest.mark.parametrize(
    ("query", "status", "hint"),
    [
        ({"type": "patern"}, 422, "did you mean `pattern`?"),
        ({"group": "nobody"}, 404, "Choose one of those that the map offers."),
        ({"around": "tag/governence"}, 404, "tag/governance"),
        ({"around": "nonsense"}, 404, "no document of this name"),
    ],
)
def test_what_there_is_not_is_said_and_what_is_near_named(
    client: TestClient, query: dict[str, str], status: int, hint: str
) -> None:
    answer = client.get("/map", params=query)
    assert answer.status_code == status
    assert hint in answer.text


def test_nothing_published_says_so() -> None:
    answer = serving(FakeLibrary()).get("/map")
    assert answer.status_code == 200
    assert "Nothing is published here yet." in answer.text


def test_hostile_titles_and_names_are_text(store: FakeLibrary) -> None:
    documents = [make("file", "a'\"<b>", "a.md", title=HOSTILE, group=HOSTILE), *garden()]
    store.publish(documents, graph=links_between(documents))
    client = serving(store)
    for query in ({}, {"group": HOSTILE}, {"around": "file/a'\"<b>"}):
        text = client.get("/map", params=query).text
        read = Read(text)
        scripts = [str(attributes["src"]).partition("?")[0] for tag, attributes in read.elements if tag == "script"]
        assert scripts == ["/assets/theme.js", "/assets/site.js", "/assets/map.js"]
        assert not [tag for tag, attributes in read.elements for name in attributes if name.startswith("on")]
        assert "img" not in {tag for tag, _ in read.elements}
        assert "49" not in re.findall(r"<title>([^<]*)</title>", text)


def test_a_map_is_the_same_until_something_else_is_published(client: TestClient, store: FakeLibrary) -> None:
    first = client.get("/map")
    again = client.get("/map", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    documents = garden()[:-1]
    store.publish(documents, graph=links_between(documents))
    assert serving(store).get("/map").headers["etag"] != first.headers["etag"]


def test_of_five_thousand_documents_the_page_is_light_and_says_how_many_it_leaves_out() -> None:
    """Drawn from 20,000 links."""
    documents, edges = web(5_000)
    made = [
        make(each.content_type, each.id, each.path, title=f"A title of some words, {each.id}") for each in documents
    ]
    graph = {"nodes": [], "edges": [{"source": edge.source, "target": edge.target} for edge in edges]}
    answer = serving(FakeLibrary(made, graph=graph)).get("/map")
    assert "4700 more are left out" in answer.text
    assert len(gzip.compress(answer.content, 6)) < 45_000, "beside some 12,000 of stylesheets and script"


def test_its_script_and_styles_are_served(client: TestClient) -> None:
    text = client.get("/map").text
    assets = re.findall(r'(?:src|href)="(/assets/map[^"]+)"', text)
    assert len(assets) == 2
    assert {client.get(url).status_code for url in assets} == {200}
