"""Attacks that once succeeded, or that nothing else tries: each stays here after it was repelled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import conversation, processes, structure
from commonplace.governance.founding import carry_out, founding
from commonplace.governance.store import MEMBERS, NAMES, UNFINISHED
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound
from tests.fakes.governance_agents import SCHEME, Agents

if TYPE_CHECKING:
    from tests.fakes.governance import Tide

FILE = "organisation: {slug: ebb, name: Ebb, owner: una}\nmembers: {una: {firstname: Una, account: una}}\n"


def pseudonym(subject: str) -> str:
    return f"account-{subject}"


def test_an_invitation_ends_with_who_sent_it(tide: Tide) -> None:
    """Else a member who is removed comes back by a link made before."""
    _, secret = tide.do("Guest", structure.invite)
    tide.do("Ada", structure.remove_member, member_id=tide.member("Guest").id)
    for who in ("Guest", "Eve"):
        with pytest.raises(NotFound):
            tide.do(who, structure.accept_invitation, secret=secret, firstname=who)
    assert {one.name for one in tide.all(MEMBERS) if not one.left_at} == {"Ada", "Vi"}


@pytest.mark.parametrize("deadline", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_a_deadline_that_utc_does_not_have_is_refused(tide: Tide, deadline: str) -> None:
    given = {"channel_id": tide.channel().id, "title": "Soup?", "mode": "single", "options": ["Yes", "No"]}
    with pytest.raises(InvalidInput):
        tide.do("Ada", processes.open_vote, **given, deadline=deadline)


@pytest.mark.parametrize("name", ["\u3164", "\u2800", "\u115f\u1160", "\ufe0f", "\u034f", "\u200d \u200d", "A\u3164da"])
def test_a_name_that_shows_nothing_or_hides_something_is_refused(tide: Tide, name: str) -> None:
    with pytest.raises(InvalidInput):
        tide.do("Guest", structure.change_profile, firstname=name)


@pytest.mark.parametrize("text", ["\u200b", "\u3164 \u3164", "\u200d\n\u200d"])
def test_a_message_that_shows_nothing_is_refused(tide: Tide, text: str) -> None:
    with pytest.raises(InvalidInput):
        tide.do("Guest", conversation.send_message, channel_id=tide.channel().id, text=text)


@pytest.mark.parametrize("name", ["wat\u200dch", "WATCH\ufe0f", "\uff37atch"])
def test_a_team_that_looks_like_another_is_refused(tide: Tide, name: str) -> None:
    with pytest.raises(Conflict):
        tide.do("Ada", structure.create_team, parent_team_id=tide.team("Tide").id, name=name)


def test_what_a_token_leaves_out_stands_in_no_process_and_in_no_record(tide: Tide) -> None:
    role, watch = tide.role("Watch", "Referee"), tide.channel("Watch").id
    vi, agents = tide.member("Vi").id, Agents(tide.governance)
    election = tide.do("Vi", processes.open_election, channel_id=watch, role_id=role.id)
    tide.do("Vi", structure.assign_role, role_id=role.id, revision=1, member_id=tide.member("Guest").id)
    places = ["decisions", f"channels/{watch}/messages", f"channels/{watch}/messages/{election.id}/thread"]

    def told(*kinds: str) -> dict[str, Any]:
        token = agents.token(tide, "Vi", kinds=("organisation", "decisions", "messages", "topics", *kinds))
        return {one: json.loads(agents.read(token, f"{SCHEME}://orgas/tide/{one}")) for one in places}

    def diffs(*kinds: str) -> list[Any]:
        return [(one["diff"]["before"], one["diff"]["after"]) for one in told(*kinds)["decisions"]["decisions"]]

    def tools(*kinds: str) -> list[Any]:
        found = told(*kinds)
        return [found[places[1]]["messages"][0]["embeddedTool"], found[places[2]]["parent"]["embeddedTool"]]

    assert all({"roleTitle", "roleId", "teamId"} <= one.keys() for one in tools("roles", "teams"))
    assert all({"roleTitle", "roleId", "teamId"} & one.keys() == {"teamId"} for one in tools("teams"))
    assert all({"roleTitle", "roleId", "teamId"} & one.keys() == set() for one in tools())
    assert ({"member": vi}, {"member": tide.member("Guest").id}) in diffs("roles", "members")
    assert vi not in json.dumps(diffs("roles"))
    assert role.id not in json.dumps(diffs("roles"))
    leader, parent = tide.team("Watch").leader, tide.team("Tide").id
    for kinds, seen in (
        (("teams",), {parent}),
        (("teams", "roles", "members"), {parent, leader}),
        (("teams", "channels"), {parent, watch}),
    ):
        assert {one for one in (parent, leader, watch) if one in json.dumps(diffs(*kinds))} == seen


def test_a_file_never_removes_what_somebody_founds_meanwhile(tide: Tide) -> None:
    """What an interrupted run left is a mark on a name that the next run clears, with all that the name has."""
    plan, table = founding(FILE, tide.governance), tide.store.table
    mark = NAMES.at("ebb", UNFINISHED)
    table.write(table.put(mark, {"account": pseudonym("una")}))
    given = {"slug": "ebb", "name": "Ebb"}
    for who in ("Una", "Eve"):
        with pytest.raises(Conflict):
            tide.do(who, structure.found_organisation, **given, firstname=who)
    table.write(table.delete(mark))
    tide.do("Eve", structure.found_organisation, **given, firstname="Eve")
    with pytest.raises(Conflict):
        carry_out(plan, tide.governance, pseudonym)
    assert [one.name for one in tide.store.all("ebb", MEMBERS)] == ["Eve"]
    assert table.get(mark) is None
