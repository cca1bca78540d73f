"""The end of grants and tokens, and what may be asked about them (V* of the negative tests)."""

from dataclasses import replace

import pytest

from commonplace.identity import keyring
from commonplace.identity.access_tokens import Issuer, subject_hash
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.tokens import SigningKey
from tests.fakes.authority import (
    AGENT,
    ALICE,
    APP,
    BASE,
    BOB,
    KEY,
    MCP,
    OTHER,
    OTHER_REDIRECT,
    Authority,
    profile,
    standing,
)

SERVER = replace(AGENT, id="server")
INACTIVE = {"active": False}


@pytest.fixture
def authority() -> Authority:
    return Authority()


def test_v1_tokens_that_are_unknown_or_anothers_change_nothing(authority: Authority) -> None:
    answer = authority.tokens()
    for token in (answer["refresh_token"], answer["access_token"]):
        authority.token_endpoint.revoke(token, OTHER)
    for token in ("", "x", "cpr_" + "x" * 43, "a.b.c", "\udcff", "é" * 9_999):
        authority.token_endpoint.revoke(token, APP)

    assert authority.active(answer)
    assert authority.active(authority.refresh(answer["refresh_token"]))


def test_v2_a_refresh_token_ends_its_whole_grant(authority: Authority) -> None:
    first = authority.tokens()
    second = authority.refresh(first["refresh_token"])
    other = authority.tokens()
    authority.token_endpoint.revoke(first["refresh_token"], APP, "192.0.2.4")

    assert not authority.active(first)
    assert not authority.active(second)
    with pytest.raises(OAuthError):
        authority.refresh(second["refresh_token"])
    assert authority.active(other), "another grant of the same person and client"
    assert ("revoke", "ok", "client") in authority.memory.audit.events()


def test_v2_an_access_token_ends_alone(authority: Authority) -> None:
    first = authority.tokens()
    second = authority.refresh(first["refresh_token"])
    authority.token_endpoint.revoke(first["access_token"], APP)

    assert not authority.active(first)
    assert authority.active(second)
    assert authority.active(authority.refresh(second["refresh_token"]))
    assert ("revoke", "ok", "access_token_revoked") in authority.memory.audit.events()


def test_v5_revoking_again_or_too_late_is_no_error(authority: Authority) -> None:
    answer = authority.tokens()
    for _ in range(2):
        authority.token_endpoint.revoke(answer["access_token"], APP)
        authority.token_endpoint.revoke(answer["refresh_token"], APP)
    authority.clock.forward(200 * 86_400)
    authority.token_endpoint.revoke(answer["access_token"], APP)
    authority.token_endpoint.revoke(answer["refresh_token"], APP)

    assert authority.memory.audit.events().count(("revoke", "ok", "client")) == 1


def test_what_is_away_revokes_nothing_and_says_so(authority: Authority) -> None:
    answer = authority.tokens()
    authority.memory.down = True
    with pytest.raises(OAuthError) as caught:
        authority.token_endpoint.revoke(answer["refresh_token"], APP)
    assert (caught.value.status, caught.value.headers["Retry-After"]) == (503, "2")
    with pytest.raises(OAuthError):
        authority.token_endpoint.introspect(answer["access_token"], SERVER)

    authority.memory.down = False
    assert authority.active(answer)


def test_v6_a_good_token_is_told_of(authority: Authority) -> None:
    answer = authority.tokens()
    claims = authority.claims(answer)

    assert authority.token_endpoint.introspect(answer["access_token"], SERVER) == {
        "active": True,
        "scope": "knowledge:read knowledge:write",
        "client_id": "app",
        "sub": ALICE,
        "aud": MCP,
        "exp": claims.expires_at,
        "iat": claims.issued_at,
        "iss": BASE,
        "jti": claims.jti,
        "org": "default",
        "tier": "member",
        "roles": ["member"],
        "token_type": "Bearer",
    }


def test_v6_what_is_told_follows_the_accounts_roles(authority: Authority) -> None:
    token = authority.tokens()["access_token"]
    anywhere = replace(SERVER, organisation=None)
    authority.accounts.held[ALICE] = standing("public")
    told = authority.token_endpoint.introspect(token, SERVER)
    assert (told["active"], told["scope"], told["tier"]) == (True, "knowledge:read", "public")

    authority.accounts.held[ALICE] = replace(standing("public"), scopes=frozenset())
    assert authority.token_endpoint.introspect(token, SERVER)["scope"] == ""

    authority.accounts.held[ALICE] = standing("member", organisation="garden")
    assert authority.token_endpoint.introspect(token, SERVER) == INACTIVE, "it is of that organisation no more"
    assert authority.token_endpoint.introspect(token, replace(SERVER, organisation="garden")) == INACTIVE, (
        "nor of this one"
    )
    assert authority.token_endpoint.introspect(token, anywhere)["org"] is None


def test_v6_of_roles_that_cannot_be_read_nothing_is_told(authority: Authority) -> None:
    """Neither what they gave before, nor that there are none: that would send people to sign in again."""
    token = authority.tokens()["access_token"]
    authority.accounts.down = True
    with pytest.raises(OAuthError) as caught:
        authority.token_endpoint.introspect(token, SERVER)
    assert (caught.value.status, caught.value.code) == (503, "temporarily_unavailable")
    assert "Retry-After" in caught.value.headers

    agent = authority.token_endpoint.client_credentials({"resource": MCP}, AGENT)["access_token"]
    assert authority.token_endpoint.introspect(agent, SERVER)["tier"] == "member", (
        "an agent's are what its operator gave"
    )


def test_v6_a_grant_for_reading_alone_tells_of_no_more(authority: Authority) -> None:
    token = authority.tokens()["access_token"]
    (grant,) = authority.memory.grants.values()
    authority.memory.grants[grant.id] = replace(grant, permission="readonly")
    assert authority.token_endpoint.introspect(token, SERVER)["scope"] == "knowledge:read"


def test_v6_whatever_else_comes_is_not_active_and_nothing_more(authority: Authority) -> None:
    answer = authority.tokens()
    token = answer["access_token"]
    for odd in ("", "x", "a.b.c", token[:-4] + "AAAA", token + "x", answer["refresh_token"], "é" * 9_999, "\udcff"):
        assert authority.token_endpoint.introspect(odd, SERVER) == INACTIVE
    revoked = authority.tokens()
    authority.token_endpoint.revoke(revoked["refresh_token"], APP)
    assert authority.token_endpoint.introspect(revoked["access_token"], SERVER) == INACTIVE
    single = authority.tokens()
    authority.token_endpoint.revoke(single["access_token"], APP)
    assert authority.token_endpoint.introspect(single["access_token"], SERVER) == INACTIVE

    authority.clock.forward(3_599)
    assert authority.token_endpoint.introspect(token, SERVER)["active"]
    authority.clock.forward(1)
    assert authority.token_endpoint.introspect(token, SERVER) == INACTIVE


def test_v6_a_token_of_another_issuer_is_not_active(authority: Authority) -> None:
    claims = authority.claims(authority.tokens())
    forged = Issuer(BASE, OwnRing(), authority.clock).sign(claims)
    foreign = Issuer("https://else.example", authority.ring, authority.clock).sign(
        replace(claims, issuer="https://else.example")
    )

    assert authority.token_endpoint.introspect(forged, SERVER) == INACTIVE
    assert authority.token_endpoint.introspect(foreign, SERVER) == INACTIVE


class OwnRing:
    """A ring that nobody here has heard of."""

    def __init__(self) -> None:
        self._key = keyring.new_key(0)

    def signing(self, now: float) -> SigningKey:
        return self._key

    def published(self, now: float) -> tuple[dict[str, str], ...]:
        return keyring.published([self._key], now)


def test_v6_who_may_ask_about_whose_token(authority: Authority) -> None:
    """L4"""
    token = authority.tokens()["access_token"]
    garden = replace(SERVER, organisation="garden")
    anywhere = replace(SERVER, organisation=None)

    assert authority.token_endpoint.introspect(token, SERVER)["active"]
    assert authority.token_endpoint.introspect(token, anywhere)["active"]
    assert authority.token_endpoint.introspect(token, APP)["active"], "its own"
    assert authority.token_endpoint.introspect(token, garden) == INACTIVE
    assert authority.token_endpoint.introspect(token, OTHER) == INACTIVE


def test_v7_the_end_of_a_client_ends_its_grants_and_no_others(authority: Authority) -> None:
    mine, bobs = authority.tokens(), authority.tokens(BOB)
    other = authority.exchange(authority.code(client_id="other", redirect_uri=OTHER_REDIRECT), OTHER)

    assert authority.connections.revoke_client("app") == 2
    assert not authority.active(mine)
    assert not authority.active(bobs)
    assert authority.active(other)
    assert authority.connections.revoke_client("app") == 0


def test_v7_a_person_ends_one_of_their_grants_at_once(authority: Authority) -> None:
    one, two = authority.tokens(), authority.tokens()
    grant = authority.connections.of(ALICE)[0]
    assert not authority.connections.revoke(BOB, grant.id), "another's"
    assert not authority.connections.revoke(ALICE, "x")
    assert authority.connections.revoke(ALICE, grant.id, "192.0.2.5")
    assert not authority.connections.revoke(ALICE, grant.id)

    assert sorted([authority.active(one), authority.active(two)]) == [False, True]
    assert len(authority.connections.of(ALICE)) == 1
    assert authority.memory.audit.records[-1].reason == "person"


def test_v7_a_person_ends_all_of_their_grants(authority: Authority) -> None:
    one, two, bobs = authority.tokens(), authority.tokens(), authority.tokens(BOB)

    assert authority.connections.revoke_all(ALICE) == 2
    assert [authority.active(answer) for answer in (one, two, bobs)] == [False, False, True]
    assert list(authority.connections.of(ALICE)) == []
    held = authority.accounts.held[ALICE]
    assert authority.consents.recalled(authority.understand(), profile(ALICE), held) is None


def test_v7_an_operator_ends_any_grant(authority: Authority) -> None:
    answer = authority.tokens()
    (grant,) = authority.memory.grants.values()

    assert authority.connections.revoke_for_operator(grant.id)
    assert not authority.connections.revoke_for_operator(grant.id)
    assert not authority.connections.revoke_for_operator("x")
    assert not authority.active(answer)


def test_c15_installations_of_one_client_end_each_for_itself(authority: Authority) -> None:
    """One `client_id` serves every installation of a client with a metadata document."""
    here, there = authority.tokens(), authority.tokens(BOB)
    again = authority.tokens()
    assert all(authority.active(answer) for answer in (here, there, again))

    authority.token_endpoint.revoke(here["refresh_token"], APP)
    assert [authority.active(answer) for answer in (here, there, again)] == [False, True, True]


def test_l4_people_and_agents_of_one_name_are_kept_apart() -> None:
    names = {
        subject_hash(KEY, ALICE),
        subject_hash(KEY, BOB),
        subject_hash(KEY, "agent:x", "one"),
        subject_hash(KEY, "agent:x", "two"),
        subject_hash(b"another key", ALICE),
    }

    assert len(names) == 5
    assert subject_hash(KEY, ALICE, "default") == subject_hash(KEY, ALICE), "a person is one in all organisations"
