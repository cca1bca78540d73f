"""`commonplace kb hook` beside a server that takes a connection and never answers: a session does not wait for it."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commonplace_local import cli, deployment
from commonplace_local.claude_code import TIMEOUT_SECONDS

STORY = "story_id: {0}\nsummary: It works.\nrecommendations:\n  - Log each search of {0} without a result.\n"


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server whose connections the system accepts, and nobody answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def stories(tmp_path: Path) -> list[Path]:
    folder = tmp_path / ".claude/learned"
    folder.mkdir(parents=True)
    files = [folder / f"APP-{number}.yaml" for number in range(1, 4)]
    for file in files:
        file.write_text(STORY.format(file.stem))
    return files


def run(event: str, project: Path, url: str) -> subprocess.CompletedProcess[str]:
    """Run a hook, which Claude Code would end after its time."""
    return subprocess.run(
        [sys.executable, "-m", "commonplace_local.cli", "kb", "hook", event, "--url", url],
        input=json.dumps({"cwd": str(project)}),
        env=os.environ | {"COMMONPLACE_TOKEN": "", "HOME": str(project)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def test_a_session_starts_beside_a_silent_server(tmp_path: Path, silent: str) -> None:
    done = run("session-start", tmp_path, silent)
    assert (done.returncode, done.stdout) == (0, "") and "Traceback" not in done.stderr


def test_a_silent_server_is_asked_for_one_story_and_the_others_wait(
    tmp_path: Path, silent: str, stories: list[Path]
) -> None:
    done = run("stop", tmp_path, silent)
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.count("cannot be reached") == 1
    assert [file.exists() for file in stories] == [False, True, True]
    record = tmp_path / "_implementation/APP-1/LEARNINGS.yaml"
    assert "pending_sync: true" in record.read_text() and len([*tmp_path.glob("_implementation/*")]) == 1


def test_a_hook_that_is_late_ends_and_loses_nothing(
    tmp_path: Path, silent: str, stories: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("commonplace_local.cli.kb.hook")  # the package has the command by this name
    monkeypatch.setattr(module, "HOOK_SECONDS", 1.0)
    monkeypatch.setattr(module, "LEARN_SECONDS", 30.0)
    monkeypatch.setattr(deployment, "RUNNING_FOLDER", tmp_path)
    monkeypatch.delenv("COMMONPLACE_TOKEN", raising=False)
    for event in ("session-start", "stop"):
        words = ["kb", "hook", event, "--url", silent]
        done = CliRunner().invoke(cli.app, words, input=json.dumps({"cwd": str(tmp_path)}))
        assert (done.exit_code, done.stdout) == (0, "") and "No answer within 1 s" in done.stderr
    assert all(file.exists() for file in stories)
