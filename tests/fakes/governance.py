"""A small organisation for tests, on any DynamoDB, and who acts in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from commonplace.governance import structure
from commonplace.governance.agent_tools import TOOLS, Recorded
from commonplace.governance.governance import Governance
from commonplace.governance.memberships import StoredMemberships
from commonplace.governance.model import Channel, Member, Role, Team
from commonplace.governance.rules import Access
from commonplace.governance.store import CHANNELS, MEMBERS, ROLES, TEAMS, Store
from commonplace.identity.memberships import ChosenMembership, Membership
from commonplace.identity.principals import Permission, Principal
from commonplace.identity.records import Grant
from commonplace.identity.secrets import digest, fresh
from commonplace.identity.store.grants import DynamoGrants
from commonplace.kernel.records import Room
from commonplace.web.mcp.declaration import Answer, Call, Caller
from commonplace.web.operations import Actor, Operation
from tests.dynamodb_fixture import new_table
from tests.examples import examples

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

R = TypeVar("R")

RESOURCE = "https://kb.example.org/mcp/governance"
AT = 1_795_000_000.0
"""When these tests begin, in epoch seconds."""


@dataclass
class Clock:
    """A clock that tests set."""

    now: float = AT

    def __call__(self) -> float:
        return self.now


def person(account: str) -> Actor:
    """Return whoever has this account, in the session of a browser."""
    scopes = frozenset({"governance:read", "governance:write", "governance:decide"})
    return Actor(Principal(subject=f"subject-{account}", account=account, scopes=scopes))


def agent(
    organisation: str, member: Member, roles: Iterable[str], kinds: Iterable[str] | None = None, until: float = AT * 2
) -> Actor:
    """Return an agent with a grant of a member for these roles and kinds."""
    held = Membership(
        organisation=organisation, member=member.id, roles=frozenset(roles), expires_at=int(until), client="Reader"
    )
    return Actor(
        Principal(
            subject=f"subject-{member.account}",
            account=member.account,
            scopes=frozenset({"governance:read"}),
            permission="readonly",
            resource_scopes=None if kinds is None else frozenset(kinds),
            membership=held,
            client="Reader",
            grant="grant",
            token="token",
        )
    )


@dataclass
class Tide:
    """The organisation `tide`: Ada owns it and holds the roles of its root team, Vi those of the team Watch, and Guest
    none. `member`, `team`, `role` read by name as things are now."""

    governance: Governance
    clock: Clock
    slug: str = "tide"
    people: dict[str, Actor] = field(default_factory=dict)

    @cached_property
    def grants(self) -> DynamoGrants:
        """Where members' grants are, with their records in the journal."""
        client, activity = self.store.table._client, self.store.records._activity
        journal: Any = {"memberships": StoredMemberships(self.store), "clock": self.clock, "sleep": lambda _: None}
        return DynamoGrants(client, self.store.grants.name, activity, **journal)

    @property
    def store(self) -> Store:
        return self.governance.store

    def do(self, who: str, operation: Operation, /, **given: Any) -> Any:
        """Do something as a person, a second after what was done before, with the input checked as everywhere."""
        self.clock.now += 1
        if "orga_id" in operation.input.model_fields:
            given = {"orga_id": self.slug} | given
        return operation.run(self.governance, self.person(who), operation.accepted(given))

    def person(self, name: str) -> Actor:
        return self.people.setdefault(name, person(f"account-{name.lower()}"))

    def join(self, name: str, by: str = "Ada") -> Member:
        """Make somebody a member by an invitation."""
        _, secret = self.do(by, structure.invite)
        found: Member = self.do(name, structure.accept_invitation, secret=secret, firstname=name)
        return found

    def all(self, room: Room[R]) -> list[R]:
        return self.store.all(self.slug, room)

    def member(self, name: str) -> Member:
        return next(one for one in self.all(MEMBERS) if one.name == name)

    def team(self, name: str) -> Team:
        return next(one for one in self.all(TEAMS) if one.name == name)

    def role(self, team: str, title: str) -> Role:
        id = self.team(team).id
        return next(one for one in self.all(ROLES) if one.team == id and one.title == title)

    def channel(self, team: str | None = None) -> Channel:
        """Return the channel of a team, or that of the organisation."""
        id = self.team(team).id if team else None
        return next(one for one in self.all(CHANNELS) if one.kind != "dm" and one.team == id)

    def agent(
        self,
        name: str,
        roles: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        *,
        acts: bool = True,
        client: str = "Helper",
    ) -> Actor:
        """Return an agent with a new grant of a member, which is stored: for all roles and kinds unless they are
        named."""
        member, now = self.member(name), int(self.clock())
        held = tuple(sorted(member.roles)) if roles is None else tuple(roles)
        scopes = tuple(f"governance:{level}" for level in ("read", "write", "decide")[: 3 if acts else 1])
        named = None if kinds is None else tuple(kinds)
        permission: Permission = "action" if acts else "readonly"
        grant = Grant(
            id=digest(fresh()),
            kind="person",
            subject_hash=member.account,
            client_id=client,
            client_name=client,
            resource=RESOURCE,
            scopes=scopes,
            created_at=now,
            expires_at=now + 86_400,
            permission=permission,
            resource_scopes=named,
            membership=ChosenMembership(organisation=self.slug, member=member.id, roles=held),
        )
        self.grants.open(grant)
        acting = agent(self.slug, member, held, kinds, grant.expires_at)
        bound = (
            {"membership": replace(acting.principal.membership, client=client)} if acting.principal.membership else {}
        )
        more: Any = {"scopes": frozenset(scopes), "permission": permission, "grant": grant.id, **bound}
        return replace(acting, principal=replace(acting.principal, **more))

    def act(self, actor: Actor, tool: str, /, **given: Any) -> Recorded:
        """Do something as an agent, a second after what was done before, without the guard: by its tool."""
        self.clock.now += 1
        made = next(one for one in TOOLS if one.name == tool).tool(self.governance)
        answer = made.run(Call(Caller(actor.principal)), made.arguments(**given))
        assert isinstance(answer, Answer)
        assert isinstance(answer.data, Recorded)
        return answer.data

    def access(self, name: str) -> Access:
        return self.governance.access(self.person(name), self.slug)


def found_tide(client: DynamoDBClient) -> Tide:
    """Return the organisation in new tables of a client."""
    clock = Clock()
    records, activity, identity = (new_table(client, name) for name in ("records", "activity", "identity"))
    store = Store(client, records, activity, identity, clock=clock, sleep=lambda _: None)
    tide = Tide(Governance(store=store, reserved=frozenset({"house"})), clock)
    tide.do("Ada", structure.found_organisation, slug="tide", name="Tide", firstname="Ada")
    tide.join("Vi")
    tide.join("Guest")
    tide.do("Vi", structure.create_team, parent_team_id=tide.team("Tide").id, name="Watch", mission="Watch the water.")
    return tide


def run_machine(machine: type[Any], client: DynamoDBClient, usual: int, soak: int, steps: int) -> None:
    """Let a machine do so many steps, in so many examples, on a DynamoDB."""
    on_client = type("Machine", (machine,), {"client": client})
    checks = settings(max_examples=examples(usual, soak), stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(on_client, settings=settings(checks, suppress_health_check=list(HealthCheck)))
