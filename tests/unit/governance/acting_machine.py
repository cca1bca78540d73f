"""Members and their agents do things at random, while transactions conflict and answers are lost: every change by an
agent is in the journal, once, and every record of the journal is of a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from botocore.exceptions import ReadTimeoutError
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from commonplace.governance import conversation, processes, structure
from commonplace.governance.model import Decision
from commonplace.governance.store import AGENTS, CHANNELS, JOURNAL, MEMBERS, MESSAGES, PROCESSES
from commonplace.identity.principals import Principal
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.items import Item, decode
from commonplace.web.operations import Actor
from tests.fakes.failing import CANCELED, refusal
from tests.fakes.governance import Tide, found_tide

PEOPLE = ("Ada", "Vi", "Guest")
MADE = ("gov#messages", "gov#replies", "gov#answers", "gov#reactions")
"""Rooms of what agents make."""
TYPES = {"messages": {"Message", "Reaction"}, "topics": {"TopicResponse", "Clarification"}, "votings": {"Voting"}}
TYPES |= {"elections": {"ElectionResponse", "Nomination"}}
Items = Mapping[tuple[str, str], Item]


class Unreliable:
    """A client of DynamoDB whose next transactions conflict, lose their answers, or come after another change."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.conflicts = 0
        self.loses = False
        self.before: Callable[[], object] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def transact_write_items(self, **request: Any) -> Any:
        if self.conflicts:
            self.conflicts -= 1
            raise refusal(CANCELED, "None", "TransactionConflict")
        if (first := self.before) is not None:
            self.before = None
            first()
        answer = self.client.transact_write_items(**request)
        if self.loses:
            self.loses = False
            raise ReadTimeoutError(endpoint_url="dynamodb")
        return answer


def room_of(pk: str) -> str:
    return pk.partition("#")[2]


class ActingMachine(RuleBasedStateMachine):
    """`client` is set by the test."""

    client: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.line = Unreliable(self.client)
        self.tide: Tide = found_tide(self.line)  # type: ignore[arg-type]
        self.agents: list[Actor] = []
        watch = self.tide.channel("Watch").id
        self.channels = {None: self.tide.channel().id, "Watch": watch}
        vote = {"title": "When?", "mode": "single", "options": ["Sat", "Sun"]}
        self.processes = [
            self.tide.do("Vi", processes.open_topic, channel_id=watch, title="Count", description="Twice").id,
            self.tide.do("Ada", processes.open_vote, channel_id=self.channels[None], **vote).id,
            self.tide.do("Vi", processes.open_election, channel_id=watch, role_id=self.role.id).id,
        ]
        self.connect("Vi", acts=True, narrow=False)
        self.connect("Ada", acts=True, narrow=False)

    @property
    def role(self) -> Any:
        return self.tide.role("Watch", "Referee")

    def items(self) -> Items:
        """Return the whole table."""
        found = self.tide.store.table.scan("attribute_exists(pk)")
        return {(item["pk"], item["sk"]): item for item in found}

    def step(self, do: Callable[[], Any]) -> tuple[Any, Items, Items]:
        """Do something, and compare the table before and after it."""
        before = self.items()
        try:
            result = do()
        except CommonplaceError as refused:
            result = refused
        self.line.conflicts, self.line.loses, self.line.before = 0, False, None
        return result, before, self.items()

    def made(self, before: Items, after: Items) -> list[tuple[str, Item]]:
        """Return what agents made in a step: the room, and the item."""
        changed = ((key, item) for key, item in after.items() if before.get(key) != item)
        found = [(room_of(pk), item) for (pk, _), item in changed if room_of(pk) in MADE and item.get("client")]
        for (pk, sk), item in before.items():
            if room_of(pk) == "gov#answers" and not item.get("client"):
                now = after.get((pk, sk), item)
                assert not now.get("client"), "an agent replaced what a member answered in person"
        return found

    def recorded(self, before: Items, after: Items) -> list[Decision]:
        new = [item for (pk, sk), item in after.items() if room_of(pk) == JOURNAL.name and (pk, sk) not in before]
        return [one for one in (decode(Decision, item) for item in new) if one.grant]

    def pairs(self, before: Items, after: Items, grant: str | None = None) -> int:
        """Check that records and what agents made belong together; return how many there are."""
        records, made = self.recorded(before, after), self.made(before, after)
        assert len(records) == len(made)
        for record, (room, item) in zip(records, made, strict=True):
            assert grant in (None, record.grant)
            assert record.type in TYPES[record.target_type]
            target = item["sk"]
            if room == "gov#answers":
                target = re.split(r"\.(?:question|response|ballot|nomination)\.", target)[0]
            elif room == "gov#reactions":
                target = target.rsplit(".", 2)[0]
            assert record.target == target
            assert item["client"] == record.client
            assert record.role == f"AI Agent (via {record.name})"
            assert {"answered"} <= record.after.keys() <= {"answered", "phase", "round"}
        return len(records)

    @rule(name=st.sampled_from(PEOPLE), acts=st.booleans(), narrow=st.booleans())
    def connect(self, name: str, acts: bool, narrow: bool) -> None:
        if name in self.present() and len(self.agents) < 6:
            self.agents.append(self.tide.agent(name, () if narrow else None, None, acts=acts))

    def present(self) -> set[str]:
        return {one.firstname for one in self.tide.all(MEMBERS) if one.left_at is None}

    @rule(
        data=st.data(),
        tool=st.sampled_from(["send", "reply", "react", "vote", "respond", "ask", "nominate", "elect"]),
        trouble=st.sampled_from(["", "", "conflict", "lost", "revoked", "role", "in person", "switched"]),
    )
    @precondition(lambda self: self.agents)
    def act(self, data: st.DataObject, tool: str, trouble: str) -> None:
        agent = data.draw(st.sampled_from(self.agents))
        name, given = self.drawn(data, tool)
        match trouble:
            case "conflict":
                self.line.conflicts = 3
            case "lost":
                self.line.loses = True
            case "revoked":
                self.line.before = lambda: self.revoke(agent.principal)
            case "role":
                self.line.before = self.pass_on
            case "in person":
                self.line.before = lambda: self.answer("Vi", data)
            case "switched":
                self.line.before = lambda: self.switch(acts=False)
        result, before, after = self.step(lambda: self.tide.act(agent, name, **given))
        count = self.pairs(before, after, agent.principal.grant)
        if isinstance(result, CommonplaceError):
            assert count == 0 or (trouble == "lost" and result.status == 503)
        else:
            assert count == result.changed
            if result.changed:
                self.could_in_person(agent, given)
        # A refusal writes a counter at most; whatever else changed was somebody else's doing, in between.
        if count == 0 and trouble in ("", "conflict"):
            assert {room_of(pk) for (pk, sk), item in after.items() if before.get((pk, sk)) != item} <= {AGENTS.name}

    def drawn(self, data: st.DataObject, tool: str) -> tuple[str, dict[str, Any]]:
        topic, vote, election = self.processes
        channel = data.draw(st.sampled_from(list(self.channels.values())))
        messages = [*self.processes, *(one.id for one in self.tide.all(MESSAGES))]
        response = {"response": data.draw(st.sampled_from(["consent", "objection"])), "reason": "So far"}
        match tool:
            case "send":
                return "send_message", {"channel_id": channel, "text": "Hello"}
            case "reply":
                parent = data.draw(st.sampled_from(messages))
                return "send_message", {"channel_id": channel, "text": "Yes", "thread_parent_id": parent}
            case "react":
                emoji = data.draw(st.sampled_from(["👍", "👀"]))
                return "react_to_message", {"message_id": data.draw(st.sampled_from(messages)), "emoji": emoji}
            case "vote":
                return "cast_vote", {"message_id": vote, "choices": [data.draw(st.sampled_from(["1", "2", "3"]))]}
            case "respond":
                return "respond_to_topic", {"message_id": topic, **response}
            case "ask":
                return "ask_clarification", {"message_id": topic, "question": "Why?"}
            case "nominate":
                nominee = data.draw(st.sampled_from([one.id for one in self.tide.all(MEMBERS)]))
                return "nominate_member", {"message_id": election, "nominee_id": nominee, "reason": "Knows it"}
        return "respond_to_election", {"message_id": election, **response}

    def could_in_person(self, agent: Actor, given: Mapping[str, Any]) -> None:
        """Check by the rules that the member may do it now, and that nothing stands against agents."""
        place = str(given.get("message_id") or given["channel_id"]).partition(".")[0]
        member = next(one for one in self.tide.all(MEMBERS) if one.account == agent.principal.account)
        channel = next(one for one in self.tide.all(CHANNELS) if one.id == place)
        assert channel.kind != "dm"
        assert member.left_at is None
        assert channel.team is None or channel.team in member.teams
        assert self.tide.store.organisation("tide").agents_act
        assert agent.principal.permission == "action"

    @rule(name=st.sampled_from(PEOPLE), data=st.data())
    def answer(self, name: str, data: st.DataObject) -> None:
        topic, vote, election = self.processes
        what = data.draw(st.sampled_from(["vote", "topic", "election", "react"]))
        places = {"vote": vote, "topic": topic, "election": election, "react": topic}
        given: dict[str, Any] = {"message_id": places[what]}
        called: Any = processes.respond
        match what:
            case "vote":
                called, given = processes.cast_vote, given | {"choices": [data.draw(st.sampled_from(["1", "2"]))]}
            case "react":
                called, given = conversation.react_to_message, given | {"emoji": "👍"}
            case _:
                given |= {"response": data.draw(st.sampled_from(["consent", "stand_aside"]))}
        self.quietly(name, called, **given)

    def quietly(self, name: str, called: Any, **given: Any) -> None:
        with suppress(CommonplaceError):
            self.tide.do(name, called, **given)

    @rule(data=st.data())
    @precondition(lambda self: self.agents)
    def outrank(self, data: st.DataObject) -> None:
        """Let a member vote, and an agent of that member otherwise."""
        agent, vote = data.draw(st.sampled_from(self.agents)), self.processes[1]
        member = next(
            one for one in self.tide.all(MEMBERS) if one.id == getattr(agent.principal.membership, "member", "")
        )
        self.quietly(member.firstname, processes.cast_vote, message_id=vote, choices=["1"])
        result, before, after = self.step(lambda: self.tide.act(agent, "cast_vote", message_id=vote, choices=["2"]))
        assert isinstance(result, CommonplaceError)
        assert self.pairs(before, after) == 0

    @rule(name=st.sampled_from(PEOPLE), data=st.data())
    def in_person(self, name: str, data: st.DataObject) -> None:
        _, before, after = self.step(lambda: self.answer(name, data))
        assert self.pairs(before, after) == 0

    @rule(phase=st.sampled_from(["consent", "clarification", "discussion"]), at=st.sampled_from([0, 2]))
    def move(self, phase: str, at: int) -> None:
        process = self.tide.store.get("tide", PROCESSES, self.processes[at])
        nominated = [one.nominee for one in self.tide.store.answers("tide", process.id) if one.nominee]
        named = {"candidate_id": nominated[0]} if at == 2 and phase == "consent" and nominated else {}
        self.quietly("Vi", processes.move_on, message_id=process.id, phase=phase, **named)

    @rule()
    def pass_on(self) -> None:
        """Give Vi's roles to Guest and back, so that agents gain and lose channels."""
        holder = "Guest" if self.role.member == self.tide.member("Vi").id else "Vi"
        if holder in self.present():
            for title in ("Leader", "Secretary", "Referee"):
                role = self.tide.role("Watch", title)
                given = {"role_id": role.id, "revision": role.revision, "member_id": self.tide.member(holder).id}
                self.quietly("Ada", structure.assign_role, **given)

    @rule(acts=st.booleans())
    def switch(self, acts: bool) -> None:
        revision = self.tide.store.organisation("tide").revision
        self.quietly("Ada", structure.change_agents, revision=revision, agents_act=acts)

    @rule(data=st.data())
    @precondition(lambda self: len(self.agents) > 2)
    def end(self, data: st.DataObject) -> None:
        agent = data.draw(st.sampled_from(self.agents))
        self.revoke(agent.principal)

    def revoke(self, principal: Principal) -> None:
        assert principal.grant
        self.tide.grants.revoke(principal.grant, "person", int(self.tide.clock()))

    @invariant()
    def agents_count_what_they_did(self) -> None:
        records = [one.grant for one in self.tide.all(JOURNAL)]
        for agent in self.tide.all(AGENTS):
            assert agent.actions == records.count(agent.id)
