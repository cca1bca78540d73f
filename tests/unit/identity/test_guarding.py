"""From a token to a principal: what the token says, as far as its grant and the account's roles still allow it."""

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.access_tokens import claims_for, claims_of
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.bearer_auth import TokenJudge, TokenPrincipals, bearer_token
from commonplace.identity.oauth.grants import Terms, new_grant
from commonplace.identity.principals import (
    ANONYMOUS,
    GRANTABLE,
    IN_PERSON,
    KINDS,
    TIERS,
    Everybody,
    Principal,
    Tier,
    covers,
)
from commonplace.identity.roles import MappedStandings, RoleMap
from commonplace.identity.secrets import digest
from commonplace.identity.tokens import AccessClaims
from commonplace.kernel.errors import Unauthorized, Unavailable
from tests.fakes.access_tokens import ISSUER, ROSA, Realm, standing
from tests.fakes.ethereum import FakeHats
from tests.fakes.identity_stores import Clock, MemoryGrants

MCP = f"{ISSUER}/mcp"
AGENT = "agent:gardener"
COLLEAGUE = "oidc:https://id.example.org#1"
WRITER = frozenset({"knowledge:read", "knowledge:write"})


def found(realm: Realm, token: str, resource: str = MCP) -> Principal:
    return realm.principals.identify({"authorization": f"Bearer {token}"}, resource)


def of(realm: Realm, claims: AccessClaims) -> Principal:
    return found(realm, realm.sign(claims.as_claims()))


def refused(realm: Realm, claims: AccessClaims, caplog: pytest.LogCaptureFixture) -> str:
    """The reason in the log: the caller is told none."""
    caplog.set_level(logging.INFO)
    caplog.clear()
    with pytest.raises(Unauthorized) as error:
        of(realm, claims)
    assert str(error.value) == "This access token is not valid here."
    (record,) = caplog.records
    told = vars(record)
    assert (record.getMessage(), told["event"], told["outcome"]) == ("auth event", "denied", "denied")
    return str(told["reason"])


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, None),
        ("", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("bearer   ", None),
        ("Basic cm9zYTpyb3Nl", None),
        ("Bearerish abc", None),
        ("Beare rabc", None),
        ("DPoP abc", None),
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("BEARER\tabc", "abc"),
        ("  Bearer   abc  ", "abc"),
        ("Bearer abc def", "abc def"),
        ("Bearer abc,Bearer def", "abc,Bearer def"),
        ("Basic abc,Bearer def", None),
    ],
)
def test_only_a_bearer_token_is_a_credential(header: str | None, token: str | None) -> None:
    assert bearer_token(header) == token
    if token is None:
        headers = {} if header is None else {"authorization": header}
        assert Realm().principals.identify(headers, MCP) is ANONYMOUS


def test_a_principal_is_what_its_token_says_and_its_roles_give() -> None:
    realm = Realm(names=True)
    realm.account("vibecoder")
    claims = realm.granted(MCP, "knowledge:read", "knowledge:write")
    assert of(realm, claims) == Principal(
        subject=ROSA,
        organisation="default",
        member="mem_rosa",
        tier="vibecoder",
        roles=frozenset({"vibecoder"}),
        scopes=WRITER,
        attainable=standing("vibecoder").scopes - IN_PERSON,
        permission="action",
        resource_scopes=None,
        client="client",
        grant=digest(claims.grant),
        account=digest(ROSA),
        token=digest(claims.jti),
        display_name="rosa.eth",
    )


SOMEBODY = Principal(subject="laptop", organisation="default", tier="vibecoder", scopes=frozenset({"memory:admin"}))


def on_a_laptop(realm: Realm) -> TokenPrincipals:
    """Takes callers without a credential for somebody."""
    return TokenPrincipals(realm.tokens, realm.grants, realm.accounts, realm.clock, otherwise=SOMEBODY)


def test_without_a_credential_a_caller_is_whom_a_laptop_takes_it_for() -> None:
    assert on_a_laptop(Realm()).identify({}, MCP) == SOMEBODY


@pytest.mark.parametrize("tier", TIERS)
def test_a_token_counts_where_callers_are_taken_for_somebody(tier: Tier) -> None:
    realm = Realm()
    realm.account(tier)
    sent = {"authorization": f"Bearer {realm.token(MCP, 'knowledge:read')}"}
    principal = on_a_laptop(realm).identify(sent, MCP)
    assert (principal.subject, principal.tier, set(principal.scopes)) == (ROSA, tier, {"knowledge:read"})


@pytest.mark.parametrize("header", ["Bearer x", "bearer a.b.c", "Bearer a,Bearer b"])
def test_a_bad_token_is_refused_where_callers_are_taken_for_somebody(header: str) -> None:
    with pytest.raises(Unauthorized):
        on_a_laptop(Realm()).identify({"authorization": header}, MCP)
    with pytest.raises(Unauthorized):
        Everybody(SOMEBODY).identify({"authorization": header}, MCP)


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic eDp5", "x"])
def test_another_credential_gives_nothing_where_callers_are_taken_for_somebody(header: str) -> None:
    assert on_a_laptop(Realm()).identify({"authorization": header}, MCP) == ANONYMOUS


def test_names_stay_encrypted_where_nobody_wants_them() -> None:
    realm = Realm()
    realm.account("member")
    assert of(realm, realm.granted(MCP, "knowledge:read")).display_name is None


def test_a_profile_that_cannot_be_read_costs_the_name_alone() -> None:
    realm = Realm(names=True)
    claims = realm.granted(MCP, "knowledge:read")
    realm.change(claims, sealed_profile=b"nonsense")
    assert of(realm, claims).display_name is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"revoked_at": 1}, "grant_over"),
        ({"client_id": "another"}, "grant_other"),
        ({"resource": f"{ISSUER}/mcp/all"}, "grant_other"),
        ({"kind": "agent"}, "grant_other"),
    ],
)
def test_the_grant_has_to_stand_behind_the_token(
    changed: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    realm = Realm()
    realm.account("member")
    claims = realm.granted(MCP, "knowledge:read")
    of(realm, claims)
    realm.change(claims, **changed)
    assert refused(realm, claims, caplog) == reason


def test_a_grant_that_is_gone_or_past_its_end_is_none(caplog: pytest.LogCaptureFixture) -> None:
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read", expires_at=int(realm.clock.now) + 10**6)
    realm.clock.forward(86_400)
    assert refused(realm, claims, caplog) == "grant_unknown"
    realm.grants.grants.clear()
    assert refused(realm, claims, caplog) == "grant_unknown"


def test_an_item_that_outlives_its_end_counts_for_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A store deletes late, and need not look at the end itself."""
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read", expires_at=int(realm.clock.now) + 10**6)

    class Late:
        def grant(self, grant_id: str) -> Any:
            return realm.grants.grants[grant_id]

        def touch(self, grant_id: str, now: int, network: str) -> None:
            raise AssertionError

    realm.principals._judge.grants = Late()
    realm.clock.forward(86_400)
    assert refused(realm, claims, caplog) == "grant_over"


def test_r8_a_revocation_holds_from_the_next_call_on(caplog: pytest.LogCaptureFixture) -> None:
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read")
    of(realm, claims)
    realm.grants.revoke(digest(claims.grant), "by its owner", int(realm.clock.now))
    assert refused(realm, claims, caplog) == "grant_over"


def test_one_token_can_be_revoked_alone(caplog: pytest.LogCaptureFixture) -> None:
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read")
    other = replace(claims, jti="another")
    realm.grants.revoke_token(digest(claims.grant), claims.jti, claims.expires_at)
    assert refused(realm, claims, caplog) == "token_revoked"
    assert of(realm, other).subject == ROSA


def test_r8_roles_are_those_of_now() -> None:
    realm = Realm()
    realm.account("vibecoder")
    claims = realm.granted(MCP, "knowledge:write")
    assert of(realm, claims).tier == "vibecoder"
    realm.account("member")
    assert (of(realm, claims).tier, of(realm, claims).scopes) == ("member", frozenset({"knowledge:write"}))
    realm.account("public")
    demoted = of(realm, claims)
    assert (demoted.tier, demoted.scopes) == ("public", frozenset({"knowledge:read"}))
    assert not demoted.may("knowledge:write") and not demoted.could("knowledge:write")
    realm.account("vibecoder")
    assert of(realm, claims).may("knowledge:write")


def test_roles_that_cannot_be_read_are_not_taken_for_none() -> None:
    realm = Realm()
    realm.account("member")
    claims = realm.granted(MCP, "knowledge:write")
    realm.accounts.down = True
    unsure = of(realm, claims)
    assert unsure.uncertain and unsure.subject == ROSA
    assert (unsure.tier, unsure.scopes, unsure.attainable) == ("public", frozenset(), frozenset())
    assert (unsure.organisation, unsure.member) == (None, None)


def test_a_grant_that_cannot_be_read_is_no_verdict() -> None:
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read")
    realm.grants.down = True
    with pytest.raises(Unavailable):
        of(realm, claims)


def test_an_agent_keeps_its_tier_and_nobody_can_be_asked_for_more() -> None:
    realm = Realm()
    realm.account("member", AGENT, "garden")
    claims = realm.granted(MCP, "memory:write", subject=AGENT)
    realm.accounts.down = True
    agent = of(realm, claims)
    assert realm.accounts.asked == []
    assert (agent.subject, agent.tier, agent.organisation) == (AGENT, "member", "garden")
    assert (agent.scopes, agent.attainable) == (frozenset({"memory:write"}), frozenset())


def test_an_agent_is_of_its_grants_organisation(caplog: pytest.LogCaptureFixture) -> None:
    realm = Realm()
    realm.account("member", AGENT, "garden")
    claims = realm.granted(MCP, "memory:write", subject=AGENT)
    assert refused(realm, replace(claims, organisation="meadow"), caplog) == "grant_other"
    person = realm.granted(MCP, "memory:write")
    assert refused(realm, replace(person, subject=AGENT), caplog) == "grant_other"


def test_l4_an_account_that_moved_reaches_no_organisation_with_its_old_token() -> None:
    realm = Realm()
    realm.account("member", organisation="garden")
    claims = realm.granted(MCP, "memory:read")
    assert (of(realm, claims).organisation, of(realm, claims).member) == ("garden", "mem_rosa")
    realm.account("member", organisation="meadow")
    assert (of(realm, claims).organisation, of(realm, claims).member) == (None, None)
    realm.account("member", organisation=None)
    assert of(realm, replace(claims, organisation=None)).organisation is None


@pytest.mark.parametrize(
    ("token", "grant", "reached"),
    [
        (None, None, None),
        (("entries",), None, {"entries"}),
        (None, ("entries",), {"entries"}),
        (("entries", "teams"), ("entries",), {"entries"}),
        (("teams",), ("entries",), set()),
        ((), None, set()),
    ],
)
def test_kinds_are_those_of_token_and_grant(token: Any, grant: Any, reached: set[str] | None) -> None:
    realm = Realm()
    claims = realm.granted(MCP, "memory:read", resource_scopes=token)
    realm.change(claims, resource_scopes=grant)
    assert of(realm, claims).resource_scopes == reached


def test_a_grant_for_reading_alone_makes_every_token_so() -> None:
    realm = Realm()
    realm.account("member")
    claims = realm.granted(MCP, "knowledge:write")
    realm.change(claims, permission="readonly")
    assert of(realm, claims).permission == "readonly"
    assert not of(realm, claims).may("knowledge:write")
    assert of(realm, claims).may("knowledge:read")


def test_a_use_is_noted_every_five_minutes_by_network() -> None:
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read")
    told = []
    for _ in range(12):
        realm.clock.forward(60)
        realm.principals.used(of(realm, claims), "2001:db8::1")
        told.append(realm.grant_of(claims).last_used_at)
    assert len(set(told)) == 3
    assert realm.grant_of(claims).last_used_from == "2001:db8::/64"


def test_a_use_that_cannot_be_noted_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read")
    realm.clock.forward(301)
    principal = of(realm, claims)

    class Silent:
        def grant(self, grant_id: str) -> Any:
            raise AssertionError

        def touch(self, grant_id: str, now: int, network: str) -> None:
            raise Unavailable("The store does not answer.")

    realm.principals.grants = Silent()
    realm.principals.used(principal, "192.0.2.1")
    realm.principals.used(ANONYMOUS, "192.0.2.1")
    assert "could not be noted" in caplog.text


def test_l8_no_log_line_holds_anything_of_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    realm = Realm()
    claims = realm.granted(MCP, "knowledge:read")
    token = realm.sign(claims.as_claims())
    realm.change(claims, revoked_at=1)
    for header in (token, token[:-4], f"{token},Bearer {token}"):
        with pytest.raises(Unauthorized):
            found(realm, header)
    lines = " ".join(str(vars(record)) for record in caplog.records)
    secrets = (claims.grant, claims.jti, ROSA, "client_id", *token.split("."))
    assert len(caplog.records) == 3
    assert not [one for one in secrets if one in lines]


SCOPES = st.sets(st.sampled_from(GRANTABLE), max_size=6).map(tuple)
TIERED = st.sampled_from(TIERS)
ALL_KINDS = [kind for kinds in KINDS.values() for kind in kinds]
SOME_KINDS = st.none() | st.sets(st.sampled_from(ALL_KINDS), max_size=3).map(tuple)
ORGANISATIONS = st.sampled_from([None, "garden", "meadow"])


@settings(deadline=None)
@given(
    token=SCOPES,
    granted=SCOPES,
    now=SCOPES,
    claimed=TIERED,
    tier=TIERED,
    kinds=SOME_KINDS,
    granted_kinds=SOME_KINDS,
    claimed_org=ORGANISATIONS,
    org=ORGANISATIONS,
)
def test_nothing_is_wider_than_token_grant_and_roles_are_each(
    token: tuple[str, ...],
    granted: tuple[str, ...],
    now: tuple[str, ...],
    claimed: Tier,
    tier: Tier,
    kinds: tuple[str, ...] | None,
    granted_kinds: tuple[str, ...] | None,
    claimed_org: str | None,
    org: str | None,
) -> None:
    realm = Realm()
    realm.accounts.standings[ROSA] = Standing(tier=tier, scopes=frozenset(now), organisation=org)
    claims = realm.granted(MCP, *granted, scopes=token, tier=claimed, resource_scopes=kinds, organisation=claimed_org)
    realm.change(claims, resource_scopes=granted_kinds)
    principal = of(realm, claims)
    for scope in GRANTABLE:
        assert principal.may(scope) <= all(covers(held, scope) for held in (token, granted, now))
        if claims.permission == "action":
            assert principal.may(scope) == all(covers(held, scope) for held in (token, granted, now))
    assert principal.tier == tier
    assert principal.attainable == frozenset(now) - IN_PERSON
    assert principal.organisation in (None, org) and principal.organisation in (None, claimed_org)
    for kind in ALL_KINDS:
        assert principal.touches(kind) == all(held is None or kind in held for held in (kinds, granted_kinds))


@settings(deadline=None)
@given(
    headers=st.dictionaries(
        st.sampled_from(["x-tier", "x-scope", "cookie", "x-forwarded-user", "x-subject", "mcp-name", "host", "origin"]),
        st.text(max_size=30),
    ),
    other=st.text(max_size=30),
)
def test_no_other_header_has_a_part_in_a_principal(headers: dict[str, str], other: str) -> None:
    realm = Realm()
    realm.account("member")
    token = realm.token(MCP, "knowledge:read")
    alone = found(realm, token)
    assert realm.principals.identify(headers | {"authorization": f"Bearer {token}"}, MCP) == alone
    assert realm.principals.identify(headers, MCP) is ANONYMOUS
    assert realm.principals.identify(headers | {"access_token": token, "x-token": other}, MCP) is ANONYMOUS


GROUPS = [f"groups:{name}" for name in "abcd"]
RULES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["editor", "member"]),
        "tier": st.sampled_from(TIERS),
        "scopes": st.lists(st.sampled_from(GRANTABLE), max_size=2),
        "organisation": st.sampled_from(["garden", "meadow"]),
    },
)


@settings(deadline=None)
@given(
    groups=st.dictionaries(st.sampled_from([*GROUPS, "*", "editor", "member"]), RULES),
    claims=st.sets(st.sampled_from([*GROUPS, "groups:*", "email:editor"])).map(tuple),
)
def test_the_guard_says_of_a_token_what_sign_in_says_of_the_claims(groups: Any, claims: tuple[str, ...]) -> None:
    roles = RoleMap.from_json(json.dumps({"hats": {}, "groups": groups}), organisation="default")
    standings, grants, clock = MappedStandings(roles, FakeHats(Clock())), MemoryGrants(Clock()), Clock()
    said = standings.of(COLLEAGUE, claims=claims)
    grant, secret = new_grant(
        "person",
        Profile(subject=COLLEAGUE, kind="oidc", claims=claims),
        Terms(client_id="client", client_name="A client", resource=MCP, scopes=GRANTABLE, seconds=3_600),
        key=b"k" * 32,
        now=int(clock.now),
        network="",
    )
    grants.open(grant)
    told = claims_for(
        grant,
        secret,
        COLLEAGUE,
        said,
        scopes=said.scopes,
        issuer=ISSUER,
        key=b"k" * 32,
        now=int(clock.now),
        seconds=60,
    )
    read = claims_of(json.loads(json.dumps(told.as_claims())))
    judge = TokenJudge(grants, standings)
    found = judge.principal(read, judge.grant(read, clock.now))
    assert (found.tier, found.roles, found.organisation) == (said.tier, frozenset(said.roles), said.organisation)
    assert found.attainable == said.scopes - IN_PERSON
    assert all(found.may(one) == covers(said.scopes, one) for one in GRANTABLE if found.permission == "action")
