"""Every command that the page on the product reference shows works as shown, in its order, in a repository as ours."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.running_dev import serving
from tests.unit.docs.pages import ROOT, commands

pytestmark = pytest.mark.laptop

PAGE = ROOT / "docs" / "reference.md"
SAMPLE = ROOT / "samples" / "reference"
COMMONPLACE = str(Path(sys.executable).with_name("commonplace"))
ELSEWHERE = {("dev", "--catalogue")}
"""Serves until it is ended: tests of its own start it."""
SERVED = {("reference", "gaps"), ("reference", "status")}
"""These ask what runs here."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("reference")
    with serving("--tier", "member", "--data", str(folder)):
        yield folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The sample where it is in ours, committed, so that it has a state before."""
    shutil.copytree(SAMPLE, tmp_path / "samples" / "reference", ignore=shutil.ignore_patterns("__pycache__"))
    identity = ["-c", "user.name=Reader", "-c", "user.email=reader@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "As it was"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_every_command_of_the_page_works_as_shown(data: Path, repository: Path) -> None:
    shown = [command.words[1:] for command in commands(PAGE) if command.name == "commonplace"]
    assert len(shown) >= 8
    for words in shown:
        if words[:2] in ELSEWHERE:
            continue
        more = ["--data", str(data)] if words[:2] in SERVED else []
        told = subprocess.run(
            [COMMONPLACE, *words, *more],
            cwd=repository,
            env=os.environ | {"NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert told.returncode == 0, f"{' '.join(words)}\n{told.stdout}\n{told.stderr}"
        assert "Traceback" not in told.stderr


def test_build_that_generates_what_is_there_changes_no_byte(repository: Path) -> None:
    folder = repository / "samples" / "reference"
    before = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    subprocess.run([COMMONPLACE, "reference", "generate", str(folder)], cwd=repository, check=True, capture_output=True)
    assert {path.name: path.read_bytes() for path in folder.glob("*.json")} == before
