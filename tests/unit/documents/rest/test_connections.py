"""The graph, groups, releases and tags."""

import pytest
from starlette.testclient import TestClient

from commonplace.documents.rest import connections
from tests.fakes.library import FakeLibrary, garden, make
from tests.fakes.search import FakeSearch
from tests.unit.documents.rest.conftest import World


def test_whole_graph_has_every_document_and_every_link(client: TestClient) -> None:
    graph = client.get("/api/v1/graph").json()
    assert graph["total"] == {"nodes": 11, "links": 4}
    assert len(graph["nodes"]) == 11
    assert {"source": "pattern/rotating-stewardship", "target": "tag/governance"} in graph["links"]
    assert graph["truncated"] is False


def test_graph_shows_neither_links_as_authored_nor_unknown_fields(client: TestClient) -> None:
    answer = client.get("/api/v1/graph")
    assert "authored-only" not in answer.text
    assert set(answer.json()) == {"nodes", "links", "total", "truncated"}


def test_graph_around_a_document_reaches_as_far_as_asked(client: TestClient) -> None:
    near = client.get("/api/v1/graph", params={"around": "tag/governance"}).json()
    far = client.get("/api/v1/graph", params={"around": "tag/governance", "depth": 2}).json()
    assert {node["ref"] for node in near["nodes"]} == {"tag/governance", "pattern/rotating-stewardship"}
    assert near["links"] == [{"source": "pattern/rotating-stewardship", "target": "tag/governance"}]
    assert {node["ref"] for node in far["nodes"]} == {node["ref"] for node in near["nodes"]} | {"practice/seed-swap"}
    assert len(far["links"]) == 3


def test_graph_around_a_former_name_is_that_of_the_document(client: TestClient) -> None:
    graph = client.get("/api/v1/graph", params={"around": "practice/swapping-seeds"}).json()
    assert "practice/seed-swap" in [node["ref"] for node in graph["nodes"]]
    assert graph["total"]["nodes"] == 3


def test_graph_around_nothing_is_404_and_names_the_nearest(client: TestClient) -> None:
    answer = client.get("/api/v1/graph", params={"around": "practice/seed-swop"})
    assert answer.status_code == 404
    assert answer.json()["error"]["details"]["nearest"][0] == "practice/seed-swap"


def test_graph_too_large_for_an_answer_is_cut_and_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PAGE_BYTES", 600)
    graph = world.client().get("/api/v1/graph").json()
    refs = {node["ref"] for node in graph["nodes"]}
    assert graph["truncated"] is True
    assert 0 < len(refs) < graph["total"]["nodes"] == 11
    assert all(link["source"] in refs and link["target"] in refs for link in graph["links"])


def test_library_without_a_graph_has_an_empty_one() -> None:
    client = World(FakeLibrary(garden()), FakeSearch()).client()
    assert client.get("/api/v1/graph").json()["nodes"] == []
    assert client.get("/api/v1/entries/pattern/rotating-stewardship/links").json()["out"] == []


def test_groups_come_from_values_pages_and_folders(client: TestClient) -> None:
    groups = {group["id"]: group for group in client.get("/api/v1/groups").json()["groups"]}
    assert {name: group["count"] for name, group in groups.items()} == {"kitchen": 1, "seed-library": 2}
    assert groups["seed-library"]["page"]["contentType"] == "group"
    assert (groups["kitchen"]["title"], groups["kitchen"]["page"]["path"]) == ("The kitchen", "docs/kitchen/index.md")


def test_group_without_documents_or_pages_is_listed_all_the_same() -> None:
    documents = [
        make("group", "choir", "data/groups/choir.md"),
        make("file", "minutes", "notes/minutes.md", group="Board"),
        make("index", "quiet", "docs/quiet/index.md"),
    ]
    client = World(FakeLibrary(documents), FakeSearch()).client()
    groups = client.get("/api/v1/groups").json()["groups"]
    assert [(group["id"], group["count"]) for group in groups] == [("Board", 1), ("choir", 0), ("quiet", 0)]
    assert groups[0] == {"id": "Board", "title": "Board", "description": None, "status": None, "count": 1, "page": None}


def test_releases_are_counted(client: TestClient) -> None:
    (release,) = client.get("/api/v1/releases").json()["releases"]
    assert release == {"id": "first-harvest", "title": "first-harvest", "description": None, "count": 1, "page": None}


def test_no_releases_is_an_empty_list() -> None:
    client = World(FakeLibrary([make("file", "a", "a.md")]), FakeSearch()).client()
    assert client.get("/api/v1/releases").json() == {"releases": [], "total": 0, "limit": 1000, "offset": 0}


def test_tags_are_counted_most_used_first_with_their_lexicon_entry(client: TestClient) -> None:
    tags = client.get("/api/v1/tags").json()["tags"]
    assert [(tag["tag"], tag["count"]) for tag in tags] == [("governance", 2), ("roles", 2), ("seeds", 2)]
    assert tags[0]["entry"]["path"] == "tags/governance.md"
    assert tags[1]["entry"] is None


def test_tag_finds_its_lexicon_entry_by_alias() -> None:
    documents = [
        make("file", "a", "a.md", tags=["deciding-together"]),
        make("tag", "governance", "tags/governance.md", aliases=["#Deciding together"]),
    ]
    client = World(FakeLibrary(documents), FakeSearch()).client()
    assert client.get("/api/v1/tags").json()["tags"][0]["entry"]["id"] == "governance"


def test_counts_are_paged(client: TestClient) -> None:
    first = client.get("/api/v1/tags?limit=2")
    second = client.get(first.links["next"]["url"])
    assert [tag["tag"] for tag in first.json()["tags"] + second.json()["tags"]] == ["governance", "roles", "seeds"]
    assert "next" not in second.links
