"""How to connect an agent: the page of a deployment, and its entry for the registry."""

import re

import pytest
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.kernel.limits import Limiter
from commonplace.web.rest.declaration import Site
from tests.fakes.library import FakeLibrary
from tests.fakes.search import FakeSearch
from tests.rest_app import rest_app
from tests.site_app import Counters, site_app


@pytest.fixture
def client() -> TestClient:
    return TestClient(site_app())


def test_the_page_shows_the_address_of_this_deployment(client: TestClient) -> None:
    page = client.get("/connect")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "https://garden.example.org/mcp" in page.text
    assert "Connect to The garden" in page.text


def test_the_configured_address_wins_over_the_host_a_request_came_to() -> None:
    page = TestClient(site_app(), base_url="https://evil.example").get("/connect").text
    assert "https://garden.example.org/mcp" in page
    assert "evil.example" not in page


@pytest.mark.parametrize("path", ["/connect", "/assets/site.css", "/assets/theme.css", "/assets/copy.js", "/icon.png"])
def test_nothing_on_the_page_comes_from_elsewhere(client: TestClient, path: str) -> None:
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def test_the_page_answers_conditional_requests(client: TestClient) -> None:
    tag = client.get("/connect").headers["etag"]
    assert client.get("/connect", headers={"if-none-match": tag}).status_code == 304


def test_the_registry_entry_names_this_deployment(client: TestClient) -> None:
    told = client.get("/server.json").json()
    assert told["name"] == "org.example.garden/the-garden"
    assert told["remotes"][0]["url"] == "https://garden.example.org/mcp"


def test_the_icon_is_a_picture(client: TestClient) -> None:
    icon = client.get("/icon.png")
    assert icon.headers["content-type"] == "image/png"
    assert icon.content.startswith(b"\x89PNG")
    assert client.get("/server.json").json()["icons"][0]["src"] == "https://garden.example.org/icon.png"


def test_the_site_has_the_files_of_the_documentation_of_the_api(client: TestClient) -> None:
    """The function of REST serves the page, and this one what it loads."""
    rest = rest_app(Library(FakeLibrary()), FakeSearch(), Site(), Limiter(Counters(), lambda: 0.0))
    page = TestClient(rest).get("/docs")
    assert page.status_code == 200
    addresses = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text)
    assert len(addresses) == 6
    for address in addresses:
        assert client.get(address).status_code == 200


def test_crawlers_are_told_what_not_to_read_and_where_the_map_is(client: TestClient) -> None:
    told = client.get("/robots.txt")
    assert told.headers["content-type"] == "text/plain; charset=utf-8"
    assert "Disallow: /search\n" in told.text
    assert told.text.endswith("Sitemap: https://garden.example.org/sitemap.xml\n")
