"""A token that a member makes on the page, in the hands of the official client, on a running laptop."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import Browser, expect

from tests.browser.test_governance_agent import PHONE, dev, sign_in
from tests.browser.visiting import visiting
from tests.integration.running_dev import Dev

__all__ = ["dev"]


def tools(url: str, token: str, mode: Any) -> list[str]:
    """Return the names of the tools that the client lists with this token."""

    async def main() -> list[str]:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    # The browser's own loop runs in this thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, main()).result()


def test_the_official_client_uses_a_token_in_both_eras_until_it_is_revoked(browser: Browser, dev: Dev) -> None:
    with visiting(browser, None, at=[dev.url], **PHONE) as vi:
        sign_in(vi, f"{dev.url}/account/tokens", "Vi, vibecoder")
        vi.page.get_by_label("Name of the agent").focus()
        vi.page.keyboard.type("Gauge reader")
        vi.page.get_by_label(re.compile("act in your name")).focus()
        vi.page.keyboard.press("Space")
        vi.page.get_by_role("button", name="Create the token").focus()
        vi.page.keyboard.press("Enter")
        shown = vi.page.locator("#token")
        expect(shown).to_contain_text("cpa_")
        token = shown.inner_text()

        for mode in ("legacy", "auto"):
            assert "send_message" in tools(f"{dev.url}/mcp/governance", token, mode)
        for place in ("/mcp", "/mcp/all"):
            with pytest.raises(BaseExceptionGroup):
                tools(dev.url + place, token, "auto")

        vi.go(f"{dev.url}/account/tokens")
        row = vi.page.locator("#grants li").filter(has_text="Gauge reader")
        expect(row).not_to_contain_text("never")
        row.get_by_role("button", name="Revoke Gauge reader").focus()
        vi.page.keyboard.press("Enter")
        expect(vi.page.get_by_role("status")).to_contain_text("revoked")
        with pytest.raises(BaseExceptionGroup):
            tools(f"{dev.url}/mcp/governance", token, "auto")
        vi.check()
