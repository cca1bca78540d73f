"""Home, and the lists of documents by type, group, release and tag."""

from starlette.testclient import TestClient

from tests.fakes.library import FakeLibrary, make
from tests.fakes.search import FakeSearch
from tests.unit.documents.pages.conftest import World


def test_home_names_the_knowledge_base_and_the_ways_in(world: World) -> None:
    page = world.client(SITE_DESCRIPTION="How we grow things.").get("/").text
    assert "<h1>The garden</h1>" in page
    assert "How we grow things." in page
    assert 'action="/search"' in page
    for link in ("/types/pattern", "/groups/seed-library", "/releases/first-harvest", "/t/governance", "/connect"):
        assert f'href="{link}"' in page
    assert "https://garden.example.org/mcp" in page
    assert '<link rel="canonical" href="https://garden.example.org/">' in page


def test_home_shows_what_changed_last_first(client: TestClient) -> None:
    page = client.get("/").text
    assert (
        page.index("/d/pattern/rotating-stewardship")
        < page.index("/d/practice/seed-swap")
        < page.index("/d/index/garden")
    )


def test_an_empty_knowledge_base_says_what_to_do() -> None:
    page = World(FakeLibrary(), FakeSearch()).client().get("/")
    assert page.status_code == 200
    assert "publish: true" in page.text


def test_the_foot_of_a_page_says_of_when_it_is(client: TestClient) -> None:
    page = client.get("/types").text
    assert '<time datetime="2026-03-21T09:30:12Z">21 March 2026, 09:30 UTC</time>' in page
    assert 'href="https://github.com/example/garden/commit/4b825dc642cb6eb9a060e54bf8d69288fbee4904"' in page


def test_a_type_lists_its_documents_and_a_parent_those_of_its_children(client: TestClient) -> None:
    assert "/d/pattern/rotating-stewardship" in client.get("/types/pattern").text
    assert "/d/practice/seed-swap" not in client.get("/types/pattern").text
    assert "/d/practice/seed-swap" in client.get("/types/resource").text
    assert client.get("/types/nonsense").status_code == 404


def test_a_group_is_introduced_by_its_page(client: TestClient) -> None:
    page = client.get("/groups/seed-library").text
    assert '<h1 dir="auto">Seed library</h1>' in page
    assert 'href="/d/group/seed-library"' in page
    assert "2 documents" in page


def test_a_name_that_is_written_otherwise_leads_to_the_one_in_use(client: TestClient) -> None:
    for path in ("/t/Governance", "/t/%23governance"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (301, "/t/governance")
    assert client.get("/t/nothing-like-it").status_code == 404


def test_a_long_list_is_paged() -> None:
    documents = [make("pattern", f"p-{number:03}", f"p{number}.md", tags=["a/b"]) for number in range(120)]
    client = World(FakeLibrary(documents), FakeSearch()).client()
    first, last = client.get("/t/a%2Fb").text, client.get("/t/a%2Fb?page=3").text
    assert "Page 1 of 3" in first
    assert 'rel="next" href="/t/a%2Fb?page=2"' in first
    assert "/d/pattern/p-000" in first
    assert "/d/pattern/p-119" in last
    assert "/d/pattern/p-000" not in last
    assert 'rel="prev" href="/t/a%2Fb?page=2"' in last
