"""The commands that `make cdk` and the deploy page run with the project's own Node.js."""

import subprocess
import sys

import pytest

from infra.node import command
from infra.requirements import ROOT


@pytest.mark.parametrize("program", ["node", "npm", "npx"])
def test_the_projects_own_node_runs(program: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "infra.node", program, "--version"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr


def test_other_commands_are_passed_on_as_they_are() -> None:
    assert command(["cdk", "diff"]) == ["cdk", "diff"]
