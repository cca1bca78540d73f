"""What every page of documents has in common: entity tags, HEAD, caching, escaping, and nothing unpublished."""

import logging
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import cast
from urllib.parse import unquote

import pytest
from mangum.types import LambdaContext
from starlette.testclient import TestClient

from commonplace.web.gateway import Gateway
from tests.fakes.library import FakeLibrary, make
from tests.fakes.search import FakeSearch, hit
from tests.unit.documents.pages.conftest import World
from tests.unit.documents.rest.events import payload_2

PATHS = (
    *("/", "/types", "/types/pattern", "/types/resource", "/groups", "/groups/seed-library", "/releases"),
    *("/releases/first-harvest", "/t", "/t/governance", "/search", "/search?type=pattern", "/search?q=season"),
    *("/d/pattern/rotating-stewardship", "/d/link/dots...and-more", "/map", "/feed.xml", "/sitemap.xml"),
)
HOSTILE = "\"><script>alert(1)</script>&lt;' onload=x"
CANARY = "xanthippe"


class Checked(HTMLParser):
    """Raises where tags do not match; counts what must not be there."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr", "path", "use"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[str | None] = []
        self.inline: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.scripts += [given.get("src")] if tag == "script" else []
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        self.headings += [tag] if tag == "h1" else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(html: str) -> Checked:
    found = Checked()
    found.feed(html)
    found.close()
    assert found.open == []
    return found


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_a_strong_entity_tag_and_answers_conditional_requests(client: TestClient, path: str) -> None:
    page = client.get(path)
    assert page.status_code == 200
    assert re.fullmatch(r'"[0-9a-f]{32}"', page.headers["etag"])
    again = client.get(path, headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", PATHS)
def test_head_says_what_get_says_without_the_body(client: TestClient, path: str) -> None:
    head, page = client.head(path), client.get(path)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", page.headers["etag"])


@pytest.mark.parametrize("path", [path for path in PATHS if not path.endswith(".xml")])
def test_a_page_is_sound_html_with_one_title_and_nothing_inline(client: TestClient, path: str) -> None:
    page = checked(client.get(path).text)
    assert page.headings == ["h1"]
    assert all(page.scripts)
    assert page.inline == []
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("path", PATHS)
def test_a_page_may_be_kept_by_anybody_for_a_while(client: TestClient, path: str) -> None:
    told = client.get(path).headers
    assert told["cache-control"].startswith("public, max-age=")
    assert "set-cookie" not in told


def test_a_new_publication_is_a_new_page(world: World) -> None:
    client = world.client()
    before = client.get("/").headers["etag"]
    world.store.publish([make("pattern", "a-new-one", "a.md")])
    after = client.get("/")
    assert after.headers["etag"] != before
    assert "A new one" in after.text
    assert client.get("/d/pattern/rotating-stewardship").status_code == 404


def test_unknown_parameters_change_nothing(client: TestClient) -> None:
    assert (
        client.get("/t/governance?utm_source=x&fbclid=1").headers["etag"] == client.get("/t/governance").headers["etag"]
    )


def test_titles_tags_and_descriptions_are_text_and_never_markup() -> None:
    store = FakeLibrary(
        [
            make(
                "pattern",
                "hostile",
                "hostile.md",
                title=HOSTILE,
                description=HOSTILE,
                tags=[HOSTILE, "a/b", "Ünï ✓", "?#&="],
                group=HOSTILE,
                release=HOSTILE,
                status=HOSTILE,
                author=[HOSTILE],
            ),
            make("pattern", "other", "other.md", tags=[HOSTILE, "a/b"]),
        ]
    )
    found = hit("pattern", "hostile", title=HOSTILE, snippet=HOSTILE, heading=HOSTILE, tags=(HOSTILE,), marks=((0, 3),))
    client = World(store, FakeSearch(found)).client(SITE_NAME=HOSTILE, SITE_DESCRIPTION=HOSTILE)
    seen = {"/", "/types", "/t", "/groups", "/releases", "/search?q=%22%3E%3Cscript%3E", "/map"}
    todo = set(seen)
    while todo:
        path = todo.pop()
        page = client.get(path)
        assert page.status_code == 200, path
        assert "<script>alert" not in page.text
        assert checked(page.text).inline == []
        more = {
            link.replace("&amp;", "&")
            for link in re.findall(r'href="(/(?:t|d|types|groups|releases)/[^"]*)"', page.text)
        }
        todo |= more - seen
        seen |= more
    assert {"/t/a%2Fb", "/t/%C3%9Cn%C3%AF%20%E2%9C%93", "/t/%3F%23%26%3D"} <= seen


@pytest.mark.parametrize("tag", ["a/b", "Ünï ✓", "?#&=", "a+b", "100%", "<b>", "//x"])
def test_any_tag_has_a_page_behind_the_gateway_which_decodes_paths(tag: str) -> None:
    store = FakeLibrary([make("pattern", "tagged", "tagged.md", tags=[tag])])
    gateway = Gateway(World(store, FakeSearch()).client().app)
    shown = gateway(payload_2("/d/pattern/tagged"), cast(LambdaContext, None))["body"]
    (link,) = re.findall(r'href="/t/([^"]+)"', shown)
    answer = gateway(payload_2(f"/t/{unquote(link)}"), cast(LambdaContext, None))
    assert answer["statusCode"] == 200
    assert 'href="/d/pattern/tagged"' in answer["body"]


@pytest.fixture
def haunted() -> World:
    """A garden with unpublished things wherever a store can hold any."""
    shown = [make("pattern", "plain", "plain.md", tags=["roles"], content=f"See [[drafts/{CANARY[:4]}]].\n")]
    secret = make("pattern", f"{CANARY}-plan", f"drafts/{CANARY}.md", content=CANARY, tags=[CANARY], group=CANARY)
    store = FakeLibrary()
    store.put(f"content/pattern/{CANARY}-plan.json", secret.to_json())
    store.put(f"raw/drafts/{CANARY}.md", CANARY.encode())
    store.put("operations/known.json", CANARY.encode())
    store.publish(
        shown, graph={"nodes": [], "edges": []}, former_refs={f"pattern/{CANARY}-plan": f"drafts/{CANARY}.md"}
    )
    return World(store, FakeSearch(hit("pattern", f"{CANARY}-plan", title=CANARY, snippet=CANARY, tags=(CANARY,))))


def addresses() -> Iterator[str]:
    yield from (path for path in PATHS if "rotating" not in path and "dots" not in path)
    yield "/d/pattern/plain"
    yield from (f"/d/pattern/{CANARY[:-1]}-plan", "/drafts", "/d/..%2f..%2foperations/known", "/metadata/manifest.json")
    yield from ("/search?q=plan", "/search?q=xanthipp", "/t/xanthipp", "/groups/xanthipp", "/map?around=pattern/plain")


def test_nothing_unpublished_is_ever_shown_or_logged(haunted: World, caplog: pytest.LogCaptureFixture) -> None:
    client = haunted.client()
    with caplog.at_level(logging.DEBUG, logger="commonplace"):
        for path in addresses():
            page = client.get(path)
            assert page.status_code in (200, 404), path
            assert CANARY not in page.text.replace("xanthipp<", "").replace(f"{CANARY[:-1]}-plan", ""), path
    assert client.get(f"/d/pattern/{CANARY}-plan").status_code == 404
    assert CANARY not in caplog.text


def test_what_is_nowhere_is_a_page_that_names_the_nearest(client: TestClient) -> None:
    page = client.get("/d/pattern/rotating-stewardshp")
    assert page.status_code == 404
    assert page.headers["cache-control"] == "no-store"
    assert 'href="/d/pattern/rotating-stewardship"' in page.text


def test_a_list_that_is_nowhere_names_the_nearest(client: TestClient) -> None:
    for path, near in (("/t/governanse", "/t/governance"), ("/groups/sead-library", "/groups/seed-library")):
        page = client.get(path)
        assert page.status_code == 404
        assert f'href="{near}"' in page.text


def test_a_store_that_does_not_answer_is_a_page_that_says_when_to_come_back(world: World) -> None:
    client = world.client()
    world.store.unreachable = True
    for path in ("/", "/d/pattern/rotating-stewardship", "/feed.xml", "/search?q=x"):
        page = client.get(path)
        assert (page.status_code, page.headers["retry-after"]) == (503, "5")
        assert "does not answer" in page.text
    assert client.get("/nothing").status_code == 404


@pytest.mark.parametrize("number", ["0", "-1", "x", "1e3", "99999999", "²"])
def test_a_page_number_that_is_none_is_told_what_is_valid(client: TestClient, number: str) -> None:
    page = client.get("/types/pattern", params={"page": number})
    assert page.status_code == 422
    assert "from 1 to" in page.text


def test_behind_the_last_page_is_nothing(client: TestClient) -> None:
    assert client.get("/types/pattern?page=2").status_code == 404
