"""The page of one document."""

from starlette.testclient import TestClient

from tests.fakes.library import COMMIT, FakeLibrary, make
from tests.fakes.search import FakeSearch
from tests.unit.documents.pages.conftest import World

PATH = "/d/pattern/rotating-stewardship"


def test_a_document_is_shown_with_what_is_known_of_it(client: TestClient) -> None:
    page = client.get(PATH).text
    assert '<h1 dir="auto">Rotating stewardship</h1>' in page
    assert "Every season — ask who carries what." in page
    assert '<time datetime="2026-02-14">14 February 2026</time>' in page
    for link in ("/t/governance", "/t/roles", "/groups/seed-library", "/releases/first-harvest", "/types/pattern"):
        assert f'href="{link}"' in page


def test_machines_find_the_markdown_the_lasting_address_and_a_preview(client: TestClient) -> None:
    page = client.get(PATH).text
    address = f"https://garden.example.org{PATH}"
    assert f'<link rel="canonical" href="{address}">' in page
    assert '<link rel="alternate" type="text/markdown" href="/api/v1/entries/pattern/rotating-stewardship.md">' in page
    assert '<meta property="og:title" content="Rotating stewardship">' in page
    assert '<meta name="description" content="How a circle passes its responsibilities on every season.">' in page


def test_the_address_of_another_site_is_the_one_that_lasts_and_is_cited(world: World) -> None:
    page = world.client(DOCUMENT_URL="https://read.example.org/{type}/{id}").get(PATH).text
    assert '<link rel="canonical" href="https://read.example.org/pattern/rotating-stewardship">' in page
    assert "2026-02-14. https://read.example.org/pattern/rotating-stewardship (commit" in page


def test_links_out_and_back_and_related_documents_are_listed(client: TestClient) -> None:
    page = client.get("/d/practice/seed-swap").text
    back, out, related = page.index("Linked from"), page.index("Links to"), page.index("Related")
    assert back < page.index('href="/d/index/garden"') < out
    assert out < page.index('href="/d/pattern/rotating-stewardship"', out) < related
    assert related < page.index('href="/d/link/seed-atlas"')


def test_the_source_and_where_to_edit_it_are_named_only_where_there_is_such_a_repository(world: World) -> None:
    page = world.client(GITHUB_BRANCH="main").get(PATH).text
    source = "artifacts/patterns/rotating-stewardship.md"
    assert f'href="https://github.com/example/garden/blob/{COMMIT}/{source}"' in page
    assert f'href="https://github.com/example/garden/edit/main/{source}"' in page
    assert "github.com" not in world.client().get("/d/practice/seed-swap").text.partition("<footer")[0]


def test_a_former_name_leads_to_the_present_one(client: TestClient) -> None:
    answer = client.get("/d/pattern/stewardship")
    assert (answer.status_code, answer.headers["location"]) == (301, PATH)


def test_a_banner_of_the_repository_is_shown_and_one_from_elsewhere_is_not() -> None:
    store = FakeLibrary()
    store.attach("seedlings.png", "image/png", b"\x89PNG")
    store.publish(
        [
            make("pattern", "ours", "ours.md", banner="files/seedlings.png"),
            make("pattern", "theirs", "theirs.md", banner="https://elsewhere.example/x.png"),
        ]
    )
    client = World(store, FakeSearch()).client()
    assert 'class="banner" src="/api/v1/attachments/seedlings.png?v=' in client.get("/d/pattern/ours").text
    assert "elsewhere.example" not in client.get("/d/pattern/theirs").text


def test_a_banner_that_the_text_shows_already_is_shown_once() -> None:
    store = FakeLibrary()
    store.attach("seedlings.png", "image/png", b"\x89PNG")
    document = make(
        "pattern", "ours", "ours.md", banner="files/seedlings.png", content="![Seeds](files/seedlings.png)\n"
    )
    target = "files/seedlings.png"
    image = {"kind": "image", "target": target, "fragment": None, "text": "Seeds", "line": 1, "path": target}
    store.publish([document], graph={"nodes": [], "edges": [], "broken": [], "authored": {"ours.md": [image]}})
    page = World(store, FakeSearch()).client().get("/d/pattern/ours").text
    assert page.count('src="/api/v1/attachments/seedlings.png') == 1
    assert 'alt="Seeds"' in page
    assert 'class="banner' not in page


def test_contents_are_listed_where_there_are_several_headings() -> None:
    text = "# Long\n\n## First part\n\nOne.\n\n### Detail\n\nTwo.\n\n## Second part\n\nThree.\n"
    client = World(FakeLibrary([make("pattern", "long", "long.md", content=text)]), FakeSearch()).client()
    page = client.get("/d/pattern/long").text
    assert page.count("On this page") >= 1
    assert '<a href="#first-part">First part</a>' in page
    assert 'id="first-part"' in page


def test_the_logo_is_an_image_of_the_repository_and_stands_on_every_page(world: World) -> None:
    client = world.client(SITE_LOGO="files/seedlings.png")
    assert '<img src="/logo" alt="">The garden</a>' in client.get("/t").text
    logo = client.get("/logo")
    assert (logo.headers["content-type"], logo.content) == ("image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
    assert "sandbox" in logo.headers["content-security-policy"]
    assert client.get("/logo", headers={"if-none-match": logo.headers["etag"]}).status_code == 304


def test_a_logo_that_nothing_published_shows_is_none(world: World) -> None:
    assert world.client(SITE_LOGO="drafts/secret.png").get("/logo").status_code == 404
    assert world.client().get("/logo").status_code == 404
    assert "<img" not in world.client().get("/t").text
