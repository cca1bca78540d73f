"""Every command that the page on memory shows works as shown, in its order, against a `commonplace dev` that runs."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.running_dev import commonplace, running
from tests.unit.docs.pages import ROOT, commands

pytestmark = pytest.mark.laptop

PAGE = ROOT / "docs" / "agents" / "memory.md"
SAMPLES = ROOT / "samples" / "memory"
ELSEWHERE = {("tokens", "mint")}
"""Shown here and run by tests of their own: they need a deployment with sign-in."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with running(tmp_path / "served", "--tier", "member") as dev:
        yield dev.url


def workplace(folder: Path) -> None:
    """A project such as the page speaks of: the samples where they are in ours, and files of the reader's own."""
    shutil.copytree(SAMPLES, folder / "samples" / "memory")
    shutil.copytree(SAMPLES / "templates", folder / "docs" / "templates")
    shutil.copy(SAMPLES / "LESSONS-LEARNED.md", folder / "docs")
    shutil.copy(SAMPLES / "CLAUDE.md", folder)


def test_every_command_of_the_page_works_as_shown(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONPLACE_URL", address)
    workplace(tmp_path)
    shown = [command.words[1:] for command in commands(PAGE) if command.name == "commonplace"]
    assert len(shown) > 10
    for words in shown:
        if words[:2] in ELSEWHERE:
            continue
        told = commonplace(*words, at=tmp_path)
        assert told.returncode == 0, f"{' '.join(words)}\n{told.stdout}\n{told.stderr}"
        assert "Traceback" not in told.stderr
    assert (tmp_path / "samples" / "memory" / "_implementation" / "LEARNINGS.yaml").is_file()
