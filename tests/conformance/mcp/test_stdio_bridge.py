"""Clients that speak only over standard input and output reach the server through `mcp-remote`."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, Queue
from typing import Any

import pytest

from tests.conformance.mcp.clients import Clients
from tests.integration.running_dev import STOP_SECONDS, Dev

PROGRAM = "mcp-remote/dist/proxy.js"
ANSWER_SECONDS = 60
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "stdio", "version": "1"}}

pytestmark = [pytest.mark.node, pytest.mark.laptop]


class Bridge:
    """A running bridge. Lines in, lines out; what belongs to no request is passed over."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self._lines, self._last = process, Queue[str](), 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def notify(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result. Fails when none comes in time."""
        self._last += 1
        self._write({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        while True:
            try:
                message = json.loads(self._lines.get(timeout=ANSWER_SECONDS))
            except Empty:
                pytest.fail(f"{method} was not answered")
            if message.get("id") == self._last:
                assert "result" in message, message
                result: dict[str, Any] = message["result"]
                return result

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        self._reader.join(STOP_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)


@contextmanager
def bridge(clients: Clients, url: str, protocol: str) -> Iterator[Bridge]:
    options = ("--allow-http", "--transport", "http-only", "--protocol", protocol)
    process = subprocess.Popen(
        clients.command(PROGRAM, url, *options),
        env=clients.environment,
        cwd=clients.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    running = Bridge(process)
    try:
        yield running
    finally:
        running.end()


@pytest.mark.parametrize("protocol", ["legacy", "auto"])
def test_a_stdio_client_lists_and_calls_tools_over_either_protocol(protocol: str, clients: Clients, dev: Dev) -> None:
    with bridge(clients, f"{dev.url}/mcp", protocol) as stdio:
        assert stdio.ask("initialize", HELLO)["serverInfo"]["name"] == "commonplace"
        stdio.notify("notifications/initialized")
        tools = stdio.ask("tools/list", {})["tools"]
        assert "define_term" in {tool["name"] for tool in tools}
        answer = stdio.ask("tools/call", {"name": "search_knowledge", "arguments": {"query": "share work"}})
        assert answer["structuredContent"]["results"]
