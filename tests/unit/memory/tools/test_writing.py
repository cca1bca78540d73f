"""`kb_add`, `kb_update`, `kb_delete`: what becomes of a request, and who may make it."""

from typing import Any

import pytest

from tests.unit.memory.tools.teams import Team, member
from tests.unit.web.mcp.talking import ERAS, text_of

FACT: dict[str, Any] = {"content": "Cars are red.", "entry_type": "fact", "roles": ["dev"], "tags": ["cars"]}


@pytest.mark.parametrize("mode", ERAS)
def test_what_is_added_is_there_at_once_and_twice_is_a_duplicate(here: Team, mode: str) -> None:
    here.mode = mode
    first = here.data("kb_add", **FACT)
    again = here.data("kb_add", **(FACT | {"roles": ["qa"]}))
    assert (first["success"], first["duplicate"]) == (True, False)
    assert again == {"id": first["id"], "success": True, "duplicate": True}
    assert here.data("kb_get", id=first["id"])["roles"] == ["dev"]


def test_what_comes_near_is_named_as_a_hint(here: Team) -> None:
    near = here.add("Cars are red.")
    here.world.settle()
    result = here.call("kb_add", **(FACT | {"content": "Cars are very red."}))
    assert result.structured_content["nearest"][0]["id"] == near
    assert near in text_of(result)


READS = {"kb_search", "kb_get", "kb_get_related", "kb_list", "kb_stats"}
WRITES = {"kb_add", "kb_update", "kb_delete", "kb_bulk_import", "kb_rate"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "kb_search": {"query": "x"},
    "kb_get": {"id": "x"},
    "kb_get_related": {"entry_id": "x"},
    "kb_list": {},
    "kb_stats": {},
    "kb_add": FACT,
    "kb_update": {"id": "x"},
    "kb_delete": {"id": "x"},
    "kb_bulk_import": {"entries": [FACT]},
    "kb_rate": {"id": "x", "relevance": 3},
    "kb_rebuild_embeddings": {},
}


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("knowledge:admin", set()),
        ("memory:read", READS),
        ("memory:write", READS | WRITES),
        ("memory:admin", set(ARGUMENTS)),
    ],
)
def test_each_tool_takes_its_scope(here: Team, scope: str, allowed: set[str]) -> None:
    here.caller = member("acme", scope)
    denied = {
        name
        for name, arguments in ARGUMENTS.items()
        if text_of(here.call(name, **arguments)).startswith("Access denied.")
    }
    assert denied == set(ARGUMENTS) - allowed


def test_no_tool_is_public(here: Team) -> None:
    here.caller = member("acme", "memory:admin", tier="public")
    for name, arguments in ARGUMENTS.items():
        assert text_of(here.call(name, **arguments)) == "Access denied. This tool requires member access."


def test_a_tool_asks_for_nothing_that_names_an_organisation(here: Team) -> None:
    for name in ("organisation", "org", "tenant"):
        code, text = here.error("kb_add", **FACT, **{name: "other"})
        assert code == "INVALID_INPUT"
        assert f"no argument {name}" in text
    assert here.data("kb_stats")["total_entries"] == 0


def test_a_deletion_can_be_undone_unless_the_content_is_there_again(here: Team) -> None:
    parent = here.add("A story.", entry_type="summary")
    id = here.add("Cars are red.", parent_id=parent, tags=["cars"])
    before = here.data("kb_get", id=id)
    here.data("kb_delete", id=id)
    assert "undo" in here.error("kb_get", id=id)[1]
    assert here.data("kb_delete", id=id, undo=True) == {"success": True}
    assert here.data("kb_get", id=id) == before
    here.data("kb_delete", id=id)
    other = here.add("Cars are red.")
    code, text = here.error("kb_delete", id=id, undo=True)
    assert (code, other in text) == ("CONFLICT", True)
    assert here.error("kb_delete", id="00000000-0000-4000-8000-000000000000", undo=True)[0] == "NOT_FOUND"


def test_former_versions_are_read_by_time_and_as_a_history(here: Team) -> None:
    id = here.add("Cars are red.")
    first = here.data("kb_get", id=id)
    here.data("kb_update", id=id, content="Cars are blue.", tags=["cars"])
    told = here.data("kb_get", id=id, history=True)
    assert [(one["version"], one["changed"], one["content"]) for one in told["history"]] == [
        (2, ["content", "tags"], "Cars are blue."),
        (1, [], "Cars are red."),
    ]
    assert here.data("kb_get", id=id, as_of=first["updated_at"]) == first
    assert here.data("kb_get", id=id, as_of=told["updated_at"][:10])["content"] == "Cars are blue."
    assert here.error("kb_get", id=id, as_of="2001-01-01")[0] == "NOT_FOUND"
    assert here.error("kb_get", id=id, as_of="yesterday")[0] == "INVALID_INPUT"
    assert "version 1 of" in text_of(here.call("kb_get", id=id, history=True))


def test_what_supersedes_an_entry_names_it_and_is_named(here: Team) -> None:
    old = here.add("Cars are red.")
    new = here.data("kb_add", **(FACT | {"content": "Cars are blue."}), supersedes=old)["id"]
    assert here.data("kb_get", id=old)["superseded_by"] == new
    assert here.data("kb_get", id=new)["supersedes"] == old


@pytest.mark.parametrize("content", ["", "  ", "\n"])
def test_an_empty_content_is_refused_also_beside_another_field(here: Team, content: str) -> None:
    id = here.add("Cars are red.")
    code, text = here.error("kb_update", id=id, content=content, confidence=0.3)
    assert code == "INVALID_INPUT"
    assert "content" in text
    assert here.data("kb_get", id=id)["version"] == 1


def test_an_entry_is_marked_as_superseded_and_unmarked(here: Team) -> None:
    old, new = here.add("Cars are red."), here.add("Cars are blue.")
    here.data("kb_update", id=old, superseded_by=new)
    assert here.data("kb_get", id=old)["superseded_by"] == new
    assert here.data("kb_update", id=old, superseded_by=new)["version"] == 2
    here.world.settle()
    assert old not in [one["id"] for one in here.data("kb_search", query="cars red")["entries"]]
    here.data("kb_update", id=old, remove=["superseded_by"])
    assert "superseded_by" not in here.data("kb_get", id=old)


def test_an_entry_is_superseded_by_another_that_is_there(here: Team) -> None:
    id = here.add("Cars are red.")
    for by in (id, "00000000-0000-4000-8000-000000000000"):
        code, text = here.error("kb_update", id=id, superseded_by=by)
        assert (code, "`superseded_by` names no other entry" in text) == ("INVALID_INPUT", True)
    assert here.data("kb_get", id=id)["version"] == 1
