"""Changes of many members at the very same moment, on DynamoDB Local: none that was accepted is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Semaphore
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import processes, structure
from commonplace.governance.conversation import react_to_message, send_message
from commonplace.governance.governance import Governance
from commonplace.governance.model import MAX_OPEN, Active, Answer, Member, Process
from commonplace.governance.store import ACTIVE, JOURNAL, MEMBERS, PROCESSES, TEAMS, Store
from commonplace.kernel.errors import CommonplaceError, Conflict, NotFound
from commonplace.kernel.items import encode
from tests.fakes.governance import Tide, found_tide, run_machine
from tests.unit.governance.acting_machine import ActingMachine
from tests.unit.governance.reading_machine import ReadingMachine
from tests.unit.governance.structure_machine import StructureMachine

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.real

VOTERS = 100


@pytest.fixture
def tide(dynamodb_local: DynamoDBClient) -> Tide:
    """The organisation, whose changes wait for others as they do in earnest."""
    tide = found_tide(dynamodb_local)
    activity = tide.store.records._activity
    tide.governance = Governance(store=Store(dynamodb_local, tide.store.table.name, activity, clock=tide.clock))
    return tide


def people(tide: Tide, count: int) -> list[str]:
    """Return the names of new members, who are written without invitations."""
    names = [f"Voter{number}" for number in range(count)]
    for name in names:
        account = tide.person(name).principal.account or ""
        member = Member(id=f"mb_{name}", firstname=name, joined_at=tide.store.now(), account=account)
        put = tide.store.table.put(MEMBERS.at(tide.slug, member.id), encode(member))
        tide.store.table.transact([put, *tide.store.join(tide.slug, account, member.id)])
    return names


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what each came to: its result, or the refusal."""
    barrier = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except CommonplaceError as refusal:
            return refusal

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def lunch(tide: Tide, by: str, channel: str) -> Any:
    """Return a vote."""
    given = {"channel_id": channel, "title": "Lunch", "mode": "single", "options": ["Soup", "Salad"]}
    return tide.do(by, processes.open_vote, **given)


def test_a_vote_that_is_closed_amid_a_hundred_ballots_counts_those_that_were_accepted(tide: Tide) -> None:
    names = people(tide, VOTERS)
    vote = lunch(tide, "Ada", tide.channel().id)
    voted = Semaphore(0)

    def cast(name: str, choice: str) -> Any:
        answer = tide.do(name, processes.cast_vote, message_id=vote.id, choices=[choice])
        voted.release()
        return answer

    def close() -> Any:
        for _ in range(VOTERS // 3):
            voted.acquire()
        return tide.do("Ada", processes.move_on, message_id=vote.id, phase="closed")

    ballots = [partial(cast, name, str(1 + number % 2)) for number, name in enumerate(names)]
    *outcomes, closed = at_once([*ballots, close])

    assert isinstance(closed, Process), closed
    accepted = [one for one in outcomes if isinstance(one, Answer)]
    assert all(isinstance(one, Conflict) for one in outcomes if one not in accepted), outcomes
    assert {one.id for one in tide.store.answers(tide.slug, vote.id)} == {one.id for one in accepted}
    (decision,) = [one for one in tide.all(JOURNAL) if one.target == vote.id]
    assert decision.after["ballots"] == len(accepted)
    counts = {one["option"]: one["count"] for one in decision.after["tally"]}
    assert counts == {option: sum(one.choices == (option,) for one in accepted) for option in ("1", "2")}
    assert tide.all(ACTIVE) == []


def test_of_many_who_end_a_process_one_writes_its_record(tide: Tide) -> None:
    vote = lunch(tide, "Vi", tide.channel().id)
    close = [partial(tide.do, who, processes.move_on, message_id=vote.id, phase="closed") for who in ("Ada", "Vi") * 8]
    outcomes = at_once(close)

    assert sum(isinstance(one, Process) for one in outcomes) == 1
    assert len([one for one in tide.all(JOURNAL) if one.target == vote.id]) == 1


def test_a_role_that_is_lost_in_a_race_fails_the_vote(tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    channel, watch = tide.channel("Watch").id, tide.team("Watch")
    vote = lunch(tide, "Vi", channel)
    role = tide.do("Vi", structure.create_role, team_id=watch.id, title="Cook", member_id=tide.member("Guest").id)
    given = {"role_id": role.id, "member_id": tide.member("Vi").id, "revision": role.revision}
    first = iter([partial(tide.do, "Ada", structure.assign_role, **given)])
    transact = tide.store.table.transact

    def overtaken(writes: Any) -> None:
        for call in first:
            call()
        transact(writes)

    monkeypatch.setattr(tide.store.table, "transact", overtaken)
    with pytest.raises(NotFound):
        tide.do("Guest", processes.cast_vote, message_id=vote.id, choices=["1"])
    assert tide.store.answers(tide.slug, vote.id) == []


def test_processes_that_are_opened_at_once_stay_within_the_bound(tide: Tide) -> None:
    pointers = [Active(id=f"ch_old.{number:03}", kind="topic") for number in range(MAX_OPEN - 1)]
    tide.store.table.write_many(tide.store.table.put(ACTIVE.at(tide.slug, one.id), encode(one)) for one in pointers)
    asked = {"channel_id": tide.channel().id, "title": "Paint", "description": "Blue."}
    outcomes = at_once([partial(tide.do, who, processes.open_topic, **asked) for who in ("Ada", "Vi", "Guest") * 2])

    assert sum(isinstance(one, Process) for one in outcomes) == 1
    assert len(tide.all(ACTIVE)) == MAX_OPEN
    assert len(tide.all(PROCESSES)) == 1


def test_replies_and_reactions_at_once_are_all_counted(tide: Tide) -> None:
    names = people(tide, 16)
    channel = tide.channel().id
    message = tide.do("Ada", send_message, channel_id=channel, text="Who comes?")
    reply = {"channel_id": channel, "text": "I", "parent_id": message.id}
    replies = [partial(tide.do, name, send_message, **reply) for name in names]
    react = [partial(tide.do, name, react_to_message, message_id=message.id, emoji="👍") for name in names]
    outcomes = at_once([*replies, *react])

    assert [one for one in outcomes if isinstance(one, CommonplaceError)] == []
    card = tide.store.cards(tide.slug, [message.id])[message.id]
    assert (card["replies"], card["r_1f44d"]) == (16, 16)
    at_once(react)
    assert "r_1f44d" not in tide.store.cards(tide.slug, [message.id])[message.id]


def test_teams_that_move_below_each_other_at_once_stay_a_tree(tide: Tide) -> None:
    for name in ("Lamp", "Bell"):
        tide.do("Ada", structure.create_team, parent_team_id=tide.team("Tide").id, name=name)
    lamp, bell = tide.team("Lamp"), tide.team("Bell")

    def move(one: Any, below: Any) -> Callable[[], Any]:
        given = {"team_id": one.id, "revision": 1, "name": one.name, "parent_team_id": below.id}
        return partial(tide.do, "Vi", structure.change_team, **given)

    outcomes = at_once([move(lamp, bell), move(bell, lamp)])
    assert sum(isinstance(one, Conflict) for one in outcomes) == 1


def test_changes_that_many_make_at_once_are_all_there(tide: Tide) -> None:
    watch, records = tide.team("Watch"), len(tide.all(JOURNAL))
    roles = [partial(tide.do, "Ada", structure.create_role, team_id=watch.id, title="Bell")] * 4
    same = [partial(tide.do, "Guest", structure.create_team, parent_team_id=tide.team("Tide").id, name="Lamp")] * 3
    outcomes = at_once([*roles, *same])
    made = [one for one in outcomes if not isinstance(one, Exception)]
    assert len(made) == 5
    assert len(tide.member("Vi").roles) == 3 + 4
    assert [one.name for one in tide.all(TEAMS)].count("Lamp") == 1
    assert len(tide.all(JOURNAL)) == records + 5


def test_a_link_that_many_open_at_once_makes_one_member(tide: Tide) -> None:
    _, secret = tide.do("Vi", structure.invite)
    accept, names = structure.accept_invitation, ("Kim", "Lee", "Max", "Noa")
    outcomes = at_once([partial(tide.do, one, accept, secret=secret, firstname=one) for one in names])
    assert sum(isinstance(one, NotFound) for one in outcomes) == 3
    assert len(tide.all(MEMBERS)) == 4


@pytest.mark.parametrize("machine", [StructureMachine, ReadingMachine, ActingMachine])
def test_a_machine_finds_no_fault(dynamodb_local: DynamoDBClient, machine: type[Any]) -> None:
    run_machine(machine, dynamodb_local, 3, 60, 15)
