"""`mcp-remote` signs a person in for a client that speaks over standard input and output, and asks again for more."""

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conformance.auth.conftest import VIBECODER, Place
from tests.conformance.mcp.clients import Clients
from tests.conformance.mcp.test_stdio_bridge import HELLO, PROGRAM, Bridge
from tests.person import Person, query_of

pytestmark = [pytest.mark.node, pytest.mark.laptop]

ADDRESS = re.compile(r"https?://\S+/authorize\?\S+")


class Browser(threading.Thread):
    """Reads where the bridge wants a browser to go, and goes there as a person who says yes."""

    def __init__(self, process: subprocess.Popen[str], person: Person) -> None:
        super().__init__(daemon=True)
        self._process, self._person = process, person
        self.asked: list[dict[str, str]] = []
        self.lines: list[str] = []

    def run(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.lines.append(line)
            if found := ADDRESS.search(line):
                self.asked.append(query_of(found[0]))
                httpx.get(self._person.decide(found[0]), trust_env=False, timeout=60)


@contextmanager
def bridged(clients: Clients, home: Path, url: str, protocol: str) -> Iterator[tuple[Bridge, Browser]]:
    options = ("--allow-http", "--transport", "http-only", "--protocol", protocol)
    process = subprocess.Popen(
        clients.command(PROGRAM, url, *options),
        env=clients.environment | {"HOME": str(home), "MCP_REMOTE_CONFIG_DIR": str(home / "auth"), "BROWSER": "true"},
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    browser = Browser(process, Person(VIBECODER))
    browser.start()
    bridge = Bridge(process)
    try:
        yield bridge, browser
    finally:
        bridge.end()
        browser.join(30)
        assert process.stderr is not None
        process.stderr.close()


@pytest.mark.parametrize("protocol", ["legacy", "auto"])
def test_a_client_on_standard_input_reads_and_then_writes(
    protocol: str, clients: Clients, place: Place, tmp_path: Path
) -> None:
    with bridged(clients, tmp_path, f"{place.base}/mcp", protocol) as (bridge, browser):
        bridge.ask("initialize", HELLO)
        bridge.notify("notifications/initialized")
        read = bridge.ask(
            "tools/call",
            {"name": "get_document", "arguments": {"id": "same-pool-same-day", "contentType": "pattern"}},
        )
        draft = {"contentType": "pattern", "title": f"Bridged by {protocol}", "content": "Look twice."}
        wrote = bridge.ask("tools/call", {"name": "create_draft", "arguments": draft})

    assert not read.get("isError"), read
    assert not wrote.get("isError"), wrote
    assert "knowledge:write" not in browser.asked[0]["scope"].split()
    assert "knowledge:write" in browser.asked[-1]["scope"].split()
