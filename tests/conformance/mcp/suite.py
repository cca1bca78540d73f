"""Runs the official conformance suite against a server and reads what it found."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.mcp.clients import Clients

PROGRAM = "@modelcontextprotocol/conformance/dist/index.js"
_STAMP = re.compile(r"^server-(?P<scenario>.+?)-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run came to. `checks` are the suite's own, by scenario."""

    exit_code: int
    output: str
    checks: dict[str, list[dict[str, Any]]]

    def with_status(self, *statuses: str) -> dict[str, list[str]]:
        """The ids of checks with such a status, by scenario; scenarios without one are left out."""
        rows = {
            scenario: [f"{one['id']}: {one.get('errorMessage', '')}" for one in checks if one["status"] in statuses]
            for scenario, checks in self.checks.items()
        }
        return {scenario: ids for scenario, ids in rows.items() if ids}

    @property
    def passed(self) -> set[str]:
        """Scenarios with a success and without a failure."""
        failed = self.with_status("FAILURE")
        return {scenario for scenario in self.with_status("SUCCESS") if scenario not in failed}


def run(clients: Clients, url: str, folder: Path, *options: str) -> Verdict:
    done = clients.run(PROGRAM, "server", "--url", url, "-o", str(folder), *options)
    return Verdict(done.returncode, done.stdout + done.stderr, dict(_results(folder)))


def scenario(clients: Clients, url: str, folder: Path, name: str, version: str) -> Verdict:
    """One scenario; `--force` because the suite leaves out those of extensions otherwise, and calls that a success."""
    return run(clients, url, folder / name, "--scenario", name, "--spec-version", version, "--force")


def required(clients: Clients, revision: str) -> set[str]:
    """The server scenarios of a revision's frozen set."""
    told = clients.run(PROGRAM, "list", "--requirements", revision).stdout
    server = told.partition("Server scenarios")[2].partition("Client scenarios")[0]
    return set(re.findall(r"^ +- (\S+)", server, re.MULTILINE))


def _results(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for file in folder.glob("*/checks.json"):
        named = _STAMP.match(file.parent.name)
        yield named["scenario"] if named else file.parent.name, json.loads(file.read_text(encoding="utf-8"))
