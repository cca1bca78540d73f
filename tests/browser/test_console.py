"""The console in a real browser: sign in with a wallet, see pages, act, sign out; without JavaScript once signed in."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from commonplace.identity.authorization import Need
from commonplace.site.console.pages import pages as home_pages
from commonplace.web.pages.declaration import Action, ConsolePage, ConsolePages, Done, View
from commonplace.web.pages.declaration import Visit as Request
from tests.browser.chromium import axe
from tests.browser.hosting import hosted
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key
from tests.console_app import PUBLIC
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer

BEDS = """{% extends "console.html" %}
{% block page %}
<h1>Beds</h1>
<form method="post">
<input type="hidden" name="csrf" value="{{ csrf }}">
<label>Bed <input name="bed" required></label>
<button class="primary" name="action" value="water">Water</button>
</form>
{% endblock %}
"""


@dataclass
class Beds:
    """A capability with one page, and what was done there."""

    folder: Path
    watered: list[str] = field(default_factory=list)

    def pages(self) -> ConsolePages:
        (self.folder / "beds.html").write_text(BEDS, encoding="utf-8")
        page = ConsolePage(
            path="beds",
            title="Beds",
            show=self._show,
            need=Need("member", "knowledge:write"),
            actions={"water": Action(self._water)},
            messages={"watered": "The bed has been watered."},
        )
        return ConsolePages(pages=[page], templates=self.folder)

    async def _show(self, visit: Request) -> View:
        return View("beds.html")

    async def _water(self, visit: Request) -> Done:
        self.watered.append(visit.value("bed"))
        return Done("watered")


@pytest.fixture
def beds(tmp_path: Path) -> Beds:
    return Beds(tmp_path)


@pytest.fixture
def server(beds: Beds) -> Iterator[AuthorizationServer]:
    with hosted(console=lambda _: [home_pages(PUBLIC), beds.pages()]) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, server: AuthorizationServer, wallet: Wallet) -> Iterator[Visit]:
    with visiting(browser, wallet, at=[server.settings.issuer]) as visitor:
        yield visitor
        visitor.check()


def test_people_sign_in_see_their_pages_act_and_sign_out(visit: Visit, server: AuthorizationServer, beds: Beds) -> None:
    visit.go(f"{server.settings.issuer}/console/beds")
    visit.heading("Sign in")
    visit.sign_in()
    visit.heading("Beds")
    menu = visit.page.get_by_role("navigation", name="Console")
    expect(menu.get_by_role("link")).to_have_text(["You", "Beds", "Connected apps"])
    visit.page.get_by_label("Bed").fill("iris")
    visit.press("Water")
    visit.told("The bed has been watered.")
    assert beds.watered == ["iris"]
    menu.get_by_role("link", name="You").click()
    visit.heading("You are signed in")
    expect(visit.page.locator("main")).to_contain_text("member")
    menu.get_by_role("link", name="Connected apps").click()
    visit.heading("Connected apps")
    visit.page.get_by_role("navigation", name="Console").get_by_role("link", name="You").click()
    visit.press("Sign out")
    visit.page.wait_for_url(f"{server.settings.issuer}/")
    visit.go(f"{server.settings.issuer}/console")
    visit.heading("Sign in")


def test_a_first_visit_without_a_role_says_how_to_get_one(browser: Browser, server: AuthorizationServer) -> None:
    with visiting(browser, Wallet(fresh_key()), at=[server.settings.issuer]) as visit:
        visit.go(f"{server.settings.issuer}/console/beds")
        visit.sign_in()
        visit.heading("You do not have access yet")
        expect(visit.page.get_by_role("listitem").filter(has_text="hat 30.3.5")).to_be_visible()
        visit.page.get_by_role("link", name="Back to the console").click()
        visit.heading("You are signed in")
        expect(visit.page.get_by_role("heading", name="How to become a member")).to_be_visible()
        visit.check()


def test_pages_of_the_console_need_no_script(
    browser: Browser, visit: Visit, server: AuthorizationServer, beds: Beds
) -> None:
    visit.go(f"{server.settings.issuer}/console")
    visit.sign_in()
    visit.heading("You are signed in")
    state = visit.context.storage_state()
    with visiting(browser, None, at=[server.settings.issuer], java_script_enabled=False, storage_state=state) as plain:
        plain.go(f"{server.settings.issuer}/console/beds")
        plain.page.get_by_label("Bed").fill("rose")
        plain.press("Water")
        expect(plain.page.get_by_role("status")).to_have_text("The bed has been watered.")
        plain.press("Sign out")
        plain.go(f"{server.settings.issuer}/console")
        plain.heading("Sign in")
        plain.check()
    assert beds.watered == ["rose"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_of_the_console_fit_and_are_for_everybody(
    browser: Browser, server: AuthorizationServer, wallet: Wallet, scheme: str, width: int
) -> None:
    shape = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    at = server.settings.issuer
    with visiting(browser, wallet, at=[at], bypass_csp=True, **shape) as visit:  # axe is no part of the pages
        visit.go(f"{at}/console/beds")
        judged(visit, "Sign in")
        visit.sign_in()
        judged(visit, "Beds")
        for path, title in (("/console", "You are signed in"), ("/account", "Connected apps")):
            visit.go(f"{at}{path}")
            judged(visit, title)
        server.standings.held[wallet.account] = standing("public")
        visit.go(f"{at}/console")
        judged(visit, "You are signed in")
        visit.go(f"{at}/console/beds")
        judged(visit, "You do not have access yet")


def judged(visit: Visit, title: str) -> None:
    """The page fits, and axe finds nothing against WCAG and good practice."""
    visit.heading(title)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), title
    visit.page.evaluate(axe())
    told = visit.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    found = [(each["id"], [node["html"] for node in each["nodes"]]) for each in told["violations"]]
    assert found == [], title
