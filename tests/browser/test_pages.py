"""Every page for people in a real browser: phone and desktop, light and dark, with and without scripts."""

import gzip
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Dialog, expect

from tests.browser.chromium import axe
from tests.browser.client import listening
from tests.browser.reading import library
from tests.browser.screenshots import take_site
from tests.browser.visiting import Visit, visiting
from tests.hostile_markdown import HOSTILE
from tests.integration.running_dev import Dev, started
from tests.unit.docs.pages import ROOT

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 900}}
LOOKS: dict[str, dict[str, Any]] = {
    "phone-light": {**PHONE, "color_scheme": "light"},
    "desk-dark": {**DESK, "color_scheme": "dark"},
    "phone-dark-without-scripts": {**PHONE, "color_scheme": "dark"},
    "desk-light-without-scripts": {**DESK, "color_scheme": "light"},
}
"""Without scripts means that those of the page do not come: axe is one too, and needs timers."""
PAGES = {
    "home": "/",
    "search": "/search",
    "found": "/search?q=tide+pool",
    "typo": "/search?q=tiide+poool",
    "nothing": "/search?q=xylophone",
    "narrowed": "/search?q=tide&type=tag",
    "document": "/d/guide/everything",
    "another-document": "/d/place/lantern-cove",
    "tag": "/t/quadrat",
    "types": "/types",
    "type": "/types/pattern",
    "folder": "/types?folder=data",
    "groups": "/groups",
    "group": "/groups/pool-desk",
    "releases": "/releases",
    "release": "/releases/first-low-water",
    "map": "/map",
    "map-of-a-type": "/map?type=tag",
    "map-around": "/map?around=tag/tide-pool",
    "connect": "/connect",
    "docs": "/docs",
    "account": "/account",
    "console": "/console",
    "console-sync": "/console/sync",
    "console-why": "/console/why",
    "console-verdict": "/console/why?q=drafts/winter-survey-plan.md",
}
ABSENT = {
    "no-page": "/d/tag/tide-poool",
    "nowhere": "/nothing/here",
    "no-map": "/map?around=tag/tide-poool",
    "no-type": "/type/patern",
}
MOST_BYTES = 60_000
"""Of a page with its scripts and styles, compressed, images apart."""
FINDINGS = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
    `${id}: ${target.join(" ")}: ${failureSummary.split("\\n").slice(1).join(" ")}`));
}"""
OVERFLOW = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 120))"""

ABOVE = """(article) => [...article.querySelectorAll("math *")]
  .filter((one) => one.getBoundingClientRect().top < article.getBoundingClientRect().top - 1)
  .map((one) => one.outerHTML.slice(0, 120))"""


@dataclass
class Reader:
    """Who looks at pages of a site, in one browser after another."""

    url: str
    visits: dict[str, Visit]

    def look(self, look: str, path: str) -> tuple[Visit, int]:
        """The page, and the status it came with; nothing was violated, broke or was asked for elsewhere."""
        visit = self.visits[look]
        for notes in (visit.requests, visit.violations, visit.errors):
            notes.clear()
        answer = visit.page.goto(f"{self.url}{path}")
        assert answer is not None
        visit.check()
        return visit, answer.status


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    folder = tmp_path_factory.mktemp("site")
    with started(library(folder / "library"), folder / "data") as serving:
        yield serving


@pytest.fixture(scope="module")
def reader(browser: Browser, dev: Dev) -> Iterator[Reader]:
    """Signed in as a member, which changes no page that everybody sees."""
    with ExitStack() as stack:
        visits = {}
        for name, look in LOOKS.items():
            visit = visits[name] = stack.enter_context(visiting(browser, None, at=[dev.url], **look))
            if name.endswith("without-scripts"):
                visit.context.route("**/*.js*", lambda route: route.abort())
            visit.go(f"{dev.url}/account")
            visit.press("Ada, member")
            visit.heading("Connected apps")
        yield Reader(dev.url, visits)


@pytest.fixture(scope="session")
def axe_core() -> str:
    return axe()


def faults(visit: Visit, axe_core: str) -> list[str]:
    """What shuts people out of the page that is open, and what sticks out of it."""
    page = visit.page
    page.evaluate(axe_core)
    return [*page.evaluate(FINDINGS), *(f"too wide: {each}" for each in page.evaluate(OVERFLOW))]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", [*PAGES, *ABSENT])
def test_a_page_is_whole_and_open_to_everybody(reader: Reader, axe_core: str, name: str, look: str) -> None:
    visit, status = reader.look(look, (PAGES | ABSENT)[name])
    assert status == (200 if name in PAGES else 404)
    assert faults(visit, axe_core) == []
    assert visit.page.locator("h1").count() == 1


@pytest.mark.parametrize("look", ["phone-light", "desk-dark"])
def test_sign_in_and_consent_are_open_to_everybody(browser: Browser, dev: Dev, axe_core: str, look: str) -> None:
    with (
        listening(dev.url) as client,
        visiting(browser, None, at=[dev.url, client.redirect_uri], **LOOKS[look]) as visit,
    ):
        client.register("Desk app")
        visit.go(client.url())
        visit.heading("Sign in")
        assert faults(visit, axe_core) == []
        visit.press("Ada, member")
        expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Allow Desk app")
        assert faults(visit, axe_core) == []
        visit.check()


@pytest.mark.parametrize("name", [*PAGES, *ABSENT])
def test_a_page_is_light(reader: Reader, name: str) -> None:
    client = reader.visits["desk-dark"].context.request
    text = client.get(f"{reader.url}{(PAGES | ABSENT)[name]}").text()
    waiting = re.findall(r'<(?:script|link rel="stylesheet")[^>]* (?:src|href)="([^"]+)"', text)
    parts, bodies = set[str](), [text]
    while waiting:
        url = urljoin(reader.url, waiting.pop())
        if url not in parts:
            parts.add(url)
            answer = client.get(url)
            assert answer.ok, url
            bodies.append(answer.text())
            waiting += [urljoin(url, path) for path in re.findall(r'from "(\.[^"]+)"', bodies[-1])]
    assert parts, "at least the stylesheet"
    assert sum(len(gzip.compress(body.encode(), 6)) for body in bodies) <= MOST_BYTES


FOCUSED = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  const looks = [one, ...one.querySelectorAll("use")].map((each) => getComputedStyle(each));
  const seen = looks.some((look) => (look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2)
    || parseFloat(look.strokeWidth) >= 3);
  const { width, height } = one.getBoundingClientRect();
  return { tag: one.outerHTML.slice(0, 100), seen, shown: width > 1 && height > 1 };
}"""


def tabbed(visit: Visit, most: int = 60) -> list[dict[str, Any]]:
    """What the Tab key reaches, in order, until the end of the page."""
    reached: list[dict[str, Any]] = []
    for _ in range(most):
        visit.page.keyboard.press("Tab")
        found = visit.page.evaluate(FOCUSED)
        if found is None:
            break
        reached.append(found)
    return reached


@pytest.mark.parametrize("look", ["phone-light", "desk-dark"])
@pytest.mark.parametrize("name", ["home", "found", "document", "map", "nowhere"])
def test_whatever_the_tab_key_reaches_is_seen(reader: Reader, name: str, look: str) -> None:
    visit, _ = reader.look(look, (PAGES | ABSENT)[name])
    reached = tabbed(visit)
    assert len(reached) > 3
    assert [each["tag"] for each in reached if not (each["seen"] and each["shown"])] == []


@pytest.mark.parametrize("name", ["home", "document", "map", "connect", "docs", "account", "console"])
def test_the_first_link_leads_past_the_header(reader: Reader, name: str) -> None:
    visit, _ = reader.look("desk-dark", PAGES[name])
    visit.page.keyboard.press("Tab")
    first = visit.page.locator(":focus")
    expect(first).to_have_text("Skip to content")
    expect(first).to_be_in_viewport()
    visit.page.keyboard.press("Enter")
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.querySelector('main').contains(document.activeElement)")


@pytest.mark.parametrize("name", ["document", "map", "nowhere"])
def test_the_tab_key_reaches_the_search_of_the_header(reader: Reader, name: str) -> None:
    visit, _ = reader.look("desk-dark", (PAGES | ABSENT)[name])
    assert any('type="search"' in each["tag"] for each in tabbed(visit, 4))


def test_without_scripts_a_person_searches_reads_and_follows_the_map(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], java_script_enabled=False, **PHONE) as visit:
        page = visit.page
        visit.go(dev.url)
        page.get_by_role("searchbox").fill("quadrat frame")
        page.get_by_role("searchbox").press("Enter")
        page.locator("main").get_by_role("link", name="Quadrat", exact=True).first.click()
        visit.heading("Quadrat")
        visit.go(f"{dev.url}/map")
        expect(page.locator(".map-tools")).to_be_hidden()
        page.get_by_role("combobox", name="Type").select_option("place")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("svg.map a")).to_have_count(3)
        page.locator("svg.map a", has_text="Lantern Cove").first.click()
        visit.heading("Lantern Cove")
        visit.check()


def test_results_come_while_a_person_types_and_are_announced(reader: Reader) -> None:
    visit, _ = reader.look("desk-dark", "/search?q=xylophone")
    page = visit.page
    field, told = page.locator("main").get_by_role("searchbox"), page.get_by_role("status")
    expect(told).to_contain_text("No results")
    field.fill("")
    field.press_sequentially("quadrat frame")
    expect(told).to_contain_text("result")
    expect(page.locator("#results").get_by_role("link", name="Quadrat", exact=True)).to_be_visible()
    expect(field).to_be_focused()
    assert page.url == f"{reader.url}/search?q=quadrat+frame"
    visit.check()


@pytest.mark.parametrize("key", ["/", "Control+k", "Meta+k"])
def test_a_key_opens_a_search_that_answers_while_a_person_types(reader: Reader, axe_core: str, key: str) -> None:
    visit, _ = reader.look("desk-dark", PAGES["another-document"])
    page = visit.page
    page.keyboard.press(key)
    dialog = page.get_by_role("dialog", name="Search")
    field, results = dialog.get_by_role("combobox", name="Search"), dialog.get_by_role("listbox", name="Results")
    expect(field).to_be_focused()
    field.press_sequentially("quadrta fraem")
    expect(results.get_by_role("option").first).to_have_text("Did you mean quadrat frame?")
    expect(results.get_by_role("option").last).to_contain_text("All results for")
    assert {mark.casefold() for mark in results.locator("mark").all_inner_texts()} >= {"quadrat", "frame"}
    assert faults(visit, axe_core) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = results.locator("[aria-selected=true]")
    expect(chosen).to_have_count(1)
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    path = chosen.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{reader.url}{path}")
    visit.check()


def test_escape_closes_the_search_and_leads_back(reader: Reader) -> None:
    visit, _ = reader.look("desk-dark", PAGES["types"])
    page = visit.page
    page.locator("main a").first.focus()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("main a").first).to_be_focused()


def test_results_come_below_the_field_of_the_header_and_stop_where_searches_are_limited(reader: Reader) -> None:
    visit, _ = reader.look("phone-light", PAGES["types"])
    page = visit.page
    field = page.locator(".head").get_by_role("combobox")
    field.press_sequentially("lantern")
    results = page.locator(".head").get_by_role("listbox")
    expect(results.get_by_role("option", name="Lantern Cove").first).to_be_visible()
    field.press("Escape")
    expect(results).to_be_hidden()
    page.route("**/api/v1/search?*", lambda route: route.fulfill(status=429, headers={"retry-after": "7"}))
    field.fill("zonation")
    expect(page.locator(".head [aria-live]")).to_have_text("Too many searches: try again in 7 s.")
    before = visit.asked("/api/v1/search")
    field.fill("zonation again")
    expect(page.locator(".head [aria-live]")).to_contain_text("Too many searches")
    assert visit.asked("/api/v1/search") == before
    page.unroute("**/api/v1/search?*")


def test_a_theme_is_chosen_stays_and_follows_the_system_without_a_choice(reader: Reader, axe_core: str) -> None:
    visit, _ = reader.look("desk-dark", PAGES["document"])
    page = visit.page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").hover()
    light = page.evaluate(ground)
    assert light != dark
    visit, _ = reader.look("desk-dark", PAGES["found"])
    assert page.evaluate(ground) == light
    assert faults(visit, axe_core) == []
    assert all(cookie["httpOnly"] for cookie in page.context.cookies()), "no cookie of a script"
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Theme: dark").click()
    expect(page.get_by_role("button", name="Theme: system")).to_be_visible()
    assert page.evaluate(ground) == dark


def test_folders_are_beside_a_document_and_folded_on_a_phone_also_without_scripts(browser: Browser, dev: Dev) -> None:
    for look, folded in ((DESK, False), (PHONE, True)):
        with visiting(browser, None, at=[dev.url], java_script_enabled=False, **look) as visit:
            page = visit.page
            visit.go(f"{dev.url}/d/place/lantern-cove")
            expect(page.locator(".switch")).to_be_hidden()
            here = page.locator(".tree [aria-current=page]")
            if folded:
                expect(here).to_be_hidden()
                page.locator(".tree summary").click()
            expect(here).to_have_text("Lantern Cove")
            expect(here).to_be_visible()
            page.locator(".tree").get_by_role("link", name="Grey Mare Ledges").click()
            visit.heading("Grey Mare Ledges")
            page.get_by_role("navigation", name="In this folder").get_by_role("link", name="Next").click()
            visit.heading("Lantern Cove")
            expect(page.get_by_role("link", name="Previous Grey Mare Ledges")).to_be_visible()
            visit.check()


def test_arrow_keys_lead_from_document_to_document_of_the_map_and_enter_opens_one(reader: Reader) -> None:
    visit, _ = reader.look("desk-dark", "/map")
    page = visit.page
    assert page.locator("svg.map a[tabindex='0']").count() == 1, "one stop for the Tab key"
    page.locator("svg.map a[tabindex='0']").focus()
    names = set()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown", "Home"):
        page.keyboard.press(key)
        focused = page.locator("svg.map a:focus")
        expect(focused).to_be_in_viewport()
        expect(focused.locator("text")).to_be_visible()
        names.add(focused.get_attribute("href"))
    assert len(names) > 3
    path = page.locator("svg.map a:focus").get_attribute("href")
    assert page.locator(".map-lit").get_attribute("d"), "its links stand out"
    page.keyboard.press("Enter")
    page.wait_for_url(f"{reader.url}{path}")
    visit.check()


def test_the_map_is_enlarged_by_buttons_and_keys_and_dragged_by_a_mouse(reader: Reader) -> None:
    visit, _ = reader.look("desk-dark", "/map")
    page, drawing = visit.page, visit.page.locator("svg.map")

    def width() -> float:
        return float(page.evaluate("document.querySelector('svg.map').getBoundingClientRect().width"))

    before = width()
    page.get_by_role("button", name="Larger").click()
    assert width() == pytest.approx(before * 1.4, rel=0.01)
    drawing.locator("a[tabindex='0']").focus()
    page.keyboard.press("+")
    assert width() == pytest.approx(before * 1.96, rel=0.01)
    box = page.locator(".map-box")
    place = box.bounding_box()
    assert place is not None
    at = box.evaluate("(one) => [one.scrollLeft, one.scrollTop]")
    page.mouse.move(place["x"] + 300, place["y"] + 300)
    page.mouse.down()
    page.mouse.move(place["x"] + 340, place["y"] + 330, steps=4)
    page.mouse.up()
    assert box.evaluate("(one) => [one.scrollLeft, one.scrollTop]") == [at[0] - 40, at[1] - 30]
    assert page.url == f"{reader.url}/map", "dragging opens nothing"
    page.get_by_role("button", name="Whole map").click()
    sizes = box.evaluate("(one) => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight]")
    assert max(sizes) <= 1
    visit.check()


ARMED = """(one) => [...one.querySelectorAll("*")].flatMap((each) => [...each.attributes]
    .filter(({ name, value }) => name.startsWith("on") || name === "style" || name === "srcdoc"
      || (/^(href|src|action|formaction|xlink:href|data|poster|background|srcset)$/.test(name)
        && !/^(https?:|mailto:|tel:|#|[/.]|[\\w%-]+([/.#?]|$))/i.test(value)))
    .map(({ name, value }) => `${each.tagName} ${name}=${value}`))
  .concat([...one.querySelectorAll("script, style, iframe, frame, object, embed, applet, form, base, meta, link")]
    .map((each) => each.outerHTML.slice(0, 100)))"""


def test_nothing_of_hostile_markdown_is_run_in_a_browser(reader: Reader) -> None:
    visit = reader.visits["desk-dark"]
    dialogs: list[str] = []

    def noted(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    visit.page.on("dialog", noted)
    for number, name in enumerate(HOSTILE):
        path = f"/d/file/hostile-{number}"
        _, status = reader.look("desk-dark", path)
        article = visit.page.locator("article")
        assert (status, dialogs) == (200, []), name
        assert article.evaluate(ARMED) == [], name
        assert (visit.page.evaluate(OVERFLOW), article.evaluate(ABOVE)) == ([], []), name
        assert visit.page.evaluate("window.pwned") is None, name
        assert visit.page.url == f"{reader.url}{path}", name
        expect(visit.page.locator("h1")).to_be_visible()


def test_the_pictures_of_the_documentation_are_of_pages_that_there_are(
    browser: Browser, dev: Dev, tmp_path: Path
) -> None:
    take_site(browser, dev.url, tmp_path)
    pictures = {file.name for file in tmp_path.iterdir()}
    documented = {file.name for file in (ROOT / "docs/images").iterdir()}
    pages = "".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
    assert pictures <= documented
    assert [name for name in pictures if f"images/{name})" not in pages] == []
