"""The page of the chat over a partner, on a laptop of its own: two sources are cited, and a call is approved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from commonplace.federation.model import pin
from commonplace.kernel.audit import Author
from commonplace_local.cli.partners import partners_of
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.browser.chromium import axe
from tests.browser.test_chat import ask, whole
from tests.browser.test_pages import faults
from tests.browser.visiting import visiting
from tests.fakes.chat_model import answering
from tests.fakes.partners import partner
from tests.integration.running_dev import garden


@pytest.fixture(scope="module")
def federated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    """A laptop with a partner, all of whose tools are approved."""
    folder = tmp_path_factory.mktemp("federated")
    user = garden(folder / "clone")
    environment = {"CHAT_MODEL": "openai:scripted", "FEDERATION": "on"}
    with (
        answering() as model,
        partner() as (url, _),
        Laptop(clone(user.folder), folder / "data", environment=environment | {"CHAT_BASE_URL": model.url}) as running,
    ):
        running.push()
        running.wait()
        partners = partners_of(running.deployment)
        by = Author(organisation=running.deployment.outputs["Organisation"], account="account-ada")
        tools = partners.add(by, "reef", url, title="The reef").tools
        partners.approve(by, "reef", {tool.id: pin(tool.offered) for tool in tools})
        yield running


def test_an_answer_cites_two_sources_that_are_reached_by_keyboard(browser: Browser, federated: Laptop) -> None:
    with visiting(browser, None, at=[federated.url]) as ada:
        ada.go(f"{federated.url}/console/chat")
        ada.press("Ada, member")
        expect(ada.page.get_by_role("main")).to_contain_text("Partners are searched too.")
        ask(ada, "commons: crabs")
        whole(ada)
        answer = ada.page.locator("#turns .answer").last
        expect(answer).to_contain_text("Searched all sources for “crabs”")
        expect(answer.locator(".sources li")).to_have_count(2)
        expect(answer.locator(".sources")).to_contain_text("(The reef)")
        assert faults(ada, axe()) == []
        own, theirs = answer.locator(".cited").all()
        assert (theirs.get_attribute("href") or "").startswith("https://partner.example/d/")
        own.focus()
        ada.page.keyboard.press("Tab")
        expect(theirs).to_be_focused()
        ada.page.keyboard.press("Shift+Tab")
        ada.page.keyboard.press("Enter")
        ada.heading("Crabs")
        ada.check()


def test_a_call_of_a_partner_is_shown_whole_and_approved_by_keyboard(browser: Browser, federated: Laptop) -> None:
    with visiting(browser, None, at=[federated.url]) as ada:
        ada.go(f"{federated.url}/console/chat")
        ada.press("Ada, member")
        ask(ada, "add: two numbers")
        call = ada.page.get_by_role("region", name="Call: add of reef")
        expect(call.get_by_label("What it is called with")).to_have_text('{\n  "a": 2,\n  "b": 40\n}')
        expect(ada.page.locator("#status")).to_have_text("Something waits for your decision.")
        assert faults(ada, axe()) == []
        call.get_by_role("button", name="Approve").press("Enter")
        whole(ada)
        answer = ada.page.locator("#turns .answer").last
        expect(answer).to_contain_text("Added [1].")
        expect(answer.locator(".sources")).to_have_text("The reef")
        answer.get_by_text("Called add of reef").press("Enter")
        expect(answer.locator("details pre")).to_be_visible()
        assert faults(ada, axe()) == []
        ada.check()
