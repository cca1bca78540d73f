"""What a list tells of each document: with its text, with some fields only, with its image."""

import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.web.representations import PAGE_BYTES
from tests.fakes.library import FakeLibrary, garden, make
from tests.fakes.search import FakeSearch
from tests.unit.documents.rest.conftest import ORIGIN, World

EVERY = "/api/v1/entries?limit=100"


def listed(client: TestClient, query: str) -> list[dict[str, Any]]:
    answer = client.get(f"{EVERY}&{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["entries"]
    return found


def test_list_has_the_text_of_each_document_where_it_is_asked_for(client: TestClient) -> None:
    found = listed(client, "include=body")
    assert {one["id"]: one["content"] for one in found} == {one.id: one.content for one in garden()}
    assert "content" not in listed(client, "")[0]


def test_list_has_the_fields_that_are_asked_for_and_no_others(client: TestClient) -> None:
    full = listed(client, "")
    for query in ("fields=title,documentUrl,tags", "fields=title&fields=documentUrl&fields=tags"):
        sparse = listed(client, query)
        assert sparse == [{name: one[name] for name in ("documentUrl", "title", "tags")} for one in full]


def test_every_field_of_a_list_can_be_asked_for_alone(client: TestClient) -> None:
    full = listed(client, "include=body")
    for name in full[0]:
        assert listed(client, f"fields={name}") == [{name: one[name]} for one in full]


def test_text_joins_the_fields_that_are_asked_for(client: TestClient) -> None:
    assert {frozenset(one) for one in listed(client, "fields=id&include=body")} == {frozenset({"id", "content"})}


@pytest.mark.parametrize("query", ["fields=body", "fields=id,colour", "fields=", "fields=id,,title", "include=links"])
def test_unknown_field_is_refused_with_those_that_are_valid(client: TestClient, query: str) -> None:
    error = client.get(f"{EVERY}&{query}").json()["error"]
    assert error["code"] == "INVALID_INPUT"
    valid = ("body",) if "include" in query else ("id", "documentUrl", "linkType", "bannerUrl", "content")
    assert all(name in error["message"] for name in valid)


def test_pages_keep_to_what_was_asked(client: TestClient) -> None:
    found: list[dict[str, Any]] = []
    target: str | None = "/api/v1/entries?limit=3&fields=id,title&include=body&sort=path"
    while target:
        answer = client.get(target)
        found += answer.json()["entries"]
        target = answer.links.get("next", {}).get("url")
    assert found == listed(client, "fields=id,title,content&sort=path")


def test_page_of_texts_ends_where_its_bytes_are_full_and_goes_on_there() -> None:
    tomes = [make("file", f"tome-{number}", f"t/{number}.md", content="é" * 700_000) for number in range(5)]
    world = World(FakeLibrary(tomes), FakeSearch())
    client, found, pages = world.client(), list[str](), 0
    target: str | None = f"{EVERY}&include=body&fields=id"
    while target:
        world.store.reads.clear()
        answer = client.get(target)
        assert len(answer.content) <= PAGE_BYTES
        found += [one["id"] for one in answer.json()["entries"]]
        assert answer.json()["total"] == len(tomes)
        target, pages = answer.links.get("next", {}).get("url"), pages + 1
    assert (found, pages) == ([tome.id for tome in tomes], 3)


def test_document_whose_object_has_just_gone_is_listed_without_its_text(world: World) -> None:
    entry = next(one for one in garden() if one.id == "governance")
    world.store.delete([f"content/{entry.ref}.json"])
    (one,) = [one for one in listed(world.client(), "include=body") if one["id"] == "governance"]
    assert one["content"] is None


def test_list_says_who_wrote_what_and_what_a_link_leads_to(client: TestClient) -> None:
    by_id = {one["id"]: one for one in listed(client, "fields=id,author,aliases,linkType")}
    assert by_id["rotating-stewardship"]["author"] == ["Rosa Lind"]
    assert by_id["rotating-stewardship"]["aliases"] == ["stewardship rota"]
    assert by_id["seed-atlas"]["linkType"] == "directory"
    assert by_id["garden"] == {"id": "garden", "author": [], "aliases": [], "linkType": None}


@pytest.mark.parametrize(
    "path", [EVERY, "/api/v1/entries/pattern/rotating-stewardship", "/api/v1/search?q=x&include=documents"]
)
def test_banner_is_the_address_of_the_attachment(world: World, client: TestClient, path: str) -> None:
    document = next(one for one in garden() if one.id == "rotating-stewardship")
    world.search.hits = (replace(world.search.hits[0], document=document),)
    told = client.get(path).json()
    one = told.get("entries") or [one["document"] for one in told.get("results", [])] or [told]
    (one,) = [each for each in one if each["id"] == document.id]
    assert one["banner"] == "files/seedlings.png"
    assert client.get(one["bannerUrl"]).content == b"\x89PNG\r\n\x1a\n\x00\xff"


@pytest.mark.parametrize(
    ("banner", "path"),
    [
        ("files/seedlings.png", f"{ORIGIN}/api/v1/attachments/seedlings.png"),
        ("seedlings.png", f"{ORIGIN}/api/v1/attachments/seedlings.png"),
        ("https://example.org/cove.png", "https://example.org/cove.png"),
        ("files/gone.png", None),
        ("../../etc/passwd", None),
        ("javascript:alert(1)", None),
        (None, None),
    ],
)
def test_banner_that_is_not_served_has_no_address(world: World, banner: str | None, path: str | None) -> None:
    world.store.publish([make("file", "one", "notes/one.md", banner=banner)])
    (one,) = listed(world.client(), "fields=banner,bannerUrl")
    assert (one["banner"], one["bannerUrl"] and one["bannerUrl"].partition("?")[0]) == (banner, path)


def test_another_image_is_another_version_of_the_document(world: World) -> None:
    def tag() -> str:
        return world.client().get("/api/v1/entries/file/one").headers["etag"]

    world.store.publish([make("file", "one", "notes/one.md", banner="seedlings.png")])
    before = tag()
    world.store.attachments[0] = world.store.attachments[0].model_copy(update={"blob_sha": "f" * 40})
    world.store.publish([make("file", "one", "notes/one.md", banner="seedlings.png")])
    assert json.loads(world.store.objects["content/file/one.json"].body)["banner"] == "seedlings.png"
    assert tag() != before
