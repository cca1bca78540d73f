"""Values of filters and of paths: several at once, in any spelling, and what an answer says where there is none."""

import pytest
from starlette.testclient import TestClient

from tests.unit.documents.rest.conftest import World

NAMED = "No tag is called `governence`; did you mean `governance`? There are: "


def refs(client: TestClient, query: str) -> set[str]:
    answer = client.get(f"/api/v1/entries?{query}")
    assert answer.status_code == 200, answer.text
    assert "hints" not in answer.json()
    return {f"{entry['contentType']}/{entry['id']}" for entry in answer.json()["entries"]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("contentType=Pattern", {"pattern/rotating-stewardship"}),
        ("contentType=patterns,CONCEPT", {"pattern/rotating-stewardship", "tag/governance"}),
        ("contentType=resource", {"pattern/rotating-stewardship", "practice/seed-swap"}),
        ("group=Seed Library", {"pattern/rotating-stewardship", "practice/seed-swap"}),
        ("group=The kitchen", {"file/rules"}),
        ("group=kitchen,seed_library", {"file/rules", "pattern/rotating-stewardship", "practice/seed-swap"}),
        ("group=kitchen&group=seed-library", {"file/rules", "pattern/rotating-stewardship", "practice/seed-swap"}),
        ("status=Paused", {"project/old-orchard"}),
        ("release=first harvest", {"pattern/rotating-stewardship"}),
        ("author=Rosa Lind", {"pattern/rotating-stewardship"}),
        ("author=rosa-lind", {"pattern/rotating-stewardship"}),
        ("alias=Stewardship Rota", {"pattern/rotating-stewardship"}),
        ("alias=deciding together", {"tag/governance"}),
        ("tags=%23Governance", {"pattern/rotating-stewardship", "practice/seed-swap"}),
        ("tags=governance,roles", {"pattern/rotating-stewardship"}),
        ("tagsAny=roles,Seeds&group=seed-library", {"pattern/rotating-stewardship", "practice/seed-swap"}),
    ],
)
def test_values_are_read_as_mcp_reads_them(client: TestClient, query: str, expected: set[str]) -> None:
    assert refs(client, query) == expected


def test_every_way_of_asking_takes_the_same_filters(world: World, client: TestClient) -> None:
    query = "author=rosa lind&alias=Stewardship Rota&tags=Roles"
    assert refs(client, query) == {"pattern/rotating-stewardship"}
    feed = client.get(f"/feed.json?{query}").json()
    assert [item["title"] for item in feed["items"]] == ["Rotating stewardship"]
    assert "_commonplace" not in feed
    client.get(f"/api/v1/search?q=x&{query}")
    asked = world.search.asked[0].filters
    assert (asked.authors, asked.aliases, asked.tags_all) == (("Rosa Lind",), ("stewardship rota",), ("roles",))


def test_a_value_that_no_document_has_is_answered_with_the_nearest_and_what_there_is(
    world: World, client: TestClient
) -> None:
    listed = client.get("/api/v1/entries?tags=governence").json()
    assert (listed["entries"], listed["total"]) == ([], 0)
    feed = client.get("/feed.json?tags=governence").json()
    world.search.hits = ()
    found = client.get("/api/v1/search?q=x&tags=governence").json()
    for (hint,) in (listed["hints"], feed["_commonplace"]["hints"], found["hints"]):
        assert hint.startswith(NAMED)
        assert "seeds" in hint


def test_values_that_some_have_count_beside_one_that_none_has(client: TestClient) -> None:
    told = client.get("/api/v1/entries?group=kitchen,nobody").json()
    assert [entry["id"] for entry in told["entries"]] == ["rules"]
    assert told["hints"] == ["No group is called `nobody`. There are: kitchen, seed-library."]


def test_next_pages_keep_the_values_as_they_came(client: TestClient) -> None:
    first = client.get("/api/v1/entries?group=kitchen,Seed Library&limit=2")
    onward = client.get(first.links["next"]["url"])
    assert {entry["id"] for answer in (first, onward) for entry in answer.json()["entries"]} == {
        *("rules", "rotating-stewardship", "seed-swap")
    }


@pytest.mark.parametrize("query", ["tags=" + ",".join(map(str, range(21))), "&".join(["group=a"] * 21)])
def test_more_values_than_a_filter_takes_are_refused(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/v1/entries?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_INPUT")
    assert "20" in answer.json()["error"]["message"]


PATTERN = "/api/v1/entries/pattern/rotating-stewardship"


@pytest.mark.parametrize("name", ["Pattern", "patterns", "PATTERNS", "resource", "Resources"])
@pytest.mark.parametrize("form", ["", ".md", "?format=html"])
def test_types_work_in_paths_as_in_filters(client: TestClient, name: str, form: str) -> None:
    told = client.get(f"/api/v1/entries/{name}/rotating-stewardship{form}")
    assert (told.status_code, told.content) == (200, client.get(f"{PATTERN}{form}").content)
    assert told.headers["content-location"] == f"{PATTERN}{form}"


def test_an_alias_of_a_type_and_an_id_as_a_title_work_in_paths(client: TestClient) -> None:
    assert client.get("/api/v1/entries/concept/Governance").json()["id"] == "governance"
    assert client.get("/api/v1/entries/pattern/Rotating Stewardship").headers["content-location"] == PATTERN


def test_types_work_in_links_graphs_and_schemas_too(client: TestClient) -> None:
    links = client.get("/api/v1/entries/Patterns/rotating-stewardship/links").json()
    assert links == client.get(f"{PATTERN}/links").json()
    near = client.get("/api/v1/graph?around=Concept/governance").json()
    assert near == client.get("/api/v1/graph?around=tag/governance").json()
    assert client.get("/api/v1/schemas/Patterns.json").content == client.get("/api/v1/schemas/pattern.json").content


@pytest.mark.parametrize(
    "path", ["entries/recipe/x", "entries/recipe/x.md", "entries/recipe/x/links", "schemas/recipe.json"]
)
def test_a_type_that_is_none_is_a_404_that_names_the_types(client: TestClient, path: str) -> None:
    error = client.get(f"/api/v1/{path}").json()["error"]
    assert error["code"] == "NOT_FOUND"
    assert "pattern" in error["details"]["validTypes"]
    assert "known types" in error["details"]["hint"]


def test_an_unknown_type_of_a_filter_is_a_422_that_names_the_nearest(client: TestClient) -> None:
    answer = client.get("/api/v1/entries?contentType=pattern,paterm")
    assert answer.status_code == 422
    (fault,) = answer.json()["error"]["details"]["fields"]
    assert fault["field"] == "contentType.1"
    assert "did you mean `pattern`" in fault["message"]
