"""An agent for one role of a member, from consent in a browser to the role that is taken away, on a running laptop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import axe
from tests.browser.client import OAuthClient, listening
from tests.browser.test_pages import faults
from tests.browser.visiting import Visit, visiting
from tests.integration.running_dev import Dev, running, separately
from tests.unit.docs.pages import ROOT

SAMPLE = ROOT / "samples" / "governance" / "low-water.yaml"
PHONE = {"viewport": {"width": 360, "height": 760}}
ADDRESS = "swarmrise://orgas/low-water"


@pytest.fixture
def dev(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dev]:
    monkeypatch.setenv("GOVERNANCE_SCHEME", "swarmrise")
    folder = tmp_path_factory.mktemp("low-water")
    with running(folder) as serving:
        founded = separately("governance", "import", str(SAMPLE), "--data", str(folder / "data"))
        assert founded.returncode == 0, founded.stdout + founded.stderr
        yield serving


def read(app: OAuthClient, token: str, path: str) -> Any:
    """Return what is at an address, or the message of the refusal."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": f"{ADDRESS}{path}"}}
    answer = httpx.post(
        f"{app.issuer}/mcp/governance",
        json=body,
        headers={
            "authorization": f"Bearer {token}",
            "mcp-protocol-version": "2025-11-25",
            "accept": "application/json",
        },
    ).json()
    return json.loads(answer["result"]["contents"][0]["text"]) if "result" in answer else answer["error"]["message"]


def sign_in(visit: Visit, url: str, account: str) -> None:
    visit.go(url)
    visit.heading("Sign in")
    visit.press(account)


def test_an_agent_for_one_role_reads_until_the_role_is_taken_away(browser: Browser, dev: Dev) -> None:
    with (
        listening(dev.url) as app,
        visiting(browser, None, at=[dev.url, app.redirect_uri], **PHONE) as vi,
        visiting(browser, None, at=[dev.url]) as ada,
    ):
        app.register("Reader")
        sign_in(vi, app.url("swarmrise:read", resource=f"{dev.url}/mcp/governance"), "Vi, vibecoder")
        expect(vi.page.get_by_role("heading", level=1)).to_contain_text("Allow Reader")
        main = vi.page.locator("main")
        for told in ("Low Water", "Secretary", "only read", "reads direct messages"):
            expect(main).to_contain_text(told)
        expect(vi.page.locator("[name=expiry]")).to_have_value(str(30 * 86_400))
        assert faults(vi, axe()) == []
        vi.press("Allow")
        vi.page.wait_for_url(f"{app.redirect_uri}*")
        token = app.exchange()["access_token"]
        assert read(app, token, "")["you"]["name"] == "Vi Tanner"
        channels = read(app, token, "/channels")["channels"]
        assert [one["name"] for one in channels] == ["Low Water", "Pool Desk"]
        messages = f"/channels/{channels[1]['_id']}/messages"
        assert read(app, token, messages)["messages"]

        sign_in(ada, f"{dev.url}/console/governance/low-water", "Ada, member")
        ada.page.locator("main").get_by_role("link", name="Pool Desk", exact=True).click()
        ada.page.get_by_role("link", name="Secretary", exact=True).click()
        ada.page.locator("summary").filter(has_text=re.compile("^Assign a role$")).click()
        ada.page.locator("[name=member_id]").locator("visible=true").select_option(label="Ada Marsh")
        ada.press("Assign")
        expect(ada.page.get_by_role("status")).to_be_visible()

        assert isinstance(read(app, token, messages), str)
        assert [one["name"] for one in read(app, token, "/channels")["channels"]] == ["Low Water"]
        for path, words in (("/account", "Reader"), ("/console/governance/low-water/journal", "Grant")):
            vi.go(f"{dev.url}{path}")
            expect(vi.page.locator("main")).to_contain_text(words)
        vi.check()
        ada.check()
