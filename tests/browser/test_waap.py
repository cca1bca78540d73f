"""Sign-in by e-mail and social accounts, as far as it is ours: its vendor's package and service are stood in for."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.client import OAuthClient, listening
from tests.browser.hosting import hosted
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key

STAND_IN = Path(__file__).with_name("waap.js")
FRAME = "https://waap.xyz/iframe"
FRAMED = """<script>const own = window.open("about:blank");
parent.postMessage(own === null ? "blocked" : "opened", "*"); own?.close();</script>"""


@pytest.fixture
def app() -> Iterator[OAuthClient]:
    """Of a deployment that wants WaaP."""
    with hosted(WAAP='{"theme": "dark"}') as server, listening(server.settings.issuer) as client:
        client.register("Desk app")
        yield client


@pytest.fixture
def visitor(browser: Browser, app: OAuthClient) -> Iterator[Visit]:
    """Somebody without a wallet extension, whose wallet is at the vendor's."""
    wallet = Wallet(fresh_key(), announced=[])
    with visiting(browser, wallet, at=[app.issuer, app.redirect_uri, FRAME]) as visit:
        visit.context.route(f"{FRAME}*", lambda route: route.fulfill(body=FRAMED, content_type="text/html"))
        yield visit


def test_nothing_of_it_is_loaded_before_it_is_wanted(visitor: Visit, app: OAuthClient) -> None:
    visitor.go(app.url())
    expect(visitor.page.get_by_role("button", name="Continue with e-mail or a social account")).to_be_visible()
    expect(visitor.page.locator("#no-wallet")).to_be_visible()
    assert visitor.asked("/auth/assets/waap.js") == 0
    assert visitor.asked("/iframe") == 0
    visitor.check()


def test_people_without_a_wallet_sign_in_with_it(visitor: Visit, app: OAuthClient) -> None:
    visitor.context.route("**/auth/assets/waap.js", lambda route: route.fulfill(path=STAND_IN))
    visitor.go(app.url())
    visitor.press("Continue with e-mail or a social account")
    visitor.heading("Allow Desk app to use Garden of Knowledge?")
    noted = json.loads(visitor.page.evaluate("sessionStorage.getItem('waap')"))
    assert (noted["popup"], noted["settings"]["theme"]) == ("opened", "dark")
    visitor.check()


def test_people_are_told_when_it_cannot_be_reached(visitor: Visit, app: OAuthClient) -> None:
    visitor.context.route("**/auth/assets/waap.js", lambda route: route.abort())
    visitor.go(app.url())
    visitor.press("Continue with e-mail or a social account")
    visitor.told("Signing in without a wallet cannot be reached now. Try again in a moment.")
