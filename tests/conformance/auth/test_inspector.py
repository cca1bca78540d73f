"""The Inspector says where to sign in, and goes on when somebody has."""

import json
import subprocess

import pytest

from tests.conformance.auth.conftest import MEMBER, Place
from tests.conformance.auth.test_stdio_bridge import Browser
from tests.conformance.mcp.clients import RUN_SECONDS, Clients
from tests.conformance.mcp.test_inspector import PROGRAM
from tests.person import Person
from tests.processes import ended

pytestmark = [pytest.mark.node, pytest.mark.laptop]


def test_the_inspector_signs_a_member_in_and_reads_what_members_read(clients: Clients, place: Place) -> None:
    command = clients.command(
        PROGRAM,
        *("--cli", place.mcp, "--transport", "http", "--protocol-era", "auto", "--format", "json"),
        *("--method", "tools/call", "--tool-name", "get_document"),
        *("--tool-args-json", json.dumps({"id": "same-pool-same-day", "contentType": "pattern"})),
    )
    running = subprocess.Popen(
        command,
        env=clients.environment | {"MCP_AUTO_OPEN_ENABLED": "true"},
        cwd=clients.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with ended(running) as process:
        assert process.stdout is not None
        browser = Browser(process, Person(MEMBER))
        browser.start()
        output = process.stdout.read()
        code = process.wait(RUN_SECONDS)
        browser.join(30)

    assert code == 0, output + "".join(browser.lines)
    assert "same-pool-same-day" in output
    assert len(browser.asked) == 1
