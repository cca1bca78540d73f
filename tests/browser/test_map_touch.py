"""The map on a phone: targets that a finger hits, and two fingers that zoom."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.reading import library
from tests.browser.test_pages import OVERFLOW, PHONE
from tests.browser.visiting import visiting
from tests.integration.running_dev import Dev, started

PHONE_390 = {**PHONE, "viewport": {"width": 390, "height": 780}}
PINCH = """(box) => {
  const at = box.getBoundingClientRect();
  const send = (type, apart) => {
    const touches = [-apart / 2, apart / 2].map((dx, identifier) => new Touch({
      identifier, target: box, clientX: at.left + at.width / 2 + dx, clientY: at.top + at.height / 2,
    }));
    return box.dispatchEvent(new TouchEvent(type, { touches, cancelable: true, bubbles: true }));
  };
  send("touchstart", 100);
  return send("touchmove", 150);
}"""


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    folder: Path = tmp_path_factory.mktemp("map")
    with started(library(folder / "library"), folder / "data") as serving:
        yield serving


def test_the_map_is_used_with_fingers(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], **PHONE_390) as visit:
        visit.go(f"{dev.url}/map")
        page = visit.page
        expect(page.locator(".map-tools")).to_be_visible()
        # A list for whoever does not like maps, before it, and nothing wider than the phone.
        expect(page.get_by_role("link", name="Skip the map")).to_be_visible()
        assert page.evaluate(OVERFLOW) == []
        circle = page.locator("svg.map a circle").first
        for zoomed in (False, True):
            if zoomed:
                before = page.locator("svg.map").evaluate("(map) => map.getBoundingClientRect().width")
                assert page.locator(".map-box").evaluate(PINCH) is False, "the browser does not zoom the page as well"
                after = page.locator("svg.map").evaluate("(map) => map.getBoundingClientRect().width")
                assert after == pytest.approx(before * 1.5, rel=0.01)
            assert circle.evaluate("(one) => one.getBoundingClientRect().width") == pytest.approx(40, abs=1)
        visit.check()
