"""An agent for one role of a member, from consent in a browser to the role that is taken away, on a running laptop."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect
from standardwebhooks import Webhook

from tests.browser.chromium import axe
from tests.browser.client import listening
from tests.browser.test_pages import faults
from tests.browser.visiting import Visit, visiting
from tests.integration.running_dev import Dev, running, separately
from tests.unit.docs.pages import ROOT
from tests.unit.governance.test_webhooks import receiver

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


def asked(issuer: str, token: str, method: str, **params: Any) -> Any:
    """Return the answer to a message."""
    headers = {"authorization": f"Bearer {token}", "mcp-protocol-version": "2025-11-25", "accept": "application/json"}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx.post(f"{issuer}/mcp/governance", json=body, headers=headers, timeout=60).json()


def read(issuer: str, token: str, path: str) -> Any:
    """Return what is at an address, or the message of the refusal."""
    answer = asked(issuer, token, "resources/read", uri=f"{ADDRESS}{path}")
    return json.loads(answer["result"]["contents"][0]["text"]) if "result" in answer else answer["error"]["message"]


def said(issuer: str, token: str, text: str) -> str:
    """Write to the channel of everybody as an agent; return what the answer says."""
    channel = read(issuer, token, "/channels")["channels"][0]["_id"]
    given = {"channelId": channel, "text": text}
    answer = asked(issuer, token, "tools/call", name="send_message", arguments=given)
    return str(answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"])


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
        assert read(app.issuer, token, "")["you"]["name"] == "Vi Tanner"
        channels = read(app.issuer, token, "/channels")["channels"]
        assert [one["name"] for one in channels] == ["Low Water", "Pool Desk"]
        messages = f"/channels/{channels[1]['_id']}/messages"
        assert read(app.issuer, token, messages)["messages"]

        sign_in(ada, f"{dev.url}/console/governance/low-water", "Ada, member")
        ada.page.locator("main").get_by_role("link", name="Pool Desk", exact=True).click()
        ada.page.get_by_role("link", name="Secretary", exact=True).click()
        ada.page.locator("summary").filter(has_text=re.compile("^Assign a role$")).click()
        ada.page.locator("[name=member_id]").locator("visible=true").select_option(label="Ada Marsh")
        ada.press("Assign")
        expect(ada.page.get_by_role("status")).to_be_visible()

        assert isinstance(read(app.issuer, token, messages), str)
        assert [one["name"] for one in read(app.issuer, token, "/channels")["channels"]] == ["Low Water"]
        for path, words in (("/account", "Reader"), ("/console/governance/low-water/journal", "Access of an agent")):
            vi.go(f"{dev.url}{path}")
            expect(vi.page.locator("main")).to_contain_text(words)
        vi.check()
        ada.check()


def test_a_token_acts_in_everybodys_sight_until_it_is_revoked(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], **PHONE) as vi, visiting(browser, None, at=[dev.url]) as ada:
        sign_in(vi, f"{dev.url}/account/tokens", "Vi, vibecoder")
        vi.heading("Tokens")
        assert faults(vi, axe()) == []
        vi.page.get_by_label("Name of the agent").fill("Gauge reader")
        vi.page.get_by_label(re.compile("act in your name")).check()
        vi.press("Create the token")
        shown = vi.page.locator("#token")
        expect(shown).to_contain_text("cpa_")
        token = shown.inner_text()
        for _ in range(2):
            vi.go(f"{dev.url}/account/tokens")
            expect(vi.page.locator("#grants")).to_contain_text("Gauge reader")
        expect(vi.page.locator("body")).not_to_contain_text(token)

        assert "in the name of Vi Tanner" in said(dev.url, token, "The gauge stands at one metre.")
        sign_in(ada, f"{dev.url}/console/governance/low-water/channels", "Ada, member")
        ada.page.locator("main").get_by_role("link", name="Low Water", exact=True).last.click()
        mark = ada.page.locator("li").filter(has_text="The gauge stands at one metre.")
        expect(mark).to_contain_text("by an agent: Gauge reader")
        ada.go(f"{dev.url}/console/governance/low-water/journal")
        record = ada.page.locator("li").filter(has_text="AI Agent (via Vi Tanner)")
        expect(record.first).to_contain_text("Gauge reader")
        expect(record.first).not_to_contain_text("metre")
        ada.go(f"{dev.url}/console/governance/low-water/agents")
        expect(ada.page.locator("main")).to_contain_text("1 action, 0 refused")

        ada.go(f"{dev.url}/console/governance/low-water/settings")
        ada.page.locator("summary").filter(has_text="Change what agents may do").click()
        ada.page.get_by_label("Agents may act for their members").uncheck()
        ada.page.locator("button[value=change_agents]").click()
        expect(ada.page.get_by_role("status")).to_be_visible()
        assert "Agents only read in this organisation" in said(dev.url, token, "Once more.")
        assert read(dev.url, token, "")["you"]["permission"] == "readonly"

        vi.go(f"{dev.url}/account/tokens")
        vi.page.get_by_role("button", name="Revoke Gauge reader").click()
        expect(vi.page.get_by_role("status")).to_contain_text("revoked")
        assert isinstance(read(dev.url, token, ""), str)
        vi.check()
        ada.check()


def test_a_webhook_gets_a_signed_message_about_what_an_agent_did(browser: Browser, dev: Dev) -> None:
    with receiver(time.time) as there, visiting(browser, None, at=[dev.url]) as ada:
        sign_in(ada, f"{dev.url}/console/governance/low-water/webhooks", "Ada, member")
        ada.page.locator("summary").filter(has_text="Add a webhook").click()
        ada.page.locator("[name=url]").fill(there.url)
        ada.page.locator("button[value=add_webhook]").click()
        secret = ada.page.locator("[role=status] code").inner_text()
        ada.go(f"{dev.url}/account/tokens")
        ada.page.get_by_label("Name of the agent").fill("Gauge reader")
        ada.page.get_by_label(re.compile("act in your name")).check()
        ada.press("Create the token")
        expect(ada.page.locator("#token")).to_contain_text("cpa_")
        token = ada.page.locator("#token").inner_text()
        assert "in the name of Ada Marsh" in said(dev.url, token, "The gauge stands at two metres.")
        assert there.arrived.wait(60)
        headers, body = there.got[0]
        message = Webhook(secret).verify(body, headers)
        assert (message["type"], message["data"]["client"]) == ("agent.action", "Gauge reader")
        assert b"metres" not in body
        ada.go(f"{dev.url}/console/governance/low-water/webhooks")
        expect(ada.page.locator("main")).to_contain_text("works")
        expect(ada.page.locator("main")).not_to_contain_text(secret)
        ada.check()
