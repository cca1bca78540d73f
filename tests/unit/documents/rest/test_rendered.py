"""Documents as HTML, and the files they show under their own names, from a real sync to the answer."""

from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.kernel.limits import Limiter
from commonplace.web.gateway import Gateway
from commonplace.web.rest.declaration import Site
from tests.fakes.lambda_context import LambdaContext
from tests.fakes.search import FakeSearch
from tests.rest_app import rest_app
from tests.unit.documents.content.files import markdown
from tests.unit.documents.rest.conftest import ORIGIN, Counters, Seconds
from tests.unit.documents.rest.events import payload_2
from tests.unit.documents.sync.drive import World

PNG = b"\x89PNG\r\n\x1a\n"
NAMES = ["Map of the Bay (1).PNG", "Ebbe & Flut – Übersicht.png", "50% off?.png", "a+b#c.png", "plain_name.png"]


@pytest.fixture(scope="module")
def world() -> World:
    world = World()
    shown = "\n\n".join(f"![x](<../attachments/{quote(name)}>)" for name in NAMES)
    tree = {f"attachments/{name}": PNG + name.encode() for name in NAMES}
    tree |= {"docs/a/plan.png": PNG + b"a", "docs/b/plan.png": PNG + b"b"}
    tree["notes/page.md"] = markdown(
        f"# Page\n\n## Part\n\n[[other|there]] [gone](gone.md) <script>alert(1)</script>\n\n{shown}\n",
        title="Page",
        banner="![[attachments/Map of the Bay (1).PNG]]",
    )
    tree["notes/other.md"] = markdown("![](docs/a/plan.png) ![](docs/b/plan.png) [p](page.md#Part)\n", title="Other")
    tree["notes/hidden.md"] = markdown("CANARY\n", title="Hidden", publish=False)
    world.push(tree)
    world.sync()
    return world


@pytest.fixture(scope="module")
def client(world: World) -> TestClient:
    site = Site(name="The garden", base_url=ORIGIN, reads_per_minute=0, searches_per_minute=0)
    app = rest_app(Library(world.objects), FakeSearch(), site, Limiter(Counters(), Seconds()))
    return TestClient(app, base_url=ORIGIN, follow_redirects=False)


def test_a_file_is_served_under_its_own_name(client: TestClient) -> None:
    listed = {item["name"]: item for item in client.get("/api/v1/manifest").json()["attachments"]}
    assert set(listed) == {*NAMES, "a/plan.png", "b/plan.png"}
    for name, item in listed.items():
        for address in (
            item["url"],
            f"/api/v1/attachments/{quote(name)}",
            f"/api/v1/attachments/{quote(name, safe='')}",
        ):
            answer = client.get(address)
            assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), address
            assert answer.content.startswith(PNG)
        assert answer.headers["content-disposition"].endswith(quote(name.rpartition("/")[2], safe=""))


def test_a_file_is_served_under_its_own_name_behind_the_gateway(client: TestClient) -> None:
    handler: Any = Gateway(client.app)
    for name in (*NAMES, "a/plan.png"):
        answer = handler(payload_2(f"/api/v1/attachments/{quote(name)}"), LambdaContext())
        assert answer["statusCode"] == 200, name


def test_a_banner_leads_to_the_file(client: TestClient) -> None:
    (entry,) = [one for one in client.get("/api/v1/entries").json()["entries"] if one["title"] == "Page"]
    answer = client.get(entry["bannerUrl"])
    assert (answer.status_code, answer.content) == (200, PNG + b"Map of the Bay (1).PNG")


def test_a_document_is_given_as_html_in_place_of_markdown(client: TestClient) -> None:
    plain, shown = (client.get(f"/api/v1/entries/file/page{query}").json() for query in ("", "?format=html"))
    assert plain.keys() - shown.keys() == {"content"}
    assert shown.keys() - plain.keys() == {"html", "headings", "truncated"}
    assert shown["headings"] == [{"level": 2, "id": "part", "text": "Part"}] and shown["truncated"] is False
    assert (
        '<h2 id="part" dir="auto">Part' in shown["html"]
        and "<h1" not in shown["html"]
        and "<script" not in shown["html"]
    )
    assert f'<a href="{shown["documentUrl"].replace("page", "other")}">there</a>' in shown["html"]


def test_images_of_the_html_can_be_fetched(client: TestClient) -> None:
    html = client.get("/api/v1/entries/file/page?format=html").json()["html"]
    sources = [part.partition('"')[0].replace("&amp;", "&") for part in html.split('src="')[1:]]
    assert len(sources) == len(NAMES)
    for source in sources:
        assert client.get(source).status_code == 200, source


def test_html_is_revalidated(client: TestClient) -> None:
    first = client.get("/api/v1/entries/file/page?format=html")
    again = client.get("/api/v1/entries/file/page?format=html", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    assert first.headers["etag"] != client.get("/api/v1/entries/file/page").headers["etag"]


def test_another_format_is_refused_with_those_that_are(client: TestClient) -> None:
    answer = client.get("/api/v1/entries/file/page?format=pdf")
    assert answer.status_code == 422 and "html" in answer.text


def test_links_are_told_as_written_with_what_they_lead_to(client: TestClient) -> None:
    told = client.get("/api/v1/entries/file/page/links").json()
    page = client.get("/api/v1/entries/file/page").json()
    banner, wiki, gone, *images = told["links"]
    assert banner == {
        "written": "![[attachments/Map of the Bay (1).PNG]]",
        "kind": "embed",
        "text": "attachments/Map of the Bay (1).PNG",
        "line": 4,
        "field": "banner",
        "ref": None,
        "attachment": "Map of the Bay (1).PNG",
        "url": page["bannerUrl"],
    }
    assert (wiki["written"], wiki["ref"], wiki["attachment"]) == ("[[other|there]]", "file/other", None)
    assert (gone["written"], gone["ref"], gone["url"]) == ("gone.md", None, None)
    assert [image["attachment"] for image in images] == NAMES
    assert all(image["written"] in page["content"] and client.get(image["url"]).status_code == 200 for image in images)


def test_the_fragment_of_a_link_is_that_of_the_page(client: TestClient) -> None:
    told = client.get("/api/v1/entries/file/other/links").json()
    page = client.get("/api/v1/entries/file/page").json()
    assert told["links"][-1]["url"] == f"{page['documentUrl']}#part"
