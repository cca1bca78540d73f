"""Diagrams and formulas of a page, drawn in a real browser."""

import hashlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from commonplace.documents.pages.diagrams import MERMAID
from tests.browser.test_pages import OVERFLOW
from tests.browser.visiting import visiting
from tests.integration.repositories import Clone, document
from tests.integration.running_dev import Dev, started

PAGE = """
So $a_1 + b$, and

$$
x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7 + x_8 + x_9 + x_{10} + x_{11} + x_{12} + x_{13} + x_{14} + x_{15} + x_{16}
$$

```mermaid
flowchart LR
  A[Count] --> B[Record]
  click A "javascript:alert(1)"
```

```mermaid
no diagram <img src=x onerror="parent.postMessage({height: 9}, '*')">
```
"""
REACHING = """async () => {
  const tried = [];
  for (const attempt of [() => fetch("/"), () => parent.document.title, () => localStorage.length]) {
    try { await attempt(); tried.push("reached"); } catch { tried.push("refused"); }
  }
  return tried;
}"""


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    folder = tmp_path_factory.mktemp("diagrams")
    repository = Clone(folder / "notes")
    repository.write("drawn.md", document("Drawn", PAGE))
    repository.commit("Start")
    with started(repository, folder / "data") as serving:
        yield serving


def test_the_script_is_the_one_that_mermaid_released() -> None:
    assert MERMAID is not None
    # Of `dist/mermaid.min.js` of its release 11.16.0 at the registry of JavaScript's packages.
    released = "74d7c46dabca328c2294733910a8aa1ed0c37451776e8d5295da38a2b758fb9b"
    assert hashlib.sha256(MERMAID.read_bytes()).hexdigest() == released


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_diagram_is_drawn_in_a_frame_that_reaches_nothing(browser: Browser, dev: Dev, look: str) -> None:
    phone = {"viewport": {"width": 390, "height": 780}, "color_scheme": look}
    with visiting(browser, None, at=[dev.url], **phone) as visit:
        visit.go(f"{dev.url}/d/file/drawn")
        # What is no diagram stays code.
        expect(visit.page.locator("iframe.diagram")).to_have_count(1)
        drawn = visit.page.frame_locator("iframe.diagram")
        expect(drawn.locator("svg")).to_contain_text("Record")
        expect(drawn.locator("html")).to_have_css("color-scheme", look)
        expect(visit.page.locator("pre", has_text="no diagram")).to_be_visible()
        source = visit.page.locator("details", has_text="flowchart LR")
        source.locator("summary").click()
        expect(source.locator("pre")).to_be_visible()
        frame = next(each for each in visit.page.frames if each.url.endswith("/assets/diagram"))
        assert frame.evaluate("origin") == "null"
        assert drawn.locator("a[*|href^=javascript]").count() == 0
        assert visit.page.evaluate(OVERFLOW) == []
        visit.check()
        assert frame.evaluate(REACHING) == ["refused"] * 3


def test_a_page_is_read_without_scripts(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], java_script_enabled=False) as visit:
        visit.go(f"{dev.url}/d/file/drawn")
        expect(visit.page.locator("math")).to_have_count(2)
        expect(visit.page.locator("pre", has_text="flowchart LR")).to_be_visible()
        assert visit.asked("/assets/mermaid.js") == 0
