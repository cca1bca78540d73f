"""Two states of a catalogue: what is new, gone, called otherwise, and which names lead nowhere any more."""

from typing import Any

from commonplace.reference.model import Entry
from commonplace.reference.source.compilation import Difference, diff


def command(id: str, name: str, **told: Any) -> Entry:
    given = {"id": id, "type": "command", "title": id, "category": "c", "name": name, "summary": "S."}
    return Entry(**given | {"last_updated": "d"} | told)


LIST = command("cmd-list", "helios users list")
GET = command("cmd-get", "helios users get")
USERS = Entry(
    id="api-users",
    type="api",
    title="Users",
    category="c",
    method="GET",
    path_template="/users/{id}",
    summary="S.",
    last_updated="d",
)
GUIDE = Entry(id="g", type="guide", title="G", category="c", summary="S.", last_updated="d")


def ids(entries: Any) -> list[str]:
    return [one.id for one in entries]


def test_the_same_twice_is_no_difference() -> None:
    found = diff([LIST, GET, GUIDE], [GUIDE, GET, LIST])
    assert found == Difference()
    assert found.nothing


def test_another_run_of_a_generator_is_no_difference() -> None:
    assert diff([LIST], [LIST.model_copy(update={"last_updated": "e", "source_hash": "f" * 64})]).nothing


def test_what_is_new_and_what_is_gone_are_told_by_id() -> None:
    found = diff([LIST, GUIDE], [LIST, GET, USERS])
    assert (ids(found.added), ids(found.removed)) == (["api-users", "cmd-get"], ["g"])
    assert not found.breaking


def test_a_change_names_its_fields() -> None:
    [changed] = diff([LIST], [LIST.model_copy(update={"summary": "T.", "related_ids": ["g"]})]).changed
    assert changed.fields == ("summary", "relatedIds")


def test_a_removed_command_leads_nowhere() -> None:
    found = diff([LIST, GET], [GET])
    assert (ids(found.lost), found.breaking) == (["cmd-list"], True)


def test_a_removed_endpoint_leads_nowhere_unless_another_has_its_path() -> None:
    other = USERS.model_copy(update={"id": "api-other", "path_template": "/users/{user}"})
    assert ids(diff([USERS], []).lost) == ["api-users"]
    assert diff([USERS], [other]).lost == ()


def test_a_renamed_command_leads_nowhere_unless_its_old_name_is_kept() -> None:
    renamed = LIST.model_copy(update={"name": "helios people list"})
    kept = renamed.model_copy(update={"aliases": ["helios users list"]})
    old = command("cmd-old", "helios users list", deprecated=True, replaced_by="cmd-list")
    found = diff([LIST], [renamed])
    assert [(one.old.name, one.new.name) for one in found.renamed] == [("helios users list", "helios people list")]
    assert found.breaking
    assert not diff([LIST], [kept]).breaking
    assert not diff([LIST], [renamed, old]).breaking


def test_another_id_for_the_same_name_is_a_renaming() -> None:
    found = diff([LIST], [LIST.model_copy(update={"id": "cmd-users-list"})])
    assert [(one.old.id, one.new.id) for one in found.renamed] == [("cmd-list", "cmd-users-list")]
    assert (found.added, found.removed, found.lost) == ((), (), ())


def test_what_was_deprecated_since_is_told() -> None:
    found = diff([LIST, GET], [LIST.model_copy(update={"deprecated": True, "replaced_by": "cmd-get"}), GET])
    assert ids(found.deprecated) == ["cmd-list"]
    assert not found.breaking
