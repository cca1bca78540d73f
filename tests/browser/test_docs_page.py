"""The documentation of the API in a real browser: what it shows, with the keyboard alone, and to who cannot see it."""

import json
from collections.abc import Iterator, Mapping
from time import time
from typing import Any, cast

import pytest
from mangum.types import LambdaContext
from playwright.sync_api import Browser, Page, expect

from commonplace.documents.content.library import Library
from commonplace.kernel.limits import Limiter
from commonplace.web.gateway import Gateway
from commonplace.web.rest.declaration import Site
from commonplace_local.cloud.http_api import HttpApi, Route
from commonplace_local.cloud.runtime import Outcome
from infra.front import REST_PATHS
from tests.browser.chromium import axe
from tests.browser.visiting import visiting
from tests.fakes.authority import Counters
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.search import FakeSearch
from tests.rest_app import rest_app
from tests.site_app import site_app


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Of the site and the REST API behind the gateway of the laptop cloud."""
    store = FakeLibrary()
    store.publish(garden())
    site = Site(name="The garden", reads_per_minute=0, searches_per_minute=0)
    gateways = {
        "rest": Gateway(rest_app(Library(store), FakeSearch(), site, Limiter(Counters(), time))),
        "site": Gateway(site_app(store)),
    }

    def invoke(function: str, event: bytes, _seconds: float) -> Outcome:
        answer = gateways[function](cast(Mapping[str, Any], json.loads(event)), cast(LambdaContext, None))
        return Outcome(json.dumps(answer).encode())

    api = HttpApi(invoke)
    api.routes += [Route(f"ANY {path}", "rest") for path in REST_PATHS] + [Route("$default", "site")]
    api.start()
    try:
        yield api.url
    finally:
        api.stop()


def found(page: Page) -> list[str]:
    """What axe finds against the rules of WCAG and good practice."""
    told = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {node['html']}" for one in told["violations"] for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nobody_is_shut_out_of_the_page(browser: Browser, url: str, width: int, scheme: str) -> None:
    options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "bypass_csp": True}
    with visiting(browser, None, at=[url], **options) as visit:
        visit.go(f"{url}/docs")
        expect(visit.page.locator("details.operation").first).to_be_attached()
        visit.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        visit.page.evaluate(axe())
        assert found(visit.page) == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.page.locator("h1").evaluate("(one) => one.getBoundingClientRect().top + scrollY") < 300


def test_an_operation_is_tried_with_what_is_published(browser: Browser, url: str) -> None:
    with visiting(browser, None, at=[url]) as visit:
        visit.go(f"{url}/docs#getEntry")
        operation = visit.page.locator("#getEntry")
        expect(operation.locator("summary").first).to_be_focused()
        expect(operation.get_by_label("id required")).to_have_value("rotating-stewardship")
        operation.get_by_role("button", name="Try it").click()
        expect(operation.get_by_role("status")).to_have_text("200 application/json")
        expect(operation.get_by_role("group", name="Answer", exact=True)).to_contain_text("Every season")
        visit.check()


def test_required_parameters_come_first(browser: Browser, url: str) -> None:
    with visiting(browser, None, at=[url]) as visit:
        visit.go(f"{url}/docs#getEntryByPath")
        labels = visit.page.locator("#getEntryByPath .parameter label")
        expect(labels.first).to_have_text("path required")
        assert [text for text in labels.all_inner_texts()[1:] if "required" in text] == []
        visit.check()


def test_the_keyboard_gets_past_the_list_of_endpoints(browser: Browser, url: str) -> None:
    with visiting(browser, None, at=[url]) as visit:
        visit.go(f"{url}/docs")
        expect(visit.page.locator("details.operation").first).to_be_attached()
        visit.page.keyboard.press("Tab")
        expect(visit.page.get_by_role("link", name="Skip to content")).to_be_focused()
        visit.page.keyboard.press("Enter")
        visit.page.keyboard.press("Tab")
        expect(visit.page.locator("main a").first).to_be_focused()
        visit.check()


def test_without_scripts_every_operation_is_read(browser: Browser, url: str) -> None:
    with visiting(browser, None, at=[url], java_script_enabled=False) as visit:
        visit.go(f"{url}/docs")
        operation = visit.page.locator("#getEntry")
        operation.locator("summary").first.click()
        expect(operation).to_contain_text("GET /api/v1/entries/{contentType}/{id}")
        expect(operation).to_contain_text("Id of the document within its type")
        expect(operation.get_by_role("button")).to_have_count(0)
        expect(operation.get_by_role("textbox")).to_have_count(0)
        assert visit.page.locator("details.operation").count() == visit.page.locator("#endpoints a").count() > 20
        visit.check()
