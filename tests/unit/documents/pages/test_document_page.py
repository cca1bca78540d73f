"""The page of one document."""

import re
from typing import cast

import pytest
from mangum.types import LambdaContext
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.testclient import TestClient

from commonplace.identity.principals import Principal
from commonplace.web.gateway import Gateway
from commonplace.web.pages.app import UNGUARDED
from commonplace.web.stack import Private
from tests.fakes.library import COMMIT, FakeLibrary, make
from tests.fakes.search import FakeSearch
from tests.site_app import site_app
from tests.unit.documents.pages.conftest import World
from tests.unit.documents.rest.events import payload_2

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
    page = page[page.index("</article>") :]  # the tree before it names documents as well
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


@pytest.mark.parametrize(
    "address",
    [
        *("/d/Pattern/Rotating-Stewardship", "/d/PATTERN/rotating-stewardship", "/d/patterns/rotating-stewardship"),
        *(f"{PATH}/", f"{PATH}//", "/d/Pattern/Rotating-Stewardship/", f"{PATH}.md", "/d/Pattern/Stewardship/"),
        "/d/pattern/Rotating%20Stewardship",
        *("/artifacts/patterns/rotating-stewardship.md", "/artifacts/patterns/rotating-stewardship"),
        *("/artifacts/patterns/rotating-stewardship/", "/artifacts/patterns/rotating-stewardship.html"),
        *("/artifacts/patterns/rotating-stewardship.md/", "/Artifacts/Patterns/Rotating-Stewardship.MD"),
        *("/artifacts%2Fpatterns%2Frotating-stewardship.md", "/artifacts/patterns/rotating%20stewardship"),
        *("/artifacts/patterns/Rotating+Stewardship", "//artifacts/patterns/rotating-stewardship.md", "/stewardship/"),
    ],
)
def test_an_address_that_is_written_otherwise_leads_to_the_page(client: TestClient, address: str) -> None:
    answer = client.get(f"https://testserver{address}?utm=1")
    assert (answer.status_code, answer.headers["location"]) == (301, PATH)
    assert client.get(answer.headers["location"]).status_code == 200


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/artifacts/practices/Seed%20swap.md", "/d/practice/seed-swap"),
        ("/artifacts/practices/Seed swap", "/d/practice/seed-swap"),
        ("/docs/kitchen", "/d/index/docs-kitchen"),
        ("/docs/kitchen/", "/d/index/docs-kitchen"),
        ("/docs/kitchen/index.md", "/d/index/docs-kitchen"),
        ("/docs/Kitchen/rules/", "/d/file/rules"),
        ("/docs/Kitchen/", "/d/index/docs-kitchen"),
        ("/index.md", "/d/index/garden"),
    ],
)
def test_the_path_of_a_file_or_folder_leads_to_its_page(client: TestClient, address: str, page: str) -> None:
    answer = client.get(f"https://testserver{address}")
    assert (answer.status_code, answer.headers["location"]) == (301, page)


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/search/", "/search"),
        ("/search/?q=tea%20time&type=pattern", "/search?q=tea%20time&type=pattern"),
        ("/map/", "/map"),
        ("/types/", "/types"),
        ("/types/pattern/", "/types/pattern"),
        ("/types/Pattern", "/types/pattern"),
        ("/groups/", "/groups"),
        ("/groups/seed-library/", "/groups/seed-library"),
        ("/t/", "/t"),
        ("/t/governance/", "/t/governance"),
        ("/feed.xml/", "/feed.xml"),
    ],
)
def test_a_slash_at_the_end_of_a_page_is_taken_off(client: TestClient, address: str, page: str) -> None:
    answer = client.get(f"https://testserver{address}")
    assert (answer.status_code, answer.headers["location"]) == (301, page)
    assert client.get(page).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *(
            "//evil.example",
            "//evil.example/",
            "///evil.example/",
            "/\\evil.example/",
            "\\\\evil.example/",
            "/\t/evil/",
        ),
        *("/https://evil.example/", "//evil.example/d/pattern/rotating-stewardship", "/d//evil.example/", "/.//evil/"),
        *(
            "//evil.example/search/",
            "/search\r\nx: y/",
            "/search\\/",
            "//search/",
            "/@evil.example/",
            "/:80/",
            "/%2f/evil/",
        ),
        "//evil.example/artifacts/patterns/rotating-stewardship.md",
    ],
)
def test_no_address_leads_to_another_host(world: World, path: str) -> None:
    answer = Gateway(world.client().app)(payload_2(path), cast(LambdaContext, None))
    location = answer["headers"].get("location", "/")
    assert re.match(r"/(?![/\\])[!-~]*\Z", location), location
    assert answer["statusCode"] in (301, 404)
    assert location in ("/", "/search", "/d/pattern/rotating-stewardship")


def test_nothing_unpublished_and_nothing_ambiguous_is_led_to() -> None:
    store = FakeLibrary(
        [make("file", "one", "docs/a b.md"), make("file", "two", "docs/a-b.md"), make("index", "top", "index.md")]
    )
    secret = make("file", "secret", "docs/secret.md")
    store.put("content/file/secret.json", secret.to_json())
    store.put("raw/docs/secret.md", b"secret")
    client = World(store, FakeSearch()).client()
    for path in (
        "/docs/secret.md",
        "/docs/secret/",
        "/docs/A B",
        "/🌱",
        "/docs/…",
        "/d/File/Secret",
        "/d/file/secret/",
        "/nothing/",
    ):
        assert client.get(path).status_code == 404, path
    assert client.get("/docs/a b").headers["location"] == "/d/file/one"
    assert client.get("/docs/a-b/").headers["location"] == "/d/file/two"
    store.publish([])
    assert client.get("/docs/a b").status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_reading_is_led_elsewhere(client: TestClient, method: str) -> None:
    assert client.request(method, "/artifacts/patterns/rotating-stewardship.md").status_code == 404
    assert client.head("/artifacts/patterns/rotating-stewardship.md").status_code == 301


def test_a_private_deployment_leads_nobody_anywhere_before_they_sign_in() -> None:
    def stranger(request: Request) -> Principal | Response:
        return RedirectResponse(f"/sign-in?{request.url.path}")

    paths = ["docs/plan.md", "assets/plan.md", "assets/deep/plan.md", "robots.txt/plan.md"]
    store = FakeLibrary([make("file", f"canary-{number}", path) for number, path in enumerate(paths)])
    private = Middleware(Private, tier="member", find=stranger, unguarded=UNGUARDED)
    client = TestClient(site_app(store, private=private), follow_redirects=False)
    for path in (*paths, *(path.removesuffix(".md") for path in paths), "D/File/Canary-0", "d/file/canary-0"):
        for address in (f"/{path}", f"/{path}/", f"//{path}"):
            answer = client.get(f"https://testserver{address}")
            assert answer.status_code == 404 or answer.headers["location"].startswith("/sign-in?"), address
            assert "canary" not in answer.headers.get("location", "").replace("anary-0", "")
            if answer.status_code != 404:
                assert answer.headers["cache-control"] == "private, no-store"


def test_what_is_let_in_is_led_to_the_page_and_kept_by_nobody_else() -> None:
    def member(_request: Request) -> Principal:
        return Principal(subject="agent:reader", tier="member")

    private = Middleware(Private, tier="member", find=member, unguarded=UNGUARDED)
    store = FakeLibrary([make("file", "plan", "docs/plan.md"), make("file", "other", "assets/deep/other.md")])
    client = TestClient(site_app(store, private=private), follow_redirects=False)
    answer = client.get("/docs/plan.md")
    assert (answer.status_code, answer.headers["location"]) == (301, "/d/file/plan")
    assert answer.headers["cache-control"] == "private, no-store"
    assert client.get("/assets/deep/other.md").status_code == 404


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
