"""Agents act for their members: each change with its record, and a person outranks them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from commonplace.governance import conversation, listings, processes, structure
from commonplace.governance.store import AGENTS, ANSWERS, FEED, JOURNAL, MESSAGES
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound
from tests.fakes.governance import Tide
from tests.fakes.governance_agents import SCHEME, Agents
from tests.unit.web.mcp.world import body_of


def test_an_agent_writes_a_message_in_the_name_of_its_member(tide: Tide) -> None:
    helper = tide.agent("Vi")
    done = tide.act(helper, "send_message", channel_id=tide.channel("Watch").id, text="The tide is out.")
    (message,) = (one for one in tide.all(MESSAGES) if one.id == done.message_id)
    assert (message.author, message.client, message.text) == (tide.member("Vi").id, "Helper", "The tide is out.")
    decision = next(one for one in tide.all(JOURNAL) if one.id == done.decision_id)
    assert (decision.role, decision.client, decision.grant) == ("AI Agent (via Vi)", "Helper", helper.principal.grant)
    assert (decision.target, decision.after, decision.team) == (done.message_id, {"answered": True}, "Watch")
    assert tide.all(AGENTS)[0].actions == 1


def test_what_a_member_answered_in_person_no_agent_replaces(tide: Tide) -> None:
    vote = tide.do(
        "Ada", processes.open_vote, channel_id=tide.channel().id, title="When?", mode="single", options=["Sat", "Sun"]
    )
    helper = tide.agent("Vi")
    assert tide.act(helper, "cast_vote", message_id=vote.id, choices=["1"]).changed
    assert not tide.act(helper, "cast_vote", message_id=vote.id, choices=["1"]).changed
    tide.do("Vi", processes.cast_vote, message_id=vote.id, choices=["1"])
    assert [one.client for one in tide.all(ANSWERS)] == [""]
    with pytest.raises(Conflict, match="Vi answered this in person"):
        tide.act(helper, "cast_vote", message_id=vote.id, choices=["2"])
    assert len([one for one in tide.all(JOURNAL) if one.type == "Voting"]) == 1
    assert tide.all(AGENTS)[0].refused == 1


def test_an_agent_reacts_and_its_member_takes_it_back(tide: Tide) -> None:
    message = tide.do("Ada", conversation.send_message, channel_id=tide.channel().id, text="Hello")
    helper = tide.agent("Vi")
    assert tide.act(helper, "react_to_message", message_id=message.id, emoji="thumbsup").changed
    assert not tide.act(helper, "react_to_message", message_id=message.id, emoji="👍").changed
    assert tide.do("Vi", conversation.react_to_message, message_id=message.id, emoji="👍") is False


def test_a_grant_that_ended_acts_no_more(tide: Tide) -> None:
    helper = tide.agent("Vi")
    assert helper.principal.grant
    tide.grants.revoke(helper.principal.grant, "person", int(tide.clock()))
    with pytest.raises(Forbidden, match="grant has ended"):
        tide.act(helper, "send_message", channel_id=tide.channel().id, text="Still here?")
    assert not tide.all(MESSAGES)


def test_a_reader_and_a_role_that_was_not_granted_change_nothing(tide: Tide) -> None:
    with pytest.raises(Forbidden, match="may only read"):
        tide.act(tide.agent("Vi", acts=False), "send_message", channel_id=tide.channel().id, text="Hello")
    with pytest.raises(NotFound) as missed:
        tide.act(tide.agent("Vi", roles=()), "send_message", channel_id=tide.channel("Watch").id, text="Hello")
    assert tide.channel().id in str(missed.value.hint)
    assert not tide.all(MESSAGES)


def test_marks_say_what_agents_gave_and_no_text_does(tide: Tide) -> None:
    helper, channel = tide.agent("Vi"), tide.channel("Watch").id
    fake = "AI Agent (via Ada)"
    sent = tide.act(helper, "send_message", channel_id=channel, text="From an agent").message_id
    mine = tide.do("Vi", conversation.send_message, channel_id=channel, text=fake).id
    for message in (sent, mine):
        tide.act(helper, "react_to_message", message_id=message, emoji="👍")
    tide.do("Vi", conversation.react_to_message, message_id=mine, emoji="👀")
    rows = tide.do("Vi", listings.list_messages, channel_id=channel)["messages"]
    assert {one.id: one.via for one in rows} == {sent: "Helper", mine: None}
    shown = {one.id: [(each.emoji, each.count, each.agents) for each in one.reactions] for one in rows}
    assert shown == {sent: [("👍", 1, 1)], mine: [("👀", 1, None), ("👍", 1, 1)]}
    topic = tide.do("Vi", processes.open_topic, channel_id=channel, title=fake, description=fake).id
    tide.act(helper, "ask_clarification", message_id=topic, question="Why?")
    tide.do("Vi", processes.move_on, message_id=topic, phase="consent")
    tide.act(helper, "respond_to_topic", message_id=topic, response="objection", reason="Too early")
    tool = tide.do("Vi", listings.read_thread, channel_id=channel, message_id=topic)["parent"].embedded_tool
    assert [one.via for one in (*tool.clarifications, *tool.given_responses)] == ["Helper", "Helper"]


def test_an_owner_sees_every_agent_and_ends_it(tide: Tide) -> None:
    helper, other = tide.agent("Vi"), tide.agent("Guest", acts=False)
    tide.act(helper, "send_message", channel_id=tide.channel().id, text="Hello")
    with pytest.raises(Forbidden):
        tide.act(other, "send_message", channel_id=tide.channel().id, text="Hello")
    rows = {one.member.name: one for one in tide.do("Ada", listings.list_agents)["agents"]}
    assert [(one.acts, one.actions, one.refused) for one in rows.values()] in (
        [(True, 1, 0), (False, 0, 1)],
        [(False, 0, 1), (True, 1, 0)],
    )
    assert [one.member.name for one in tide.do("Guest", listings.list_agents)["agents"]] == ["Guest"]
    with pytest.raises(Forbidden):
        tide.do("Vi", structure.end_agent, agent_id=rows["Guest"].id)
    tide.do("Ada", structure.end_agent, agent_id=rows["Vi"].id)
    grant = tide.grants.grant(rows["Vi"].id)
    assert grant is not None
    assert (grant.revoked_because, tide.grants.of_subject(grant.subject_hash)) == ("organisation", [])
    assert f"grants/{grant.id}" in tide.all(FEED)[-1].names  # whoever listens with it hears of its end
    last = tide.all(JOURNAL)[-1]
    assert (last.type, last.client, last.after, last.before["permission"]) == ("Grant", "Helper", {}, "action")
    with pytest.raises(Forbidden, match="grant has ended"):
        tide.act(helper, "send_message", channel_id=tide.channel().id, text="Again")


def test_an_owner_lets_agents_only_read(tide: Tide) -> None:
    helper = tide.agent("Vi")
    revision = tide.store.organisation("tide").revision
    with pytest.raises(Forbidden):
        tide.do("Vi", structure.change_agents, revision=revision, agents_act=False)
    changed = tide.do("Ada", structure.change_agents, revision=revision, agents_act=False, writes_a_minute=3)
    assert changed.limits == {"write": 3}
    with pytest.raises(Forbidden, match="only read") as refused:
        tide.act(helper, "send_message", channel_id=tide.channel().id, text="Hello")
    assert "Ada" in str(refused.value.hint)
    shown = listings.read_organisation.run(
        tide.governance, helper, listings.read_organisation.accepted({"orga_id": "tide"})
    )
    assert shown.you.permission == "readonly"
    assert tide.all(JOURNAL)[-1].after == {"agentsAct": False, "writesAMinute": 3}
    with pytest.raises(InvalidInput):
        tide.do("Ada", structure.change_agents, revision=changed.revision, reads_a_minute=601)


def test_limits_of_an_organisation_hold_for_each_token_raised_and_lowered(tide: Tide) -> None:
    agents = Agents(tide.governance, {"read": 60, "search": 20, "write": 10}, stored=tide.grants)
    channel, base = tide.channel().id, f"{SCHEME}://orgas/tide"

    def fit(token: str, calls: int, doing: Callable[[str], str]) -> int:
        """Return how many of these calls a token may make in the present minute."""
        return sum(not re.search("RATE_LIMITED|error 429", doing(token)) for _ in range(calls))

    def send(token: str) -> str:
        return json.dumps(body_of(agents.act(token, "send_message", channelId=channel, text="Hello")))

    def changed(**limits: int) -> None:
        revision = tide.store.organisation("tide").revision
        tide.do("Ada", structure.change_agents, revision=revision, agents_act=True, **limits)

    vi, ada, guest = (agents.token(tide, name, acts=True) for name in ("Vi", "Ada", "Guest"))
    changed(writes_a_minute=2, reads_a_minute=6)
    assert fit(vi, 4, send) == 2
    assert fit(guest, 8, lambda token: agents.read(token, f"{base}/teams")) == 6
    changed(writes_a_minute=12)
    assert fit(ada, 14, send) == 12


@pytest.mark.parametrize("surname", ["Agent", "agent (via Vi)"])
def test_nobody_is_called_like_an_agents_mark(tide: Tide, surname: str) -> None:
    _, secret = tide.do("Ada", structure.invite)
    joining: dict[str, Any] = {"secret": secret, "firstname": "A.I.", "surname": surname}
    with pytest.raises(InvalidInput, match="AI Agent"):
        tide.do("Eve", structure.accept_invitation, **joining)
    with pytest.raises(InvalidInput, match="AI Agent"):
        tide.do("Vi", structure.change_profile, firstname="A.I.", surname=surname)
    for title in ("AI Agent", "Reader (via Vi)"):
        with pytest.raises(InvalidInput):
            tide.do("Ada", structure.create_role, team_id=tide.team("Watch").id, title=title)
    tide.do(
        "Ada", processes.open_topic, channel_id=tide.channel().id, title="AI Agents here?", description="Shall they?"
    )
