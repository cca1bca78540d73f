"""GET and POST /authorize as a browser meets them. In brackets: names of the list of negative tests."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from httpx2 import Response

from commonplace.identity.accounts import Standing
from commonplace.identity.principals import KINDS
from commonplace.identity.records import Client
from commonplace.identity.wallets import Named
from tests.fakes.authority import standing
from tests.unit.identity.oauth.pages.conftest import (
    BOB,
    ISSUER,
    JSON,
    SITE_CALLBACK,
    Browser,
    World,
    field_of,
    fields,
    path,
    query,
)

SESSION = "__Host-cp_session"


def keys(url: str) -> list[str]:
    return sorted(name for name, _ in query(url))


def grants(world: World) -> int:
    return len(list(world.server.grants.all()))


def test_allowing_answers_one_code_the_state_and_who_answers(world: World, alice: Browser) -> None:
    """[A9]"""
    answer = alice.decide(alice.consent_page(path(world.site)))
    url = answer.headers["location"]
    assert answer.status_code == 303
    assert keys(url) == ["code", "iss", "kept", "state"]
    assert dict(query(url)) | {"code": ""} == {"kept": "1", "code": "", "state": "st ate&=", "iss": ISSUER}


def test_no_state_is_sent_back_where_none_came(world: World, alice: Browser) -> None:
    """[A9]"""
    answer = alice.decide(alice.consent_page(path(world.site, state=None)))
    assert keys(answer.headers["location"]) == ["code", "iss", "kept"]


def test_declining_tells_the_client(world: World, alice: Browser) -> None:
    """[A10]"""
    url = alice.decide(alice.consent_page(path(world.site)), "deny").headers["location"]
    assert url.startswith("https://app.example.com/callback?kept=1&")
    assert dict(query(url))["error"] == "access_denied"
    assert dict(query(url))["iss"] == ISSUER
    assert grants(world) == 0


def test_who_does_not_want_to_sign_in_can_decline_as_well(world: World, alice: Browser) -> None:
    """[A10]"""
    answer = alice.decide(alice.get(path(world.site)), "deny")
    assert dict(query(answer.headers["location"]))["error"] == "access_denied"


def test_a_script_learns_where_to_go(world: World, alice: Browser) -> None:
    answer = alice.decide(alice.consent_page(path(world.site)), **JSON)
    assert answer.status_code == 200
    assert keys(answer.json()["redirectTo"]) == ["code", "iss", "kept", "state"]


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_what_decides_who_is_told_may_come_once(world: World, alice: Browser, name: str) -> None:
    """[A11]"""
    answer = alice.get(f"{path(world.site)}&{name}=x")
    assert (answer.status_code, answer.headers.get("location")) == (400, None)
    assert "<h1>This app cannot be connected</h1>" in answer.text


@pytest.mark.parametrize("changed", [{"client_id": "nobody"}, {"redirect_uri": "https://evil.example/"}])
def test_an_unknown_client_or_address_is_a_page_of_ours(world: World, alice: Browser, changed: dict[str, str]) -> None:
    """[U1, U2]"""
    answer = alice.get(path(world.site, **changed))
    assert (answer.status_code, answer.headers.get("location")) == (400, None)
    assert "evil.example" not in answer.text


MISTAKES = pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"scope": "sing dance"}, "invalid_scope"),
    ],
)
"""[A1, A2, A5, A6, A8]"""


def goes_back(answer: Response, error: str) -> None:
    """The client hears of it, with all that lets it know whose answer this is."""
    told = dict(query(answer.headers["location"]))
    assert answer.status_code == 302
    assert (told["error"], told["iss"], told["state"]) == (error, ISSUER, "st ate&=")
    assert answer.headers["referrer-policy"] == "no-referrer"


def stays_here(answer: Response, error: str) -> None:
    """A page for the app's developer, which leads nowhere and leaves nothing behind."""
    assert answer.status_code == 400
    assert not {"location", "refresh", "set-cookie"} & set(answer.headers)
    assert answer.headers["cache-control"] == "no-store"
    assert "Nothing was allowed" in answer.text
    assert f"<code>{error}</code>" in answer.text
    assert "<a" not in answer.text.partition("<main>")[2]
    assert "<form" not in answer.text


@MISTAKES
def test_an_error_leads_nobody_away_before_anybody_has_decided(
    world: World, alice: Browser, changed: dict[str, str | None], error: str
) -> None:
    """[A1, A2, A5, A6, A8; RFC 9700, section 4.11.2]"""
    for _ in range(2):  # signed out, and signed in
        answer = alice.get(path(world.site, **changed))
        stays_here(answer, error)
        assert "<code>app.example.com</code>" in answer.text
        assert "<code>https://app.example.com/callback?kept=1</code>" in answer.text
        alice.sign_in()
    assert not world.server.sign_ins.requests


@MISTAKES
def test_an_operators_client_hears_of_errors(
    world: World, alice: Browser, changed: dict[str, str | None], error: str
) -> None:
    ours = world.client("ours", "Ours", SITE_CALLBACK, source="operator")
    goes_back(alice.get(path(ours, **changed)), error)
    assert not world.server.sign_ins.requests


@MISTAKES
def test_a_client_that_the_person_has_connected_hears_of_errors(
    world: World, alice: Browser, changed: dict[str, str | None], error: str
) -> None:
    alice.decide(alice.consent_page(path(world.site)))
    goes_back(alice.get(path(world.site, **changed)), error)


def test_an_app_that_was_disconnected_or_that_signed_out_hears_no_more(world: World, alice: Browser) -> None:
    alice.decide(alice.consent_page(path(world.site)))
    session = alice.http.cookies[SESSION]
    alice.http.cookies.clear()
    stays_here(alice.get(path(world.site, scope="sing")), "invalid_scope")
    alice.http.cookies.set(SESSION, session)
    goes_back(alice.get(path(world.site, scope="sing")), "invalid_scope")
    alice.ask("/account/revoke", {"grant": "all"})
    stays_here(alice.get(path(world.site, scope="sing")), "invalid_scope")


def test_the_page_of_an_error_shows_what_came_as_text(world: World, alice: Browser) -> None:
    uri = "https://evil.example/<script>alert(1)</script>?x=<a/href='//evil.example'>" + "x" * 300
    client = world.client("bad", "<img src=x>Claude", uri)
    answer = alice.get(path(client, scope="sing"))
    stays_here(answer, "invalid_scope")
    for forbidden in ("<script>alert", "<a/", "<img", "x" * 200):
        assert forbidden not in answer.text
    assert "<code>evil.example</code>" in answer.text
    assert "It calls itself Claude, but is not known to be." in answer.text


def test_without_the_cookie_of_the_request_nothing_is_decided(world: World, alice: Browser) -> None:
    """[S1]"""
    page = alice.consent_page(path(world.site))
    session = alice.http.cookies[SESSION]
    alice.http.cookies.clear()
    alice.http.cookies.set(SESSION, session)
    for decision in ("allow", "deny"):
        answer = alice.decide(page, decision)
        assert (answer.status_code, answer.headers.get("location")) == (403, None)
    assert grants(world) == 0


@pytest.mark.parametrize("field", ["handle", "csrf", "account"])
@pytest.mark.parametrize("value", ["", "x", "cph_" + "A" * 43])
def test_a_form_that_was_changed_is_refused(world: World, alice: Browser, field: str, value: str) -> None:
    """[S1]"""
    page = alice.consent_page(path(world.site))
    sent = [(name, value if name == field else own) for name, own in fields(page)]
    answer = alice.post([*sent, ("decision", "allow")])
    assert answer.status_code == 403
    assert "<h1>This page is over</h1>" in answer.text
    assert grants(world) == 0


def test_whoever_signs_in_meanwhile_does_not_answer_for_the_page_before(world: World, alice: Browser) -> None:
    """[S2]"""
    page = alice.consent_page(path(world.site))
    alice.key = BOB
    alice.sign_in()
    assert alice.decide(page).status_code == 403
    assert grants(world) == 0


def test_what_was_asked_cannot_be_changed_with_the_answer(world: World, alice: Browser) -> None:
    """[S3, U6]"""
    page = alice.consent_page(path(world.site))
    more = [("redirect_uri", "https://evil.example/"), ("client_id", "loopback"), ("resource", f"{ISSUER}/api")]
    answer = alice.post([*fields(page), ("decision", "allow"), *more])
    assert answer.headers["location"].startswith("https://app.example.com/callback")
    (grant,) = world.server.grants.all()
    assert (grant.client_id, grant.resource) == ("site", f"{ISSUER}/mcp")


def test_fewer_may_be_ticked(world: World, alice: Browser) -> None:
    page = alice.consent_page(path(world.site))
    alice.post([one for one in fields(page) if one != ("scope", "knowledge:write")] + [("decision", "allow")])
    (grant,) = world.server.grants.all()
    assert (grant.scopes, grant.permission) == (("knowledge:read",), "readonly")


def test_pages_are_guarded_by_their_headers(world: World, alice: Browser) -> None:
    """[S5, L7]"""
    alice_page = alice.consent_page(path(world.site))
    for answer in (world.browser().get(path(world.site)), alice_page, alice.get("/account"), alice.get("/authorize")):
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"} <= set(policy)
        assert {"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
    assert "data:" not in alice_page.headers["content-security-policy"]


def test_the_cookie_of_a_request_is_out_of_reach_of_scripts(world: World, alice: Browser) -> None:
    cookie = alice.get(path(world.site)).headers["set-cookie"]
    assert cookie.startswith("__Host-cp_request_")
    for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"):
        assert part in cookie


def test_a_client_that_asks_again_and_again_does_not_fill_the_browser(world: World, alice: Browser) -> None:
    pages = [alice.get(path(world.site)) for _ in range(15)]
    kept = [name for name in alice.http.cookies if name.startswith("__Host-cp_request_")]
    assert len(kept) == 10
    handles = [field_of(page, "handle") for page in pages]
    answers = [alice.get(f"/siwe/nonce?stateId={handle}").status_code for handle in handles]
    assert answers == [403] * 5 + [200] * 10


def test_a_refusal_is_recorded_with_who_refused(world: World, alice: Browser) -> None:
    alice.decide(alice.consent_page(path(world.site)), "deny")
    record = world.server.audit.records[-1]
    assert (record.event, record.outcome, record.client) == ("consent", "denied", "site")
    assert record.subject == world.server.services.subject_hash(alice.address)


def test_no_preflight_is_answered(alice: Browser) -> None:
    """[M5]"""
    answer = alice.http.options(
        "/authorize", headers={"origin": "https://evil.example", "access-control-request-method": "POST"}
    )
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_a_consent_is_remembered_for_a_site(world: World, alice: Browser) -> None:
    alice.decide(alice.consent_page(path(world.site)))
    answer = alice.get(path(world.site))
    assert answer.status_code == 302
    assert keys(answer.headers["location"]) == ["code", "iss", "kept", "state"]


def test_a_memory_can_be_passed_over(world: World, alice: Browser) -> None:
    alice.decide(alice.consent_page(path(world.site)))
    assert alice.get(path(world.site, prompt="consent")).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "Bank\u202eknab",
        "A\u0000B\u200bC",
        "Z\u0300\u0301\u0302\u0303\u0304\u0305algo",
        "x" * 1_000_000,
        "two\nlines",
        "",
    ],
)
def test_a_malicious_name_is_escaped_and_cut(world: World, alice: Browser, name: str) -> None:
    """[C16]"""
    client = world.client("bad", name, "https://app.example.com/cb")
    for page in (world.browser().get(path(client)), alice.consent_page(path(client))):
        assert page.status_code == 200
        assert len(page.text) < 12_000
        for forbidden in ("<script>", "<img", "\u202e", "\u200b", "\u0000", "\u0302", "two\nlines", "x" * 61):
            assert forbidden not in page.text


def documented(world: World, name: str, *redirect_uris: str, host: str = "apps.example.com") -> Client:
    id = f"https://{host}/oauth/client.json"
    made = Client(id=id, name=name, source="document", redirect_uris=redirect_uris)
    world.server.client_store.keep_document(id, made, int(world.server.clock.now) + 600)
    return made


def test_a_metadata_document_verifies_a_host_and_no_name(world: World, alice: Browser) -> None:
    client = documented(world, "Docs app", "https://apps.example.com/cb")
    page = alice.consent_page(path(client))
    alice.decide(page)
    for shown in (world.browser(BOB).get(path(client)).text, page.text, alice.get("/account").text):
        assert '<span class="badge">host verified: apps.example.com</span>' in shown
        assert "name" not in shown.partition('class="badge')[2].partition("</span>")[0]


def test_a_client_that_registered_itself_has_no_verified_host(world: World, alice: Browser) -> None:
    page = alice.consent_page(path(world.site))
    alice.decide(page)
    for shown in (page.text, alice.get("/account").text):
        assert '<span class="badge unsure">registered itself, no host verified</span>' in shown
        assert "host verified:" not in shown
    assert "<code>app.example.com</code>" in page.text
    assert "app on your" not in page.text


IMITATES = "It calls itself Claude, but is not known to be."


@pytest.mark.parametrize("name", ["Claude", "Сlаudе", "C.L.A.U.D.E", "CIaude Desktop", "Anthropic"])
def test_a_name_that_imitates_a_known_client_is_marked_wherever_it_is_shown(
    world: World, alice: Browser, name: str
) -> None:
    for client in (
        world.client("bad", name, "https://evil.example/cb"),
        documented(world, name, "https://evil.example/cb", host="claude.evil.example"),
    ):
        page = alice.consent_page(path(client))
        alice.decide(page)
        for shown in (world.browser(BOB).get(path(client)).text, page.text, alice.get("/account").text):
            assert IMITATES in shown
        told = alice.get("/account/grants").json()["grants"]
        assert [one["client"]["imitates"] for one in told] == ["Claude"] * len(told)


def test_known_clients_and_those_of_an_operator_are_not_marked(world: World, alice: Browser) -> None:
    for client in (
        world.client("dcr", "Claude", "https://claude.ai/api/mcp/auth_callback"),
        documented(world, "Claude Code", "http://localhost:99/callback", host="claude.ai"),
        world.client("ours", "Claude of ours", "https://app.example.com/cb", source="operator"),
        world.client("own", "Garden", "https://app.example.com/cb"),
    ):
        page = alice.consent_page(path(client))
        alice.decide(page)
        assert "calls itself" not in page.text
    assert "calls itself" not in alice.get("/account").text


def test_people_are_warned_of_programs_on_their_computer(world: World, alice: Browser) -> None:
    for page in (alice.get(path(world.loopback)), alice.consent_page(path(world.loopback))):
        assert "This is an app on your computer." in page.text
        assert "only if you have just started to connect it yourself" in page.text.replace("\n", " ")


@pytest.mark.parametrize(
    "uri",
    [
        *("https://localhost:8443/cb", "https://127.0.0.2/cb", "https://[::1]:8443/cb", "https://app.localhost/cb"),
        "https://127.0.0.1/cb",
    ],
)
def test_https_does_not_make_a_program_on_this_computer_a_site(world: World, alice: Browser, uri: str) -> None:
    """[S6]"""
    client = world.client("desk", "Desk app", uri)
    page = alice.consent_page(path(client))
    for shown in (world.browser(BOB).get(path(client)), page):
        assert "This is an app on your computer." in shown.text
    assert "asked for again each time" in page.text
    assert alice.decide(page).status_code == 303
    assert alice.get(path(client)).status_code == 200, "asked again"


def test_people_are_warned_of_links_that_an_app_opens(world: World, alice: Browser) -> None:
    client = world.client("cursor", "Editor", "cursor://anysphere.cursor-mcp/oauth/callback")
    page = alice.consent_page(path(client))
    assert "<code>cursor:</code> links" in page.text
    assert "This is an app on your device." in page.text
    assert alice.decide(page).headers["location"].startswith("cursor://anysphere.cursor-mcp/oauth/callback?code=")


def test_the_page_says_what_for_and_for_how_long(world: World, alice: Browser) -> None:
    page = " ".join(alice.consent_page(path(world.site)).text.split())
    for told in (
        "Search and read the knowledge base",
        "Propose links and drafts",
        "read, and act in your name",
        "<dt>Reaches</dt><dd>documents</dd>",
        "<dt>Organisation</dt><dd>default</dd>",
        "tier <strong>member</strong>, as <strong>member</strong>",
        "each access token for 1 hour",
        "every 30 days, until 14 July 2027 at the latest",
    ):
        assert told in page


def test_what_the_account_cannot_get_is_shown_as_such(world: World) -> None:
    bob = world.browser(BOB)
    page = bob.consent_page(path(world.site))
    assert 'value="knowledge:write"' not in page.text
    assert "not available to your account" in page.text
    bob.post([*fields(page), ("decision", "allow"), ("scope", "knowledge:write")])
    assert [grant.scopes for grant in world.server.grants.all()] in ([], [("knowledge:read",)])


def test_who_may_have_nothing_of_it_can_only_decline(world: World) -> None:
    bob = world.browser(BOB)
    world.server.standings.held[bob.address] = Standing()
    page = bob.consent_page(path(world.site))
    assert 'value="allow" class="primary" disabled' in page.text
    assert bob.decide(page).status_code != 500
    assert grants(world) == 0


def test_roles_that_cannot_be_read_elevate_nobody(world: World, alice: Browser) -> None:
    page = alice.consent_page(path(world.site))
    world.server.standings.down = True
    again = alice.get(path(world.site))
    assert again.status_code == 503
    assert "retry-after" in again.headers
    assert "The chain cannot be read." in again.text
    assert alice.decide(page, **JSON).status_code == 503
    assert grants(world) == 0
    world.server.standings.down = False
    assert alice.decide(page).status_code == 303


def test_roles_that_were_lost_since_the_page_was_shown_are_lost(world: World, alice: Browser) -> None:
    page = alice.consent_page(path(world.site))
    world.server.standings.held[alice.address] = standing("public")
    alice.decide(page)
    assert all(grant.scopes == ("knowledge:read",) for grant in world.server.grants.all())


def test_people_are_shown_by_their_name_and_their_address(world: World, alice: Browser) -> None:
    name = Named(name="<b>alice</b>.eth", avatar="https://elsewhere.example/a.png")
    world.server.names.names[alice.address] = name
    page = alice.consent_page(path(world.site)).text
    assert "&lt;b&gt;alice&lt;/b&gt;.eth" in page
    assert f"{alice.address[:6]}…{alice.address[-4:]}" in page
    assert "elsewhere.example" not in page


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_form_of_another_site_is_refused(world: World, alice: Browser, origin: str) -> None:
    page = alice.consent_page(path(world.site))
    assert alice.decide(page, origin=origin).status_code == 403
    assert alice.decide(page, **{"sec-fetch-site": "cross-site"}).status_code == 403
    assert grants(world) == 0


def test_a_form_of_ours_is_taken_although_its_origin_is_withheld(world: World, alice: Browser) -> None:
    page = alice.consent_page(path(world.site))
    answer = alice.decide(page, **{"origin": "null", "sec-fetch-site": "same-origin"})
    assert answer.status_code == 303


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b"{}", "application/json", 400),
        (b"decision=\xff", "application/x-www-form-urlencoded", 400),
        (b"handle=a&handle=b", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 100, "application/x-www-form-urlencoded", 400),
        (b"decision=" + b"x" * 20_000, "application/x-www-form-urlencoded", 413),
        (b"", "application/x-www-form-urlencoded", 400),
        (b"decision=maybe", "application/x-www-form-urlencoded", 400),
    ],
)
def test_a_form_that_is_none_is_refused(alice: Browser, content: bytes, media_type: str, status: int) -> None:
    answer = alice.http.post("/authorize", content=content, headers={"content-type": media_type})
    assert answer.status_code == status
    assert answer.headers["cache-control"] == "no-store"
    assert "<h1>This did not work</h1>" in answer.text


def test_a_refusal_is_json_for_a_script(alice: Browser) -> None:
    answer = alice.post([("handle", "x"), ("csrf", "y"), ("decision", "deny")], **JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")


def test_a_store_that_does_not_answer_is_told_as_such(world: World, alice: Browser) -> None:
    page = alice.consent_page(path(world.site))
    world.server.sign_ins.down = True
    for answer in (alice.get(path(world.site)), alice.decide(page), alice.decide(page, **JSON), alice.get("/account")):
        assert answer.status_code == 503
        assert "retry-after" in answer.headers


def test_people_see_nothing_of_a_defect(
    world: World, alice: Browser, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """[L9]"""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    alice.sign_in()
    monkeypatch.setattr(world.server.standings, "of", broken)
    answer = alice.get(path(world.site))
    assert (answer.status_code, answer.headers["cache-control"]) == (500, "no-store")
    assert "<h1>This did not work</h1>" in answer.text
    assert "secret detail" not in answer.text + caplog.text


def test_requests_are_limited_by_network(make_world: Callable[..., World]) -> None:
    """[L6]"""
    world = make_world(AUTH_RATE_LIMIT="1")
    browser = world.browser()
    answers = [browser.get(path(world.site)) for _ in range(7)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    assert answers[-1].status_code == 429
    assert "retry-after" in answers[-1].headers


def test_kinds_of_things_can_be_narrowed(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "knowledge", ("a", "b"))
    world = make_world()
    alice = world.browser()
    page = alice.consent_page(path(world.site))
    assert [value for name, value in fields(page) if name == "kind"] == ["a", "b"]
    none_left = [one for one in fields(page) if one[0] != "kind"]
    assert alice.post([*none_left, ("decision", "allow")]).status_code == 400
    assert alice.post([*none_left, ("kind", "b"), ("kind", "z"), ("decision", "allow")]).status_code == 303
    (grant,) = world.server.grants.all()
    assert grant.resource_scopes == ("b",)


def test_everything_left_ticked_is_everything(world: World, alice: Browser) -> None:
    alice.decide(alice.consent_page(path(world.site)))
    (grant,) = world.server.grants.all()
    assert grant.resource_scopes is None


def test_the_page_shows_the_subject_that_it_is_about(world: World, alice: Browser) -> None:
    assert field_of(alice.consent_page(path(world.site)), "account") == alice.address


def test_a_registration_that_is_over_is_unknown(world: World, alice: Browser) -> None:
    old = replace(world.site, id="old", expires_at=int(world.server.clock.now) - 1)
    world.server.client_store.add_client(old)
    assert alice.get(path(old)).status_code == 400
