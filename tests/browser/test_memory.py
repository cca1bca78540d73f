"""The pages of the memory in a real browser: an entry is found, edited, moved, deleted and restored."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from commonplace.kernel.audit import Author
from commonplace.memory.console import memory_pages
from commonplace.memory.operations import MemoryServices
from tests.browser.hosting import hosted
from tests.browser.test_console import judged
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.memories import Remembering, remembering

OWN = Author(organisation="default", account="a" * 32)
TEXT = "Lock rows in one order, or two transactions block each other."


@pytest.fixture
def team(tmp_path: Path) -> Remembering:
    made = remembering(tmp_path)
    made.add(TEXT, OWN, source_story="S-1", tags=["locks"])
    made.settle()
    return made


@pytest.fixture
def visit(browser: Browser, team: Remembering) -> Iterator[Visit]:
    with hosted(console=lambda _: [memory_pages(MemoryServices(memory=team.memory))]) as server:
        yield from _signed_in(browser, server)


def _signed_in(browser: Browser, server: AuthorizationServer) -> Iterator[Visit]:
    wallet = Wallet(fresh_key())
    server.standings.held[wallet.account] = standing("member")
    with visiting(browser, wallet, at=[server.settings.issuer]) as visitor:
        visitor.go(f"{server.settings.issuer}/console/memory")
        visitor.sign_in()
        visitor.heading("Team memory")
        yield visitor
        visitor.check()


def test_an_entry_is_found_edited_moved_deleted_and_restored(visit: Visit) -> None:
    page = visit.page
    page.get_by_label("Search by words or meaning").fill("transactions")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("link", name=TEXT).click()
    judged(visit, "Fact")
    page.locator("textarea[name=content]").fill("Sort the ids before SELECT FOR UPDATE.")
    page.get_by_role("button", name="Save").click()
    visit.told("Saved. The previous version is in the history.")
    expect(page.get_by_text(TEXT)).to_be_visible()
    page.locator("input[name=source_story]").fill("S-2")
    page.get_by_role("button", name="Move").click()
    visit.told("Moved.")
    page.get_by_label("I am sure").check()
    page.get_by_role("button", name="Delete").click()
    visit.told("Deleted. For 30 days it can be restored here.")
    page.get_by_role("button", name="Restore").click()
    visit.told("Restored.")
    page.get_by_role("link", name="Team memory").first.click()
    page.get_by_role("link", name="Statistics", exact=True).click()
    judged(visit, "Memory statistics")
