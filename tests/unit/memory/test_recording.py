"""Adding, changing and deleting: what is kept, what is a duplicate, what is a conflict."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput, NotFound, TooLarge
from commonplace.memory import validation
from commonplace.memory.model import EntryId, Updated, content_hash
from tests.fakes.memories import ACME, OTHER, CountingEmbeddings, Remembering, remembering

NOBODY = EntryId("00000000-0000-4000-8000-000000000000")


@pytest.fixture
def team(tmp_path: Path) -> Remembering:
    return remembering(tmp_path)


def update(team: Remembering, id: EntryId, *, expected_version: int | None = None, **told: Any) -> Updated:
    return team.memory.update(ACME, id, validation.changes(**told), expected_version=expected_version)


def test_entry_is_there_as_soon_as_it_is_added(team: Remembering) -> None:
    id = team.add("Cars are red.", tags=["cars"], confidence=0.8, source_file="a.md", metadata={"n": 1})
    entry = team.memory.get(ACME, id)
    assert (entry.content, entry.content_hash) == ("Cars are red.", content_hash("Cars are red."))
    assert (entry.version, entry.created_at, entry.tags) == (1, entry.updated_at, ("cars",))
    assert entry.created_at.endswith("Z")


def test_same_content_is_a_duplicate_and_names_the_entry_that_has_it(team: Remembering) -> None:
    first = team.add("Cars are red.")
    again = team.added("Cars are red.\n", tags=["other"], entry_type="summary")
    assert (again.id, again.duplicate) == (first, True)
    assert team.memory.stats(ACME).total_entries == 1


@pytest.mark.parametrize(
    "written",
    [
        "   Café before noon:\n  two cups.",
        "Cafe\u0301 before noon:\n  two cups.",
        "Café\u00a0before\u202fnoon: \t\r\n  two cups.\r\n",
        "\ufeffCafé be\u00adfore\u200b noon:\r  two cups.\u3000",
    ],
)
def test_the_same_words_in_other_characters_are_a_duplicate(team: Remembering, written: str) -> None:
    first = team.add("Café before noon:\n  two cups.")
    again = team.added(written)
    assert (again.id, again.duplicate) == (first, True)


def test_indentation_within_a_text_and_other_words_make_another_entry(team: Remembering) -> None:
    team.add("Café before noon:\n  two cups.")
    assert not team.added("Café before noon:\n    two cups.").duplicate
    assert not team.added("Cafe before noon:\n  two cups.").duplicate


def test_content_stays_as_it_was_written_though_it_is_compared_folded(team: Remembering) -> None:
    id = team.add("Cafe\u0301\u00a0first.")
    assert team.memory.get(ACME, id).content == "Cafe\u0301\u00a0first."


def test_another_organisation_may_have_the_same_content(team: Remembering) -> None:
    mine, theirs = team.add("Cars are red."), team.added("Cars are red.", OTHER)
    assert not theirs.duplicate
    assert mine != theirs.id


def test_content_may_come_back_after_it_was_deleted(team: Remembering) -> None:
    first = team.add("Cars are red.")
    team.memory.delete(ACME, first)
    again = team.added("Cars are red.")
    assert not again.duplicate
    assert again.id != first


def test_add_tells_the_entries_that_are_nearest(team: Remembering) -> None:
    near = team.add("Specific routes come before parameterized routes in vercel.json")
    team.add("Bananas are yellow and grow in bunches")
    team.settle()
    added = team.added("In vercel.json put specific routes before parameterized ones")
    assert added.nearest[0].id == near
    assert 0.5 < added.nearest[0].similarity <= 1
    assert added.nearest[0].excerpt.startswith("Specific routes")


def test_nearest_entries_are_never_those_of_another_organisation(team: Remembering) -> None:
    team.add("Specific routes come before parameterized routes", OTHER)
    team.settle()
    assert team.added("Specific routes come before parameterized routes").nearest == ()


def test_entry_is_kept_while_the_model_is_away(tmp_path: Path) -> None:
    model = CountingEmbeddings()
    team = remembering(tmp_path, model)
    model.failing = True
    added = team.added("Cars are red.")
    assert not added.embedded
    team.settle()
    assert team.contents("cars") == ["Cars are red."]
    model.failing = False
    team.settle()
    assert list(team.engine.incomplete()) == []


def test_vectors_are_in_the_cache_before_the_index_asks(tmp_path: Path) -> None:
    model = CountingEmbeddings()
    team = remembering(tmp_path, model)
    team.add("# Routes\n\nSpecific first.\n\n" + "Word after word. " * 600)
    calls = list(model.calls)
    team.settle()
    assert len(calls) == 1
    assert model.calls == calls


def test_duplicate_asks_no_model(tmp_path: Path) -> None:
    model = CountingEmbeddings()
    team = remembering(tmp_path, model)
    team.add("Cars are red.")
    team.add("Cars are red.")
    assert model.calls == [1]


def test_parent_has_to_be_there(team: Remembering) -> None:
    with pytest.raises(InvalidInput, match="parent_id"):
        team.add("A child.", parent_id=NOBODY)
    theirs = team.add("A parent.", OTHER)
    with pytest.raises(InvalidInput, match="parent_id"):
        team.add("A child.", parent_id=theirs)
    assert team.memory.stats(ACME).total_entries == 0


def test_repeated_request_is_answered_with_the_same_entry(team: Remembering) -> None:
    first = team.added("Cars are red.", key="run-1")
    team.memory.delete(ACME, first.id)
    again = team.added("Cars are red.", key="run-1")
    assert (again.id, again.replayed) == (first.id, True)
    assert team.memory.stats(ACME).total_entries == 0


def test_key_of_another_request_is_a_conflict_that_names_the_entry(team: Remembering) -> None:
    first = team.add("Cars are red.", key="run-1")
    with pytest.raises(Conflict) as refused:
        team.add("Cars are blue.", key="run-1")
    assert first in refused.value.message
    assert team.memory.stats(ACME).total_entries == 1


def test_key_is_remembered_for_a_duplicate_as_well(team: Remembering) -> None:
    first = team.add("Cars are red.")
    assert team.added("Cars are red.", key="run-1").duplicate
    team.memory.delete(ACME, first)
    assert team.added("Cars are red.", key="run-1").replayed


def test_same_key_of_another_organisation_is_another_key(team: Remembering) -> None:
    team.add("Cars are red.", key="run-1")
    assert not team.added("Cars are blue.", OTHER, key="run-1").replayed


def test_update_changes_what_is_named_and_nothing_else(team: Remembering) -> None:
    id = team.add("Cars are red.", tags=["cars"], metadata={"a": 1, "b": 2})
    before = team.memory.get(ACME, id)
    updated = update(team, id, confidence=0.5, metadata={"b": None, "c": 3})
    assert updated.entry == team.memory.get(ACME, id)
    assert updated.entry.metadata == {"a": 1, "c": 3}
    assert updated.entry.confidence == 0.5
    assert not updated.re_embedded
    assert updated.entry.version == 2
    assert updated.entry.updated_at > before.updated_at
    assert (updated.entry.tags, updated.entry.created_at) == (before.tags, before.created_at)


def test_update_of_the_content_embeds_it(team: Remembering) -> None:
    id = team.add("Cars are red.")
    team.settle()
    assert update(team, id, content="Boats are blue.").re_embedded
    team.settle()
    assert team.contents("boats") == ["Boats are blue."]
    assert team.contents("red cars") == []
    assert team.added("Cars are red.").duplicate is False


def test_update_is_kept_while_the_model_is_away_and_embedded_later(tmp_path: Path) -> None:
    model = CountingEmbeddings()
    team = remembering(tmp_path, model)
    id = team.add("Cars are red.")
    team.settle()
    model.failing = True
    assert not update(team, id, content="Boats are blue.").re_embedded
    team.settle()
    assert team.contents("boats") == ["Boats are blue."]
    model.failing = False
    team.settle()
    assert list(team.engine.incomplete()) == []


def test_update_to_what_is_there_already_writes_nothing(team: Remembering) -> None:
    id = team.add("Cars are red.", tags=["cars"])
    updated = update(team, id, content="Cars are red.", tags=["cars"])
    assert (updated.re_embedded, updated.entry.version) == (False, 1)


def test_update_to_the_content_of_another_entry_is_a_conflict_that_names_it(team: Remembering) -> None:
    first, second = team.add("Cars are red."), team.add("Boats are blue.")
    with pytest.raises(Conflict) as refused:
        update(team, second, content="Cars are red.")
    assert first in refused.value.message
    assert team.memory.get(ACME, second).content == "Boats are blue."


def test_update_of_another_version_than_expected_is_a_conflict_that_says_which(team: Remembering) -> None:
    id = team.add("Cars are red.")
    update(team, id, confidence=0.5, expected_version=1)
    with pytest.raises(Conflict) as refused:
        update(team, id, confidence=0.6, expected_version=1)
    assert refused.value.details["version"] == 2
    assert team.memory.get(ACME, id).confidence == 0.5


def test_vectors_made_anew_are_no_change_of_the_version(team: Remembering) -> None:
    id = team.add("Cars are red.")
    team.store.touch("acme", [id])
    assert update(team, id, confidence=0.5, expected_version=1).entry.version == 2


def test_metadata_may_not_grow_beyond_its_bound_piece_by_piece(team: Remembering) -> None:
    id = team.add("Cars are red.", metadata={"a": "x" * 5_000})
    with pytest.raises(TooLarge):
        update(team, id, metadata={"b": "x" * 5_000})
    assert update(team, id, metadata={"a": None, "b": "x" * 5_000}).entry.metadata.keys() == {"b"}


def test_update_that_is_overtaken_is_made_on_top_of_the_other(team: Remembering) -> None:
    id = team.add("Cars are red.")
    overtake(team, lambda: update(team, id, tags=["cars"]))
    entry = update(team, id, confidence=0.5).entry
    assert (entry.tags, entry.confidence, entry.version) == (("cars",), 0.5, 3)


def test_update_that_is_overtaken_with_a_version_expected_is_a_conflict(team: Remembering) -> None:
    id = team.add("Cars are red.")
    overtake(team, lambda: update(team, id, tags=["cars"]))
    with pytest.raises(Conflict):
        update(team, id, confidence=0.5, expected_version=1)


def test_update_overtaken_by_a_deletion_finds_nothing(team: Remembering) -> None:
    id = team.add("Cars are red.")
    overtake(team, lambda: team.memory.delete(ACME, id))
    with pytest.raises(NotFound):
        update(team, id, confidence=0.5)
    assert team.store.get("acme", id) is None


def test_many_changes_at_once_lose_none_or_say_so(team: Remembering) -> None:
    id = team.add("Cars are red.")

    def change(number: int) -> bool:
        try:
            update(team, id, metadata={f"n{number}": number})
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(32) as pool:
        done = [number for number, kept in enumerate(pool.map(change, range(32))) if kept]
    entry = team.memory.get(ACME, id)
    assert entry.metadata == {f"n{number}": number for number in done}
    assert entry.version == 1 + len(done)


def test_many_additions_of_one_text_make_one_entry(team: Remembering) -> None:
    with ThreadPoolExecutor(32) as pool:
        added = list(pool.map(lambda _: team.added("Cars are red."), range(32)))
    assert sorted(one.duplicate for one in added) == [False] + [True] * 31
    assert len({one.id for one in added}) == 1
    assert team.memory.stats(ACME).total_entries == 1


def test_deleted_entry_is_gone_and_its_children_have_no_parent_at_once(team: Remembering) -> None:
    parent = team.add("A story.", entry_type="summary")
    child = team.add("A fact.", parent_id=parent)
    team.memory.delete(ACME, parent)
    assert team.memory.get(ACME, child).parent_id is None
    assert team.memory.list(ACME, validation.listing()).entries[0].parent_id is None
    with pytest.raises(NotFound):
        team.memory.get(ACME, parent)


@pytest.mark.parametrize(
    "act",
    [
        lambda team, id: team.memory.get(ACME, id),
        lambda team, id: team.memory.delete(ACME, id),
        lambda team, id: team.memory.related(ACME, id),
        lambda team, id: update(team, id, confidence=0.1),
    ],
    ids=["get", "delete", "related", "update"],
)
def test_entry_of_another_organisation_is_as_unknown_as_one_that_never_was(
    team: Remembering, act: Callable[[Remembering, EntryId], object]
) -> None:
    theirs = team.add("Their secret.", OTHER)
    told = []
    for id in (theirs, NOBODY):
        with pytest.raises(NotFound) as refused:
            act(team, id)
        told.append(str(refused.value.envelope()).replace(id, "ID"))
    assert told[0] == told[1]
    assert team.memory.get(OTHER, theirs).version == 1


def test_what_is_done_is_recorded_with_its_author_and_without_text(team: Remembering) -> None:
    author = replace(ACME, client="client-1", grant="grant-1", network="192.0.2.1")
    id = team.add("A secret sentence.", author)
    team.memory.update(author, id, validation.changes(tags=["hidden"]))
    team.memory.delete(author, id)
    records = team.store.audit.records
    assert [record.event for record in records] == ["memory.add", "memory.update", "memory.delete"]
    assert {(record.organisation, record.client, record.grant) for record in records} == {
        ("acme", "client-1", "grant-1")
    }
    assert {record.details["entry"] for record in records} == {id}
    assert "secret" not in repr(records)
    assert "hidden" not in repr(records)


def test_store_that_is_away_is_said_and_nothing_is_kept(team: Remembering) -> None:
    team.store.down = True
    with pytest.raises(CommonplaceError) as refused:
        team.add("Cars are red.")
    assert refused.value.status == 503


def overtake(team: Remembering, change: Callable[[], object]) -> None:
    """Has `change` come between the reading and the writing of the next one."""
    real = team.store.get

    def get(organisation: str, id: EntryId) -> Any:
        team.store.get = real  # type: ignore[method-assign]
        entry = real(organisation, id)
        change()
        return entry

    team.store.get = get  # type: ignore[method-assign]
