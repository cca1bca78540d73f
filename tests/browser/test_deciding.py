"""Consent and connected apps in a real browser: what is decided there holds."""

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from commonplace.identity.records import Client
from tests.browser.client import OAuthClient
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet
from tests.fakes.authorization_server import AuthorizationServer

CONTRAST = Path(__file__).with_name("contrast.js")
ASKED = "Allow Desk <b>app</b> to use Garden of Knowledge?"
WRITING = "Propose links and drafts"


def consent(visit: Visit, client: OAuthClient) -> None:
    visit.go(client.url())
    visit.sign_in()
    visit.heading(ASKED)


def back(visit: Visit, client: OAuthClient) -> dict[str, str]:
    """Waits until the browser is at the client, and says with what."""
    visit.page.wait_for_url(f"{client.redirect_uri}*")
    return client.answers[-1]


def connect(visit: Visit, client: OAuthClient) -> dict[str, str]:
    visit.go(client.url())
    visit.press("Allow")
    back(visit, client)
    return client.exchange()


def active(client: OAuthClient, refresh_token: str) -> bool:
    """Whether the refresh token still works: it is spent by asking."""
    form = {"grant_type": "refresh_token", "client_id": client.client_id, "refresh_token": refresh_token}
    return httpx.post(f"{client.issuer}/token", data=form).status_code == 200


def test_allowing_leads_back_to_the_client_with_a_code_that_works(visit: Visit, client: OAuthClient) -> None:
    """[A9]"""
    consent(visit, client)
    visit.press("Allow")
    answer = back(visit, client)
    assert sorted(answer) == ["code", "iss", "state"]
    assert (answer["iss"], answer["state"]) == (client.issuer, client.state)
    tokens = client.exchange()
    assert tokens["scope"] == "knowledge:read knowledge:write"
    assert active(client, tokens["refresh_token"])


def test_the_client_does_not_learn_where_people_came_from(visit: Visit, client: OAuthClient) -> None:
    consent(visit, client)
    visit.press("Allow")
    back(visit, client)
    assert visit.page.evaluate("document.referrer") == ""


@pytest.mark.parametrize("signed_in", [True, False])
def test_declining_leads_back_without_one(visit: Visit, client: OAuthClient, signed_in: bool) -> None:
    """[A10]"""
    visit.go(client.url())
    if signed_in:
        visit.sign_in()
        visit.heading(ASKED)
        visit.press("Decline")
    else:
        visit.press("Cancel, and go back to the app")
    answer = back(visit, client)
    assert (answer["error"], answer["iss"]) == ("access_denied", client.issuer)
    assert "code" not in answer


def test_who_is_led_to_an_app_of_the_device_is_told_how_it_went(
    browser: Browser, client: OAuthClient, wallet: Wallet, server: AuthorizationServer
) -> None:
    link = "com.example.editor:/callback"
    server.client_store.add_client(Client(id="editor", name="Editor", source="registered", redirect_uris=(link,)))
    with visiting(browser, wallet, at=[client.issuer, link]) as visit:
        visit.go(client.url(client_id="editor", redirect_uri=link))
        visit.sign_in()
        visit.heading("Allow Editor to use Garden of Knowledge?")
        visit.press("Allow")
        visit.told("Allowed. You can go back to the app.")
        expect(visit.page.get_by_role("button", name="Allow")).to_be_disabled()
        visit.check()


def test_nobody_decides_before_the_script_is_there_that_sends_it(visit: Visit, client: OAuthClient) -> None:
    """The browser itself would send the form, and the policy then forbids where it is led."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    visit.go(client.url())
    visit.page.route("**/auth/assets/decision.js", hold)
    with visit.page.expect_request("**/auth/assets/decision.js"):
        visit.sign_in()
    visit.heading(ASKED)
    for name in ("Allow", "Decline", "Not you? Sign out"):
        expect(visit.page.get_by_role("button", name=name)).to_be_disabled()
    (script,) = held
    script.continue_()
    visit.press("Decline")
    assert back(visit, client)["error"] == "access_denied"


def test_people_can_allow_less(visit: Visit, client: OAuthClient) -> None:
    consent(visit, client)
    expect(visit.page.locator("#permission")).to_have_text("read, and act in your name")
    visit.page.get_by_role("checkbox", name=WRITING).uncheck()
    expect(visit.page.locator("#permission")).to_have_text("only read")
    visit.press("Allow")
    back(visit, client)
    assert client.exchange()["scope"] == "knowledge:read"


def test_nothing_cannot_be_allowed(visit: Visit, client: OAuthClient) -> None:
    consent(visit, client)
    for box in visit.page.get_by_role("checkbox").all():
        box.uncheck()
    expect(visit.page.get_by_role("button", name="Allow")).to_be_disabled()
    visit.page.get_by_role("checkbox", name=WRITING).check()
    expect(visit.page.get_by_role("button", name="Allow")).to_be_enabled()


def test_a_page_that_was_answered_is_over(visit: Visit, client: OAuthClient) -> None:
    """[S2]"""
    consent(visit, client)
    form = visit.page.locator("#decision").evaluate("(form) => Object.fromEntries(new FormData(form))")
    visit.press("Allow")
    back(visit, client)
    visit.go(client.url())
    status = visit.page.evaluate(
        """(form) => fetch("/authorize", {method: "POST", body: new URLSearchParams({...form, decision: "allow"})})
           .then((answer) => answer.status)""",
        form,
    )
    assert status == 403


def test_signing_out_on_the_consent_page_asks_who_is_there(visit: Visit, client: OAuthClient) -> None:
    consent(visit, client)
    visit.press("Not you? Sign out")
    visit.heading("Sign in")
    assert not [cookie for cookie in visit.context.cookies() if cookie["name"] == "__Host-cp_session"]


def test_a_frame_of_another_site_shows_nothing(browser: Browser, client: OAuthClient, wallet: Wallet) -> None:
    """[S5]"""
    with visiting(browser, None, at=[client.issuer, client.redirect_uri]) as visit:
        visit.go(client.redirect_uri)
        visit.page.evaluate(
            """(url) => { const frame = document.createElement("iframe"); frame.src = url; document.body.append(frame);
               return new Promise((loaded) => { frame.onload = loaded; }).then(() => null) }""",
            client.url(),
        )
        framed = visit.page.frames[1]
        assert framed.url.startswith("chrome-error:")


def test_apps_are_listed_and_disconnected(visit: Visit, client: OAuthClient, server: AuthorizationServer) -> None:
    consent(visit, client)
    first = connect(visit, client)
    server.clock.forward(1)
    second = connect(visit, client)
    visit.go(f"{client.issuer}/account")
    apps = visit.page.locator("#grants > li")
    expect(apps).to_have_count(2)
    expect(apps.first).to_contain_text("Desk <b>app</b>")
    apps.first.get_by_role("button", name="Disconnect").click()
    visit.told("Desk <b>app</b> is disconnected.")
    expect(apps).to_have_count(1)
    assert [active(client, tokens["refresh_token"]) for tokens in (first, second)] == [True, False]


def test_every_app_is_disconnected_at_once(visit: Visit, client: OAuthClient) -> None:
    consent(visit, client)
    tokens = [connect(visit, client), connect(visit, client)]
    visit.go(f"{client.issuer}/account")
    visit.page.once("dialog", lambda dialog: dialog.accept())
    visit.press("Disconnect all of them")
    visit.told("Every app is disconnected.")
    expect(visit.page.get_by_text("No app has access in your name.")).to_be_visible()
    assert not any(active(client, one["refresh_token"]) for one in tokens)


def test_the_account_page_asks_to_sign_in(visit: Visit, client: OAuthClient) -> None:
    visit.go(f"{client.issuer}/account")
    visit.heading("Sign in")
    visit.sign_in()
    visit.heading("Connected apps")
    visit.press("Not you? Sign out")
    visit.heading("Sign in")


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_can_be_read(
    browser: Browser, client: OAuthClient, wallet: Wallet, width: int, scheme: str
) -> None:
    at, size = [client.issuer, client.redirect_uri], {"width": width, "height": 800}
    with visiting(browser, wallet, at=at, viewport=size, color_scheme=scheme) as visit:
        visit.go(client.url(scope="sing"))
        visit.heading("This app cannot be connected")
        assert (too_wide(visit), pale(visit)) == (0, [])
        visit.go(client.url())
        expect(visit.page.get_by_role("button", name="Test Wallet")).to_be_visible()
        assert (too_wide(visit), pale(visit)) == (0, [])
        visit.sign_in()
        visit.heading(ASKED)
        assert (too_wide(visit), pale(visit)) == (0, [])
        connect(visit, client)
        visit.go(f"{client.issuer}/account")
        visit.heading("Connected apps")
        assert (too_wide(visit), pale(visit)) == (0, [])
        visit.check()


def too_wide(visit: Visit) -> int:
    """By how many pixels the page is wider than the screen."""
    return int(visit.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def pale(visit: Visit) -> list[str]:
    """Texts with less contrast than 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    return list(visit.page.evaluate(CONTRAST.read_text()))
