"""Records of organisations: changes are decided on what is there, and commit whole or not at all."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from commonplace.kernel.audit import Author
from commonplace.kernel.audit_store import HIVE
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.records import ROUNDS, Change, Records, Room, is_id
from commonplace.kernel.table import Table
from tests.dynamodb_fixture import dump, new_table

ACME = "acme"


@dataclass(frozen=True)
class Team:
    id: str
    name: str
    revision: int = 1


TEAMS, NAMES, FIGURES = Room("teams", Team), Room("team-names", Team), Room("figures", Team)


@pytest.fixture
def stores(dynamodb: Any) -> tuple[Records, str, Any]:
    records, activity = new_table(dynamodb, "records"), new_table(dynamodb, "activity")
    return Records(Table(dynamodb, records, sleep=lambda _: None), activity, HIVE), activity, dynamodb


def found(records: Records, id: str, name: str) -> None:
    def decide(change: Change) -> None:
        change.add(TEAMS, Team(id, name))
        change.claim(NAMES, name, id)
        change.count(FIGURES, "all", teams=1)
        change.record(Author(organisation=ACME).record("team", 1.0, id=id))

    records.change(ACME, decide)


def test_a_change_commits_its_writes_with_the_audit_record(stores: tuple[Records, str, Any]) -> None:
    records, activity, client = stores
    found(records, "t1", "gulls")
    assert records.get(ACME, TEAMS, "t1") == Team("t1", "gulls")
    assert records.get_many(ACME, TEAMS, ["t1", "t2", "a#b"]) == {"t1": Team("t1", "gulls")}
    assert "team" in dump(client, activity)


def test_a_name_is_one_records_and_a_failed_change_leaves_nothing(stores: tuple[Records, str, Any]) -> None:
    records, activity, client = stores
    found(records, "t1", "gulls")
    before = dump(client, activity)
    with pytest.raises(Unavailable):
        found(records, "t2", "gulls")
    assert records.get(ACME, TEAMS, "t2") is None
    assert dump(client, activity) == before


def test_an_overtaken_change_reads_again(stores: tuple[Records, str, Any]) -> None:
    records, _, _ = stores
    found(records, "t1", "gulls")
    rounds: list[int] = []

    def decide(change: Change) -> str:
        was = records.get(ACME, TEAMS, "t1")
        assert was is not None
        if not rounds:
            other = replace(was, name="terns", revision=was.revision + 1)
            records.change(ACME, lambda mine: mine.replace(TEAMS, other, was))
        rounds.append(was.revision)
        change.replace(TEAMS, replace(was, name=f"{was.name}!", revision=was.revision + 1), was)
        return was.name

    assert records.change(ACME, decide) == "terns"
    assert rounds == [1, 2]
    assert records.get(ACME, TEAMS, "t1") == Team("t1", "terns!", 3)


def test_authority_is_checked_inside_the_write(stores: tuple[Records, str, Any]) -> None:
    records, _, _ = stores
    rounds: list[int] = []

    def decide(change: Change) -> None:
        rounds.append(1)
        change.add(TEAMS, Team("t1", "gulls"))
        change.require(TEAMS, "who-may")

    def overtaken() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        records.change(ACME, decide, overtaken)
    with pytest.raises(Unavailable):
        records.change(ACME, decide)
    assert len(rounds) == 1 + ROUNDS
    assert records.get(ACME, TEAMS, "t1") is None


def test_a_list_is_lazy_and_goes_on_after_an_id(stores: tuple[Records, str, Any]) -> None:
    records, _, _ = stores
    for number in range(5):
        found(records, f"t{number}", f"name {number}")
    assert [one.id for one in records.list(ACME, TEAMS, after="t1")] == ["t2", "t3", "t4"]
    assert [one.id for one in records.list(ACME, TEAMS, newest=True)][:2] == ["t4", "t3"]
    assert list(records.list("other", TEAMS)) == []


def test_what_names_no_organisation_has_no_records() -> None:
    for name in ("", "public", "a#b", "A"):
        with pytest.raises(ValueError, match="organisation"):
            TEAMS.partition(name)
    assert [is_id(text) for text in ("a", "", "a#b", "a" * 201, "é")] == [True, False, False, False, False]


@pytest.mark.parametrize("newest", [False, True])
def test_a_part_of_a_room_is_read_page_by_page_without_its_neighbours(
    stores: tuple[Records, str, Any], newest: bool
) -> None:
    records, _, _ = stores
    ids = ["a.1", "b.1", "b.2", "b.3", "b.30", "c.1"]
    for id in ids:
        found(records, id, f"name of {id}")
    expected = sorted((id for id in ids if id.startswith("b.")), reverse=newest)
    read: list[str] = []
    while page := next(records.list(ACME, TEAMS, within="b.", after=read[-1] if read else None, newest=newest), None):
        read.append(page.id)
    assert read == expected


def test_a_touched_record_takes_no_change_that_rests_on_what_was_read_before(
    stores: tuple[Records, str, Any],
) -> None:
    records, _, _ = stores
    found(records, "t1", "gulls")
    read = records.get(ACME, TEAMS, "t1")
    assert read is not None
    records.change(ACME, lambda change: change.touch(TEAMS, "t1", "#name = :is", **{"is": "gulls"}))
    with pytest.raises(Unavailable):
        records.change(ACME, lambda change: change.replace(TEAMS, replace(read, name="terns", revision=2), read))
    with pytest.raises(Unavailable):
        records.change(ACME, lambda change: change.touch(TEAMS, "t1", "#name = :is", **{"is": "terns"}))
    assert records.get(ACME, TEAMS, "t1") == Team("t1", "gulls", 2)
