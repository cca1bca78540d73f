"""Agents act for their members: each change with its record, and a person outranks them."""

from __future__ import annotations

import pytest

from commonplace.governance import conversation, processes
from commonplace.governance.store import AGENTS, ANSWERS, JOURNAL, MESSAGES
from commonplace.kernel.errors import Conflict, Forbidden, NotFound
from tests.fakes.governance import Tide


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
