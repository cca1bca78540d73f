"""Refresh tokens: rotation that survives lost answers, and families that end (F* of the negative tests)."""

import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from commonplace.identity import secrets
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.ports import GrantStore
from commonplace.identity.records import Client
from commonplace.kernel.audit import Lost
from tests.fakes.authority import ALICE, APP, BASE, BOB, MCP, OTHER, Authority, standing, stored
from tests.fakes.identity_stores import Racing

DAY = 86_400


@pytest.fixture
def authority() -> Authority:
    return Authority()


def refusal(authority: Authority, token: str, client: Client = APP, **form: str) -> OAuthError:
    with pytest.raises(OAuthError) as caught:
        authority.refresh(token, client, **form)
    return caught.value


def phases(authority: Authority) -> list[str]:
    return sorted(token.phase for token in authority.memory.tokens.values())


def over(authority: Authority) -> bool:
    return all(grant.revoked_at is not None for grant in authority.memory.grants.values())


def test_f1_a_token_is_exchanged_for_its_heir(authority: Authority) -> None:
    first = authority.tokens()
    second = authority.refresh(first["refresh_token"])
    third = authority.refresh(second["refresh_token"])

    assert len({first["refresh_token"], second["refresh_token"], third["refresh_token"]}) == 3
    assert len({authority.claims(answer).jti for answer in (first, second, third)}) == 3
    assert phases(authority) == ["current", "spent", "spent"]
    assert all(authority.active(answer) for answer in (first, second, third))
    assert authority.claims(third).audience == MCP


def test_f1_a_narrowed_token_does_not_narrow_the_grant(authority: Authority) -> None:
    narrow = authority.refresh(authority.tokens()["refresh_token"], scope="knowledge:read")
    assert narrow["scope"] == "knowledge:read"
    assert authority.claims(narrow).permission == "readonly"

    assert authority.refresh(narrow["refresh_token"])["scope"] == "knowledge:read knowledge:write"


def test_f2_a_lost_answer_can_be_had_again(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    first = authority.refresh(token)
    authority.clock.forward(60)
    again = authority.refresh(token)

    assert again["refresh_token"] == first["refresh_token"]
    assert again["access_token"] != first["access_token"]
    assert phases(authority) == ["current", "spent"]
    assert authority.active(authority.refresh(again["refresh_token"]))


def test_f2_later_another_heir_takes_the_place_of_the_first(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    first = authority.refresh(token)
    authority.clock.forward(61)
    later = authority.refresh(token)

    assert later["refresh_token"] != first["refresh_token"]
    assert phases(authority) == ["current", "spent", "void"]
    authority.clock.forward(60)
    assert authority.refresh(token)["refresh_token"] == later["refresh_token"], "its minute begins anew"
    assert authority.active(authority.refresh(later["refresh_token"]))


def test_f3_a_token_whose_heir_was_used_ends_the_family(authority: Authority) -> None:
    first = authority.tokens()
    second = authority.refresh(first["refresh_token"])
    third = authority.refresh(second["refresh_token"])
    error = refusal(authority, first["refresh_token"])

    assert (error.code, error.reason) == ("invalid_grant", "refresh_reused")
    assert not any(authority.active(answer) for answer in (first, second, third))
    assert refusal(authority, third["refresh_token"]).code == "invalid_grant"
    assert ("reuse", "denied", "refresh_reused") in authority.memory.audit.events()


def test_f4_a_voided_heir_ends_the_family(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    voided = authority.refresh(token)
    authority.clock.forward(61)
    live = authority.refresh(token)
    assert refusal(authority, voided["refresh_token"]).reason == "refresh_reused"

    assert refusal(authority, live["refresh_token"]).code == "invalid_grant"
    assert not authority.active(live)


def test_f5_another_clients_token_is_unknown_and_stays_good(authority: Authority) -> None:
    first = authority.tokens()
    second = authority.refresh(first["refresh_token"])
    for token in (first["refresh_token"], second["refresh_token"]):
        assert refusal(authority, token, OTHER).code == "invalid_grant"

    assert authority.active(second)
    assert authority.active(authority.refresh(second["refresh_token"]))


@pytest.mark.parametrize("scope", ["knowledge:admin", "memory:read", "knowledge:read x", '"', "hive:read"])
def test_f6_a_scope_beyond_the_grant_is_refused_without_rotation(authority: Authority, scope: str) -> None:
    token = authority.tokens()["refresh_token"]
    assert refusal(authority, token, scope=scope).code == "invalid_scope"

    assert phases(authority) == ["current"]


def test_f7_a_wrong_resource_is_refused_without_rotation(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    for other in (f"{BASE}/api", f"{BASE}/mcp/knowledge", "x"):
        assert refusal(authority, token, resource=other).code == "invalid_target"

    assert phases(authority) == ["current"]
    assert authority.claims(authority.refresh(token)).audience == MCP


def test_f8_whatever_is_wrong_is_told_in_the_same_words(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    revoked = authority.tokens()["refresh_token"]
    authority.token_endpoint.revoke(revoked, APP)
    errors = [refusal(authority, wrong) for wrong in ("x", token[:-1], token + "x", revoked, "\udcff", "é" * 9_999)]
    errors.append(refusal(authority, token, OTHER))
    authority.clock.forward(30 * DAY)
    errors.append(refusal(authority, token))

    assert len({(error.code, error.description, error.status) for error in errors}) == 1
    assert errors[0].code == "invalid_grant"


def test_f9_a_race_that_is_lost_is_judged_again(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    won: list[dict[str, Any]] = []
    racing = Racing(authority.grants, "rotate", lambda: won.append(authority.refresh(token)))
    slow = authority.token_endpoint_over(cast(GrantStore, racing))
    second = slow.refresh({"refresh_token": token}, APP)

    assert second["refresh_token"] == won[0]["refresh_token"]
    assert phases(authority) == ["current", "spent"]
    assert authority.active(second) and authority.active(won[0])


def test_f9_an_heir_that_is_used_in_between_is_reuse(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    heir = authority.refresh(token)["refresh_token"]
    racing = Racing(authority.grants, "retried", lambda: authority.refresh(heir))
    slow = authority.token_endpoint_over(cast(GrantStore, racing))
    with pytest.raises(OAuthError) as caught:
        slow.refresh({"refresh_token": token}, APP)

    assert caught.value.reason == "refresh_reused"
    assert over(authority)


@pytest.mark.parametrize("late", [False, True])
def test_f9_a_revocation_in_between_wins(authority: Authority, late: bool) -> None:
    token = authority.tokens()["refresh_token"]
    if late:
        authority.refresh(token)
    racing = Racing(authority.grants, "retried" if late else "rotate", lambda: authority.connections.revoke_all(ALICE))
    before = phases(authority)
    with pytest.raises(OAuthError) as caught:
        authority.token_endpoint_over(cast(GrantStore, racing)).refresh({"refresh_token": token}, APP)

    assert (caught.value.code, caught.value.reason) == ("invalid_grant", "grant_over")
    assert phases(authority) == before


def test_f9_who_loses_every_race_is_told_to_come_back(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]

    def lose() -> None:
        raise Lost

    busy = SimpleNamespace(
        refresh=authority.grants.refresh, grant=authority.grants.grant, rotate=lambda *_: lose(), revoke=None
    )
    with pytest.raises(OAuthError) as caught:
        authority.token_endpoint_over(cast(GrantStore, busy)).refresh({"refresh_token": token}, APP)

    assert (caught.value.status, caught.value.code) == (503, "temporarily_unavailable")
    assert not over(authority)


def test_f10_in_the_last_seconds_of_a_grant_a_token_lives_no_longer(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    for _ in range(6):
        authority.clock.forward(29 * DAY)
        token = authority.refresh(token)["refresh_token"]
    authority.clock.forward(6 * DAY - 1)
    answer = authority.refresh(token)

    assert answer["expires_in"] == 1
    (grant,) = authority.memory.grants.values()
    assert authority.claims(answer).expires_at == grant.expires_at
    authority.clock.forward(1)
    assert refusal(authority, answer["refresh_token"]).code == "invalid_grant"
    assert not authority.active(answer)


def test_f11_thirty_idle_days_end_a_line_and_use_prolongs_it(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    for _ in range(3):
        authority.clock.forward(30 * DAY - 1)
        token = authority.refresh(token)["refresh_token"]
    authority.clock.forward(30 * DAY)

    assert refusal(authority, token).code == "invalid_grant"


def test_f11_the_absolute_end_does_not_move(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    start = authority.clock.now
    for _ in range(7):
        authority.clock.forward(25 * DAY)
        token = authority.refresh(token)["refresh_token"]
    authority.clock.now = start + 180 * DAY

    assert refusal(authority, token).code == "invalid_grant"


@pytest.mark.parametrize("skew", [-60, 60])
def test_f11_clocks_may_differ_by_a_minute(authority: Authority, skew: int) -> None:
    token = authority.tokens()["refresh_token"]
    authority.clock.forward(100)
    heir = authority.refresh(token)["refresh_token"]
    authority.clock.forward(skew)

    assert authority.refresh(token)["refresh_token"] == heir


def test_f12_tokens_are_not_taken_for_one_another(authority: Authority) -> None:
    answer, code = authority.tokens(), authority.code()
    for wrong in (answer["access_token"], code):
        assert refusal(authority, wrong).code == "invalid_grant"
    for wrong in (answer["refresh_token"], answer["access_token"]):
        with pytest.raises(OAuthError) as caught:
            authority.exchange(wrong)
        assert caught.value.code == "invalid_grant"

    assert authority.active(answer)


@pytest.mark.parametrize("part", ["accounts", "ring", "memory"])
@pytest.mark.parametrize("retry", [False, True])
def test_f13_what_is_away_rotates_nothing(authority: Authority, part: str, retry: bool) -> None:
    token = authority.tokens()["refresh_token"]
    if retry:
        authority.refresh(token)
    before = phases(authority)
    getattr(authority, part).down = True
    error = refusal(authority, token)
    assert (error.code, error.status) == ("temporarily_unavailable", 503)
    assert int(error.headers["Retry-After"]) in (2, 3, 7)

    getattr(authority, part).down = False
    assert phases(authority) == before
    assert authority.active(authority.refresh(token))


def test_roles_are_read_anew_at_every_refresh(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    authority.refresh(token)

    assert authority.accounts.asked[-1] == (ALICE, True)


def test_a_lost_hat_narrows_the_next_token_and_a_new_one_widens_it_again(authority: Authority) -> None:
    first = authority.tokens(BOB, scope="knowledge:write memory:admin")
    authority.accounts.held[BOB] = standing("member")
    second = authority.refresh(first["refresh_token"])
    authority.accounts.held[BOB] = standing("public")
    third = authority.refresh(second["refresh_token"])
    authority.accounts.held[BOB] = standing("vibecoder", organisation="garden")
    fourth = authority.refresh(third["refresh_token"])

    assert [answer["scope"] for answer in (first, second, third, fourth)] == [
        "knowledge:write memory:admin",
        "knowledge:write memory:write",
        "knowledge:read",
        "knowledge:write memory:admin",
    ]
    claims = [authority.claims(answer) for answer in (first, second, third, fourth)]
    assert [one.tier for one in claims] == ["vibecoder", "member", "public", "vibecoder"]
    assert [one.permission for one in claims] == ["action", "action", "readonly", "action"]
    assert claims[3].organisation == "garden"
    assert claims[3].member != claims[0].member


def test_an_account_that_lost_everything_gets_a_token_for_nothing(authority: Authority) -> None:
    first = authority.tokens(scope="memory:write")
    authority.accounts.held[ALICE] = standing("public")

    assert authority.refresh(first["refresh_token"])["scope"] == ""


def test_a_refresh_token_is_needed(authority: Authority) -> None:
    assert refusal(authority, "").code == "invalid_request"


def test_a_client_that_may_not_refresh_does_not(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]

    assert refusal(authority, token, replace(APP, grant_types=("client_credentials",))).code == "unauthorized_client"
    assert phases(authority) == ["current"]


def test_an_heir_that_nobody_can_find_is_reuse(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    heir = authority.refresh(token)["refresh_token"]
    del authority.memory.tokens[secrets.digest(heir)]

    assert refusal(authority, token).reason == "refresh_reused"
    assert over(authority)


def test_another_key_of_heirs_gives_another_heir_and_no_wrong_one(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    heir = authority.refresh(token)["refresh_token"]
    (spent,) = [one for one in authority.memory.tokens.values() if one.phase == "spent"]
    authority.memory.tokens[spent.hash] = replace(spent, salt="another")
    later = authority.refresh(token)["refresh_token"]

    assert later != heir
    assert authority.active(authority.refresh(later))


def test_what_is_used_and_when_is_noted(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    authority.clock.forward(1_000)
    authority.refresh(token)

    (grant,) = authority.memory.grants.values()
    assert grant.last_used_at == int(authority.clock.now)


def test_every_token_is_recorded(authority: Authority) -> None:
    token = authority.tokens()["refresh_token"]
    authority.refresh(token)
    authority.refresh(token)

    assert authority.memory.audit.events() == [
        ("consent", "ok", ""),
        ("grant", "ok", ""),
        ("refresh", "ok", ""),
        ("refresh", "ok", "retried"),
    ]
    assert authority.memory.audit.records[-1].network == "192.0.2.3"


def test_l1_no_token_is_kept_nor_logged(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    first = authority.tokens()
    second = authority.refresh(first["refresh_token"])
    authority.clock.forward(61)
    third = authority.refresh(first["refresh_token"])
    refusal(authority, second["refresh_token"])

    kept = stored(authority) + caplog.text
    for answer in (first, second, third):
        assert answer["refresh_token"] not in kept
        assert answer["access_token"] not in kept
    assert authority.claims(third).grant not in kept
