"""A machine in which members come, go, change roles and write, and agents read, in two histories at a time.

Both histories have the same ids and differ in secrets alone: texts of direct messages, nominees, and reasons of
nominations. After each step agents of members read, through the judge of their tokens: no more than their member does,
nothing of another organisation, nothing after the end of grant or membership, and in both histories the same bytes.
`client` is set by the test: moto's DynamoDB, or DynamoDB Local.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commonplace.governance import conversation, model, processes, structure
from commonplace.governance.model import KINDS
from commonplace.governance.store import CHANNELS, MEMBERS, PROCESSES, ROLES
from commonplace.identity.tokens import AccessClaims
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound, Unauthorized
from commonplace.web.mcp.declaration import Call, Caller
from commonplace.web.operations import Operation
from tests.fakes.governance import Tide, found_tide
from tests.fakes.governance_agents import LISTS, PATH, SCHEME, Agents, Numbered, address_of, within
from tests.unit.web.mcp.guarded import resource

PEOPLE = ("Ada", "Vi", "Guest", "Kim")
people, which = st.sampled_from(PEOPLE), st.integers(0, 20)
FOREIGN = "Written in another organisation"
OVER = "refused: this token is not valid"


class World:
    """One history: an organisation, another one beside it in the same tables, and the tokens of agents."""

    def __init__(self, client: Any, secret: str) -> None:
        self.secret = secret
        self.numbered = Numbered()
        with self.ids():
            self.tide = found_tide(client)
            self.tide.join("Kim")
            other = Tide(self.tide.governance, self.tide.clock, slug="ebb")
            other.do("Vi", structure.found_organisation, slug="ebb", name="Tide", firstname="Vi")
            other.do("Vi", conversation.send_message, channel_id=other.channel().id, text=FOREIGN)
        self.other = other
        self.agents = Agents(self.tide.governance)
        self.claims: list[AccessClaims] = []
        self.over: set[int] = set()

    @contextmanager
    def ids(self) -> Iterator[None]:
        """Let this history count its own ids."""
        with mock.patch.object(model, "ULID", self.numbered), mock.patch.object(structure, "fresh", self.numbered):
            yield

    def read(self, number: int, place: str) -> str:
        """Return what the agent with this token reads."""
        headers = {"authorization": f"Bearer {self.agents.signed(self.claims[number])}"}
        try:
            principal = self.agents.realm.principals.identify(headers, resource(PATH))
        except Unauthorized:
            return OVER
        return self.agents.at(Call(Caller(principal)), place)

    def places(self) -> list[str]:
        slugs = (self.tide.slug, self.other.slug)
        lists = [f"{SCHEME}://orgas/{slug}{one}" for slug in slugs for one in LISTS]
        channels = [(slug, one.id) for slug in slugs for one in self.tide.store.all(slug, CHANNELS)]
        return lists + [f"{SCHEME}://orgas/{slug}/channels/{id}/messages" for slug, id in channels]


class ReadingMachine(RuleBasedStateMachine):
    client: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.worlds = [World(self.client, "limpet"), World(self.client, "whelk")]

    def try_to(self, who: str, operation: Operation, **given: Any) -> None:
        for world in self.worlds:
            told = {name: value(world) if callable(value) else value for name, value in given.items()}
            with world.ids(), suppress(Conflict, Forbidden, NotFound, InvalidInput):
                world.tide.do(who, operation, **told)

    def of(self, kind: str, number: int) -> Any:
        """Return the id of a thing in whichever history asks: the same in both."""
        room: Any = {"role": ROLES, "member": MEMBERS, "channel": CHANNELS}[kind]
        found = self.worlds[0].tide.all(room)
        return found[number % len(found)]

    @rule(who=people, number=which, holder=people)
    def assign(self, who: str, number: int, holder: str) -> None:
        role = self.of("role", number)
        member = next((one for one in self.worlds[0].tide.all(MEMBERS) if one.name == holder and not one.left_at), None)
        if member is not None:
            self.try_to(who, structure.assign_role, role_id=role.id, revision=role.revision, member_id=member.id)

    @rule(who=people)
    def leave(self, who: str) -> None:
        self.try_to(who, structure.leave_organisation)

    @rule(who=people, number=which, secret=st.booleans())
    def write(self, who: str, number: int, secret: bool) -> None:
        channel = self.of("channel", number)
        hidden = channel.kind == "dm"
        text = (lambda world: world.secret) if hidden or (secret and hidden) else "For all of the channel"
        self.try_to(who, conversation.send_message, channel_id=channel.id, text=text)

    @rule(who=people, number=which)
    def write_to_one(self, who: str, number: int) -> None:
        self.try_to(who, conversation.open_direct, member_id=self.of("member", number).id)

    @rule(who=people, number=which)
    def nominate(self, who: str, number: int) -> None:
        """Open an election in a team, and nominate in it: another member, for another reason, in each history."""
        role = self.of("role", number)
        channel = next((one.id for one in self.worlds[0].tide.all(CHANNELS) if one.team == role.team), "none")
        self.try_to(who, processes.open_election, channel_id=channel, role_id=role.id)
        elections = [one for one in self.worlds[0].tide.all(PROCESSES) if one.phase == "nomination"]
        if elections:
            self.try_to(
                who,
                processes.nominate_member,
                message_id=elections[number % len(elections)].id,
                nominee_id=lambda world: world.tide.member("Ada" if world.secret == "limpet" else "Vi").id,
                reason=lambda world: world.secret,
            )

    @rule(who=people, roles=st.integers(0, 3), kinds=st.none() | st.sets(st.sampled_from(KINDS)))
    def grant(self, who: str, roles: int, kinds: set[str] | None) -> None:
        for world in self.worlds:
            member = next((one for one in world.tide.all(MEMBERS) if one.name == who and not one.left_at), None)
            if member is not None:
                held = sorted(member.roles)[:roles]
                reach = None if kinds is None else sorted(kinds | {"organisation"})
                world.claims.append(world.agents.claims(world.tide, who, roles=held, kinds=reach))

    @rule(number=which)
    def revoke(self, number: int) -> None:
        for world in self.worlds:
            if world.claims:
                world.over.add(number % len(world.claims))
                claims = world.claims[number % len(world.claims)]
                world.agents.realm.change(claims, revoked_at=int(world.agents.realm.clock.now))

    @invariant()
    def agents_read_what_they_may_and_no_more(self) -> None:
        first, second = self.worlds
        # The last three grants stand for all: each read is many reads of the store.
        for number in range(len(first.claims))[-3:]:
            chosen = first.agents.realm.grant_of(first.claims[number])
            assert chosen.membership is not None
            member = first.tide.store.get(first.tide.slug, MEMBERS, chosen.membership.member)
            gone = number in first.over or member.left_at is not None
            for place in first.places():
                told = first.read(number, place)
                assert told == second.read(number, place), place
                assert FOREIGN not in told
                assert first.secret not in told
                assert (told == OVER) is gone, place
                if told.startswith("{"):
                    assert f"/{first.tide.slug}" in place
                    assert within(json.loads(told), json.loads(self.in_person(member.name, place))), place
                    if (channel := address_of(place)) and (team := self.team_of(channel)):
                        held = {role for role, of in member.roles.items() if of == team}
                        assert held & set(chosen.membership.roles)

    def in_person(self, name: str, place: str) -> str:
        world = self.worlds[0]
        return world.agents.at(Call(Caller(world.tide.person(name).principal)), place)

    def team_of(self, channel: str) -> str | None:
        return next(one.team for one in self.worlds[0].tide.all(CHANNELS) if one.id == channel)
