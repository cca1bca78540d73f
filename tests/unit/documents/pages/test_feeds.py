"""The Atom feed and the sitemap."""

import xml.etree.ElementTree as ET
from datetime import datetime

import pytest
from starlette.testclient import TestClient

from commonplace.documents.pages import feeds
from tests.fakes.library import FakeLibrary, make
from tests.fakes.search import FakeSearch
from tests.unit.documents.pages.conftest import World

ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def atom(client: TestClient) -> ET.Element:
    answer = client.get("/feed.xml")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    return ET.fromstring(answer.content)


def text(element: ET.Element, name: str) -> str:
    found = element.findall(f"{ATOM}{name}")
    assert len(found) == 1, name
    assert found[0].text
    return found[0].text


def links(element: ET.Element) -> dict[str, str]:
    return {link.attrib["rel"]: link.attrib["href"] for link in element.findall(f"{ATOM}link")}


def test_the_feed_has_all_that_rfc_4287_asks_for(client: TestClient) -> None:
    feed = atom(client)
    assert feed.tag == f"{ATOM}feed"
    assert text(feed, "title") == "The garden"
    assert links(feed)["self"] == "https://garden.example.org/feed.xml"
    assert feed.findall(f"{ATOM}author/{ATOM}name")[0].text == "The garden"
    entries = feed.findall(f"{ATOM}entry")
    ids = [text(entry, "id") for entry in entries]
    assert len(ids) == len(set(ids)) == 11
    for element in (feed, *entries):
        assert text(element, "id").startswith("urn:uuid:")
        assert datetime.fromisoformat(text(element, "updated")).tzinfo is not None
        assert text(element, "title")
        assert links(element)["alternate"].startswith("https://garden.example.org/")


def test_the_newest_is_first_and_leads_to_where_it_is_read(world: World) -> None:
    first = atom(world.client(DOCUMENT_URL="https://read.example.org/{type}/{id}")).findall(f"{ATOM}entry")[0]
    assert links(first)["alternate"] == "https://read.example.org/pattern/rotating-stewardship"
    assert text(first, "updated") == "2026-03-20T17:04:05Z"
    assert [one.attrib["term"] for one in first.findall(f"{ATOM}category")] == ["governance", "roles"]


def test_an_entry_keeps_its_id_under_another_host(world: World) -> None:
    here, there = (world.client(BASE_URL=url) for url in ("https://a.example", "https://b.example"))
    assert [text(one, "id") for one in atom(here).iter(f"{ATOM}entry")] == [
        text(one, "id") for one in atom(there).iter(f"{ATOM}entry")
    ]


def test_any_text_makes_a_sound_feed() -> None:
    documents = [make("pattern", "x", "x.md", title="a\x00\x0b & <b>\uffff", tags=['"<&'], description="\x1b[31m")]
    atom(World(FakeLibrary(documents), FakeSearch()).client())


def test_the_sitemap_names_every_document_and_when_it_changed(client: TestClient) -> None:
    answer = client.get("/sitemap.xml")
    assert answer.headers["content-type"] == "application/xml; charset=utf-8"
    urls = ET.fromstring(answer.content).findall(f"{MAP}url")
    told = {url.findtext(f"{MAP}loc"): url.findtext(f"{MAP}lastmod") for url in urls}
    assert told["https://garden.example.org/d/pattern/rotating-stewardship"] == "2026-03-20T17:04:05Z"
    assert sum("/d/" in str(address) for address in told) == 11
    assert "https://garden.example.org/" in told


def test_documents_that_are_read_elsewhere_are_not_in_it(world: World) -> None:
    assert "/d/" not in world.client(DOCUMENT_URL="https://read.example.org/{type}/{id}").get("/sitemap.xml").text


def test_a_sitemap_that_grows_too_long_becomes_several(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "PER_SITEMAP", 4)
    client = world.client()
    index = ET.fromstring(client.get("/sitemap.xml").content)
    maps = [one.text or "" for one in index.findall(f"{MAP}sitemap/{MAP}loc")]
    assert len(maps) == 3
    found = [client.get(one.removeprefix("https://garden.example.org")).text.count("/d/") for one in maps]
    assert found == [4, 4, 3]
    assert client.get("/sitemap.xml?page=4").status_code == 404
