"""Home, and the lists of documents by type, group, release and tag."""

import html

from starlette.testclient import TestClient

from commonplace.documents.content.document import SHOWS_EVERYTHING
from tests.fakes.library import COMMIT, FakeLibrary, garden, make
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


def test_home_shows_the_text_of_the_page_that_stands_for_the_whole(client: TestClient) -> None:
    page = client.get("/").text
    assert '<p dir="auto">About the garden.</p>' in page
    assert page.count("<h1") == 1
    assert page.index("About the garden.") < page.index("New and changed")


def test_home_takes_the_index_before_a_readme_and_a_home_page_in_any_letter_case() -> None:
    store = FakeLibrary()
    pages = {
        name: make("file", name, f"{name}.md", content=f"Words of {name}.\n") for name in ("HOME", "ReadMe", "Index")
    }
    inner = make("file", "inner", "docs/index.md", content="Words of a folder.\n")
    for count, name in enumerate(pages, 1):
        store.publish([inner, *list(pages.values())[:count]])
        page = World(store, FakeSearch()).client().get("/").text
        assert f"Words of {name}." in page
        assert page.count("Words of ") == 1
    store.publish([inner])
    assert "Words of" not in World(store, FakeSearch()).client().get("/").text


def test_a_card_shows_the_date_that_its_author_wrote_before_that_of_the_last_change(client: TestClient) -> None:
    page = client.get("/t/seeds").text
    assert "2 November 2025" in page
    assert ">1 March 2026" not in page
    assert "1 January 2026" in client.get("/types/index").text


def test_where_nothing_says_when_it_changed_the_newest_dates_come_first() -> None:
    store = FakeLibrary()
    dates = {"old": "2020-01-01", "new": "2024-01-01", "none": None}
    store.publish([make("file", name, f"docs/{name}.md", date=date) for name, date in dates.items()])
    page = World(store, FakeSearch()).client().get("/").text
    assert page.index("/d/file/new") < page.index("/d/file/old") < page.index("/d/file/none")


def test_a_commit_that_nobody_has_is_named_nowhere() -> None:
    store = FakeLibrary()
    store.publish(garden(), working_copy=True)
    page = World(store, FakeSearch()).client().get("/d/file/rules").text
    assert COMMIT[:7] not in page
    assert "Updated <time" in page
    assert "Cite this page" in page


def test_every_page_says_where_everything_is_shown(world: World) -> None:
    for path in ("/", "/types", "/d/file/rules"):
        assert SHOWS_EVERYTHING not in html.unescape(world.client().get(path).text)
    world.store.publish(garden(), everything=True)
    for path in ("/", "/types", "/d/file/rules"):
        assert SHOWS_EVERYTHING in html.unescape(world.client().get(path).text)


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
