"""Each of the ten tools of seed 001: what it takes, does and answers."""

from typing import Any

from commonplace.memory.model import content_hash
from tests.conformance.memory.worlds import Team, calling

NOBODY = "00000000-0000-4000-8000-000000000000"
TOOLS = {
    *("kb_search", "kb_get", "kb_get_related", "kb_list", "kb_stats"),
    *("kb_add", "kb_update", "kb_delete", "kb_bulk_import", "kb_rate", "kb_rebuild_embeddings"),
}
ROUTES = "Specific routes come before parameterized routes in vercel.json"
LOCKS = "Lock rows in one order, or two transactions wait for each other"
BANANAS = "Bananas are yellow and grow in bunches"


def told(entry: dict[str, Any]) -> dict[str, Any]:
    """What is told of an entry wherever it is told."""
    names = "id content entry_type roles tags confidence created_at updated_at version"
    return {name: entry[name] for name in names.split()}


def test_tools_are_offered_by_level(team: Team) -> None:
    read = TOOLS - {"kb_add", "kb_update", "kb_delete", "kb_bulk_import", "kb_rate", "kb_rebuild_embeddings"}
    assert team.tools() == TOOLS
    with calling(team.world, "auto", level="write") as writer, calling(team.world, "auto", level="read") as reader:
        assert writer.tools() == TOOLS - {"kb_rebuild_embeddings"}
        assert reader.tools() == read


def test_kb_add_keeps_an_entry_that_kb_get_has_at_once(team: Team) -> None:
    parent = team.add("Story 7 in short", entry_type="summary", roles=["all"])
    answer = team.data(
        "kb_add",
        content=ROUTES,
        entry_type="fact",
        roles=["dev", "qa"],
        tags=["Routing", "vercel"],
        source_file="LESSONS-LEARNED.md",
        source_story="STORY-7",
        parent_id=parent,
        confidence=0.8,
        metadata={"gate": "PASS", "n": 1.5},
    )
    assert (answer["success"], answer["duplicate"]) == (True, False)

    entry = team.data("kb_get", id=answer["id"])
    assert entry["created_at"] == entry["updated_at"]
    assert entry | {"created_at": "", "updated_at": ""} == {
        "id": answer["id"],
        "content": ROUTES,
        "content_hash": content_hash(ROUTES),
        "entry_type": "fact",
        "roles": ["dev", "qa"],
        "tags": ["routing", "vercel"],
        "confidence": 0.8,
        "source_file": "LESSONS-LEARNED.md",
        "source_story": "STORY-7",
        "parent_id": parent,
        "metadata": {"gate": "PASS", "n": 1.5},
        "created_at": "",
        "updated_at": "",
        "version": 1,
    }


def test_kb_add_of_what_is_there_gives_its_id(team: Team) -> None:
    first = team.add(ROUTES)
    again = team.data("kb_add", content=ROUTES, entry_type="summary", roles=["pm"])
    assert (again["id"], again["success"], again["duplicate"]) == (first, True, True)
    assert team.data("kb_get", id=first)["entry_type"] == "fact"


def test_kb_search_finds_by_words_and_by_meaning(team: Team) -> None:
    ids = {text: team.add(text) for text in (ROUTES, LOCKS, BANANAS)}
    team.settle()
    answer = team.data("kb_search", query="specific routes before parameterized ones")
    (first, *_) = answer["entries"]
    assert answer["fallback"] is False
    assert first["id"] == ids[ROUTES]
    assert told(first) == told(team.data("kb_get", id=ids[ROUTES]))
    assert first["score"] > 0
    assert "content_hash" not in first


def test_kb_search_filters_by_role_any_tag_type_and_confidence(team: Team) -> None:
    team.add("Routes for developers", tags=["a", "b"])
    team.add("Routes for testers", roles=["qa"], tags=["b", "c"], entry_type="summary")
    team.add("Routes for everybody", roles=["all"], tags=["d"])
    team.add("Routes nobody is sure of", confidence=0.4)
    team.settle()

    def found(**more: Any) -> set[str]:
        return {content.removeprefix("Routes ") for content in team.found("routes", **more)}

    sure = {"for developers", "for testers", "for everybody"}
    assert found() == found(role="all") == sure
    assert found(role="qa") == {"for testers", "for everybody"}
    assert found(role="pm") == {"for everybody"}
    assert found(tags=["a", "c"]) == {"for developers", "for testers"}
    assert found(entry_type="summary") == {"for testers"}
    assert found(min_confidence=0.0) == {*sure, "nobody is sure of"}
    assert found(min_confidence=1.0, tags=["d"]) == {"for everybody"}


def test_kb_search_gives_ten_or_as_many_as_are_asked_for(team: Team) -> None:
    names = [f"{number}{'abcdefghij'[number % 10] * 9}" for number in range(60)]
    entries = [{"content": f"Routes {name} {name[::-1]}", "entry_type": "fact", "roles": ["dev"]} for name in names]
    team.data("kb_bulk_import", entries=entries)
    team.settle()
    assert len(team.found("routes")) == 10
    assert len(team.found("routes", limit=1)) == 1
    assert len(team.found("routes", limit=50)) == 50


def test_kb_search_shows_what_the_store_says_now(team: Team) -> None:
    changed, gone = team.add("Routes are red"), team.add("Routes are crooked and long")
    team.settle()
    team.data("kb_update", id=changed, confidence=0.1)
    team.data("kb_delete", id=gone)
    assert team.found("routes") == []


def test_kb_get_related_gives_siblings_then_parent_and_children_then_shared_tags(team: Team) -> None:
    parent = team.add("Story 7 in short", entry_type="summary", tags=["routing", "vercel"])
    one = team.add("One", parent_id=parent, tags=["routing", "vercel", "config"])
    sibling = team.add("Two", parent_id=parent)
    child = team.add("Below one", parent_id=one)
    near = team.add("Near", tags=["routing", "vercel", "config"])
    nearer = team.add("Less near", tags=["routing", "config"])
    team.add("Far", tags=["routing"])

    entries = team.data("kb_get_related", entry_id=one, limit=10)["entries"]
    assert [(entry["id"], entry["relation"]) for entry in entries] == [
        (sibling, "sibling"),
        (parent, "parent"),
        (child, "child"),
        (near, "tags"),
        (nearer, "tags"),
    ]
    assert entries[3]["shared_tags"] == ["routing", "vercel", "config"]
    assert len(team.data("kb_get_related", entry_id=one, limit=2)["entries"]) == 2
    assert len(team.data("kb_get_related", entry_id=one)["entries"]) == 5


def test_kb_list_gives_what_has_all_tags_in_order_with_the_total(team: Team) -> None:
    for number in range(5):
        team.add(f"Entry {number}", tags=["a", "b"] if number % 2 == 0 else ["a"], confidence=number / 4)
    team.add("Entry of qa", roles=["qa"], entry_type="template")

    def listed(**more: Any) -> list[str]:
        return [entry["content"].removeprefix("Entry ") for entry in team.data("kb_list", **more)["entries"]]

    assert listed() == ["of qa", "4", "3", "2", "1", "0"]
    assert listed(tags=["a", "b"]) == ["4", "2", "0"]
    assert listed(tags=["a", "b"], order="asc") == ["0", "2", "4"]
    assert listed(role="dev", order_by="confidence", limit=2) == ["4", "3"]
    assert listed(entry_type="template", role="qa") == ["of qa"]
    assert listed(role="all") == listed()
    team.data("kb_update", id=team.data("kb_list", order="asc", limit=1)["entries"][0]["id"], tags=["c"])
    assert listed(order_by="updated_at", limit=1) == ["0"]
    page = team.data("kb_list", limit=2, offset=2)
    assert (page["total"], page["next_offset"], len(page["entries"])) == (6, 4, 2)
    assert team.data("kb_list", offset=100) == {"entries": [], "total": 6}


def test_kb_update_changes_what_is_given_and_embeds_only_new_content(team: Team) -> None:
    id = team.add(ROUTES, metadata={"a": 1, "b": 2})
    was = team.data("kb_get", id=id)
    asked = len(team.world.model.asked)
    answer = team.data("kb_update", id=id, confidence=0.9, tags=["new"], roles=["qa"], metadata={"b": None, "c": 3})
    assert answer == {"success": True, "re_embedded": False, "version": 2}
    assert len(team.world.model.asked) == asked

    assert team.data("kb_update", id=id, content=LOCKS) == {"success": True, "re_embedded": True, "version": 3}
    entry = team.data("kb_get", id=id)
    assert entry["updated_at"] > was["updated_at"]
    assert entry | {"updated_at": was["updated_at"]} == was | {
        "content": LOCKS,
        "content_hash": content_hash(LOCKS),
        "confidence": 0.9,
        "tags": ["new"],
        "roles": ["qa"],
        "metadata": {"a": 1, "c": 3},
        "version": 3,
    }
    team.settle()
    assert team.found("transactions wait for rows") == [LOCKS]


def test_kb_update_mends_type_source_and_parent_and_removes_what_is_named(team: Team) -> None:
    story, other, id = team.add("Story T-1.", entry_type="summary"), team.add("Story T-2."), team.add(ROUTES)
    mended = {"entry_type": "summary", "source_file": "a.md", "source_story": "T-1", "parent_id": story}
    team.data("kb_update", id=id, **mended)
    entry = team.data("kb_get", id=id)
    assert {name: entry[name] for name in mended} == mended
    assert [one["id"] for one in team.data("kb_get_related", entry_id=story)["entries"]] == [id]
    assert [one["id"] for one in team.data("kb_list", entry_type="summary")["entries"]] == [id, story]
    team.data("kb_update", id=id, parent_id=other, confidence=0.9)
    assert team.data("kb_get", id=id)["source_story"] == "T-1"
    team.data("kb_update", id=id, remove=["source_file", "source_story", "parent_id"])
    assert not team.data("kb_get", id=id).keys() & {"source_file", "source_story", "parent_id"}


def test_kb_update_refuses_a_parent_that_is_not_there_or_stands_below(team: Team) -> None:
    top = team.add("Top.")
    middle = team.add("Middle.", parent_id=top)
    leaf = team.add("Leaf.", parent_id=middle)
    for parent in (top, middle, leaf):
        code, text = team.error("kb_update", id=top, parent_id=parent)
        assert (code, "below it" in text) == ("INVALID_INPUT", True)
    code, text = team.error("kb_update", id=leaf, parent_id=NOBODY)
    assert (code, "names no entry" in text) == ("INVALID_INPUT", True)
    assert team.data("kb_get", id=leaf)["parent_id"] == middle


def test_kb_delete_leaves_children_without_a_parent_at_once(team: Team) -> None:
    parent = team.add("Story 7 in short", entry_type="summary", tags=["x", "y"])
    child = team.add(ROUTES, parent_id=parent)
    team.settle()
    assert team.data("kb_delete", id=parent) == {"success": True}

    assert team.error("kb_get", id=parent)[0] == "NOT_FOUND"
    assert team.error("kb_delete", id=parent)[0] == "NOT_FOUND"
    assert "parent_id" not in team.data("kb_get", id=child)
    assert ["parent_id" in entry for entry in team.data("kb_list")["entries"]] == [False]
    assert ["parent_id" in entry for entry in team.data("kb_search", query="routes")["entries"]] == [False]
    assert team.data("kb_get_related", entry_id=child)["entries"] == []
    team.settle()
    assert team.found("story in short") == []


def test_kb_rebuild_embeddings_makes_all_vectors_anew_and_disturbs_nobody(team: Team) -> None:
    texts = [ROUTES, LOCKS, BANANAS]
    for text in texts:
        team.add(text)
    team.settle()
    before, asked = team.found("specific routes"), len(team.world.model.asked)
    answer = team.data("kb_rebuild_embeddings", batch_size=2)
    assert answer == {"total": 3, "processed": 3, "status": "complete"}
    assert sorted(team.world.model.asked[asked:]) == sorted(texts)
    assert team.found("specific routes") == before
    team.settle()
    assert team.found("specific routes") == before
    assert [entry["version"] for entry in team.data("kb_list")["entries"]] == [1, 1, 1]
    assert team.data("kb_stats")["cache_size"] == 3
