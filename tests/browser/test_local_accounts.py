"""People without a wallet, on `commonplace dev` as it is started: no chain, no option."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.client import OAuthClient, listening
from tests.browser.deployment import called
from tests.browser.visiting import Visit, visiting
from tests.integration.running_dev import Dev, running

LINK = {"url": "https://example.org/crabs", "title": "Crabs of the shore", "description": "Of crabs."}


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    with running(tmp_path_factory.mktemp("local")) as serving:
        yield serving


@pytest.fixture
def app(dev: Dev) -> Iterator[OAuthClient]:
    with listening(dev.url) as client:
        client.register("Desk app")
        yield client


def signed_in(visit: Visit, url: str, account: str) -> None:
    visit.go(url)
    visit.heading("Sign in")
    visit.press(account)


def connected(browser: Browser, app: OAuthClient, account: str) -> dict[str, str]:
    """Signs in and allows everything; the tokens."""
    with visiting(browser, None, at=[app.issuer, app.redirect_uri]) as visit:
        signed_in(visit, app.url(), account)
        expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Allow Desk app")
        visit.press("Allow")
        visit.page.wait_for_url(f"{app.redirect_uri}*")
        visit.check()
    return app.exchange()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_person_without_a_wallet_signs_in_with_and_without_javascript(
    browser: Browser, dev: Dev, scripts: bool
) -> None:
    with visiting(browser, None, at=[dev.url], java_script_enabled=scripts) as visit:
        signed_in(visit, f"{dev.url}/account", "Ada, member")
        visit.heading("Connected apps")
        expect(visit.page.locator(".account")).to_contain_text("Ada")
        expect(visit.page.locator("#none")).to_have_text("No app has access in your name.")
        assert [cookie["name"] for cookie in visit.context.cookies() if "session" in str(cookie)] == [
            "__Host-cp_session"
        ]
        visit.check()


def test_the_console_sends_people_to_the_chooser_and_has_them_back(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], java_script_enabled=False) as visit:
        signed_in(visit, f"{dev.url}/console/sync", "Vi, vibecoder")
        visit.page.wait_for_url(f"{dev.url}/console/sync")
        expect(visit.page.get_by_role("button", name="Sign out")).to_be_visible()
        visit.check()


def test_an_app_gets_what_the_account_may_and_it_shows_among_the_connected(
    browser: Browser, dev: Dev, app: OAuthClient
) -> None:
    tokens = connected(browser, app, "Ada, member")
    assert tokens["scope"] == "knowledge:read knowledge:write"
    saved = called(dev.url, tokens["access_token"], "save_link", **LINK).json()["result"]
    assert saved["structuredContent"]["created"] is True
    with visiting(browser, None, at=[dev.url]) as visit:
        signed_in(visit, f"{dev.url}/account", "Ada, member")
        expect(visit.page.locator("#grants > li")).to_have_count(1)
        visit.page.get_by_role("button", name="Disconnect Desk app").click()
        visit.told("Desk app is disconnected.")
        visit.check()
    assert called(dev.url, tokens["access_token"], "save_link", **LINK).status_code == 401


def test_an_apps_access_is_renewed(browser: Browser, dev: Dev, app: OAuthClient) -> None:
    renewed = app.refresh(connected(browser, app, "Vi, vibecoder")["refresh_token"])
    assert renewed["scope"] == "knowledge:read knowledge:write"
    assert called(dev.url, renewed["access_token"], "search_knowledge", query="crabs").status_code == 200


def test_a_guest_may_what_the_public_may(browser: Browser, dev: Dev, app: OAuthClient) -> None:
    tokens = connected(browser, app, "Guest, public")
    assert tokens["scope"] == "knowledge:read"
    denied = called(dev.url, tokens["access_token"], "save_link", **LINK).json()["result"]
    assert denied["content"][0]["text"] == "Access denied. This tool requires member access."


def test_no_page_of_the_console_overflows_a_phone(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], viewport={"width": 390, "height": 844}) as visit:
        signed_in(visit, f"{dev.url}/console", "Vi, vibecoder")
        visit.heading("You are signed in")
        links = visit.page.get_by_role("navigation", name="Console").get_by_role("link")
        paths = [str(link.get_attribute("href")) for link in links.all()]
        assert {"/console/sync", "/console/why", "/console/hive"} <= {*paths}
        visit.go(f"{dev.url}/console/hive")
        tabs = visit.page.locator(".tabs a")
        paths += [str(link.get_attribute("href")) for link in tabs.all()]
        for path in (*paths, "/console/why?q=docs/hidden.md"):
            visit.go(f"{dev.url}{path}")
            assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            for table in visit.page.locator("table").all():
                table.evaluate("(one) => { one.style.width = '60rem'; }")
            assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"{path} with a table"
        visit.check()


@pytest.mark.parametrize("account", ["Ada, member", "Vi, vibecoder"])
def test_the_console_opens_to_a_local_account_and_closes_behind_it(browser: Browser, dev: Dev, account: str) -> None:
    with visiting(browser, None, at=[dev.url], java_script_enabled=False) as visit:
        signed_in(visit, f"{dev.url}/console", account)
        visit.heading("You are signed in")
        expect(visit.page.locator("main")).to_contain_text(account.partition(", ")[2])
        visit.press("Sign out")
        visit.page.wait_for_url(f"{dev.url}/")
        visit.go(f"{dev.url}/console")
        visit.heading("Sign in")
        visit.check()
