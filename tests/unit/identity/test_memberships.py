"""Tokens that act for a member of an organisation: chosen at consent, read anew at each request and each refresh."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys, subject_hash
from commonplace.identity.authorization import Need, Verdict, judge, worth_showing
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.memberships import GRANT_SECONDS, ChosenMembership, RoleHeld
from commonplace.identity.oauth.consent import RequestGone
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.principals import ALIASES, ANONYMOUS, TIERS, Principal, Tier
from commonplace.identity.records import Grant
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.tokens import AccessClaims
from commonplace.kernel.audit import Lost
from commonplace.kernel.errors import InvalidInput, RateLimited, Unauthorized, Unavailable
from commonplace.kernel.items import key
from commonplace.kernel.limits import Limiter
from commonplace.kernel.table import Table
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.throttle import Throttle
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import new_table
from tests.fakes.access_tokens import Keys
from tests.fakes.authority import AGENT, ALICE, BASE, BOB, KEY, MCP, Authority, Counters, profile, standing
from tests.fakes.memberships import CLERK, KINDS, LEAD, MemoryMemberships, take_membership

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HIVE = f"{BASE}/mcp/hive"
WEEK = GRANT_SECONDS[2]


class World:
    """An authorization server and a guard over the same memberships: Alice leads in acme, and is in zeta too."""

    def __init__(self, **more: Any) -> None:
        self.memberships = MemoryMemberships()
        self.alice = subject_hash(KEY, ALICE)
        self.member = self.memberships.join(self.alice, "acme", LEAD, CLERK)
        self.memberships.join(self.alice, "zeta")
        self.memberships.join(subject_hash(KEY, BOB), "bobs", CLERK)
        self.authority = Authority(memberships=self.memberships, **more)
        keys = RememberedKeys(Keys(self.authority.ring.signing(0)), self.authority.clock)
        self.guard = TokenPrincipals(
            AccessTokens(BASE, keys),
            self.authority.grants,
            self.authority.accounts,
            self.authority.clock,
            memberships=self.memberships,
        )

    def consent(self, subject: str = ALICE, **chosen: Any) -> str:
        """Where the browser goes: for Alice's member in acme with both roles, for a week, unless told otherwise."""
        values = {"organisation": "acme", "roles": [LEAD.id, CLERK.id], "expiry": str(WEEK)} | chosen
        begun = self.authority.begin(resource=HIVE, scope="hive:read")
        return self.authority.decide(begun, subject, **values)

    def tokens(self, **chosen: Any) -> dict[str, Any]:
        code = self.consent(**chosen).partition("code=")[2].partition("&")[0]
        return self.authority.exchange(code, resource=HIVE)

    def principal(self, answer: dict[str, Any] | str) -> Principal:
        token = answer if isinstance(answer, str) else answer["access_token"]
        return self.guard.identify({"authorization": f"Bearer {token}"}, HIVE)

    def roles(self, answer: dict[str, Any] | str) -> set[str]:
        found = self.principal(answer).membership
        assert found is not None
        return set(found.roles)

    @property
    def grant(self) -> Grant:
        (found,) = self.authority.memory.grants.values()
        return found

    def claims(self, answer: dict[str, Any]) -> AccessClaims:
        return self.authority.claims(answer)

    def forged(self, answer: dict[str, Any], **changes: Any) -> str:
        """A token of ours that says something else."""
        return self.authority.issuer.sign(replace(self.claims(answer), **changes))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    take_membership(monkeypatch, "hive")
    return World()


def test_a_token_acts_for_the_member_and_the_roles_that_were_chosen(world: World) -> None:
    answer = world.tokens(roles=[LEAD.id])
    found, claims = world.principal(answer), world.claims(answer)
    assert found.membership is not None
    assert (found.membership.organisation, found.membership.member) == ("acme", "mb_acme")
    assert found.membership.roles == {LEAD.id}
    assert found.membership.expires_at == world.grant.expires_at == world.grant.created_at + WEEK
    assert (found.organisation, found.tier) == ("default", "member"), "org, member and tier keep their meaning"
    assert (claims.gov_org, claims.gov_member, claims.gov_roles) == ("acme", "mb_acme", (LEAD.id,))
    told = world.authority.token_endpoint.introspect(answer["access_token"], replace(AGENT, organisation=None))
    assert (told["gov_org"], told["gov_member"], list(told["gov_roles"])) == ("acme", "mb_acme", [LEAD.id])
    assert json.dumps(told)


def test_a_role_that_is_lost_counts_at_the_next_request(world: World) -> None:
    answer = world.tokens()
    assert world.roles(answer) == {LEAD.id, CLERK.id}
    world.memberships.hold(world.member, CLERK, RoleHeld(id="ro_new", title="New", team="Garden"))
    assert world.roles(answer) == {CLERK.id}, "and a new one is not of this grant"
    refreshed = world.authority.refresh(answer["refresh_token"])
    assert world.claims(refreshed).gov_roles == (CLERK.id,)
    world.memberships.hold(world.member, LEAD, CLERK)
    assert world.roles(refreshed) == {CLERK.id}, "a token has no more than it was given"
    assert world.roles(world.authority.refresh(refreshed["refresh_token"])) == {LEAD.id, CLERK.id}


def test_a_member_who_is_gone_is_refused_at_once_and_ends_the_grant_at_the_refresh(world: World) -> None:
    answer = world.tokens()
    world.memberships.leave(world.member)
    with pytest.raises(Unauthorized):
        world.principal(answer)
    assert not world.authority.active(answer)
    with pytest.raises(OAuthError, match="invalid_grant"):
        world.authority.refresh(answer["refresh_token"])
    assert world.grant.revoked_because == "member_gone"
    last = world.authority.memory.audit.records[-1]
    assert (last.event, last.details["organisation"], last.details["member"]) == ("revoke", "acme", "mb_acme")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda world: world.authority.connections.revoke_all(ALICE), id="revoked"),
        pytest.param(lambda world: world.memberships.join("another", "acme", LEAD, CLERK), id="of another account"),
    ],
)
def test_a_grant_that_is_revoked_or_of_another_member_is_refused(world: World, change: Any) -> None:
    answer = world.tokens()
    change(world)
    with pytest.raises(Unauthorized):
        world.principal(answer)


def test_what_cannot_be_read_is_refused_and_ends_nothing(world: World) -> None:
    answer = world.tokens()
    world.memberships.down = True
    with pytest.raises(Unavailable):
        world.principal(answer)
    with pytest.raises(OAuthError, match="temporarily_unavailable"):
        world.authority.refresh(answer["refresh_token"])
    world.memberships.down = False
    assert world.roles(world.authority.refresh(answer["refresh_token"]))


@pytest.mark.parametrize("said", [("bobs", "mb_bobs"), ("zeta", "mb_zeta"), (None, None)])
def test_claims_of_more_than_the_grants_membership_never_help(world: World, said: Any) -> None:
    answer = world.tokens(roles=[CLERK.id])
    with pytest.raises(Unauthorized):
        world.principal(world.forged(answer, gov_org=said[0], gov_member=said[1]))
    assert world.roles(world.forged(answer, gov_roles=(LEAD.id, CLERK.id))) == {CLERK.id}
    assert world.roles(world.forged(answer, gov_roles=None)) == {CLERK.id}


def test_claims_of_a_membership_never_help_a_grant_without_one(world: World) -> None:
    plain = world.authority.tokens(resource=MCP, scope="knowledge:read")
    forged = world.forged(plain, gov_org="acme", gov_member="mb_acme", gov_roles=(LEAD.id,))
    with pytest.raises(Unauthorized):
        world.guard.identify({"authorization": f"Bearer {forged}"}, MCP)
    with pytest.raises(Unauthorized):
        world.principal(plain)
    assert world.claims(plain).as_claims().keys().isdisjoint({"gov_org", "gov_member", "gov_roles"})


@pytest.mark.parametrize("membership", [None, ChosenMembership(organisation="acme", member="mb_acme")])
def test_a_grant_has_a_membership_exactly_if_its_resource_takes_one(
    world: World, membership: ChosenMembership | None
) -> None:
    answer = world.tokens() if membership is None else world.authority.tokens(resource=MCP, scope="knowledge:read")
    grants = world.authority.memory.grants
    grants[world.grant.id] = replace(world.grant, membership=membership)
    with pytest.raises(OAuthError, match="invalid_grant"):
        world.authority.refresh(answer["refresh_token"])
    assert world.grant.revoked_because == "member_gone"


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        ({"organisation": "bobs", "roles": []}, "member_other"),
        ({"organisation": ""}, "member_other"),
        ({"organisation": "zeta"}, "role_not_held"),
        ({"roles": [LEAD.id, "ro_other"]}, "role_not_held"),
        ({"expiry": str(WEEK + 1)}, "expiry_unknown"),
        ({"expiry": ""}, "expiry_unknown"),
        pytest.param({}, "role_not_held", id="lost while the page was open"),
    ],
)
def test_a_consent_to_what_the_account_does_not_have_is_refused(
    world: World, chosen: dict[str, Any], reason: str
) -> None:
    world.memberships.hold(world.member, *([CLERK] if not chosen else [LEAD, CLERK]))
    with pytest.raises(RequestGone) as refused:
        world.consent(**chosen)
    assert (refused.value.reason, world.authority.memory.grants) == (reason, {})


@pytest.mark.parametrize(
    ("ticked", "kinds"),
    [(None, None), (["topics"], ("organisation", "topics")), (KINDS, KINDS), ([], ()), (["entries"], ())],
)
def test_a_token_for_some_kinds_finds_its_way_but_that_is_nothing_alone(world: World, ticked: Any, kinds: Any) -> None:
    if kinds == ():
        assert "error=access_denied" in world.consent(resource_scopes=ticked)
        return
    answer = world.tokens(resource_scopes=ticked)
    assert world.grant.resource_scopes == kinds
    assert world.principal(answer).touches("organisation")


def test_a_consent_names_the_member_and_is_never_remembered(world: World) -> None:
    world.tokens()
    consent, grant = world.authority.memory.audit.records
    assert {(one.details["organisation"], one.details["member"]) for one in (consent, grant)} == {("acme", "mb_acme")}
    again = world.authority.understand(resource=HIVE, scope="hive:read")
    assert world.authority.consents.recalled(again, profile(ALICE), standing("member")) is None


def test_an_organisation_has_its_own_quota_of_new_grants(monkeypatch: pytest.MonkeyPatch) -> None:
    take_membership(monkeypatch, "hive")
    world = World(sessions_per_hour=2)
    for _ in range(2):
        world.consent()
    with pytest.raises(RateLimited):
        world.consent()
    assert "code=" in world.consent(organisation="zeta", roles=[])


def test_no_agent_of_an_operator_acts_for_a_member(world: World) -> None:
    agent = replace(AGENT, scopes=("hive:read",))
    with pytest.raises(OAuthError, match="invalid_target"):
        world.authority.token_endpoint.client_credentials({"resource": HIVE}, agent)
    with pytest.raises(InvalidInput, match="consents"):
        world.authority.token_endpoint.mint(
            organisation="acme", agent="bot", scopes=("hive:read",), tier="member", resource=HIVE, days=1
        )


def test_other_names_of_scopes_are_understood(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALIASES, "swarmrise:read", "hive:read")
    assert world.authority.understand(resource=HIVE, scope="swarmrise:read").request.scopes == ("hive:read",)


def test_where_a_token_has_no_room_for_roles_the_grant_alone_counts(world: World) -> None:
    many = [RoleHeld(id=f"ro_{number:026}", title="x", team="Garden") for number in range(60)]
    world.memberships.hold(world.member, *many)
    answer = world.tokens(roles=[role.id for role in many])
    assert world.claims(answer).gov_roles is None
    assert len(world.roles(answer)) == 60


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("level", ["read", "write", "admin"])
def test_what_takes_a_membership_is_never_open(world: World, tier: Tier, level: str) -> None:
    need = Need(tier, f"hive:{level}", membership=True)
    everything = Principal(subject=BOB, tier="vibecoder", scopes=frozenset({"hive:admin"}))
    assert not need.open
    assert judge(ANONYMOUS, need) is Verdict.SIGN_IN
    assert judge(everything, need) is judge(replace(everything, uncertain=True), need) is Verdict.MEMBERSHIP
    assert not worth_showing(everything, need)
    acting = replace(everything, membership=world.principal(world.tokens()).membership)
    assert judge(acting, need) is Verdict.ALLOWED
    assert judge(replace(acting, scopes=frozenset()), need) is Verdict.SCOPE, "it opens nothing else"


def test_a_refresh_gives_no_new_quota_and_all_grants_of_a_member_have_twice_one(world: World) -> None:
    throttle = Throttle(Limiter(Counters(), world.authority.clock), {"read": 3, "search": 0, "write": 0})

    def spent(answer: dict[str, Any]) -> int:
        caller = Caller(world.principal(answer))
        for made in range(10):
            try:
                throttle.spend(caller, "read")
            except RateLimited:
                return made
        return 10

    first = world.tokens()
    assert spent(first) == 3
    assert spent(world.authority.refresh(first["refresh_token"])) == 0
    assert [spent(world.tokens()) for _ in range(2)] == [3, 0], "together at most twice as many"
    assert spent(world.tokens(organisation="zeta", roles=[])) == 3, "another member"


def test_the_journal_is_written_with_the_grant_or_neither_is(world: World, dynamodb: "DynamoDBClient") -> None:
    world.tokens()
    grant, records = world.grant, Table(dynamodb, new_table(dynamodb, "records"))
    journal = MemoryMemberships(records.name)
    identity, clock = new_table(dynamodb, "identity"), world.authority.clock
    store = DynamoGrants(dynamodb, identity, TABLE, memberships=journal, clock=clock)
    store.open(grant)
    assert store.grant(grant.id) == grant
    assert store.revoke(grant.id, "person", grant.created_at + 1)
    found = {one["sk"].partition("#")[0]: one["at"] - grant.created_at for one in records.query("acme#journal")}
    assert found == {"granted": 0, "revoked": 1}
    other = replace(grant, id="e" * 64)
    records.write(records.new(key("acme#journal", f"granted#{other.id}"), {}))
    with pytest.raises(Lost):
        store.open(other)
    assert store.grant(other.id) is None
    store.open(replace(grant, id="d" * 64, membership=None))
    assert len(list(records.query("acme#journal"))) == 3
