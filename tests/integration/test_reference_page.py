"""Every command that the page on the product reference shows works as shown, in its order, in a repository as ours."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.running_dev import Serving, commonplace
from tests.unit.docs.pages import ROOT, commands

pytestmark = pytest.mark.laptop

PAGE = ROOT / "docs" / "agents" / "reference.md"
SAMPLE = ROOT / "samples" / "reference"
ELSEWHERE = {("dev", "--catalogue")}
"""Serves until it is ended: tests of its own start it."""
SERVED = {("reference", "gaps"), ("reference", "status")}
"""These ask what runs here."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The sample where it is in ours, committed, so that it has a state before."""
    shutil.copytree(SAMPLE, tmp_path / "samples" / "reference", ignore=shutil.ignore_patterns("__pycache__"))
    identity = ["-c", "user.name=Reader", "-c", "user.email=reader@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "As it was"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_every_command_of_the_page_works_as_shown(
    sample: Serving, sample_data: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert re.search(r"^Catalogue tidebook: published; \d+ entries ", sample.output, re.MULTILINE)
    shown = [command.words[1:] for command in commands(PAGE) if command.name == "commonplace"]
    assert len(shown) >= 8
    for words in shown:
        if words[:2] in ELSEWHERE:
            continue
        told = commonplace(*words, *(["--data", str(sample_data)] if words[:2] in SERVED else []), at=repository)
        assert told.returncode == 0, f"{' '.join(words)}\n{told.stdout}\n{told.stderr}"
        assert "Traceback" not in told.stderr
