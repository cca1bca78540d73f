"""`kb_bulk_import` and `kb_rebuild_embeddings`: lists and YAML, errors of single entries, handles, sizes."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.memory.tools.teams import Team, member, team
from tests.unit.web.mcp.talking import ERAS, text_of

YAML = """\
- content: "Route ordering: specific routes first."
  entry_type: summary
  roles: [dev]
  ref: routes
- content: Clear references before deleting.
  entry_type: fact
  roles: [dev, qa]
  tags: [database, delete]
  parent_ref: routes
"""


class Seconds:
    """A clock that moves on each time it is asked."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def fact(number: int, **more: Any) -> dict[str, Any]:
    return {"content": f"Fact {number}.", "entry_type": "fact", "roles": ["dev"], **more}


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("entries", [YAML, f"entries:\n{YAML}".replace("\n- ", "\n- ")])
def test_yaml_is_imported_once(here: Team, mode: str, entries: str) -> None:
    here.mode = mode
    told = here.data("kb_bulk_import", entries=entries)
    assert (told["imported"], told["skipped"], told["errors"], told["status"]) == (2, 0, [], "complete")
    child = here.data("kb_get", id=told["ids"]["1"])
    assert child["parent_id"] == told["ids"]["routes"]
    again = here.data("kb_bulk_import", entries=entries)
    assert (again["imported"], again["skipped"], again["ids"]) == (0, 2, told["ids"])


def test_one_entry_that_is_wrong_costs_the_others_nothing(here: Team) -> None:
    entries = [
        fact(0),
        {"content": "x"},
        "no entry",
        fact(3, roles=["boss"]),
        fact(4, tags=["a"]),
        fact(5, colour="red"),
    ]
    told = here.data("kb_bulk_import", entries=entries)
    assert (told["imported"], told["total"]) == (2, 6)
    assert [error.partition(":")[0] for error in told["errors"]] == [f"entries[{place}]" for place in (1, 2, 3, 5)]
    assert "pm, dev, qa, all" in told["errors"][2]
    assert told["ids"].keys() == {"0", "4"}


def test_what_exists_may_be_an_error(here: Team) -> None:
    here.add("Fact 1.")
    told = here.data("kb_bulk_import", entries=[fact(1), fact(2)], skip_existing=False)
    assert (told["imported"], told["skipped"], len(told["errors"])) == (1, 0, 1)


def test_a_hundred_ids_come_as_data_and_not_as_text(here: Team) -> None:
    result = here.call("kb_bulk_import", entries=[fact(number) for number in range(100)])
    assert len(result.structured_content["ids"]) == 100
    assert result.structured_content["ids"]["99"] not in text_of(result)


def test_many_errors_are_counted_and_few_are_told(here: Team) -> None:
    told = here.data("kb_bulk_import", entries=[{"content": ""}] * 90)
    assert len(told["errors"]) == 31
    assert told["errors"][-1] == "… and 60 more."


def test_a_large_import_goes_on_by_itself(tmp_path: Path) -> None:
    here = team(tmp_path, monotonic=Seconds(20.0))
    told = here.data("kb_bulk_import", entries=[fact(number) for number in range(450)])
    assert told["status"] == "in_progress"
    assert 0 < told["processed"] < 450
    handle = told["handle"]
    here.world.carry_on(author_of(here), handle)
    done = here.data("kb_bulk_import", handle=handle)
    assert (done["status"], done["imported"], done["processed"], done["total"]) == ("complete", 450, 450, 450)
    assert here.data("kb_stats")["total_entries"] == 450


def test_a_handle_is_of_its_organisation(tmp_path: Path) -> None:
    here = team(tmp_path, monotonic=Seconds(20.0))
    handle = here.data("kb_bulk_import", entries=[fact(number) for number in range(450)])["handle"]
    here.caller = member("other")
    assert here.error("kb_bulk_import", handle=handle)[0] == "NOT_FOUND"
    assert here.error("kb_rebuild_embeddings", handle=handle)[0] == "NOT_FOUND"


@pytest.mark.parametrize("arguments", [{}, {"entries": [fact(1)], "handle": "00000000-0000-4000-8000-000000000000"}])
def test_an_import_has_entries_or_a_handle(here: Team, arguments: dict[str, Any]) -> None:
    assert here.error("kb_bulk_import", **arguments)[0] == "INVALID_INPUT"
    assert here.data("kb_stats")["total_entries"] == 0


def test_vectors_are_made_anew(here: Team) -> None:
    for number in range(5):
        here.add(f"Fact {number}.")
    told = here.data("kb_rebuild_embeddings", batch_size=2)
    assert told == {"total": 5, "processed": 5, "status": "complete"}


def test_a_large_rebuild_goes_on_by_itself(tmp_path: Path) -> None:
    here = team(tmp_path, monotonic=Seconds(20.0))
    for number in range(5):
        here.world.add(f"Fact {number}.")
    told = here.data("kb_rebuild_embeddings", batch_size=2)
    assert told["status"] == "in_progress"
    here.world.carry_on(author_of(here), told["handle"])
    done = here.data("kb_rebuild_embeddings", handle=told["handle"])
    assert (done["status"], done["processed"], done["total"]) == ("complete", 5, 5)


def author_of(here: Team) -> Any:
    from commonplace.web.mcp.declaration import Call

    return Call(here.caller).author


def test_an_entry_is_brought_back_as_it_was_by_an_administrator_only(here: Team) -> None:
    id = here.add("Cars are red.")
    here.data("kb_update", id=id, confidence=0.5)
    was = here.data("kb_get", id=id)
    here.data("kb_delete", id=id)
    former = {name: was[name] for name in was if name != "content_hash"}
    here.caller = member("acme", "memory:write")
    code, text = here.error("kb_bulk_import", entries=[former])
    assert (code, "memory:admin" in text) == ("FORBIDDEN", True)
    here.caller = member("acme", "memory:admin")
    assert here.data("kb_bulk_import", entries=[former])["imported"] == 1
    assert here.data("kb_get", id=id) == was
    assert here.data("kb_bulk_import", entries=[former])["skipped"] == 1
    here.data("kb_update", id=id, content="Cars are blue.")
    (told,) = here.data("kb_bulk_import", entries=[former])["errors"]
    assert f"The entry {id} is there with another content." in told
    (told,) = here.data("kb_bulk_import", entries=[former | {"version": None}])["errors"]
    assert "all of these fields or none" in told


def test_what_superseded_an_entry_and_who_learned_it_again_is_brought_back_with_it(here: Team) -> None:
    old = here.add("Cars are red.", source_story="CAR-1")
    for story in ("CAR-2", "CAR-3"):
        here.data("kb_add", content="Cars are red.", entry_type="fact", roles=["dev"], source_story=story)
    new = here.add("Cars are blue.", supersedes=old)
    before = [here.data("kb_get", id=id) for id in (old, new)]
    assert (before[0]["seen_in"], before[0]["superseded_by"]) == (["CAR-2", "CAR-3"], new)
    assert before[1]["supersedes"] == old
    here.caller = member("elsewhere", "memory:admin")
    told = [{name: one[name] for name in one if name != "content_hash"} for one in before]
    for imported in (2, 0):
        done = here.data("kb_bulk_import", entries=told)
        assert (done["imported"], done.get("recurrences")) == (imported, None)
        assert [here.data("kb_get", id=id) for id in (old, new)] == before
    again = here.data("kb_stats", metrics=True)["metrics"]["recurrence"]
    assert (again["recurrences"], again["most"][0]["last_story"]) == (2, "CAR-3")
    more = [told[0] | {"content": "Cars are green.", "id": new.replace(new[0], "0"), "seen": 40}]
    here.data("kb_bulk_import", entries=more)
    assert here.data("kb_get", id=more[0]["id"])["seen"] == 40


def test_an_import_links_what_is_superseded_to_its_replacement_new_or_there_already(here: Team) -> None:
    there = here.add("Fact 2.")
    entries = [
        fact(1, ref="a", superseded_by_ref="b"),
        fact(2, ref="b"),
        fact(3, superseded_by_ref="d"),
        fact(4, ref="d", parent_ref="b"),
    ]
    ids = here.data("kb_bulk_import", entries=entries)["ids"]
    assert ids["b"] == there
    assert here.data("kb_get", id=ids["a"])["superseded_by"] == there
    assert here.data("kb_get", id=ids["2"])["superseded_by"] == ids["d"]
    assert "superseded_by" not in here.data("kb_get", id=ids["d"])


def test_a_replacement_has_to_be_another_entry_of_the_import(here: Team) -> None:
    entries = [
        fact(1, superseded_by_ref="nothing"),
        fact(2, ref="b", superseded_by_ref="b"),
        fact(3, ref="c", superseded_by_ref="d"),
        fact(4, ref="d", superseded_by_ref="c"),
        fact(5, ref="e", roles=["nobody"]),
        fact(6, superseded_by_ref="e"),
    ]
    told = here.data("kb_bulk_import", entries=entries)
    assert (told["imported"], len(told["errors"])) == (0, 6)
    assert sum("`superseded_by_ref` names no other entry" in one for one in told["errors"]) == 5


def test_a_long_import_that_goes_on_as_a_job_keeps_its_links(tmp_path: Path) -> None:
    here = team(tmp_path, monotonic=Seconds(20.0))
    entries = [fact(0, ref="new"), *(fact(number, superseded_by_ref="new") for number in range(1, 450))]
    told = here.data("kb_bulk_import", entries=entries)
    assert told["status"] == "in_progress"
    here.world.carry_on(author_of(here), told["handle"])
    (new,) = here.data("kb_list", limit=1, order="asc")["entries"]
    last = here.data("kb_list", limit=3, order="desc")["entries"]
    assert {here.data("kb_get", id=one["id"]).get("superseded_by") for one in last} == {new["id"]}
