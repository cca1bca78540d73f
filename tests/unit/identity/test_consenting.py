"""A person's answer: once, in one browser, for no more than was asked (S* and A9 to A12 of the negative tests)."""

import re
from dataclasses import replace

import pytest

from commonplace.identity import secrets
from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.oauth.consent import RequestGone
from commonplace.kernel.errors import RateLimited, Unavailable
from tests.fakes.authority import (
    ALICE,
    APP,
    BASE,
    BOB,
    KEY,
    LAPTOP,
    MCP,
    OTHER,
    OTHER_REDIRECT,
    REDIRECT,
    Authority,
    profile,
    standing,
    stored,
    told,
)
from tests.fakes.identity_stores import Clock, MemorySignIns

STATE = "st&te =\N{SNOWMAN}"


@pytest.fixture
def authority() -> Authority:
    return Authority()


def grants(authority: Authority) -> int:
    return len(authority.memory.grants)


def test_a9_a_yes_brings_a_code_the_state_and_the_issuer_each_once(authority: Authority) -> None:
    answer = told(authority.decide(authority.begin()))

    assert set(answer) == {"kept", "code", "state", "iss"}
    assert (answer["state"], answer["iss"], answer["kept"]) == (STATE, BASE, "1")


def test_a9_no_state_is_sent_where_none_came(authority: Authority) -> None:
    assert set(told(authority.decide(authority.begin(state=None)))) == {"kept", "code", "iss"}


def test_a9_bytes_that_are_no_text_survive_the_consent(authority: Authority) -> None:
    url = authority.decide(authority.begin(state="a\udcff\x00b"))

    assert url.endswith("state=a%FF%00b&iss=https%3A%2F%2Fkb.example.org")


def test_a10_a_no_is_told_with_the_issuer(authority: Authority) -> None:
    answer = told(authority.decide(authority.begin(), allowed=None))

    assert answer.pop("error_description")
    assert answer == {"kept": "1", "error": "access_denied", "state": STATE, "iss": BASE}
    assert grants(authority) == 0
    assert authority.memory.audit.events() == [("consent", "denied", "declined")]


def test_a10_who_says_no_need_not_have_signed_in(authority: Authority) -> None:
    answer = told(authority.decide(authority.begin(), allowed=None, profile=None, standing=None))

    assert answer["error"] == "access_denied"


def test_a12_codes_are_256_bits_of_an_unbiased_alphabet(authority: Authority) -> None:
    codes = {told(authority.decide(authority.begin()))["code"] for _ in range(50)}

    assert len(codes) == 50
    assert all(re.fullmatch(r"cpc_[A-Za-z0-9_-]{43}", code) for code in codes)
    assert len({character for code in codes for character in code}) > 60


def test_s1_only_the_browser_that_asked_may_answer(authority: Authority) -> None:
    begun, another = authority.begin(), authority.begin()
    for cookie in ("", "x", another.cookie, begun.handle, begun.csrf):
        assert authority.consents.look(begun.handle, cookie) is None
        with pytest.raises(RequestGone):
            authority.decide(begun, cookie=cookie)
    for handle in ("", "x", another.handle, secrets.digest(begun.handle)):
        with pytest.raises(RequestGone):
            authority.decide(begun, handle=handle)
    for csrf in ("", "x", another.csrf, begun.cookie):
        with pytest.raises(RequestGone):
            authority.decide(begun, csrf=csrf)
        with pytest.raises(RequestGone):
            authority.decide(begun, csrf=csrf, allowed=None)

    assert grants(authority) == 0
    assert "code" in told(authority.decide(begun))


def test_s2_a_page_is_answered_once(authority: Authority) -> None:
    begun = authority.begin()
    authority.decide(begun)
    for allowed in (("knowledge:read",), None):
        with pytest.raises(RequestGone):
            authority.decide(begun, allowed=allowed)

    declined = authority.begin()
    authority.decide(declined, allowed=None)
    with pytest.raises(RequestGone):
        authority.decide(declined)
    assert grants(authority) == 1


def test_s2_a_page_is_answered_within_ten_minutes(authority: Authority) -> None:
    begun = authority.begin()
    authority.clock.forward(599)
    assert authority.consents.look(begun.handle, begun.cookie)

    authority.clock.forward(1)
    assert authority.consents.look(begun.handle, begun.cookie) is None
    with pytest.raises(RequestGone):
        authority.decide(begun)


def test_s2_another_account_does_not_answer_for_the_one_that_was_shown(authority: Authority) -> None:
    begun = authority.begin()
    with pytest.raises(RequestGone):
        authority.decide(begun, BOB, account=ALICE)
    assert grants(authority) == 0

    assert "code" in told(authority.decide(begun, ALICE, account=ALICE))


def test_s2_two_tabs_both_work(authority: Authority) -> None:
    one, two = authority.begin(), authority.begin()

    assert "code" in told(authority.decide(two))
    assert "code" in told(authority.decide(one))


def test_s2_a_yes_without_anybody_signed_in_is_none(authority: Authority) -> None:
    begun = authority.begin()
    with pytest.raises(RequestGone):
        authority.decide(begun, profile=None)
    with pytest.raises(RequestGone):
        authority.decide(begun, standing=None)
    assert grants(authority) == 0


def test_s3_what_was_checked_is_what_is_granted(authority: Authority) -> None:
    begun = authority.begin()
    pending = authority.consents.look(begun.handle, begun.cookie)

    assert pending is not None and pending.request == authority.understand().request
    authority.decide(begun)
    (grant,) = authority.memory.grants.values()
    assert (grant.client_id, grant.resource, grant.redirect_host) == ("app", MCP, "app.example.net")
    assert (grant.client_name, grant.kind, grant.organisation) == ("An app", "person", None)
    assert grant.expires_at - grant.created_at == 180 * 86_400


@pytest.mark.parametrize("uri", ["https://moved.example/", "http://127.0.0.1/back"])
def test_u6_a_redirect_that_is_registered_no_more_gets_nothing(authority: Authority, uri: str) -> None:
    begun = authority.begin()
    authority.known.clients["app"] = replace(APP, redirect_uris=(uri,))
    for allowed in (("knowledge:read",), None):
        with pytest.raises(RequestGone):
            authority.decide(begun, allowed=allowed)


def test_u6_a_client_that_is_gone_gets_nothing(authority: Authority) -> None:
    begun = authority.begin()
    del authority.known.clients["app"]
    with pytest.raises(RequestGone):
        authority.decide(begun)
    assert grants(authority) == 0


def granted(authority: Authority) -> tuple[str, ...]:
    (grant,) = authority.memory.grants.values()
    return grant.scopes


def test_s4_the_person_may_grant_less(authority: Authority) -> None:
    authority.decide(authority.begin(), allowed=["knowledge:read"])

    assert granted(authority) == ("knowledge:read",)
    (grant,) = authority.memory.grants.values()
    assert grant.permission == "readonly"


def test_s4_a_scope_that_was_not_asked_for_is_not_granted(authority: Authority) -> None:
    authority.decide(authority.begin(scope="knowledge:read"), allowed=["knowledge:read", "memory:read", "x", ""])

    assert granted(authority) == ("knowledge:read",)


def test_s4_a_scope_beyond_the_account_is_not_granted(authority: Authority) -> None:
    begun = authority.begin(scope="knowledge:read memory:admin")
    pending = authority.consents.look(begun.handle, begun.cookie)
    assert pending is not None
    assert authority.consents.offered(pending.request, standing("member")) == ("knowledge:read", "memory:write")
    assert authority.consents.offered(pending.request, standing("public")) == ("knowledge:read",)

    authority.decide(begun, allowed=["knowledge:read", "memory:admin", "memory:write"])
    assert granted(authority) == ("knowledge:read", "memory:write")


def test_s4_nothing_ticked_is_a_no(authority: Authority) -> None:
    assert told(authority.decide(authority.begin(), allowed=[]))["error"] == "access_denied"
    assert told(authority.decide(authority.begin(), allowed=["hive:read"]))["error"] == "access_denied"
    assert told(authority.decide(authority.begin(), resource_scopes=[]))["error"] == "access_denied"
    assert told(authority.decide(authority.begin(), resource_scopes=["x"]))["error"] == "access_denied"
    assert grants(authority) == 0


def test_s4_the_person_may_grant_some_kinds_of_things(authority: Authority) -> None:
    begun = authority.begin(scope="knowledge:read memory:read")
    authority.decide(begun, resource_scopes=["entries", "members", "x"])

    (grant,) = authority.memory.grants.values()
    assert grant.resource_scopes == ("entries",)


def recalled(authority: Authority, subject: str = ALICE, **changes: str | None) -> str | None:
    held = authority.accounts.held.get(subject, standing("public"))
    return authority.consents.recalled(authority.understand(**changes), profile(subject), held, "192.0.2.9")


def test_s6_a_consent_is_remembered(authority: Authority) -> None:
    assert recalled(authority) is None
    authority.decide(authority.begin(), resource_scopes=["documents"])

    url = recalled(authority, state="another")
    assert url is not None and told(url)["state"] == "another"
    first, second = authority.memory.grants.values()
    assert (second.scopes, second.resource_scopes) == (first.scopes, ("documents",))
    assert ("consent", "ok", "remembered") in authority.memory.audit.events()
    assert recalled(authority, scope="knowledge:read") is not None


def test_s6_a_remembered_consent_covers_no_more_scopes(authority: Authority) -> None:
    authority.decide(authority.begin(), allowed=["knowledge:read"])

    assert recalled(authority) is None
    assert recalled(authority, scope="knowledge:read memory:read") is None
    assert recalled(authority, scope="knowledge:read") is not None


def test_s6_what_the_account_may_do_since_then_is_asked_for(authority: Authority) -> None:
    authority.accounts.held[ALICE] = standing("public")
    authority.decide(authority.begin())
    assert recalled(authority) is not None

    authority.accounts.held[ALICE] = standing("member")
    assert recalled(authority) is None


def test_s6_a_remembered_consent_covers_no_other_redirect_person_client_or_resource(authority: Authority) -> None:
    authority.decide(authority.begin(client_id=OTHER.id, redirect_uri=OTHER_REDIRECT))
    assert recalled(authority, client_id=OTHER.id, redirect_uri=OTHER_REDIRECT) is not None

    assert recalled(authority, client_id=OTHER.id, redirect_uri=OTHER.redirect_uris[1]) is None
    assert recalled(authority, BOB, client_id=OTHER.id, redirect_uri=OTHER_REDIRECT) is None
    assert recalled(authority) is None
    assert recalled(authority, client_id=OTHER.id, redirect_uri=OTHER_REDIRECT, resource=f"{BASE}/api") is None


@pytest.mark.parametrize(
    "uri",
    [
        *("http://127.0.0.1/back", "http://localhost:99/back", "cursor://anysphere/back"),
        *("https://127.0.0.1/back", "https://localhost:8443/back", "https://app.localhost/back", "https://[::1]/back"),
    ],
)
def test_s6_consent_to_what_runs_on_a_computer_is_never_remembered(authority: Authority, uri: str) -> None:
    authority.known.clients["laptop"] = replace(LAPTOP, redirect_uris=(uri, REDIRECT))
    authority.decide(authority.begin(client_id="laptop", redirect_uri=uri))

    assert isinstance(authority.signins, MemorySignIns)
    assert authority.signins.consents == {}
    assert recalled(authority, client_id="laptop", redirect_uri=uri) is None


def test_s6_a_consent_is_remembered_only_if_the_person_wants(authority: Authority) -> None:
    authority.decide(authority.begin(), remember=False)

    assert recalled(authority) is None


def test_s6_a_consent_is_remembered_for_ninety_days(authority: Authority) -> None:
    authority.decide(authority.begin())
    authority.clock.forward(90 * 86_400 - 1)
    assert recalled(authority) is not None

    authority.clock.forward(1)
    assert recalled(authority) is None


def test_s6_what_the_store_has_not_deleted_yet_is_over_all_the_same(authority: Authority) -> None:
    assert isinstance(authority.signins, MemorySignIns)
    begun = authority.begin()
    authority.decide(authority.begin())
    authority.signins.clock = Clock()  # DynamoDB deletes what has expired up to two days later

    authority.clock.forward(600)
    assert authority.consents.look(begun.handle, begun.cookie) is None
    assert recalled(authority) is not None

    authority.clock.forward(90 * 86_400 - 600)
    assert recalled(authority) is None


@pytest.mark.parametrize("prompt", ["consent", "login", "select_account consent"])
def test_s6_a_client_may_have_the_person_asked_again(authority: Authority, prompt: str) -> None:
    authority.decide(authority.begin())

    assert recalled(authority, prompt=prompt) is None


def test_s6_a_consent_is_forgotten_with_the_grant_it_led_to(authority: Authority) -> None:
    authority.decide(authority.begin())
    (grant,) = authority.memory.grants.values()
    assert authority.connections.revoke(ALICE, grant.id)

    assert recalled(authority) is None


def test_s8_nothing_is_granted_before_the_answer(authority: Authority) -> None:
    begun = authority.begin()
    authority.consents.look(begun.handle, begun.cookie)

    assert grants(authority) == 0
    assert authority.memory.codes == {}


def test_new_grants_of_an_account_are_limited() -> None:
    """L6"""
    authority = Authority(sessions_per_hour=5)
    waiting = [authority.begin() for _ in range(6)]
    for begun in waiting[:5]:
        authority.decide(begun)
    with pytest.raises(RateLimited) as caught:
        authority.decide(waiting[5])
    assert 0 < caught.value.retry_after_seconds <= 3_600
    with pytest.raises(RateLimited):
        recalled(authority)

    assert "code" in told(authority.decide(authority.begin(), BOB)), "another's limit is another's"
    assert told(authority.decide(authority.begin(), allowed=None))["error"] == "access_denied"
    authority.clock.forward(3_600)
    assert "code" in told(authority.decide(authority.begin()))


def test_a_client_that_comes_back_for_more_begins_no_session() -> None:
    """L6: a tool that takes more than the token has must not use up what connects another application."""
    authority = Authority(sessions_per_hour=1)
    authority.decide(authority.begin(scope="knowledge:read"))

    more = told(authority.decide(authority.begin(scope="knowledge:read knowledge:write")))
    assert "code" in more

    for again in ("knowledge:read", "knowledge:write"):
        with pytest.raises(RateLimited):
            authority.decide(authority.begin(scope=again))


def test_a_page_survives_a_refusal_for_the_limit() -> None:
    authority = Authority(sessions_per_hour=1)
    authority.decide(authority.begin())
    begun = authority.begin()
    with pytest.raises(RateLimited):
        authority.decide(begun)

    assert authority.consents.look(begun.handle, begun.cookie) is not None


def test_l5_an_eleventh_grant_of_a_person_and_client_ends_the_oldest(authority: Authority) -> None:
    first = authority.tokens()
    for _ in range(9):
        authority.clock.forward(1)
        authority.code()
    assert authority.active(first)
    authority.clock.forward(1)
    authority.code(BOB)
    assert authority.active(first)

    authority.code()
    assert not authority.active(first)
    assert ("revoke", "ok", "too_many_grants") in authority.memory.audit.events()


def test_a_store_that_is_away_is_said_to_be(authority: Authority) -> None:
    begun = authority.begin()
    authority.memory.down = True
    with pytest.raises(Unavailable):
        authority.decide(begun)


def test_l1_what_waits_for_a_person_tells_no_secret(authority: Authority) -> None:
    begun = authority.begin()
    waiting = stored(authority)
    assert not any(secret in waiting for secret in begun)

    code = told(authority.decide(begun))["code"]
    kept = stored(authority)
    assert code not in kept
    assert ALICE.lower() not in kept.lower()
    assert "alice.eth" not in kept


def test_a_consent_is_recorded_with_names_alone(authority: Authority) -> None:
    authority.decide(authority.begin())

    (record,) = authority.memory.audit.records
    assert (record.event, record.outcome, record.organisation) == ("consent", "ok", "default")
    assert record.subject == subject_hash(KEY, ALICE)
    assert dict(record.details) == {
        "scopes": "knowledge:read knowledge:write",
        "resource": MCP,
        "tier": "member",
        "roles": "member",
        "kinds": "all",
    }


def test_an_error_may_lead_where_the_person_has_connected_the_client(authority: Authority) -> None:
    """RFC 9700, section 4.11.2."""
    hears = authority.consents.may_hear
    assert not hears(APP, REDIRECT, profile(ALICE))

    authority.decide(authority.begin())
    assert hears(APP, REDIRECT, profile(ALICE))
    assert not hears(APP, REDIRECT, None)
    assert not hears(APP, REDIRECT, profile(BOB))
    assert not hears(replace(APP, id="twin"), REDIRECT, profile(ALICE))
    assert not hears(APP, "https://app.example.net/callback", profile(ALICE))

    authority.connections.revoke_all(ALICE)
    assert not hears(APP, REDIRECT, profile(ALICE))


def test_an_error_may_lead_to_another_port_of_a_program_that_was_connected(authority: Authority) -> None:
    authority.decide(authority.begin(client_id=LAPTOP.id, redirect_uri="http://127.0.0.1:5555/back?x=1"))

    assert authority.consents.may_hear(LAPTOP, "http://127.0.0.1:6666/back?x=1", profile(ALICE))
    assert not authority.consents.may_hear(LAPTOP, "http://127.0.0.1:6666/back", profile(ALICE))


@pytest.mark.parametrize("who", [None, ALICE])
def test_an_error_may_lead_to_a_client_of_an_operator(authority: Authority, who: str | None) -> None:
    assert authority.consents.may_hear(replace(APP, source="operator"), REDIRECT, profile(who) if who else None)
    assert not authority.consents.may_hear(replace(APP, source="document"), REDIRECT, profile(who) if who else None)
