"""A machine that changes the structure of an organisation in any order, and looks at what must hold after each change.

`client` is set by the test: moto's DynamoDB, or DynamoDB Local.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commonplace.governance import structure
from commonplace.governance.model import Member, Policy, Role, Team
from commonplace.governance.store import ACTIVE, CHANNELS, FEED, JOURNAL, MEMBERS, POLICIES, ROLES, TEAMS, TEXTS
from commonplace.kernel.errors import Conflict, Forbidden, NotFound
from commonplace.web.operations import Operation
from tests.fakes.governance import agent, found_tide

PEOPLE = ("Ada", "Vi", "Guest", "Kim")
people = st.sampled_from(PEOPLE)
names = st.sampled_from(["Tide", "watch", "Lamp", "LAMP", "Bell"])
which = st.integers(0, 20)
ABOUT = {"title": "Lamps", "abstract": "", "text": "At night"}
CHANGES: list[tuple[Operation, str]] = [
    *((one, "team") for one in (structure.create_team, structure.change_team, structure.delete_team)),
    *((one, "role") for one in (structure.change_role, structure.assign_role, structure.delete_role)),
    *((structure.create_role, "team"), (structure.create_policy, "role"), (structure.delete_policy, "policy")),
    *((structure.remove_member, "member"), (structure.transfer_ownership, "member")),
]
"""Changes, and the kind of thing that each is of."""


class StructureMachine(RuleBasedStateMachine):
    client: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.tide = found_tide(self.client)
        self.numbers: list[int] = []
        self.read()

    def read(self) -> None:
        """Read everything, as it is after a change."""
        self.teams: list[Team] = self.tide.all(TEAMS)
        self.roles: list[Role] = self.tide.all(ROLES)
        self.members: list[Member] = self.tide.all(MEMBERS)
        self.policies: list[Policy] = self.tide.all(POLICIES)
        self.journal = {one.id for one in self.tide.all(JOURNAL)}

    def try_to(self, who: str, operation: Operation, **given: Any) -> Any:
        """Do something that may be refused: what was done is one record of the journal, what was refused is none."""
        feed, before, result = len(self.tide.all(FEED)), self.journal, None
        was = (self.teams, self.roles, self.members, self.policies)
        with suppress(Conflict, Forbidden, NotFound):
            result = self.tide.do(who, operation, **given)
        self.read()
        written = len(self.journal - before)
        assert before <= self.journal
        assert written == len(self.tide.all(FEED)) - feed <= 1
        if not written:
            assert was == (self.teams, self.roles, self.members, self.policies)
        return result

    def of(self, kind: str, number: int) -> dict[str, Any]:
        """Return which thing is meant, and its revision; of a member, which no change takes, the id alone."""
        records: list[Any] = getattr(self, {"policy": "policies"}.get(kind, f"{kind}s")) or [None]
        one = records[number % len(records)]
        given = {f"{kind}_id": one.id if one else "none", "revision": one.revision if one else 1}
        return {"member_id": given["member_id"]} if kind == "member" else given

    @rule(who=people, done=st.sampled_from([*CHANGES, "join", "leave"]), number=which, other=which, name=names)
    def change(self, who: str, done: Any, number: int, other: int, name: str) -> None:
        heir = self.of("member", other)
        if done == "join":
            if invited := self.try_to(PEOPLE[number % len(PEOPLE)], structure.invite):
                self.try_to(who, structure.accept_invitation, secret=invited[1], firstname=who)
        elif done == "leave":
            mine = next((one.roles for one in self.members if one.name == who and not one.left_at), {})
            for role in mine:
                revision = next(one.revision for one in self.roles if one.id == role)
                self.try_to(who, structure.assign_role, role_id=role, revision=revision, **heir)
            self.try_to(who, structure.leave_organisation)
        else:
            operation, kind = done
            given = {**ABOUT, "name": name, "type": [None, "referee"][other % 2], **heir, **self.of(kind, number)}
            given["parent_team_id"] = self.of("team", other)["team_id"]
            # Policies are their role's holder's: it is they who mostly try.
            holders = {one.id: one.member for one in self.roles}
            holders |= {one.id: holders[one.role] for one in self.policies}
            holder = holders.get(given.get(f"{kind}_id", ""))
            who = next((one.name for one in self.members if one.id == holder and other % 4), who)
            taken = {field: value for field, value in given.items() if field in operation.input.model_fields}
            if (made := self.try_to(who, operation, **taken)) and operation is structure.create_policy:
                self.numbers.append(made.number)

    @invariant()
    def teams_are_one_tree_without_a_name_twice(self) -> None:
        parents = {one.id: one.parent for one in self.teams}
        assert list(parents.values()).count(None) == 1
        for team in self.teams:
            above, steps = team.parent, 0
            while above is not None:
                above, steps = parents[above], steps + 1
                assert steps < len(parents)
        assert max(Counter(one.name.casefold() for one in self.teams).values()) == 1

    @invariant()
    def each_team_has_one_leader_and_a_channel(self) -> None:
        leaders = {one.team: one.id for one in self.roles if one.type == "leader"}
        assert leaders == {one.id: one.leader for one in self.teams}
        assert sum(one.type == "leader" for one in self.roles) == len(self.teams)
        open_ones = {one.team: one.id for one in self.tide.all(CHANNELS) if one.team and not one.archived_at}
        assert open_ones == {one.id: one.channel for one in self.teams}
        assert self.tide.all(ACTIVE) == []

    @invariant()
    def roles_are_held_by_members_who_say_so_and_nobody_else(self) -> None:
        held = {role: (one.id, team) for one in self.members for role, team in one.roles.items()}
        assert held == {one.id: (one.member, one.team) for one in self.roles}
        assert sum(len(one.roles) for one in self.members) == len(self.roles)

    @invariant()
    def those_who_left_have_neither_account_nor_role_and_the_owner_is_here(self) -> None:
        here = {one.id: one for one in self.members if one.left_at is None}
        assert all(not one.roles and not one.account for one in self.members if one.left_at)
        assert self.tide.store.organisation("tide").owner in here
        for one in here.values():
            assert self.tide.store.membership(one.account, "tide") == one
        accounts = [one.account for one in here.values()]
        assert len(accounts) == len(set(accounts))

    @invariant()
    def policies_have_a_role_a_text_and_a_number_of_their_own(self) -> None:
        assert len(self.numbers) == len(set(self.numbers))
        assert {one.role for one in self.policies} <= {one.id for one in self.roles}
        assert [one.id for one in self.policies] == [one.id for one in self.tide.all(TEXTS)]

    @invariant()
    def an_agent_has_no_role_that_its_member_lost(self) -> None:
        for one in self.members:
            caller = agent("tide", one, [role.id for role in self.roles] + ["ro_gone"])
            try:
                assert self.tide.governance.access(caller, "tide").roles == one.roles
            except NotFound:
                assert one.left_at
