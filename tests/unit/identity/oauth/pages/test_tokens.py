"""Tokens that members make for agents: the page, the exchange at `/token`, and the bearer at one resource alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from httpx2 import Response

from commonplace.identity.access_tokens import AccessTokens
from commonplace.identity.accounts import Denials
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.oauth.agent_names import is_agent_like
from commonplace.identity.oauth.registration import AGENT_ID, CLIENT_ID, ID
from commonplace.identity.oauth.token_endpoint import ACCESS, EXCHANGE
from commonplace.identity.principals import Principal
from commonplace.identity.secrets import TOKEN, digest, grant_secret
from commonplace.kernel.errors import Unauthorized
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.memberships import CLERK, LEAD, MemoryMemberships
from tests.unit.identity.oauth.pages.conftest import BOB, ISSUER, Browser, World, fields, path, query

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
"""The one of the challenge (RFC 7636, appendix B)."""
RESOURCE, HOUR = f"{ISSUER}/mcp/governance", ("expiry", "3600")
GIVEN = {
    "name": "Tide reader",
    "organisation": "acme",
    "roles": [LEAD.id],
    "kinds": ["messages", "topics"],
    "permission": "readonly",
    "expiry": "3600",
}


@pytest.fixture
def memberships() -> MemoryMemberships:
    return MemoryMemberships()


@pytest.fixture
def here(memberships: MemoryMemberships) -> World:
    return World(AuthorizationServer(ISSUER, memberships=memberships, AUTH_AGENT_SESSIONS_PER_HOUR="5"))


@pytest.fixture
def ada(here: World, memberships: MemoryMemberships) -> Browser:
    """A member of acme, signed in."""
    ada = here.browser()
    memberships.join(here.server.services.subject_hash(ada.address), "acme", LEAD, CLERK)
    ada.sign_in()
    return ada


def create(browser: Browser, **changed: Any) -> Response:
    return browser.ask("/account/tokens", GIVEN | changed)


def token_of(browser: Browser, **changed: Any) -> str:
    made = create(browser, **changed)
    assert made.status_code == 201, made.text
    return str(made.json()["token"])


def exchange(browser: Browser, token: str, **changed: str) -> Response:
    form = {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": ACCESS}
    return browser.http.post("/token", data=form | changed)


def guard(here: World) -> TokenPrincipals:
    """Return the guard of a resource."""
    server = here.server
    keys = {key["kid"]: key for key in server.keys.published(server.clock())}
    verified = AccessTokens(ISSUER, cast(Any, SimpleNamespace(find=keys.get)))
    memberships = server.services.consents.memberships
    denials = Denials(server.audit.write, server.clock)
    return TokenPrincipals(
        verified, server.grants, server.standings, server.clock, memberships=memberships, denials=denials
    )


def principal(here: World, token: str, resource: str = RESOURCE) -> Principal:
    """Return the principal of a bearer token, as the guard of a resource finds it."""
    return guard(here).identify({"authorization": f"Bearer {token}"}, resource)


def denied(here: World) -> list[tuple[str, str]]:
    """Return the grant and the reason of each refusal that was recorded."""
    return [(one.grant, one.reason) for one in here.server.audit.records if one.event == "denied"]


def test_a_token_is_shown_once_and_stored_as_a_hash(here: World, ada: Browser) -> None:
    page = ada.get("/account/tokens")
    assert "Garden" in page.text
    assert '<option value="7776000"' not in page.text, "30 days at most"
    made = create(ada)
    token = made.json()["token"]
    assert token.startswith("cpa_")
    assert made.headers["cache-control"] == "no-store"
    (grant,) = here.server.grants.all()
    assert grant.id == digest(grant_secret(token))
    assert token not in repr(grant)
    assert grant_secret(token) not in repr(grant)
    assert (grant.permission, grant.scopes, grant.client_source) == ("readonly", ("governance:read",), "person")
    assert grant.resource_scopes == ("organisation", "messages", "topics")
    assert grant.membership is not None
    assert (grant.membership.organisation, grant.membership.roles) == ("acme", (LEAD.id,))
    assert grant.expires_at - grant.created_at == 3_600
    for place in ("/account/tokens", "/account"):
        assert "Tide reader" in ada.get(place).text
        assert token not in ada.get(place).text


def test_a_token_is_a_bearer_at_the_one_resource_for_which_it_is(here: World, ada: Browser) -> None:
    token = token_of(ada, permission="action")
    found = principal(here, token)
    assert found.membership is not None
    assert (found.membership.organisation, found.membership.roles) == ("acme", frozenset({LEAD.id}))
    assert found.membership.client == "Tide reader"
    assert found.may("governance:decide")
    assert found.grant == digest(grant_secret(token))
    for place in ("/mcp", "/mcp/all", "/mcp/knowledge", "/api", "/mcp/governance/"):
        with pytest.raises(Unauthorized):
            principal(here, token, ISSUER + place)
    assert set(denied(here)) == {(digest(grant_secret(token)), "audience")}


@pytest.mark.parametrize("garbage", ["", "A", "A" * 43, "=" * 9_000, "..", "\udce4"])
def test_garbage_with_the_prefix_of_a_token_is_refused(here: World, ada: Browser, garbage: str) -> None:
    token_of(ada)
    with pytest.raises(Unauthorized):
        principal(here, f"cpa_{garbage}")
    assert not denied(here), "no grant is known"


def test_a_token_acts_for_the_member_alone_who_made_it(
    here: World, ada: Browser, memberships: MemoryMemberships
) -> None:
    bob = here.browser(BOB)
    account = here.server.services.subject_hash(bob.address)
    member = memberships.join(account, "zeta", LEAD)
    bob.sign_in()
    assert create(bob).status_code == 422, "Ada's organisation"
    token = token_of(bob, organisation="zeta")
    acts = principal(here, token).membership
    assert acts is not None
    assert (acts.organisation, acts.member) == ("zeta", member.member)
    grant = digest(grant_secret(token))
    assert ada.ask("/account/revoke", {"grant": grant}).status_code == 404
    assert principal(here, token).membership == acts
    memberships.members["zeta", member.member] = (here.server.services.subject_hash(ada.address), member)
    with pytest.raises(Unauthorized):
        principal(here, token)
    assert [one for one, _ in denied(here)] == [grant]


def test_the_first_use_of_a_token_shows_at_once(here: World, ada: Browser) -> None:
    token, judge = token_of(ada), guard(here)
    assert "never" in ada.get("/account/tokens").text
    here.server.clock.now += 1
    judge.used(judge.identify({"authorization": f"Bearer {token}"}, RESOURCE), "192.0.2.77")
    for place in ("/account/tokens", "/account"):
        assert "192.0.2" in ada.get(place).text


def test_a_public_id_of_a_client_does_not_look_like_a_token() -> None:
    assert TOKEN not in (ID, AGENT_ID, CLIENT_ID)


def test_a_token_is_exchanged_for_an_hour(here: World, ada: Browser) -> None:
    token = token_of(ada, permission="action", expiry="86400")
    answer = exchange(here.browser(), token, scope="governance:read")
    found = answer.json()
    assert (answer.status_code, found["expires_in"], found["scope"]) == (200, 3_600, "governance:read")
    assert (found["issued_token_type"], found["token_type"]) == (ACCESS, "Bearer")
    assert "refresh_token" not in found
    read = principal(here, found["access_token"])
    assert read.membership is not None
    assert not read.may("governance:write")
    claims = here.server.services.token_endpoint.issuer.read(found["access_token"])
    with pytest.raises(Unauthorized):
        principal(here, claims.grant)
    assert exchange(here.browser(), claims.grant).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"resource": f"{ISSUER}/mcp"}, "invalid_target"),
        ({"scope": "governance:decide"}, "invalid_scope"),
        ({"scope": "knowledge:read"}, "invalid_scope"),
        ({"subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}, "invalid_request"),
        ({"actor_token": "x"}, "invalid_request"),
        ({"subject_token": "cpa_" + "A" * 43}, "invalid_grant"),
        ({"subject_token": ""}, "invalid_grant"),
    ],
)
def test_an_exchange_gives_no_more_than_was_granted(ada: Browser, changed: dict[str, str], error: str) -> None:
    answer = exchange(ada, token_of(ada), **changed)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.parametrize("how", ["person", "holder", "time", "leaving"])
def test_a_token_that_is_over_is_refused_at_once(
    here: World, ada: Browser, memberships: MemoryMemberships, how: str
) -> None:
    token = token_of(ada)
    assert principal(here, token).membership
    match how:
        case "person":
            ada.ask("/account/revoke", {"grant": digest(grant_secret(token))})
        case "holder":
            assert here.browser().http.post("/revoke", data={"token": token}).status_code == 200
        case "time":
            here.server.clock.now += 3_600
        case _:
            memberships.leave(memberships.of_account(here.server.services.subject_hash(ada.address))[0])
    with pytest.raises(Unauthorized):
        principal(here, token)
    assert exchange(ada, token).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"organisation": "zeta"}, "organisation"),
        ({"roles": ["ro_other"]}, "organisation"),
        ({"name": "\N{ZERO WIDTH SPACE} "}, "name"),
        ({"name": "AI Agent (via Ada)"}, "name"),
        ({"name": "\N{CYRILLIC CAPITAL LETTER A}I  a\N{RIGHT-TO-LEFT OVERRIDE}gent"}, "name"),
        ({"expiry": "7776000"}, "expiry"),
        ({"expiry": "soon"}, "expiry"),
        ({"kinds": []}, "kinds"),
    ],
)
def test_what_a_token_cannot_be_is_refused(here: World, ada: Browser, changed: dict[str, Any], field: str) -> None:
    answer = create(ada, **changed)
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["details"]["field"] == field
    assert not list(here.server.grants.all())


def test_pages_of_other_sites_and_strangers_make_no_token(here: World, ada: Browser) -> None:
    assert ada.http.post("/account/tokens", json=GIVEN, headers={"origin": "https://evil.example"}).status_code == 403
    assert ada.http.post("/account/tokens", json=GIVEN, headers={"origin": ISSUER}).status_code == 403
    assert create(here.browser()).status_code == 401
    assert create(ada, roles="ro_lead").status_code == 400
    assert not list(here.server.grants.all())


def test_five_new_grants_an_hour_and_twenty_tokens_are_the_most(here: World, ada: Browser) -> None:
    for number in range(5):
        token_of(ada, name=f"Agent {number}", expiry="86400")
    assert create(ada, name="The sixth").status_code == 429
    for hour in range(3):
        here.server.clock.now += 3_600
        for number in range(5):
            token_of(ada, name=f"Agent {hour} {number}", expiry="86400")
    here.server.clock.now += 3_600
    answer = create(ada, name="The last")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "CONFLICT")


@pytest.mark.parametrize("scope", ["governance:write", "governance:read governance:decide", "swarmrise:governance"])
@pytest.mark.parametrize(("permission", "granted"), [("readonly", 1), ("action", 3)])
def test_consent_is_for_reading_or_for_all_that_acts(
    here: World, ada: Browser, scope: str, permission: str, granted: int
) -> None:
    page = ada.consent_page(path(here.site, resource=RESOURCE, scope=scope))
    sent = [one for one in fields(page) if one[0] not in ("permission", "organisation")]
    assert ("permission", "readonly") in fields(page)
    assert "AI Agent (via" in page.text
    answer = ada.post([*sent, ("permission", permission), ("organisation", "acme"), HOUR, ("decision", "allow")])
    assert "code" in dict(query(answer.headers["location"]))
    (grant,) = here.server.grants.all()
    assert grant.scopes == ("governance:read", "governance:write", "governance:decide")[:granted]
    assert grant.permission == permission


def test_a_consent_to_read_gains_no_power_by_refresh(here: World, ada: Browser) -> None:
    page = ada.consent_page(path(here.site, resource=RESOURCE, scope="governance:write"))
    sent = [one for one in fields(page) if one[0] != "organisation"]
    answer = ada.post([*sent, ("organisation", "acme"), HOUR, ("decision", "allow")])
    form = {"grant_type": "authorization_code", "code": dict(query(answer.headers["location"]))["code"]}
    form |= {"client_id": here.site.id, "code_verifier": VERIFIER, "redirect_uri": here.site.redirect_uris[0]}
    given = ada.http.post("/token", data=form).json()
    assert given["scope"] == "governance:read"
    form = {"grant_type": "refresh_token", "refresh_token": given["refresh_token"], "client_id": here.site.id}
    assert ada.http.post("/token", data=form | {"scope": "governance:write"}).json()["error"] == "invalid_scope"
    again = ada.http.post("/token", data=form).json()
    assert again["scope"] == "governance:read"
    found = principal(here, again["access_token"])
    assert (found.permission, found.may("governance:write")) == ("readonly", False)


def test_who_asks_for_reading_cannot_be_given_more(here: World, ada: Browser) -> None:
    page = ada.consent_page(path(here.site, resource=RESOURCE, scope="governance:read"))
    assert 'value="action"' not in page.text
    sent = [one for one in fields(page) if one[0] != "permission"]
    ada.post([*sent, ("permission", "action"), ("scope", "governance:decide"), HOUR, ("decision", "allow")])
    (grant,) = here.server.grants.all()
    assert (grant.scopes, grant.permission) == (("governance:read",), "readonly")


def test_an_application_that_is_called_like_a_mark_acts_for_nobody(here: World, ada: Browser) -> None:
    client = here.client("imitating", "AI Agent (via Ada)", "https://app.example.com/elsewhere")
    page = ada.get(path(client, resource=RESOURCE, scope="governance:read"))
    assert page.status_code == 400
    assert "unauthorized_client" in page.text
    assert ada.get(path(client, scope="knowledge:read")).status_code == 200
    asked = ada.consent_page(path(here.site, resource=RESOURCE, scope="governance:read"))
    here.server.client_store.remove_client(here.site.id)
    here.client(here.site.id, "A1 Agent (via Vi)", *here.site.redirect_uris)
    assert ada.post([*fields(asked), HOUR, ("decision", "allow")]).status_code == 403
    assert not list(here.server.grants.all())


@pytest.mark.parametrize(
    "name", ["AI Agent", "ai agent Bo", "A.I. Agent", "AIAgent", "ＡＩ Agent", "ΑI-Agent", "Ada （via Bo)", "x [ Via"]
)
def test_names_that_read_as_a_mark_are_known(name: str) -> None:
    assert is_agent_like(name)


@pytest.mark.parametrize("name", ["Aia Gentle", "Viola", "Agent Ada", "Ada (Bo)", "Aidan", "Via Garibaldi", "船長"])
def test_names_that_do_not_are_none(name: str) -> None:
    assert not is_agent_like(name)
