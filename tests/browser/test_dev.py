"""The whole way in a real browser, against `commonplace dev` and a local Ethereum node."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser import foreign
from tests.browser.chromium import FOREIGN
from tests.browser.client import OAuthClient, listening
from tests.browser.deployment import MEMBER_HAT, Deployment, deployed, unreachable
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key
from tests.chain.node import Chain
from tests.integration.chain.signing import wallet_of, wallet_to_be, wrapped
from tests.integration.running_dev import descendants

REFUSED = "The signature was not accepted."
LATER = "The service cannot check this right now. Try again in a moment."


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, running_chain: Chain) -> Iterator[Deployment]:
    with deployed(tmp_path_factory.mktemp("dev"), running_chain) as running:
        yield running


@pytest.fixture
def app(deployment: Deployment) -> Iterator[OAuthClient]:
    with listening(deployment.url) as client:
        client.register("Desk app")
        yield client


class Opening:
    """Opens the browser of whoever has this wallet."""

    def __init__(self, browser: Browser, app: OAuthClient) -> None:
        self._browser, self._app = browser, app

    def __call__(self, wallet: Wallet) -> AbstractContextManager[Visit]:
        return self._opened(wallet)

    @contextmanager
    def _opened(self, wallet: Wallet) -> Iterator[Visit]:
        with visiting(self._browser, wallet, at=[self._app.issuer, self._app.redirect_uri]) as visit:
            visit.go(self._app.url())
            yield visit
            visit.check()


@pytest.fixture
def opening(browser: Browser, app: OAuthClient) -> Opening:
    return Opening(browser, app)


def asked(visit: Visit) -> None:
    """Waits for the consent page."""
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Allow Desk app")


def back(visit: Visit, app: OAuthClient) -> dict[str, str]:
    visit.page.wait_for_url(f"{app.redirect_uri}*")
    return app.answers[-1]


def connected(visit: Visit, app: OAuthClient) -> dict[str, Any]:
    """Signs in and allows everything; the tokens."""
    visit.sign_in()
    asked(visit)
    visit.press("Allow")
    back(visit, app)
    return app.exchange()


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.headers.get("www-authenticate", "").partition(",")[0]


def test_a_member_lands_back_at_the_client_with_a_token_that_works(
    deployment: Deployment, opening: Opening, app: OAuthClient
) -> None:
    with opening(deployment.member()) as visit:
        tokens = connected(visit, app)
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3_600)
    found = deployment.search(tokens["access_token"]).json()["result"]
    assert "Crabs walk sideways" in str(found)
    saved = deployment.save(tokens["access_token"], "Crabs of the shore").json()["result"]
    assert saved["structuredContent"]["created"] is True


def test_declining_at_the_wallet_sends_nothing(deployment: Deployment, opening: Opening) -> None:
    wallet = deployment.member()
    wallet.declines = ("personal_sign",)
    with opening(wallet) as visit:
        visit.sign_in()
        visit.told("You declined the request in your wallet. Nothing was signed.")
        assert visit.asked("/siwe/verify") == 0


def test_declining_the_consent_tells_the_client(deployment: Deployment, opening: Opening, app: OAuthClient) -> None:
    with opening(deployment.member()) as visit:
        visit.sign_in()
        asked(visit)
        visit.press("Decline")
        answer = back(visit, app)
    assert (answer["error"], answer["iss"], answer["state"]) == ("access_denied", app.issuer, app.state)


def test_a_wrong_key_is_refused(deployment: Deployment, opening: Opening) -> None:
    with opening(Wallet(fresh_key(), address=deployment.member().account)) as visit:
        visit.sign_in()
        visit.told(REFUSED)


def test_a_signature_that_is_sent_again_is_refused(deployment: Deployment, opening: Opening, app: OAuthClient) -> None:
    with opening(deployment.member()) as visit:
        verified = visit.verified()
        asked(visit)
    answer = httpx.post(f"{app.issuer}/siwe/verify", content=verified.post_data, headers=verified.headers)
    assert (answer.status_code, answer.json()["error"]["message"]) == (403, REFUSED)
    assert "set-cookie" not in answer.headers


def test_a_contract_wallet_signs_in(deployment: Deployment, opening: Opening, app: OAuthClient) -> None:
    """EIP-1271."""
    owner = Wallet(fresh_key())
    contract = wallet_of(deployment.chain, owner.account)
    deployment.chain.give_hat(MEMBER_HAT, contract)
    with opening(Wallet(owner.key, address=contract)) as visit:
        tokens = connected(visit, app)
    assert tokens["scope"] == "knowledge:read knowledge:write"


def test_a_contract_wallet_that_is_not_deployed_signs_in(deployment: Deployment, opening: Opening) -> None:
    """EIP-6492."""
    owner = Wallet(fresh_key())
    address, factory, call = wallet_to_be(deployment.chain, owner.account)
    with opening(Wallet(owner.key, address=address, wrap=lambda inner: wrapped(factory, call, inner))) as visit:
        visit.sign_in()
        asked(visit)


def test_a_contract_wallet_of_somebody_else_does_not(deployment: Deployment, opening: Opening) -> None:
    contract = wallet_of(deployment.chain, Wallet(fresh_key()).account)
    with opening(Wallet(fresh_key(), address=contract)) as visit:
        visit.sign_in()
        visit.told(REFUSED)


def test_what_was_not_ticked_is_not_granted(deployment: Deployment, opening: Opening, app: OAuthClient) -> None:
    with opening(deployment.member()) as visit:
        visit.sign_in()
        asked(visit)
        visit.page.get_by_role("checkbox", name="Propose links and drafts").uncheck()
        visit.press("Allow")
        back(visit, app)
    tokens = app.exchange()
    assert tokens["scope"] == "knowledge:read"
    assert refused(deployment.save(tokens["access_token"], "Not this one")) == (
        *(403, 'Bearer error="insufficient_scope"'),
    )


def test_who_has_no_role_is_shown_what_is_out_of_reach(opening: Opening, app: OAuthClient) -> None:
    with opening(Wallet(fresh_key())) as visit:
        visit.sign_in()
        asked(visit)
        expect(visit.page.get_by_role("group", name="It asks to")).to_contain_text("not available to your account")
        visit.press("Allow")
        back(visit, app)
    assert app.exchange()["scope"] == "knowledge:read"


def test_an_app_that_is_disconnected_is_refused_at_its_next_call(
    deployment: Deployment, opening: Opening, app: OAuthClient
) -> None:
    with opening(deployment.member()) as visit:
        token = connected(visit, app)["access_token"]
        assert deployment.search(token).status_code == 200
        visit.go(f"{app.issuer}/account")
        expect(visit.page.locator("#grants > li")).to_have_count(1)
        visit.page.get_by_role("button", name="Disconnect Desk app").click()
        visit.told("Desk app is disconnected.")
        assert refused(deployment.search(token)) == (401, 'Bearer error="invalid_token"')


def test_nobody_signs_in_while_the_chain_is_silent(deployment: Deployment, opening: Opening, app: OAuthClient) -> None:
    wallet = Wallet(fresh_key())
    with opening(wallet) as visit:
        with unreachable(deployment.chain):
            visit.sign_in()
            visit.told(LATER)
            assert httpx.get(f"{deployment.url}/api/v1/entries").status_code == 200
        visit.sign_in()
        asked(visit)


def test_a_page_of_another_site_gets_nothing_of_any_server_and_changes_nothing(
    deployment: Deployment, browser: Browser
) -> None:
    dev = deployment.dev
    front = int(dev.url.rpartition(":")[2])
    ports = foreign.ports({dev.process.pid, *descendants(dev.process.pid)})
    before, requests, read = foreign.state(dev), foreign.attempts(dev), []
    assert front in ports
    assert len(ports) > 3, "the stand-ins of AWS and GitHub, and every function's own"
    with visiting(browser, None, at=[]) as visit:
        for port in ports:
            rebound, ours = f"http://{FOREIGN}:{port}", f"http://127.0.0.1:{port}"
            read += foreign.readable(visit.page, rebound, rebound, requests)
            if port != front:  # whose public reads are for every page, as on a deployment
                read += foreign.readable(visit.page, f"http://{FOREIGN}", ours, requests)
                read += foreign.readable(visit.page, "http://localhost:1234", ours, requests)
    assert read == []
    assert foreign.state(dev) == before
    assert "Crabs walk sideways" in httpx.get(f"{dev.url}/llms-full.txt").text
