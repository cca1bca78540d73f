"""An organisation on DynamoDB Local: the same machines as on moto, and changes that many people make at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import structure
from commonplace.governance.store import JOURNAL, MEMBERS, TEAMS
from commonplace.kernel.errors import Conflict, NotFound
from tests.fakes.governance import found_tide, run_machine
from tests.unit.governance.reading_machine import ReadingMachine
from tests.unit.governance.structure_machine import StructureMachine

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.mark.parametrize("machine", [StructureMachine, ReadingMachine])
def test_a_machine_finds_no_fault(dynamodb_local: DynamoDBClient, machine: type[Any]) -> None:
    run_machine(machine, dynamodb_local, 3, 60, 15)


def at_once(*changes: Callable[[], Any]) -> list[Any]:
    """Do all of these at once, and return what they return, or Conflict and NotFound."""

    def outcome(change: Callable[[], Any]) -> Any:
        try:
            return change()
        except (Conflict, NotFound) as refused:
            return refused

    with ThreadPoolExecutor(len(changes)) as pool:
        return list(pool.map(outcome, changes))


@pytest.fixture
def tide(dynamodb_local: DynamoDBClient) -> Any:
    return found_tide(dynamodb_local)


def test_teams_that_move_below_each_other_at_once_stay_a_tree(tide: Any) -> None:
    for name in ("Lamp", "Bell"):
        tide.do("Ada", structure.create_team, parent_team_id=tide.team("Tide").id, name=name)
    lamp, bell = tide.team("Lamp"), tide.team("Bell")

    def move(one: Any, below: Any) -> Callable[[], Any]:
        given = {"team_id": one.id, "revision": 1, "name": one.name, "parent_team_id": below.id}
        return lambda: tide.do("Vi", structure.change_team, **given)

    outcomes = at_once(move(lamp, bell), move(bell, lamp))
    assert sum(isinstance(one, Conflict) for one in outcomes) == 1


def test_changes_that_many_make_at_once_are_all_there(tide: Any) -> None:
    watch, records = tide.team("Watch"), len(tide.all(JOURNAL))
    asked: dict[str, Any] = {"team_id": watch.id, "title": "Bell"}
    roles = [lambda: tide.do("Ada", structure.create_role, **asked) for _ in range(4)]
    above = tide.team("Tide").id
    same = [lambda: tide.do("Guest", structure.create_team, parent_team_id=above, name="Lamp") for _ in range(3)]
    outcomes = at_once(*roles, *same)
    made = [one for one in outcomes if not isinstance(one, Exception)]
    assert len(made) == 5
    assert len(tide.member("Vi").roles) == 3 + 4
    assert [one.name for one in tide.all(TEAMS)].count("Lamp") == 1
    assert len(tide.all(JOURNAL)) == records + 5


def test_a_link_that_many_open_at_once_makes_one_member(tide: Any) -> None:
    _, secret = tide.do("Vi", structure.invite)
    outcomes = at_once(
        *[
            lambda name=name: tide.do(name, structure.accept_invitation, secret=secret, firstname=name)
            for name in ("Kim", "Lee", "Max", "Noa")
        ]
    )
    assert sum(isinstance(one, NotFound) for one in outcomes) == 3
    assert len(tide.all(MEMBERS)) == 4
