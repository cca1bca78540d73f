"""The official suite's scenarios for authorization servers."""

import json
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.conformance.auth.conftest import MEMBER, Place
from tests.conformance.auth.test_stdio_bridge import ADDRESS
from tests.conformance.mcp.clients import RUN_SECONDS, Clients
from tests.conformance.mcp.suite import PROGRAM
from tests.person import Person
from tests.processes import ended

pytestmark = [pytest.mark.node, pytest.mark.laptop]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_every_scenario_of_the_suite_passes(clients: Clients, place: Place, tmp_path: Path) -> None:
    port = free_port()
    registered = httpx.post(
        f"{place.base}/register",
        json={
            "client_name": "The suite",
            "redirect_uris": [f"http://127.0.0.1:{port}/callback"],
            "token_endpoint_auth_method": "none",
        },
        trust_env=False,
        timeout=60,
    )
    assert registered.status_code == 201, registered.text
    options = ("--url", place.base, "--client-id", registered.json()["client_id"], "--resource", place.mcp)
    command = clients.command(PROGRAM, "authorization", *options, "--port", str(port), "-o", str(tmp_path))
    output = []

    running = subprocess.Popen(
        command,
        env=clients.environment,
        cwd=clients.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with ended(running) as process:
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)
            if found := ADDRESS.search(line):
                httpx.get(Person(MEMBER).decide(found[0]), trust_env=False, timeout=60)
        code = process.wait(RUN_SECONDS)

    told = "".join(output)
    assert code == 0, told
    checks = [one for file in tmp_path.glob("**/checks.json") for one in json.loads(file.read_text())]
    assert [one for one in checks if one["status"] not in ("SUCCESS", "INFO")] == [], told
    assert len([one for one in checks if one["status"] == "SUCCESS"]) >= 3, told
