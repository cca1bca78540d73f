"""The sign-in page in a real browser, with every kind of wallet."""

from contextlib import AbstractContextManager

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.client import OAuthClient
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import TEST_WALLET, Wallet, fresh_key
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer

NO_WALLET = "No wallet was found in this browser."
REFUSED = "The signature was not accepted."
LATER = "The service cannot check this right now. Try again in a moment."


class Opening:
    """Opens browsers of other people."""

    def __init__(self, browser: Browser, server: AuthorizationServer, client: OAuthClient) -> None:
        self._browser = browser
        self._at = [server.settings.issuer, client.redirect_uri]

    def __call__(self, wallet: Wallet | None) -> AbstractContextManager[Visit]:
        return visiting(self._browser, wallet, at=self._at)


@pytest.fixture
def opening(browser: Browser, server: AuthorizationServer, client: OAuthClient) -> Opening:
    return Opening(browser, server, client)


def test_a_wallet_that_announces_itself_signs_in(visit: Visit, client: OAuthClient, wallet: Wallet) -> None:
    visit.go(client.url())
    visit.heading("Sign in")
    visit.sign_in()
    visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")
    assert wallet.asked == ["eth_requestAccounts", "personal_sign"]
    (text,) = wallet.signed
    assert text.startswith(f"{client.issuer.removeprefix('http://')} wants you to sign in")


def test_a_wallet_of_the_older_kind_signs_in(opening: Opening, client: OAuthClient) -> None:
    with opening(Wallet(fresh_key(), announced=[], legacy=True)) as visit:
        visit.go(client.url())
        visit.sign_in("Browser wallet")
        visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")
        visit.check()


def test_a_wallet_that_is_there_twice_has_one_button(opening: Opening, client: OAuthClient) -> None:
    with opening(Wallet(fresh_key(), announced=[TEST_WALLET, TEST_WALLET], legacy=True)) as visit:
        visit.go(client.url())
        expect(visit.page.locator("#wallets button")).to_have_count(1)
        visit.page.evaluate("dispatchEvent(new Event('eip6963:requestProvider'))")
        expect(visit.page.locator("#wallets button")).to_have_count(1)
        visit.check()


def test_a_name_with_markup_is_text(opening: Opening, client: OAuthClient) -> None:
    name = "<img src=x onerror=alert(1)> & <b>bold</b>"
    with opening(Wallet(fresh_key(), announced=[TEST_WALLET | {"name": name}])) as visit:
        visit.go(client.url())
        expect(visit.page.locator("#wallets button")).to_have_text(name)
        assert visit.page.locator("#wallets b, #wallets img[src=x]").count() == 0
        visit.check()


@pytest.mark.parametrize(
    "icon", ["https://tracker.example/i.png", "javascript:alert(1)", "data:text/html,<b>x</b>", "//tracker.example/i"]
)
def test_an_icon_from_elsewhere_is_not_loaded(opening: Opening, client: OAuthClient, icon: str) -> None:
    with opening(Wallet(fresh_key(), announced=[TEST_WALLET | {"icon": icon}])) as visit:
        visit.go(client.url())
        expect(visit.page.locator("#wallets button")).to_have_count(1)
        assert visit.page.locator("#wallets img").count() == 0
        visit.check()


def test_an_icon_that_the_wallet_brings_is_shown(visit: Visit, client: OAuthClient) -> None:
    visit.go(client.url())
    expect(visit.page.locator("#wallets img")).to_have_count(1)


def test_without_a_wallet_people_are_told_what_to_do(opening: Opening, client: OAuthClient) -> None:
    with opening(None) as visit:
        visit.go(client.url())
        expect(visit.page.locator("#no-wallet")).to_contain_text(NO_WALLET)
        expect(visit.page.locator("#no-wallet")).to_be_visible()
        assert visit.asked("/siwe/verify") == 0
        visit.check()


@pytest.mark.parametrize("method", ["eth_requestAccounts", "personal_sign"])
def test_declining_at_the_wallet_is_no_error(visit: Visit, client: OAuthClient, wallet: Wallet, method: str) -> None:
    wallet.declines = (method,)
    visit.go(client.url())
    visit.sign_in()
    visit.told("You declined the request in your wallet. Nothing was signed.")
    assert visit.asked("/siwe/verify") == 0
    wallet.declines = ()
    visit.sign_in()
    visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")


def test_a_wallet_that_breaks_is_told_of_without_its_words(visit: Visit, client: OAuthClient, wallet: Wallet) -> None:
    wallet.breaks = True
    visit.go(client.url())
    visit.sign_in()
    visit.told("The wallet reported an error. Unlock it and try again.")
    assert visit.asked("/siwe/verify") == 0


def test_a_wrong_key_is_refused(opening: Opening, client: OAuthClient) -> None:
    stranger = Wallet(fresh_key()).account
    with opening(Wallet(fresh_key(), address=stranger)) as visit:
        visit.go(client.url())
        visit.sign_in()
        visit.told(REFUSED)
        visit.check()


def test_a_chain_that_does_not_answer_is_something_else(
    visit: Visit, client: OAuthClient, server: AuthorizationServer
) -> None:
    server.check.down = True
    visit.go(client.url())
    visit.sign_in()
    visit.told(LATER)
    server.check.down = False
    visit.sign_in()
    visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")


def test_a_contract_wallet_signs_in_with_its_owners_key(
    opening: Opening, client: OAuthClient, server: AuthorizationServer
) -> None:
    owner, contract = Wallet(fresh_key()), Wallet(fresh_key()).account
    server.check.contracts[contract] = owner.account
    server.standings.held[contract] = standing("member")
    with opening(Wallet(owner.key, address=contract)) as visit:
        visit.go(client.url())
        visit.sign_in()
        visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")
        expect(visit.page.locator(".account")).to_contain_text(f"{contract[:6]}…{contract[-4:]}")
        visit.check()


def test_a_signature_signs_in_once(visit: Visit, client: OAuthClient) -> None:
    visit.go(client.url())
    verified = visit.verified()
    visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")
    again = httpx.post(f"{client.issuer}/siwe/verify", content=verified.post_data, headers=verified.headers)
    assert (again.status_code, again.json()["error"]["message"]) == (403, REFUSED)
    assert "set-cookie" not in again.headers


def test_the_page_works_by_keyboard(visit: Visit, client: OAuthClient, wallet: Wallet) -> None:
    wallet.declines = ("personal_sign",)
    visit.go(client.url())
    button = visit.page.get_by_role("button", name="Test Wallet")
    expect(button).to_be_visible()
    visit.page.keyboard.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to content")).to_be_focused()
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Tab")
    expect(button).to_be_focused()
    visit.page.keyboard.press("Enter")
    visit.told("You declined the request in your wallet. Nothing was signed.")
    expect(button).to_be_focused()
    wallet.declines = ()
    visit.page.keyboard.press("Enter")
    visit.heading("Allow Desk <b>app</b> to use Garden of Knowledge?")
