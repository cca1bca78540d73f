"""The review of contributions in a real browser: by keys, without scripts, by two people at once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from commonplace.hive import minhash
from commonplace.hive.console import HivePages, hive_pages
from commonplace.hive.model import Mark
from commonplace.hive.operations import HiveServices
from commonplace.hive.passages import pieces
from tests.browser.hosting import hosted
from tests.browser.test_console import judged
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer
from tests.unit.hive.test_console import Room, item_page, pending


@pytest.fixture
def room() -> Room:
    made = Room()
    for number in range(1, 6):
        made.add(number)
    return made


@pytest.fixture
def server(room: Room) -> Iterator[AuthorizationServer]:
    made = room.made
    desk = HivePages(HiveServices(made.hive, made.reviews), made.names, made.clock)
    with hosted(console=lambda _: [hive_pages(desk)]) as running:
        yield running


@pytest.fixture
def wallet(server: AuthorizationServer) -> Wallet:
    """Of a reviewer."""
    made = Wallet(fresh_key())
    server.standings.held[made.account] = standing("vibecoder")
    return made


@pytest.fixture
def visit(browser: Browser, server: AuthorizationServer, wallet: Wallet) -> Iterator[Visit]:
    with visiting(browser, wallet, at=[server.settings.issuer]) as visitor:
        visitor.go(f"{server.settings.issuer}/console/hive")
        visitor.sign_in()
        visitor.heading("Pending contributions")
        yield visitor
        visitor.check()


def opened(visit: Visit, number: int) -> None:
    """The contribution is shown, and the keys work."""
    visit.page.wait_for_url(f"**{pending(number)}*")
    expect(visit.page.get_by_text("Keys ?")).to_be_visible()


def test_a_queue_is_gone_through_by_keys(visit: Visit, room: Room) -> None:
    keys = visit.page.keyboard
    expect(visit.page.get_by_text("Keys ?")).to_be_visible()
    for key in ("j", "j", "k", "Enter"):
        keys.press(key)
    opened(visit, 1)
    keys.press("f")
    visit.told("Flagged for a second review.")
    keys.press("j")
    opened(visit, 2)
    keys.press("k")
    opened(visit, 1)
    keys.press("a")
    opened(visit, 2)
    visit.told("Approved.")
    keys.press("p")
    opened(visit, 3)
    visit.told("Approved and published.")
    for key in ("r", "ArrowDown", "Enter"):
        keys.press(key)
    opened(visit, 4)
    visit.told("Rejected. The text is deleted.")
    done = [(room.kept(number).status, room.kept(number).is_public, room.kept(number).sensitive) for number in (1, 2)]
    assert done == [("approved", False, True), ("approved", True, False)]
    assert (room.kept(3).status, room.kept(3).reason) == ("rejected", "Known already")
    assert [room.kept(number).status for number in (4, 5)] == ["pending", "pending"]


def test_what_is_selected_is_masked(visit: Visit, room: Room, server: AuthorizationServer) -> None:
    visit.go(f"{server.settings.issuer}{pending(1)}")
    opened(visit, 1)
    visit.page.evaluate("""() => {
      const node = document.getElementById("text").firstChild, start = node.data.indexOf("pool");
      getSelection().setBaseAndExtent(node, start, node, start + 4);
    }""")
    visit.page.keyboard.press("m")
    expect(visit.page.get_by_label("Text to mask, exactly as written")).to_have_value("pool")
    visit.page.get_by_label("Replace with").select_option("LOCATION")
    visit.press("Mask")
    visit.told("Masked. Review the text again before you decide.")
    assert room.kept(1).content == "Wait 1 seconds before the [LOCATION] is closed, says [NAME]."


def test_keys_rest_in_fields_while_held_and_for_whoever_switches_them_off(
    visit: Visit, room: Room, server: AuthorizationServer
) -> None:
    visit.go(f"{server.settings.issuer}{pending(1)}")
    opened(visit, 1)
    keys = visit.page.keyboard
    visit.page.get_by_label("Comment for the contributor").click()
    keys.type("a pa f r")
    keys.press("Control+a")
    keys.press("Escape")
    keys.press("?")
    visit.page.get_by_label("Single keys work on this device").uncheck()
    visit.page.locator("h1").click()
    keys.press("a")
    visit.page.reload()
    opened(visit, 1)
    keys.press("a")
    expect(visit.page.get_by_label("Single keys work on this device")).not_to_be_checked()
    assert room.kept(1).status == "pending"


def test_the_queue_needs_no_script(browser: Browser, visit: Visit, room: Room, server: AuthorizationServer) -> None:
    state = visit.context.storage_state()
    at = server.settings.issuer
    with visiting(browser, None, at=[at], java_script_enabled=False, storage_state=state) as plain:
        plain.go(f"{at}/console/hive")
        plain.page.get_by_role("link", name="Start the review").click()
        plain.press("Approve and publish")
        plain.told("Approved and published.")
        plain.page.get_by_label("Text to mask, exactly as written").fill("pool")
        plain.press("Mask")
        plain.told("Masked. Review the text again before you decide.")
        plain.page.get_by_label("Too vague to act on").check()
        plain.page.get_by_role("button", name="Reject").click()
        plain.told("Rejected. The text is deleted.")
        plain.page.get_by_role("link", name="Next").click()
        plain.page.get_by_role("button", name="Flag").click()
        plain.told("Flagged for a second review.")
        expect(plain.page.get_by_text("Keys ?")).to_be_hidden()
        plain.check()
    assert [room.kept(number).status for number in (1, 2, 3)] == ["approved", "rejected", "pending"]
    assert room.kept(2).reason == "Too vague to act on"
    assert room.kept(4).sensitive


def test_of_two_reviewers_one_decides_and_the_other_is_told_and_goes_on(
    browser: Browser, visit: Visit, room: Room, server: AuthorizationServer
) -> None:
    at = server.settings.issuer
    other = Wallet(fresh_key())
    server.standings.held[other.account] = standing("vibecoder")
    with visiting(browser, other, at=[at]) as second:
        second.go(f"{at}{pending(1)}")
        second.sign_in()
        opened(second, 1)
        visit.go(f"{at}{pending(1)}")
        opened(visit, 1)
        second.page.keyboard.press("a")
        opened(second, 2)
        visit.page.get_by_label("Known already").check()
        visit.page.get_by_role("button", name="Reject").click()
        expect(visit.page.get_by_role("alert")).to_contain_text("This contribution is approved already, by")
        visit.page.keyboard.press("j")
        opened(visit, 2)
        second.check()
    assert (room.kept(1).status, room.kept(2).status) == ("approved", "pending")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_of_the_hive_fit_and_are_for_everybody(
    browser: Browser,
    server: AuthorizationServer,
    room: Room,
    visit: Visit,
    scheme: str,
    width: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = Mark("override", "It tells agents to forget what they were told.", 0, 4)
    monkeypatch.setattr("commonplace.hive.orders.orders", lambda text: [mark])
    text = (
        "Wait\u202e for [NAME] before the pool of the hall is closed for the night, else the pumps run dry. "
        + "m" * 300
    )
    alike = {"signature": minhash.signature(text)}
    room.add(
        1, f"{text} So it is.", **alike, marks=("override", "tags"), sensitive=True, tags=("pool",), framework="django"
    )
    room.add(9, text, **alike, status="approved", is_public=True, invalid_at="2026-11-20T00:00:00.000000Z")
    at = server.settings.issuer
    shape = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    state = visit.context.storage_state()
    with visiting(browser, None, at=[at], bypass_csp=True, storage_state=state, **shape) as looking:
        for path, title in (
            ("/console/hive", "Pending contributions"),
            (pending(1), "Review: general"),
            ("/console/hive/items", "Contributed knowledge"),
            (item_page(9), "".join(piece.text for piece in pieces(room.kept(9).title))),
            ("/console/hive/rules", "Rules for contributions"),
            ("/console/hive/figures", "Contribution statistics"),
        ):
            looking.go(f"{at}{path}")
            if path == pending(1):
                looking.page.get_by_text("Keys ?").click()
                expect(looking.page.get_by_text("Similar items")).to_be_visible()
            judged(looking, title)
