"""Pages of other sites call the MCP server from a browser."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import pytest
from mangum.types import LambdaContext
from playwright.sync_api import Browser

from commonplace.identity.principals import Principal
from commonplace_local.cloud.http_api import HttpApi, Route
from commonplace_local.cloud.runtime import Outcome
from tests.browser.chromium import FOREIGN
from tests.unit.web.mcp.world import META, MODERN, ByToken, World

ORIGIN = f"http://{FOREIGN}"
MEMBER = Principal(subject="0xmember", tier="member", token="t1", scopes=frozenset({"probe:read"}))

CALL = """async ([url, version, method, params, token]) => {
  const headers = {"content-type": "application/json", "mcp-protocol-version": version, "mcp-method": method};
  if (params.name) headers["mcp-name"] = params.name;
  if (token) headers.authorization = `Bearer ${token}`;
  const body = JSON.stringify({jsonrpc: "2.0", id: 1, method, params});
  try {
    return await (await fetch(url, {method: "POST", headers, body})).json();
  } catch (error) {
    return {error: error.name};
  }
}"""


@contextmanager
def served(*origins: str) -> Iterator[str]:
    """A server of tools made for tests; yields the address of MCP."""
    worlds: list[World] = []

    def invoke(_function: str, event: bytes, _seconds: float) -> Outcome:
        answer = worlds[0].handler(cast(Mapping[str, Any], json.loads(event)), cast(LambdaContext, None))
        return Outcome(json.dumps(answer).encode())

    api = HttpApi(invoke)
    worlds.append(World(base_url=api.url, origins=origins, principals=ByToken({"good": MEMBER})))
    api.routes.append(Route("$default", "mcp"))
    api.start()
    try:
        yield f"{api.url}/mcp"
    finally:
        api.stop()


def called(browser: Browser, url: str, method: str, token: str = "", **params: Any) -> dict[str, Any]:
    """What a page of another site read of its call."""
    with browser.new_context() as context:
        page = context.new_page()
        page.route(f"{ORIGIN}/", lambda route: route.fulfill(content_type="text/html", body="<title>Elsewhere</title>"))
        page.goto(f"{ORIGIN}/")
        page.unroute(f"{ORIGIN}/")
        read: dict[str, Any] = page.evaluate(CALL, [url, MODERN, method, {**params, "_meta": META}, token])
        return read


@pytest.mark.parametrize("origins", [("*",), (ORIGIN,)])
def test_a_page_of_another_site_calls_what_is_everybodys_and_a_member_with_a_token(
    browser: Browser, origins: tuple[str, ...]
) -> None:
    with served(*origins) as url:
        listed = called(browser, url, "tools/list")
        assert "echo" in [tool["name"] for tool in listed["result"]["tools"]]
        said = called(browser, url, "tools/call", name="echo", arguments={"text": "from afar"})
        assert said["result"]["structuredContent"] == {"text": "from afar"}
        refused = called(browser, url, "tools/call", name="members", arguments={"text": "mine"})
        assert refused["result"]["isError"] is True
        members = called(browser, url, "tools/call", "good", name="members", arguments={"text": "mine"})
        assert members["result"]["structuredContent"] == {"text": "mine"}


def test_a_page_of_another_site_reads_nothing_where_it_may_not_call(browser: Browser) -> None:
    with served() as url:
        assert called(browser, url, "tools/list") == {"error": "TypeError"}
