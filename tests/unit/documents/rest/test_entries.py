"""Documents: lists, filters, paging, one document in every way it can be asked for."""

import json

import pytest
from starlette.testclient import TestClient

from commonplace.documents.content.keys import content_key
from tests.fakes.library import FakeLibrary, make, node
from tests.fakes.search import FakeSearch
from tests.unit.documents.rest.conftest import ORIGIN, World

PATTERN = "/api/v1/entries/pattern/rotating-stewardship"
SUMMARY_FIELDS = {
    *("id", "contentType", "title", "description", "path", "group", "release", "status", "tags", "date"),
    *("author", "aliases", "linkType", "banner", "bannerUrl"),
    *("updatedAt", "documentUrl", "url", "sourceUrl", "commitSha", "syncedAt"),
}


def ids(client: TestClient, query: str) -> list[str]:
    answer = client.get(f"/api/v1/entries?{query}")
    assert answer.status_code == 200, answer.text
    return [entry["id"] for entry in answer.json()["entries"]]


def test_list_has_summaries_without_bodies_sorted_by_title(client: TestClient) -> None:
    answer = client.get("/api/v1/entries").json()
    assert {name: answer[name] for name in ("total", "limit", "offset")} == {"total": 11, "limit": 20, "offset": 0}
    assert {frozenset(entry) for entry in answer["entries"]} == {frozenset(SUMMARY_FIELDS)}
    titles = [entry["title"] for entry in answer["entries"]]
    assert titles == sorted(titles, key=str.casefold)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("contentType=pattern", {"rotating-stewardship"}),
        ("contentType=resource", {"rotating-stewardship", "seed-swap"}),
        ("contentType=pattern&contentType=group", {"rotating-stewardship", "seed-library"}),
        ("group=seed-library", {"rotating-stewardship", "seed-swap"}),
        ("release=first-harvest", {"rotating-stewardship"}),
        ("status=paused", {"old-orchard"}),
        ("tags=governance", {"rotating-stewardship", "seed-swap"}),
        ("tags=governance&tags=roles", {"rotating-stewardship"}),
        ("tagsAny=roles&tagsAny=seeds", {"rotating-stewardship", "seed-swap", "old-orchard", "seed-atlas"}),
        ("tags=governance&tagsAny=seeds", {"seed-swap"}),
        ("pathPrefix=docs/kitchen/", {"docs-kitchen", "rules"}),
        ("pathPrefix=/docs/kitchen", {"docs-kitchen", "rules"}),
        ("pathPrefix=docs", {"docs-kitchen", "rules", "rules-2"}),
        ("pathPrefix=docs/kitchen/rules.md", {"rules"}),
        ("dateFrom=2025-11-02", {"rotating-stewardship", "seed-swap"}),
        ("dateFrom=2025-01-01&dateTo=2025-12-31", {"seed-swap"}),
        ("updatedSince=2026-03-01", {"rotating-stewardship", "seed-swap"}),
        ("updatedSince=2026-03-20T18:04:05%2B01:00", {"rotating-stewardship"}),
        ("updatedSince=2026-03-20T18:04:05+01:00", {"rotating-stewardship"}),
        ("updatedSince=2026-03-20T17:04:06Z", set()),
        ("group=nobody", set()),
    ],
)
def test_filters_are_exact(client: TestClient, query: str, expected: set[str]) -> None:
    assert set(ids(client, query)) == expected


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("title", ["rules-2", "dots...and-more"]),
        ("-title", ["rules", "docs-kitchen"]),
        ("date", ["governance", "seed-swap", "rotating-stewardship"]),
        ("-date", ["rotating-stewardship", "seed-swap", "governance"]),
        ("updated", ["garden", "seed-swap", "rotating-stewardship"]),
        ("-updated", ["rotating-stewardship", "seed-swap", "garden"]),
        ("path", ["rotating-stewardship", "seed-swap"]),
        ("-path", ["governance", "seed-atlas"]),
    ],
)
def test_lists_sort_with_absent_values_last(client: TestClient, sort: str, first: list[str]) -> None:
    assert ids(client, f"sort={sort}")[: len(first)] == first


def test_pages_join_into_the_whole_list_by_their_next_links(client: TestClient) -> None:
    whole = ids(client, "limit=100&sort=-updated")
    found: list[str] = []
    target: str | None = "/api/v1/entries?limit=4&sort=-updated"
    while target:
        answer = client.get(target)
        found += [entry["id"] for entry in answer.json()["entries"]]
        target = answer.links.get("next", {}).get("url")
    assert found == whole
    assert client.get("/api/v1/entries?limit=4&offset=4").links["prev"]["url"] == "/api/v1/entries?limit=4&offset=0"
    assert "link" not in client.get("/api/v1/entries?limit=100").headers


def test_page_beyond_the_end_is_empty_and_points_back(client: TestClient) -> None:
    answer = client.get("/api/v1/entries?offset=500&limit=5")
    assert (answer.json()["entries"], answer.json()["total"]) == ([], 11)
    assert answer.links["prev"]["url"] == "/api/v1/entries?limit=5&offset=6"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=x", "limit"),
        ("offset=-1", "offset"),
        ("contentType=recipe", "contentType.0"),
        ("sort=random", "sort"),
        ("dateFrom=21-03-2026", "dateFrom"),
        ("dateTo=2026-02-30", "dateTo"),
        ("updatedSince=1700000000", "updatedSince"),
        ("group=", "group.0"),
        ("group=%20", "group.0"),
        ("tags=,", "tags.0"),
    ],
)
def test_value_outside_its_bounds_is_refused_and_the_field_named(client: TestClient, query: str, field: str) -> None:
    answer = client.get(f"/api/v1/entries?{query}")
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "INVALID_INPUT"
    assert [told["field"] for told in error["details"]["fields"]] == [field]
    assert answer.headers["cache-control"] == "no-store"


def test_unknown_type_is_told_the_valid_ones(client: TestClient) -> None:
    message = client.get("/api/v1/entries?contentType=recipe").json()["error"]["message"]
    assert "recipe" in message
    assert "playbook" in message


def test_document_is_served_as_it_is_stored_and_says_where_it_is_read(world: World, client: TestClient) -> None:
    stored = world.store.objects[content_key("pattern", "rotating-stewardship")]
    answer = client.get(PATTERN)
    address = f"{ORIGIN}/d/pattern/rotating-stewardship"
    banner = client.get("/api/v1/manifest").json()["attachments"][0]["url"]
    assert answer.content == f'{{"documentUrl":"{address}","bannerUrl":"{ORIGIN}{banner}",'.encode() + stored.body[1:]
    assert answer.headers["etag"].removeprefix("W/").startswith(f'"{stored.etag}-')
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["content"].startswith("\r\n# Rotating stewardship\r\n")


@pytest.mark.parametrize("shape", ['"{}"', 'W/"{}"', '"other", "{}"', "*"])
def test_unchanged_document_is_304_and_not_read(world: World, client: TestClient, shape: str) -> None:
    etag = client.get(PATTERN, headers={"accept-encoding": "identity"}).headers["etag"].strip('"')
    client = world.client()
    world.store.reads.clear()
    answer = client.get(PATTERN, headers={"if-none-match": shape.format(etag)})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == f'{"W/" * shape.startswith("W/")}"{etag}"'
    assert answer.headers["cache-control"].startswith("public")
    assert content_key("pattern", "rotating-stewardship") not in world.store.reads


def test_document_that_changed_is_answered_anew(client: TestClient) -> None:
    assert client.get(PATTERN, headers={"if-none-match": '"old"'}).status_code == 200


def test_head_has_the_headers_of_get_and_no_body(client: TestClient) -> None:
    got, head = client.get(PATTERN), client.head(PATTERN)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == got.headers


def test_second_read_of_a_document_asks_the_store_nothing(world: World, client: TestClient) -> None:
    client.get(PATTERN)
    before = list(world.store.reads)
    client.get(PATTERN)
    assert world.store.reads == before


def test_change_shows_within_half_a_second_and_the_unpublished_is_gone(world: World, client: TestClient) -> None:
    assert client.get(PATTERN).status_code == 200
    world.store.publish([make("pattern", "hedge-laying", "artifacts/patterns/hedge-laying.md")])
    world.clock.now += 0.5
    assert client.get(PATTERN).status_code == 404
    assert ids(client, "") == ["hedge-laying"]


def test_object_that_went_with_a_newer_manifest_is_looked_up_again(world: World, client: TestClient) -> None:
    client.get("/api/v1/entries")
    world.store.publish([make("pattern", "hedge-laying", "artifacts/patterns/hedge-laying.md")])
    world.store.delete([content_key("practice", "seed-swap")])
    assert client.get("/api/v1/entries/practice/seed-swap").status_code == 404


def test_object_missing_from_the_store_is_503_and_not_404(world: World, client: TestClient) -> None:
    world.store.delete([content_key("practice", "seed-swap")])
    answer = client.get("/api/v1/entries/practice/seed-swap")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"


def test_former_name_answers_with_the_document_and_its_present_address(client: TestClient) -> None:
    answer = client.get("/api/v1/entries/practice/swapping-seeds")
    assert answer.json()["id"] == "seed-swap"
    assert answer.headers["content-location"] == "/api/v1/entries/practice/seed-swap"
    markdown = client.get("/api/v1/entries/practice/swapping-seeds.md")
    assert markdown.headers["content-location"] == "/api/v1/entries/practice/seed-swap.md"


def test_living_document_wins_over_a_former_name(client: TestClient) -> None:
    answer = client.get("/api/v1/entries/tag/governance")
    assert answer.json()["path"] == "tags/governance.md"
    assert "content-location" not in answer.headers


def test_former_name_of_what_is_not_published_any_more_is_404(client: TestClient) -> None:
    assert client.get("/api/v1/entries/file/gone").status_code == 404


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("pattern/rotating-stewardships", "pattern/rotating-stewardship"),
        ("practice/rotating-stewardship", "pattern/rotating-stewardship"),
        ("practice/seed-swop", "practice/seed-swap"),
    ],
)
def test_missing_document_names_the_nearest(client: TestClient, asked: str, nearest: str) -> None:
    answer = client.get(f"/api/v1/entries/{asked}")
    assert answer.status_code == 404
    details = answer.json()["error"]["details"]
    assert details["nearest"][0] == nearest
    assert nearest in details["hint"]


def test_missing_type_names_the_valid_ones(client: TestClient) -> None:
    answer = client.get("/api/v1/entries/recipe/soup")
    assert answer.status_code == 404
    assert "pattern" in answer.json()["error"]["details"]["validTypes"]


@pytest.mark.parametrize(
    "document_id",
    ["../manifest", "..%2f..%2fmetadata%2fmanifest", "%2e%2e", "a/../../b", "%00", "x" * 301, ".md", "..;", "%5c.."],
)
def test_id_that_looks_like_traversal_is_an_ordinary_miss(client: TestClient, document_id: str) -> None:
    answer = client.get(f"/api/v1/entries/pattern/{document_id}")
    assert answer.status_code in (404, 422)
    assert answer.json()["error"]["code"] in ("NOT_FOUND", "INVALID_INPUT")


def test_id_with_dots_is_legal(client: TestClient) -> None:
    assert client.get("/api/v1/entries/link/dots...and-more").json()["title"] == "Dots"


def test_markdown_is_the_exact_body_after_a_minimal_frontmatter(client: TestClient) -> None:
    answer = client.get(f"{PATTERN}.md")
    head, _, body = answer.content.decode().partition("\n---\n")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert body == client.get(PATTERN).json()["content"]
    assert head.splitlines()[:3] == ["---", 'title: "Rotating stewardship"', 'type: "pattern"']
    assert json.loads(head.splitlines()[-3].removeprefix("tags: ")) == ["governance", "roles"]
    assert head.splitlines()[-2] == f'documentUrl: "{ORIGIN}/d/pattern/rotating-stewardship"'


def test_markdown_has_an_entity_tag_of_its_own(client: TestClient) -> None:
    etag = client.get(f"{PATTERN}.md").headers["etag"]
    assert etag != client.get(PATTERN).headers["etag"]
    assert client.get(f"{PATTERN}.md", headers={"if-none-match": etag}).status_code == 304


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("artifacts/practices/Seed swap.md", "seed-swap"),
        ("artifacts/practices/Seed swap", "seed-swap"),
        ("/artifacts/practices/Seed swap.md", "seed-swap"),
        ("stewardship", "rotating-stewardship"),
        ("/stewardship/", "rotating-stewardship"),
        ("docs/kitchen", "docs-kitchen"),
        ("docs/kitchen/", "docs-kitchen"),
        ("", "garden"),
        ("/", "garden"),
    ],
)
def test_document_is_found_by_path_permalink_or_folder(client: TestClient, path: str, found: str) -> None:
    answer = client.get("/api/v1/entries/by-path", params={"path": path})
    assert answer.json()["id"] == found
    assert answer.headers["content-location"].endswith(f"/{found}")


@pytest.mark.parametrize(
    "path", ["artifacts/practices/seed swap.md", "docs", "../metadata/manifest.json", "raw/index.md"]
)
def test_path_of_nothing_published_is_404(client: TestClient, path: str) -> None:
    assert client.get("/api/v1/entries/by-path", params={"path": path}).status_code == 404


def test_links_out_back_and_broken(client: TestClient) -> None:
    answer = client.get(f"{PATTERN}/links").json()
    assert [entry["id"] for entry in answer["out"]] == ["seed-swap", "governance"]
    assert [entry["path"] for entry in answer["back"]] == ["artifacts/practices/Seed swap.md"]
    assert answer["broken"] == [{"target": "../practises/swap.md", "line": 9, "suggestion": "practice/seed-swap"}]
    assert (answer["ref"], answer["truncated"]) == ("pattern/rotating-stewardship", False)


def test_more_links_than_an_answer_holds_are_cut_and_it_says_so(world: World) -> None:
    tomes = [make("file", f"tome-{number}", f"{number}.md", description="x" * 60_000) for number in range(40)]
    edges = [{"source": f"file/tome-{number}", "target": "file/tome-0"} for number in range(1, 40)]
    world.store.publish(tomes, graph={"nodes": [node(tome) for tome in tomes], "edges": edges, "broken": []})
    answer = world.client().get("/api/v1/entries/file/tome-0/links").json()
    assert 0 < len(answer["back"]) < 39
    assert answer["truncated"] is True


def test_links_of_a_missing_document_are_404(client: TestClient) -> None:
    assert client.get("/api/v1/entries/pattern/none/links").status_code == 404


def test_empty_library_is_an_empty_list() -> None:
    answer = World(FakeLibrary(), FakeSearch()).client().get("/api/v1/entries")
    assert answer.json() == {"entries": [], "total": 0, "limit": 20, "offset": 0}
