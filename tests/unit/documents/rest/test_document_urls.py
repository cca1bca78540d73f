"""`documentUrl` is in every answer that speaks of a document, is made when answering, and follows the setting."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.library import Library
from commonplace.kernel.limits import Limiter
from commonplace.web.rest.declaration import Site
from tests.rest_app import rest_app
from tests.unit.documents.rest.conftest import ORIGIN, World

TEMPLATES = (None, "https://pages.example.org/{id}?kind={type}")
SPEAKING = (
    "entries?limit=100",
    "entries/pattern/rotating-stewardship",
    "entries/by-path?path=docs/kitchen",
    "entries/practice/seed-swap/links",
    "entries/pattern/rotating-stewardship/links",
    "search?q=who",
    "search?q=who&include=documents",
    "graph",
    "groups",
    "tags",
    "manifest",
)
NAMED = {"id", "contentType"}


def client_of(world: World, template: str | None, base_url: str = ORIGIN) -> TestClient:
    site = Site(name="The garden", base_url=base_url, reads_per_minute=0, searches_per_minute=0)
    limiter = Limiter(world.counters, world.clock)
    app = rest_app(Library(world.store, clock=world.clock), world.search, site, limiter, document_url=template)
    return TestClient(app, base_url=ORIGIN)


def documents(told: Any) -> Iterator[dict[str, Any]]:
    """Every object of an answer that is about a document."""
    if isinstance(told, dict):
        if told.keys() >= NAMED:
            yield told
        told = list(told.values())
    if isinstance(told, list):
        for one in told:
            yield from documents(one)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("path", SPEAKING)
def test_every_document_of_an_answer_says_where_it_is_read(world: World, path: str, template: str | None) -> None:
    addresses = DocumentAddresses(template, ORIGIN)
    found = list(documents(client_of(world, template).get(f"/api/v1/{path}").json()))
    assert found
    for one in found:
        assert one["documentUrl"] == addresses.of(one["contentType"], one["id"])


@pytest.mark.parametrize("template", TEMPLATES)
def test_feed_and_texts_for_language_models_lead_to_where_documents_are_read(
    world: World, template: str | None
) -> None:
    client, addresses = client_of(world, template), DocumentAddresses(template, ORIGIN)
    expected = {addresses.of(entry) for entry in Library(world.store).manifest().documents}
    assert {item["url"] for item in client.get("/feed.json").json()["items"]} == expected
    text = client.get("/llms.txt").text
    assert set(re.findall(r"^- \[.+?\]\((\S+)\).*\.md\)\)$", text, re.MULTILINE)) == expected
    assert set(re.findall(r"^Source: (\S+)$", client.get("/llms-full.txt").text, re.MULTILINE)) == expected


def test_text_of_each_document_is_still_named_for_language_models(client: TestClient) -> None:
    links = re.findall(r"\(\[Markdown\]\((\S+)\)\)$", client.get("/llms.txt").text, re.MULTILINE)
    assert len(links) == 11
    for link in links:
        assert client.get(link).headers["content-type"].startswith("text/markdown")


def test_address_is_relative_where_the_deployment_does_not_know_its_own(world: World) -> None:
    told = client_of(world, None, base_url="").get("/api/v1/entries/tag/governance").json()
    assert told["documentUrl"] == "/d/tag/governance"


@pytest.mark.parametrize("path", ["/api/v1/entries/tag/governance", "/api/v1/entries/tag/governance.md"])
def test_another_address_is_another_version_of_the_answer(world: World, path: str) -> None:
    tags = [client_of(world, template).get(path).headers["etag"] for template in TEMPLATES]
    assert len(set(tags)) == len(TEMPLATES)
    assert client_of(world, TEMPLATES[1]).get(path, headers={"if-none-match": tags[0]}).status_code == 200


def test_manifest_tells_the_entity_tags_of_documents(client: TestClient) -> None:
    for one in client.get("/api/v1/manifest").json()["documents"]:
        assert client.get(one["url"]).headers["etag"].removeprefix("W/") == f'"{one["etag"]}"'


def test_address_is_neither_stored_nor_indexed(world: World) -> None:
    for stored in world.store.objects.values():
        if stored.body.startswith(b"{"):
            assert "documentUrl" not in json.dumps(json.loads(stored.body))
