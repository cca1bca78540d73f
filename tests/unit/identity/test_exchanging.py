"""Codes into tokens: what burns a code, what does not, and what ends a grant (X* of the negative tests)."""

from dataclasses import replace
from typing import Any, cast

import pytest

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.ports import GrantStore
from commonplace.identity.records import Client
from commonplace.identity.tokens import AccessClaims
from tests.fakes.authority import (
    ALICE,
    APP,
    BASE,
    LAPTOP,
    MCP,
    OTHER,
    OTHER_REDIRECT,
    REDIRECT,
    VERIFIER,
    Authority,
    standing,
    stored,
)
from tests.fakes.identity_stores import Racing


@pytest.fixture
def authority() -> Authority:
    return Authority()


def refusal(authority: Authority, code: str, client: Client = APP, **changes: str | None) -> OAuthError:
    with pytest.raises(OAuthError) as caught:
        authority.exchange(code, client, **changes)
    return caught.value


def revoked(authority: Authority) -> list[str]:
    return [grant.revoked_because for grant in authority.memory.grants.values() if grant.revoked_at is not None]


def test_a_code_becomes_tokens(authority: Authority) -> None:
    answer = authority.exchange(authority.code())

    assert answer["token_type"] == "Bearer"
    assert (answer["expires_in"], answer["scope"]) == (3_600, "knowledge:read knowledge:write")
    assert answer["refresh_token"].startswith("cpr_")
    claims = authority.claims(answer)
    now = int(authority.clock.now)
    assert claims == AccessClaims(
        issuer=BASE,
        subject=ALICE,
        audience=MCP,
        expires_at=now + 3_600,
        issued_at=now,
        jti=claims.jti,
        client_id="app",
        scopes=("knowledge:read", "knowledge:write"),
        organisation="default",
        member=claims.member,
        tier="member",
        roles=("member",),
        rules=(),
        grant=claims.grant,
        permission="action",
        resource_scopes=None,
    )
    assert claims.member is not None and claims.member.startswith("mem_") and len(claims.member) == 28
    assert authority.active(answer)


def test_a_token_says_what_the_person_allowed(authority: Authority) -> None:
    begun = authority.begin(scope="knowledge:read memory:write")
    url = authority.decide(begun, allowed=["knowledge:read"], resource_scopes=["documents"])
    claims = authority.claims(authority.exchange(url.split("code=")[1].split("&")[0]))

    assert (claims.scopes, claims.permission, claims.resource_scopes) == (
        ("knowledge:read",),
        "readonly",
        ("documents",),
    )


def test_an_account_without_an_organisation_is_no_member(authority: Authority) -> None:
    authority.accounts.held[ALICE] = standing("member", organisation=None)
    claims = authority.claims(authority.tokens())

    assert (claims.organisation, claims.member) == (None, None)


def test_x1_a_wrong_verifier_does_not_burn_the_code(authority: Authority) -> None:
    code = authority.code()
    assert refusal(authority, code, code_verifier="w" * 43).code == "invalid_grant"

    assert authority.active(authority.exchange(code))


def test_x2_a_wrong_resource_does_not_burn_the_code(authority: Authority) -> None:
    code = authority.code()
    for other in (f"{BASE}/api", f"{BASE}/mcp/knowledge", f"{BASE}/mcp/all", "https://other.example/mcp", "x"):
        assert refusal(authority, code, resource=other).code == "invalid_target"

    assert authority.claims(authority.exchange(code, resource=f"{MCP}/")).audience == MCP


def test_a_resource_that_is_left_out_is_that_of_the_request(authority: Authority) -> None:
    code = authority.code(resource=f"{BASE}/mcp/knowledge")

    assert authority.claims(authority.exchange(code, resource=None)).audience == f"{BASE}/mcp/knowledge"


def test_x3_a_replay_ends_what_the_first_exchange_gave(authority: Authority) -> None:
    code = authority.code()
    answer = authority.exchange(code)
    error = refusal(authority, code)

    assert (error.code, error.reason) == ("invalid_grant", "code_replayed")
    assert not authority.active(answer)
    with pytest.raises(OAuthError):
        authority.refresh(answer["refresh_token"])
    assert revoked(authority) == ["code_replayed"]
    assert ("reuse", "denied", "code_replayed") in authority.memory.audit.events()


def test_x3_a_replay_is_known_however_late(authority: Authority) -> None:
    code = authority.code()
    answer = authority.exchange(code)
    authority.clock.forward(86_400)
    assert refusal(authority, code).reason == "code_replayed"

    with pytest.raises(OAuthError):
        authority.refresh(answer["refresh_token"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"code_verifier": "w" * 43},
        {"code_verifier": "w"},
        {"code_verifier": None},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": None},
    ],
)
def test_x3_a_used_code_without_its_proof_ends_nothing(authority: Authority, wrong: dict[str, str | None]) -> None:
    unused, code = authority.code(), authority.code()
    answer = authority.exchange(code)
    error = refusal(authority, code, APP, **wrong)

    assert error.body() == refusal(authority, unused, APP, **wrong).body(), "used and unused are told alike"
    assert error.code == ("invalid_request" if wrong.get("code_verifier", "") is None else "invalid_grant")
    assert revoked(authority) == []
    assert authority.active(answer)
    assert authority.active(authority.refresh(answer["refresh_token"]))


def test_x4_another_clients_code_is_unknown_and_stays_good(authority: Authority) -> None:
    code = authority.code()
    assert refusal(authority, code, OTHER, redirect_uri=REDIRECT).code == "invalid_grant"
    answer = authority.exchange(code)
    assert refusal(authority, code, OTHER, redirect_uri=REDIRECT).code == "invalid_grant"

    assert revoked(authority) == []
    assert authority.active(answer)


@pytest.mark.parametrize("wrong", ["cpc_" + "x" * 43, "x", "cpc_", "\udcff", "é" * 5_000])
def test_x4_a_code_of_the_right_shape_is_not_enough(authority: Authority, wrong: str) -> None:
    authority.code()
    assert refusal(authority, wrong).code == "invalid_grant"


def test_x4_codes_differ_in_every_place(authority: Authority) -> None:
    code = authority.code()
    assert refusal(authority, code[:-1]).code == "invalid_grant"
    assert refusal(authority, code + "x").code == "invalid_grant"
    assert refusal(authority, code.upper()).code == "invalid_grant"


def test_x5_an_expired_code_ends_nothing(authority: Authority) -> None:
    code = authority.code()
    authority.clock.forward(60)

    assert refusal(authority, code).code == "invalid_grant"
    assert revoked(authority) == []


def test_a_code_lasts_to_its_last_second(authority: Authority) -> None:
    code = authority.code()
    authority.clock.forward(59)

    assert authority.active(authority.exchange(code))


@pytest.mark.parametrize("verifier", ["v" * 42, "v" * 129, "v" * 42 + "+", "v" * 42 + "\n", "é" * 43, "\udcff" * 43])
def test_x6_a_verifier_that_cannot_be_one_is_refused(authority: Authority, verifier: str) -> None:
    code = authority.code()

    assert refusal(authority, code, code_verifier=verifier).code == "invalid_grant"
    assert authority.active(authority.exchange(code))


def test_x6_a_missing_verifier_is_refused(authority: Authority) -> None:
    code = authority.code()
    for missing in (None, ""):
        assert refusal(authority, code, code_verifier=missing).code == "invalid_request"

    assert authority.active(authority.exchange(code))


def test_x6_a_verifier_without_a_challenge_is_refused(authority: Authority) -> None:
    code = authority.code()
    (kept,) = authority.memory.codes.values()
    authority.memory.codes[kept.hash] = replace(kept, challenge="")

    assert refusal(authority, code).code == "invalid_grant"
    assert refusal(authority, code, code_verifier="").code == "invalid_request"


def test_x7_of_two_exchanges_at_once_one_wins_and_then_the_grant_ends(authority: Authority) -> None:
    code = authority.code()
    won: list[dict[str, Any]] = []
    racing = Racing(authority.grants, "redeem", lambda: won.append(authority.exchange(code)))
    slow = authority.token_endpoint_over(cast(GrantStore, racing))
    form = {"code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
    with pytest.raises(OAuthError) as caught:
        slow.exchange(form, APP)

    assert (caught.value.code, caught.value.reason) == ("invalid_grant", "code_replayed")
    assert len(won) == 1
    assert not authority.active(won[0])
    assert len(authority.memory.tokens) == 1


def test_x8_no_scope_beyond_the_grant(authority: Authority) -> None:
    code = authority.code()
    for more in ("memory:read", "knowledge:read knowledge:admin", "x", '"'):
        assert refusal(authority, code, scope=more).code == "invalid_scope"

    answer = authority.exchange(code, scope="knowledge:read offline_access")
    assert answer["scope"] == "knowledge:read"
    assert authority.refresh(answer["refresh_token"])["scope"] == "knowledge:read knowledge:write"


def test_x9_a_grant_that_ended_gives_nothing(authority: Authority) -> None:
    code = authority.code()
    assert authority.connections.revoke_all(ALICE) == 1

    assert refusal(authority, code).code == "invalid_grant"


def test_x9_a_grant_that_ends_in_between_gives_nothing(authority: Authority) -> None:
    code = authority.code()
    racing = Racing(authority.grants, "redeem", lambda: authority.connections.revoke_all(ALICE))
    slow = authority.token_endpoint_over(cast(GrantStore, racing))
    with pytest.raises(OAuthError) as caught:
        slow.exchange({"code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}, APP)

    assert (caught.value.code, caught.value.reason) == ("invalid_grant", "grant_over")
    assert authority.memory.tokens == {}


def test_x10_a_code_whose_seal_is_broken_gives_nothing(authority: Authority) -> None:
    code = authority.code()
    (kept,) = authority.memory.codes.values()
    for sealed in (b"", kept.sealed_grant[:-1] + b"x", b"x" * 200):
        authority.memory.codes[kept.hash] = replace(kept, sealed_grant=sealed)
        assert refusal(authority, code).code == "invalid_grant"


def test_x10_the_seal_of_another_grant_gives_nothing(authority: Authority) -> None:
    code = authority.code()
    authority.code()
    one, two = authority.memory.grants
    changed = replace(authority.memory.grants[one], sealed_profile=authority.memory.grants[two].sealed_profile)
    authority.memory.grants[one] = changed

    assert refusal(authority, code).code == "invalid_grant"


@pytest.mark.parametrize("uri", [None, "", "https://app.example.net/callback", "https://evil.example/"])
def test_u5_the_redirect_of_the_exchange_is_that_of_the_request(authority: Authority, uri: str | None) -> None:
    code = authority.code()

    assert refusal(authority, code, redirect_uri=uri).code == "invalid_grant"
    assert authority.active(authority.exchange(code))


def test_u5_a_loopback_port_does_not_change_on_the_way(authority: Authority) -> None:
    uri = "http://127.0.0.1:5555/back?x=1"
    code = authority.code(client_id="laptop", redirect_uri=uri)
    for other in ("http://127.0.0.1:5556/back?x=1", "http://127.0.0.1/back?x=1", "http://localhost:5555/back?x=1"):
        assert refusal(authority, code, LAPTOP, redirect_uri=other).code == "invalid_grant"

    assert authority.active(authority.exchange(code, LAPTOP, redirect_uri=uri))


def test_u5_who_named_no_redirect_need_not_name_one_later(authority: Authority) -> None:
    assert authority.active(authority.exchange(authority.code(redirect_uri=None), redirect_uri=None))
    assert authority.active(authority.exchange(authority.code(redirect_uri=None), redirect_uri=REDIRECT))
    assert refusal(authority, authority.code(redirect_uri=None), redirect_uri="https://x.example/").code == (
        "invalid_grant"
    )


def test_a_confidential_client_exchanges_as_well(authority: Authority) -> None:
    code = authority.code(client_id="other", redirect_uri=OTHER_REDIRECT)
    answer = authority.exchange(code, OTHER)

    assert authority.active(authority.refresh(answer["refresh_token"], OTHER)), "implied by authorization_code"


def test_a_client_that_is_not_registered_for_codes_exchanges_none(authority: Authority) -> None:
    code = authority.code()
    client = replace(APP, grant_types=("client_credentials",))

    assert refusal(authority, code, client).code == "unauthorized_client"
    assert authority.active(authority.exchange(code))


def test_a_code_is_needed(authority: Authority) -> None:
    assert refusal(authority, "").code == "invalid_request"


def test_roles_that_were_lost_since_the_consent_narrow_the_first_token(authority: Authority) -> None:
    code = authority.code()
    authority.accounts.held[ALICE] = standing("public")
    claims = authority.claims(authority.exchange(code))

    assert (claims.scopes, claims.tier, claims.permission) == (("knowledge:read",), "public", "readonly")


@pytest.mark.parametrize("part", ["accounts", "ring", "memory"])
def test_f13_what_is_away_leaves_the_code_as_it_was(authority: Authority, part: str) -> None:
    code = authority.code()
    getattr(authority, part).down = True
    error = refusal(authority, code)
    assert (error.code, error.status) == ("temporarily_unavailable", 503)
    assert int(error.headers["Retry-After"]) in (2, 3, 7)

    getattr(authority, part).down = False
    assert authority.active(authority.exchange(code))


def test_l1_tokens_are_kept_as_hashes_and_people_under_seal(authority: Authority) -> None:
    code = authority.code()
    answer = authority.exchange(code)
    kept = stored(authority)

    grant = authority.claims(answer).grant
    for secret in (code, answer["access_token"], answer["refresh_token"], grant, ALICE, ALICE.lower(), "alice.eth"):
        assert secret not in kept


def test_l8_a_refusal_says_nothing_of_what_came(authority: Authority) -> None:
    code = authority.code()
    for error in (refusal(authority, code, code_verifier="marker" * 8), refusal(authority, "marker")):
        assert "marker" not in error.description + error.reason + str(error)


def test_l10_wrong_and_unknown_are_told_in_the_same_words(authority: Authority) -> None:
    code = authority.code()
    bodies = [
        refusal(authority, "cpc_" + "x" * 43).body(),
        refusal(authority, code, OTHER).body(),
        refusal(authority, code, code_verifier="w" * 43).body(),
        refusal(authority, code, redirect_uri="https://x.example/").body(),
    ]

    assert all(body == bodies[0] for body in bodies)


def test_who_tries_what_is_anothers_is_recorded(authority: Authority) -> None:
    code = authority.code()
    refusal(authority, code, code_verifier="w" * 43)
    refusal(authority, code, OTHER, redirect_uri=REDIRECT)
    refusal(authority, "cpc_" + "x" * 43)
    token = authority.exchange(code)["refresh_token"]
    with pytest.raises(OAuthError):
        authority.refresh(token, OTHER)

    denied = [record for record in authority.memory.audit.records if record.event == "denied"]
    (grant,) = authority.memory.grants
    assert [(record.reason, record.client, record.grant) for record in denied] == [
        ("verifier_wrong", "app", grant),
        ("code_of_another", "other", grant),
        ("refresh_of_another", "other", grant),
    ]


RIGHT = {"redirect_uri": REDIRECT, "code_verifier": VERIFIER, "resource": MCP, "scope": "knowledge:read"}
WRONG = {
    "redirect_uri": "https://app.example.net/callback?kept=2",
    "code_verifier": "w" * 43,
    "resource": f"{BASE}/api",
    "scope": "knowledge:admin",
}


@pytest.mark.parametrize("number", range(1, 16))
def test_whatever_is_wrong_together_the_code_stays_good(authority: Authority, number: int) -> None:
    """Redirect URI, verifier, resource and scope, wrong in every combination."""
    code = authority.code()
    wrong = {name: WRONG[name] for place, name in enumerate(WRONG) if number >> place & 1}
    first = next(iter(wrong))
    expected = {"redirect_uri": "invalid_grant", "code_verifier": "invalid_grant", "resource": "invalid_target"}

    assert refusal(authority, code, APP, **RIGHT | wrong).code == expected.get(first, "invalid_scope")
    assert authority.active(authority.exchange(code, APP, **RIGHT))
