"""/siwe/nonce, /siwe/verify and /oidc/*: who signs in, in which browser, and where it leads."""

import sys
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from httpx2 import Response

from commonplace.identity.wallets import Named
from tests.unit.identity.oauth.pages.conftest import BOB, ISSUER, Browser, World, field_of, path

SESSION, CHALLENGE = "__Host-cp_session", "__Host-cp_challenge"


GROUPS = {"rosa": ["editors"]}


def back_from(world: World, started: Response, account: str = "rosa") -> str:
    """Where the provider sends the browser that it was sent."""
    return f"/oidc/callback?{urlencode(world.server.provider.answer(started.json()['redirectTo'], account))}"


def test_the_bare_nonce_of_the_seed_is_given_to_whoever_asks(alice: Browser) -> None:
    assert set(alice.get("/siwe/nonce").json()) == {"nonce"}


def test_without_the_packages_of_wallets_nobody_signs_in_with_one_and_the_page_says_why(
    world: World, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'id="wallets"' in alice.get(path(world.site)).text
    monkeypatch.setitem(sys.modules, "siwe", None)
    shown = alice.get(path(world.site))
    assert shown.status_code == 200
    assert "installed without its extra <code>wallets</code>" in shown.text
    assert 'id="wallets"' not in shown.text
    for answer in (alice.get(f"/siwe/nonce?address={alice.address}"), alice.verify({"id": "0" * 32, "signature": ""})):
        assert answer.status_code == 404
        assert answer.json()["error"]["details"]["hint"] == "The extra `wallets` is not installed."


def test_an_address_gets_the_exact_text_to_sign(alice: Browser) -> None:
    asked = alice.get(f"/siwe/nonce?address={alice.address.lower()}").json()
    assert asked["message"].startswith(
        f"garden.example.org wants you to sign in with your Ethereum account:\n{alice.address}\n"
    )
    assert asked["nonce"] in asked["message"]


def test_the_cookie_of_a_challenge_is_strict_and_out_of_reach_of_scripts(alice: Browser) -> None:
    cookie = alice.get("/siwe/nonce").headers["set-cookie"]
    assert cookie.startswith(f"{CHALLENGE}=")
    for part in ("HttpOnly", "Secure", "SameSite=strict", "Path=/", "Max-Age=300"):
        assert part in cookie
    assert "Domain" not in cookie


def test_a_second_challenge_keeps_the_cookie_of_the_first(alice: Browser) -> None:
    first, second = alice.get("/siwe/nonce"), alice.get("/siwe/nonce")
    assert first.cookies[CHALLENGE] == second.cookies[CHALLENGE]


def test_signing_in_opens_a_session_and_leads_to_the_account(alice: Browser) -> None:
    answer = alice.sign_in()
    assert answer.json() == {"redirectTo": "/account", "address": alice.address, "name": None}
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(SESSION))
    for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=43200"):
        assert part in cookie


def test_signing_in_for_a_request_leads_back_to_the_same_request(world: World, alice: Browser) -> None:
    wanted = path(world.site)
    answer = alice.sign_in(alice.get(wanted))
    again = alice.get(answer.json()["redirectTo"])
    assert "Allow <bdi>Site app</bdi>" in again.text
    assert alice.get(path(world.site, redirect_uri=None)).status_code == 200


def test_the_session_replaces_the_one_before(world: World, alice: Browser) -> None:
    alice.sign_in()
    alice.sign_in()
    assert len(world.server.sign_ins.sessions) == 1


def test_a_signature_of_this_browser_signs_no_other_browser_in(world: World, alice: Browser) -> None:
    asked = alice.get(f"/siwe/nonce?address={alice.address}").json()
    victim = world.browser(BOB)
    victim.get("/siwe/nonce")
    answer = victim.verify({"id": asked["id"], "signature": alice.sign(asked["message"])})
    assert answer.status_code == 403


def test_the_text_of_the_seed_signs_in_too(alice: Browser) -> None:
    ours = alice.get(f"/siwe/nonce?address={alice.address}").json()
    bare = alice.get("/siwe/nonce").json()["nonce"]
    text = ours["message"].replace(ours["nonce"], bare)
    assert alice.verify({"message": text, "signature": alice.sign(text)}).status_code == 200


def test_a_request_of_another_browser_cannot_be_signed_in_for(world: World, alice: Browser) -> None:
    handle = field_of(alice.get(path(world.site)), "handle")
    other = world.browser(BOB)
    answer = other.get(f"/siwe/nonce?address={other.address}&stateId={handle}")
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "FORBIDDEN"


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_another_site_cannot_ask_or_sign_in(alice: Browser, headers: dict[str, str]) -> None:
    assert alice.get("/siwe/nonce", **headers).status_code == 403
    assert alice.verify({"id": "x", "signature": "0x"}, **headers).status_code == 403


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"[" * 30_000, "application/json", 400),
        (b"{}", "text/plain", 400),
        (b" " * 50_000, "application/json", 413),
        (b'{"stateId": 7}', "application/json", 400),
        (b'{"stateId": "' + b"x" * 300 + b'"}', "application/json", 400),
        (b"{}", "application/json", 400),
    ],
)
def test_a_body_that_is_none_is_refused(alice: Browser, content: bytes, media_type: str, status: int) -> None:
    answer = alice.http.post("/siwe/verify", content=content, headers={"content-type": media_type})
    assert answer.status_code == status
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {"error"}


def test_a_name_is_told_with_the_session(world: World, alice: Browser) -> None:
    world.server.names.names[alice.address] = Named(name="alice.eth", avatar="https://elsewhere.example/a.png")
    assert alice.sign_in().json()["name"] == "alice.eth"
    page = alice.get(path(world.site)).text
    assert "alice.eth" in page
    assert "elsewhere.example" not in page


def test_who_is_asked_to_consent_anew_still_is_after_signing_in(world: World, alice: Browser) -> None:
    page = alice.get(path(world.site, prompt="consent"))
    assert 'data-prompt="consent"' in page.text
    state = field_of(page, "handle")
    asked = alice.http.get("/siwe/nonce", params={"address": alice.address, "stateId": state}).json()
    body = {"id": asked["id"], "signature": alice.sign(asked["message"]), "stateId": state, "prompt": "consent"}
    assert "prompt=consent" in alice.verify(body).json()["redirectTo"]


@pytest.mark.parametrize("prompt", ["login", "select_account", "consent login"])
def test_who_must_sign_in_anew_is_asked_for_it_and_then_not_again(world: World, alice: Browser, prompt: str) -> None:
    alice.sign_in()
    page = alice.get(path(world.site, prompt=prompt))
    assert "<h1>Sign in</h1>" in page.text
    assert "<h1>Allow" in alice.get(alice.sign_in(page).json()["redirectTo"]).text


def test_sign_in_and_its_failures_are_logged_without_anything_of_the_person(
    alice: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="commonplace.identity.telemetry"):
        alice.sign_in()
        alice.verify({"id": "x", "signature": "0x"})
    told = [(record.__dict__["event"], record.__dict__["outcome"]) for record in caplog.records]
    assert told == [("signin", "ok"), ("signin", "denied")]
    assert alice.address not in caplog.text


def test_without_a_provider_there_is_neither_button_nor_address(world: World, alice: Browser) -> None:
    assert 'id="oidc"' not in alice.get("/account").text
    assert alice.ask("/oidc/start", {}).status_code == 404
    assert alice.get("/oidc/callback?state=x").status_code == 404


def test_a_provider_signs_in_the_browser_that_pressed_the_button(make_world: Callable[..., World]) -> None:
    world = make_world(groups=GROUPS, OIDC_NAME="the <garden>")
    browser = world.browser()
    page = browser.get(path(world.site))
    assert "Continue with <bdi>the &lt;garden&gt;</bdi>" in page.text
    started = browser.ask("/oidc/start", {"stateId": field_of(page, "handle")})
    assert started.json()["redirectTo"].startswith("https://id.example.org/authorize?")
    assert "SameSite=lax" in started.headers["set-cookie"]
    back = browser.get(back_from(world, started), **{"sec-fetch-site": "cross-site"})
    assert back.status_code == 303
    assert "<h1>Allow" in browser.get(back.headers["location"]).text


def test_the_answer_of_a_provider_counts_once_and_in_its_own_browser(make_world: Callable[..., World]) -> None:
    """[S7]"""
    world = make_world(groups=GROUPS)
    browser, other = world.browser(), world.browser(BOB)
    answer = back_from(world, browser.ask("/oidc/start", {}))
    assert other.get(answer).status_code == 403
    for query in (answer.partition("?")[2], "state=", "", "code=c"):
        assert browser.get(f"/oidc/callback?{query}").status_code == 403
    assert not world.server.sign_ins.sessions


def test_who_was_refused_at_the_provider_is_signed_in_no_longer(make_world: Callable[..., World]) -> None:
    world = make_world(groups=GROUPS)
    browser = world.browser()
    browser.get(back_from(world, browser.ask("/oidc/start", {})))
    assert "<h1>Connected apps</h1>" in browser.get("/account").text
    world.server.sign_ins.provider_sessions.clear()  # as a refresh does that the provider refused
    for page in (browser.get("/account"), browser.get(path(world.site))):
        assert 'id="oidc"' in page.text, "the sign-in page"


def test_a_provider_is_not_asked_before_somebody_presses_the_button(make_world: Callable[..., World]) -> None:
    """[S7]"""
    world = make_world(groups=GROUPS)
    browser = world.browser()
    browser.get(path(world.site))
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert browser.ask("/oidc/start", {}, **headers).status_code == 403
    assert browser.http.post("/oidc/start", json={}).status_code == 403
    assert browser.http.get("/oidc/start").status_code == 405


def test_repeated_parameters_of_a_provider_are_refused(make_world: Callable[..., World]) -> None:
    browser = make_world(groups=GROUPS).browser()
    assert browser.get("/oidc/callback?state=a&state=b").status_code == 400


def test_sessions_end_after_twelve_hours(world: World, alice: Browser) -> None:
    alice.sign_in()
    world.server.clock.forward(12 * 3_600 - 1)
    assert "<h1>Connected apps</h1>" in alice.get("/account").text
    world.server.clock.forward(1)
    assert "<h1>Sign in</h1>" in alice.get("/account").text


def test_a_dump_of_sessions_tells_nothing_of_people(world: World, alice: Browser) -> None:
    alice.sign_in()
    dump = world.server.sign_ins.dump()
    assert alice.address.lower()[2:] not in dump.lower()
    assert alice.http.cookies[SESSION] not in dump


def test_a_made_up_cookie_is_nobody(alice: Browser) -> None:
    for value in ("x", "cpn_" + "A" * 43, "y" * 5_000):
        assert "<h1>Sign in</h1>" in alice.get("/account", cookie=f"{SESSION}={value}").text


def test_addresses_are_those_of_the_deployment_whatever_the_host_header_says(world: World, alice: Browser) -> None:
    answer = alice.get(f"/siwe/nonce?address={alice.address}", host="evil.example")
    assert answer.json()["message"].startswith(f"{ISSUER.removeprefix('https://')} wants you")


@pytest.mark.parametrize(
    ("wanted", "leads_to"),
    [
        ("/console/sync?run=1", "/console/sync?run=1"),
        ("//evil.example", "/account"),
        ("/\\evil.example", "/account"),
        ("https://evil.example/console", "/account"),
        ("javascript:alert(1)", "/account"),
        (["/console"], "/account"),
    ],
)
def test_a_wallet_and_a_provider_lead_on_to_paths_of_this_site_alone(
    make_world: Callable[..., World], wanted: object, leads_to: str
) -> None:
    world = make_world(groups=GROUPS)
    browser = world.browser()
    asked = browser.http.get("/siwe/nonce", params={"address": browser.address}).json()
    answer = browser.verify({"id": asked["id"], "signature": browser.sign(asked["message"]), "next": wanted})
    assert answer.json()["redirectTo"] == leads_to
    other = world.browser()
    back = other.get(back_from(world, other.ask("/oidc/start", {"next": wanted})))
    assert (back.status_code, back.headers["location"]) == (303, leads_to)
