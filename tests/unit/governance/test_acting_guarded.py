"""The seven tools through the guard, in both eras: what they return, and each refusal with its hint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from commonplace.governance import conversation, processes, structure
from commonplace.governance.acting import TOOLS
from commonplace.governance.store import ANSWERS, JOURNAL, MESSAGES
from tests.fakes.governance import Tide
from tests.fakes.governance_agents import Agents
from tests.unit.web.mcp.guarded import bearer, outcome
from tests.unit.web.mcp.world import Context, body_of, legacy, modern

ERAS = pytest.mark.parametrize("era", [modern, legacy])


@pytest.fixture
def agents(tide: Tide) -> Agents:
    return Agents(tide.governance, stored=tide.grants)


def lunch(tide: Tide, mode: str = "single", channel: str | None = None) -> Any:
    given = {"channel_id": channel or tide.channel().id, "title": "Lunch?", "options": ["Soup", "Salad", "Bread"]}
    return tide.do("Ada", processes.open_vote, mode=mode, **given)


def error(answer: Any) -> str:
    """Return the text of a refusal."""
    told = outcome(answer)
    assert told.startswith("denied: "), told
    return told


def result(answer: Any) -> Any:
    assert outcome(answer) == "ok", answer
    return body_of(answer)["result"]


@ERAS
def test_each_tool_returns_what_it_recorded_and_for_whom(tide: Tide, agents: Agents, era: Callable[..., Any]) -> None:
    token, channel = agents.token(tide, "Vi", acts=True), tide.channel().id
    topic = tide.do("Ada", processes.open_topic, channel_id=channel, title="Paint", description="Blue.").id
    role = tide.role("Watch", "Referee").id
    election = tide.do("Vi", processes.open_election, channel_id=tide.channel("Watch").id, role_id=role).id
    vote, said = lunch(tide).id, []

    def act(tool: str, **given: Any) -> Any:
        found = result(agents.act(token, tool, era, **given))
        assert "in the name of Vi" in found["content"][0]["text"]
        assert found["structuredContent"]["onBehalfOf"] == "Vi"
        said.append(found["structuredContent"].get("decisionId"))
        return found["structuredContent"]

    sent = act("send_message", channelId=channel, text="Hello")
    act("send_message", channelId=channel, text="And more", threadParentId=sent["messageId"])
    assert act("react_to_message", messageId=sent["messageId"], emoji="thumbsup")["emoji"] == "👍"
    assert act("cast_vote", messageId=vote, choices=["2"])["choices"] == ["2"]
    assert act("ask_clarification", messageId=topic, question="Which blue?")["clarificationId"]
    nominee = tide.member("Vi").id
    assert act("nominate_member", messageId=election, nomineeId=nominee, reason="Calm")["nomineeId"] == nominee
    tide.do("Ada", processes.move_on, message_id=topic, phase="consent")
    assert act("respond_to_topic", messageId=topic, response="consent")["response"] == "consent"
    tide.do("Vi", processes.move_on, message_id=election, phase="discussion")
    tide.do("Vi", processes.move_on, message_id=election, phase="consent", candidate_id=nominee)
    assert act("respond_to_election", messageId=election, response="stand_aside")["round"] == 1
    by_agents = [one.id for one in tide.all(JOURNAL) if one.client and one.type != "Grant"]
    assert sorted(by_agents) == sorted(filter(None, said))
    assert len(by_agents) == 8


@ERAS
def test_annotations_say_what_each_tool_does(tide: Tide, agents: Agents, era: Callable[..., Any]) -> None:
    token = agents.token(tide, "Vi", acts=True)
    listed = {one["name"]: one["annotations"] for one in result(agents.ask(token, "tools/list", {}, era))["tools"]}
    for one in TOOLS:
        told = listed[one.name]
        assert (told["readOnlyHint"], told["destructiveHint"], told["openWorldHint"]) == (False, False, False)
        assert told["idempotentHint"] is (one.name not in ("send_message", "ask_clarification"))
    headers = bearer(token) | {"x-mcp-readonly": "true"}
    hidden = agents.handler(era("tools/list", {}, headers, path="/mcp/governance"), cast(Any, Context()))
    assert [one["name"] for one in result(hidden)["tools"]] == ["search_messages"]


@ERAS
def test_a_reading_token_steps_up(tide: Tide, agents: Agents, era: Callable[..., Any]) -> None:
    answer = agents.act(agents.token(tide, "Vi"), "send_message", era, channelId=tide.channel().id, text="Hello")
    assert answer["statusCode"] == 403
    assert "governance:write" in answer["headers"]["www-authenticate"]
    assert outcome(answer) == "403 insufficient_scope"
    assert not tide.all(MESSAGES)


@ERAS
def test_each_refusal_names_what_is_valid_or_who_can_help(tide: Tide, agents: Agents, era: Callable[..., Any]) -> None:
    token, channel = agents.token(tide, "Vi", acts=True), tide.channel().id
    topic = tide.do("Ada", processes.open_topic, channel_id=channel, title="Paint", description="Blue.").id
    single, ranked, ended = lunch(tide).id, lunch(tide, "ranked").id, lunch(tide).id
    tide.do("Ada", processes.move_on, message_id=ended, phase="closed")
    tide.do("Vi", processes.cast_vote, message_id=lunch(tide).id, choices=["1"])
    mine = tide.all(ANSWERS)[0].id.partition(".ballot")[0]
    election = tide.do(
        "Vi", processes.open_election, channel_id=tide.channel("Watch").id, role_id=tide.role("Watch", "Referee").id
    ).id
    before = (tide.all(MESSAGES), tide.all(ANSWERS), tide.all(JOURNAL))

    def refused(tool: str, **given: Any) -> str:
        return error(agents.act(token, tool, era, **given))

    assert "ask_clarification" in refused("respond_to_topic", messageId=topic, response="consent")
    assert "ended" in refused("cast_vote", messageId=ended, choices=["1"])
    assert "1 (Soup), 2 (Salad), 3 (Bread)" in refused("cast_vote", messageId=single, choices=["9"])
    assert "every option" in refused("cast_vote", messageId=ranked, choices=["1"])
    assert "reason" in refused("respond_to_topic", messageId=topic, response="objection")
    assert "in person" in refused("cast_vote", messageId=mine, choices=["2"])
    assert "member" in refused("nominate_member", messageId=election, nomineeId="mb_1", reason="Calm")
    direct = tide.do("Vi", conversation.open_direct, member_id=tide.member("Ada").id).id
    secret = tide.do("Vi", conversation.send_message, channel_id=direct, text="Between us").id
    unknown = refused("send_message", channelId="ch_unknown", text="Hello")
    foreign = [refused("send_message", channelId=one, text="Hello") for one in (direct, "x" * 20)]
    assert {unknown, *foreign} == {unknown}
    assert channel in unknown
    assert direct not in unknown
    reacted = {refused("react_to_message", messageId=one, emoji="👍") for one in (secret, f"{channel}.no", "a.b.c.d")}
    assert len(reacted) == 1
    assert refused("send_message", channelId=channel, text="Hi", threadParentId=f"{tide.channel('Watch').id}.no")
    for emoji in ("👍" * 2_500, "word", "\u200d"):
        assert "emoji" in refused("react_to_message", messageId=single, emoji=emoji)
    assert refused("send_message", channelId=channel, text="\u200b\u200d")
    assert (tide.all(MESSAGES), tide.all(ANSWERS), tide.all(JOURNAL)) == before
    tide.do("Ada", structure.change_agents, revision=tide.store.organisation("tide").revision, agents_act=False)
    assert "Ada" in refused("send_message", channelId=channel, text="Hello")


def test_kinds_that_a_token_leaves_out_are_refused(tide: Tide, agents: Agents) -> None:
    token = agents.token(tide, "Vi", acts=True, kinds=("organisation", "channels"))
    answer = agents.act(token, "send_message", channelId=tide.channel().id, text="Hello")
    assert outcome(answer) != "ok"
    assert not tide.all(MESSAGES)


def test_a_grant_that_was_revoked_is_refused_at_the_door(tide: Tide, agents: Agents) -> None:
    claims = agents.claims(tide, "Vi", acts=True)
    token = agents.signed(claims)
    tide.grants.revoke(agents.realm.grant_of(claims).id, "person", int(tide.clock()))
    answer = agents.act(token, "send_message", channelId=tide.channel().id, text="Hello")
    assert answer["statusCode"] == 401
    assert not tide.all(MESSAGES)


def test_text_and_names_of_members_give_no_mark_of_an_agent(tide: Tide, agents: Agents) -> None:
    token = agents.token(tide, "Vi", acts=True)
    sent = result(agents.act(token, "send_message", channelId=tide.channel().id, text="AI Agent (via Ada): yes"))
    (message,) = tide.all(MESSAGES)
    assert (message.client, message.author) == ("Helper", tide.member("Vi").id)
    assert "AI Agent (via Ada)" not in json.dumps(sent)
