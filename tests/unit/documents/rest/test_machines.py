"""Manifest, sync, health, feed, text for language models, attachments, schemas, search and the documentation page."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.documents.rest import machines
from commonplace.documents.sync.publication import media_type
from commonplace.web.rest.declaration import Site
from tests.fakes.library import COMMIT, FakeLibrary, garden, make
from tests.fakes.search import FakeSearch, hit
from tests.unit.documents.rest.conftest import World


def test_manifest_names_documents_and_attachments_and_nothing_operational(client: TestClient) -> None:
    manifest = client.get("/api/v1/manifest").json()
    assert (manifest["total"], manifest["attachmentsTotal"], manifest["truncated"]) == (11, 3, False)
    assert manifest["commitSha"] == COMMIT
    assert not {"pipeline", "generation", "pending", "formerRefs", "graphKey"} & set(manifest)
    document = next(one for one in manifest["documents"] if one["id"] == "seed-swap")
    assert document["key"] == "content/practice/seed-swap.json"
    assert client.get(document["url"]).headers["etag"] == f'"{document["etag"]}"'


def test_manifest_is_paged(client: TestClient) -> None:
    first = client.get("/api/v1/manifest?limit=6")
    second = client.get(first.links["next"]["url"])
    refs = [document["ref"] for page in (first, second) for document in page.json()["documents"]]
    assert len(set(refs)) == 11
    assert (first.json()["truncated"], second.json()["truncated"]) == (True, False)


def test_manifest_of_an_empty_library_knows_no_commit() -> None:
    manifest = World(FakeLibrary(), FakeSearch()).client().get("/api/v1/manifest").json()
    assert (manifest["commitSha"], manifest["syncedAt"], manifest["repository"]) == (None, None, None)


def test_sync_is_served_as_it_is_and_never_stored(world: World, client: TestClient) -> None:
    answer = client.get("/api/v1/sync")
    assert answer.content == world.store.objects["metadata/sync.json"].body
    assert answer.headers["cache-control"] == "no-store"


def test_sync_before_the_first_run_is_404() -> None:
    answer = World(FakeLibrary(), FakeSearch()).client().get("/api/v1/sync")
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
def test_health_tells_commit_and_lag(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.json() == {
        "status": "ok",
        "store": {"status": "ok"},
        "index": {"status": "ok"},
        "commitSha": COMMIT,
        "syncedAt": "2026-03-21T09:30:12Z",
        "lagSeconds": 42,
        "documents": 11,
        "everything": False,
        "version": "1.0.0",
    }
    assert answer.headers["cache-control"] == "no-store"


def test_health_is_degraded_without_the_index(world: World, client: TestClient) -> None:
    world.search.unreachable = True
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["index"] == {"status": "unavailable"}


def test_health_is_503_without_the_store_however_recently_it_answered(world: World, client: TestClient) -> None:
    assert client.get("/health").status_code == 200
    world.store.unreachable = True
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["store"]) == (503, {"status": "unavailable"})


def test_store_that_does_not_answer_is_503_with_retry_after(world: World, client: TestClient) -> None:
    world.store.unreachable = True
    answer = client.get("/api/v1/entries")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")
    assert answer.headers["retry-after"] == "5"
    assert "no route" not in answer.text


def test_feed_has_the_latest_changes_first_with_their_text(client: TestClient) -> None:
    answer = client.get("/feed.json")
    feed = answer.json()
    assert answer.headers["content-type"] == "application/feed+json"
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    first = feed["items"][0]
    assert first["id"] == "https://garden.example.org/api/v1/entries/pattern/rotating-stewardship"
    assert first["content_text"].startswith("\r\n# Rotating")
    assert (first["date_published"], first["date_modified"]) == ("2026-02-14T00:00:00Z", "2026-03-20T17:04:05Z")
    assert first["authors"] == [{"name": "Rosa Lind"}]
    assert None not in [value for item in feed["items"] for value in item.values()]


def test_feed_is_filtered_and_paged(client: TestClient) -> None:
    feed = client.get("/api/v1/feed.json?tags=governance&limit=1").json()
    following = client.get(feed["next_url"]).json()
    assert [item["title"] for item in feed["items"] + following["items"]] == ["Rotating stewardship", "Seed swap"]
    assert "next_url" not in following


def test_feed_of_large_documents_is_cut_and_goes_on_where_it_was_cut(world: World) -> None:
    titles = [f"Tome {number:02}" for number in range(12)]
    tomes = [make("file", title.casefold().replace(" ", "-"), f"{title}.md", content="x" * 480_000) for title in titles]
    world.store.publish(tomes)
    client, told, address = world.client(), list[str](), "/feed.json"
    while address:
        answer = client.get(address)
        assert answer.status_code == 200
        told += [item["title"] for item in answer.json()["items"]]
        address = answer.json().get("next_url")
    assert sorted(told) == titles


def test_feed_cuts_a_huge_text_and_says_where_the_whole_is(world: World) -> None:
    world.store.publish([make("file", "tome", "tome.md", content="\x01" * 2_000_000)])
    answer = world.client().get("/feed.json")
    assert (answer.status_code, len(answer.content) < 5_000_000) == (200, True)
    text = answer.json()["items"][0]["content_text"]
    assert text.endswith(
        "(This text is cut here. The whole of it: https://garden.example.org/api/v1/entries/file/tome.md)\n"
    )


def test_configured_address_wins_over_the_host_that_was_asked(world: World) -> None:
    client = world.client(Site(base_url="https://knowledge.example.net"))
    assert "https://knowledge.example.net/api/v1/entries/" in client.get("/llms.txt").text
    assert "garden.example.org" not in client.get("/feed.json").text


def test_without_a_configured_address_links_are_relative(world: World) -> None:
    answer = world.client(Site(reads_per_minute=0)).get("/llms.txt")
    assert "](/api/v1/openapi.json)" in answer.text


def test_map_for_language_models_links_every_document(client: TestClient) -> None:
    answer = client.get("/llms.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("# The garden\n\n> 11 published documents")
    links = re.findall(r"\]\((https://garden.example.org/api/v1/entries/[^)]+\.md)\)", answer.text)
    assert len(links) == 11
    assert all(client.get(link).status_code == 200 for link in links)
    assert answer.text.index("## Index") < answer.text.index("## Pattern")


def test_everything_as_text_holds_every_body(client: TestClient) -> None:
    text = client.get("/llms-full.txt").content.decode()
    assert all(document.content in text for document in garden())
    assert "left out" not in text


def test_everything_as_text_is_cut_with_a_notice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "PAGE_BYTES", 2_000)
    text = world.client().get("/llms-full.txt").text
    shown = text.count("\nSource: ")
    assert 0 < shown < 11
    assert f"{11 - shown} more documents are left out" in text


def test_map_is_cut_with_a_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [make("file", f"note-{number}", f"notes/{number}.md") for number in range(50)]
    monkeypatch.setattr(machines, "fitting", lambda lines, _: list(lines)[:11])
    text = World(FakeLibrary(documents), FakeSearch()).client().get("/llms.txt").text
    assert "40 more documents are left out" in text


def test_attachment_has_type_length_and_safe_headers(client: TestClient) -> None:
    answer = client.get("/api/v1/attachments/seedlings.png")
    assert answer.content == b"\x89PNG\r\n\x1a\n\x00\xff"
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-length"] == "10"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == "inline; filename*=UTF-8''seedlings.png"


def test_attachment_named_by_its_version_may_be_kept_for_ever(client: TestClient) -> None:
    url = next(
        one["url"] for one in client.get("/api/v1/manifest").json()["attachments"] if one["name"] == "seedlings.png"
    )
    answer = client.get(url)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert client.get(url.split("?")[0] + "?v=old").headers["cache-control"].startswith("public, max-age=300")
    assert client.get(url, headers={"if-none-match": answer.headers["etag"]}).status_code == 304


@pytest.mark.parametrize("name", ["drawing.svg", "notes.md"])
def test_attachment_that_could_run_scripts_is_confined(client: TestClient, name: str) -> None:
    answer = client.get(f"/api/v1/attachments/{name}")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


RUN_OR_APPLIED = {
    *("text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "text/jscript"),
    *("text/css", "application/wasm", "text/html", "application/xhtml+xml", "text/xml", "application/xml", "text/xsl"),
    *(
        "application/xslt+xml",
        "application/rss+xml",
        "text/x-component",
        "application/x-shockwave-flash",
        "text/vbscript",
    ),
    *("application/manifest+json", "application/speculationrules+json", "text/cache-manifest", "multipart/related"),
    *("application/vnd.wap.xhtml+xml", "application/vnd.mozilla.xul+xml", "message/rfc822", "text/event-stream"),
    *("Text/JavaScript", "text/javascript; charset=utf-8", "text/plain+javascript", "x"),
}


@pytest.mark.parametrize("kind", sorted(RUN_OR_APPLIED))
def test_attachment_that_a_page_could_run_or_apply_is_served_as_bytes(world: World, kind: str) -> None:
    body = b"alert('\xc3\xa9')"
    world.store.attach("evil", kind, body)
    world.store.publish(garden())
    answer = world.client().get("/api/v1/attachments/evil")
    assert (answer.status_code, answer.content) == (200, body)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["content-security-policy"].startswith("sandbox")


@pytest.mark.parametrize(
    "suffix", ["js", "mjs", "cjs", "jsx", "css", "wasm", "htm", "html", "xhtml", "xml", "xsl", "swf"]
)
def test_no_file_name_makes_an_attachment_a_script_or_a_style_sheet(world: World, suffix: str) -> None:
    world.store.attach("evil", media_type(f"evil.{suffix}"), b"x")
    world.store.publish(garden())
    answer = world.client().get("/api/v1/attachments/evil")
    assert answer.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize(
    "suffix", ["png", "svg", "webp", "mp4", "mp3", "pdf", "txt", "csv", "docx", "ods", "json", "zip"]
)
def test_pictures_and_files_for_reading_keep_their_type(world: World, suffix: str) -> None:
    kind = media_type(f"file.{suffix}")
    world.store.attach("file", kind, b"x")
    world.store.publish(garden())
    assert world.client().get("/api/v1/attachments/file").headers["content-type"].partition(";")[0] == kind


@pytest.mark.parametrize("name", ["none.png", "..%2fmetadata%2fmanifest.json", "..%2f..%2foperations%2fknown.json"])
def test_attachment_that_is_not_listed_is_404(client: TestClient, name: str) -> None:
    assert client.get(f"/api/v1/attachments/{name}").status_code == 404


def test_schemas_are_listed_and_each_answers(client: TestClient) -> None:
    listed = client.get("/api/v1/schemas").json()["schemas"]
    assert "pattern" in [one["contentType"] for one in listed]
    for one in listed:
        answer = client.get(one["url"])
        assert answer.headers["content-type"] == "application/schema+json"
        assert answer.json()["type"] == "object"
    assert client.get("/api/v1/schemas/recipe.json").status_code == 404


def test_ontology_describes_every_type(client: TestClient) -> None:
    types = {one["name"] for one in client.get("/api/v1/ontology").json()["types"]}
    assert {"file", "pattern", "guide", "gathering"} <= types


def test_search_answers_in_the_agreed_shape(world: World, client: TestClient) -> None:
    answer = client.get("/api/v1/search", params={"q": "who carries what"}).json()
    assert set(answer) == {
        *("query", "results", "total", "totalRelation", "nextCursor", "suggestion"),
        *("fallback", "reranked", "tookMs"),
    }
    assert set(answer["results"][0]) == {
        *("id", "contentType", "title", "description", "snippet", "heading", "score", "rerankScore", "fit"),
        *("documentUrl", "url", "sourceUrl", "path", "group", "tags", "date", "duplicates"),
    }
    assert [one["id"] for one in answer["results"]] == ["rotating-stewardship", "governance"]
    assert world.search.asked[0].query == "who carries what"


def test_search_never_shows_what_is_not_published_any_more(world: World) -> None:
    world.search.hits = (hit("pattern", "withdrawn", title="Withdrawn"), *world.search.hits)
    world.search.total = 3
    answer = world.client().get("/api/v1/search?q=x&limit=1")
    assert "ithdrawn" not in answer.text
    assert [one["id"] for one in answer.json()["results"]] == ["rotating-stewardship"]
    assert answer.json()["total"] == 2


def shown(client: TestClient, path: str) -> dict[str, Any]:
    """First examples of the parameters of an operation."""
    parameters = client.get("/openapi.json").json()["paths"][path]["get"]["parameters"]
    return {one["name"]: one["schema"]["examples"][0] for one in parameters if "examples" in one["schema"]}


def test_examples_of_parameters_are_names_of_what_is_published(world: World) -> None:
    client = world.client()
    assert shown(client, "/api/v1/entries/{contentType}/{id}") == {
        "contentType": "pattern",
        "id": "rotating-stewardship",
    }
    world.store.attach("crab.png", "image/png", b"x")
    crabs = make(
        "guide", "crabs", "shore/crabs.md", title="Of crabs", tags=["sea", "shore"], group="tide", release="r1"
    )
    world.store.publish([crabs])
    world.clock.now += 60
    assert shown(client, "/api/v1/entries/{contentType}/{id}/links") == {"contentType": "guide", "id": "crabs"}
    found = shown(client, "/api/v1/search")
    asked = {name: found[name] for name in ("q", "group", "release", "tags", "tagsAny", "pathPrefix")}
    assert asked == {
        "q": "Of crabs",
        "group": ["tide"],
        "release": ["r1"],
        "tags": ["sea"],
        "tagsAny": ["sea"],
        "pathPrefix": "shore/",
    }
    assert shown(client, "/api/v1/attachments/{name}") == {"name": "crab.png"}
    assert shown(client, "/api/v1/entries/by-path") == {"path": "shore/crabs.md"}


def test_the_description_comes_with_examples_of_its_own_where_nothing_is_published_or_can_be_read() -> None:
    empty, away = FakeLibrary(), FakeLibrary()
    empty.publish([])
    away.unreachable = True
    for store in (empty, away):
        found = shown(World(store, FakeSearch()).client(), "/api/v1/entries/{contentType}/{id}")
        assert found == {"contentType": "pattern", "id": "rotating-stewardship"}


def test_the_map_for_language_models_names_the_tools(client: TestClient) -> None:
    assert "https://garden.example.org/mcp" in client.get("/llms.txt").text


@pytest.mark.parametrize("path", ["/llms.txt", "/llms-full.txt", "/feed.json", "/openapi.json"])
def test_some_addresses_answer_at_the_root_as_well(client: TestClient, path: str) -> None:
    assert client.get(path).content == client.get(f"/api/v1{path}").content
