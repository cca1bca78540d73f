"""A browser for the run, a server for each test."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import browsing
from tests.browser.client import OAuthClient, listening
from tests.browser.hosting import hosted
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with browsing() as running:
        yield running


@pytest.fixture
def server() -> Iterator[AuthorizationServer]:
    with hosted() as running:
        yield running


@pytest.fixture
def client(server: AuthorizationServer) -> Iterator[OAuthClient]:
    with listening(server.settings.issuer) as listener:
        listener.register("Desk <b>app</b>")
        yield listener


@pytest.fixture
def wallet(server: AuthorizationServer) -> Wallet:
    """Of a member."""
    made = Wallet(fresh_key())
    server.standings.held[made.account] = standing("member")
    return made


@pytest.fixture
def visit(browser: Browser, server: AuthorizationServer, client: OAuthClient, wallet: Wallet) -> Iterator[Visit]:
    """The member's browser. No policy may be violated, and nothing asked for elsewhere, in any test."""
    with visiting(browser, wallet, at=[server.settings.issuer, client.redirect_uri]) as visitor:
        yield visitor
        visitor.check()
