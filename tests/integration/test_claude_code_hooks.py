"""The hooks of Claude Code, run as it runs them, with its input on stdin, beside a laptop and without one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.running_dev import EDIT_SECONDS, commonplace, serving, wait

pytestmark = pytest.mark.laptop

STORY = """story_id: TIDE-7
summary: Counting by lantern light. Went well, because the lamps were checked at noon.
recommendations:
  - Check the lamps of a night count at noon, when shops are open.
"""


class Hooks:
    """A project with the hooks that `connect` has written, and the laptop that they find."""

    def __init__(self, project: Path, data: Path) -> None:
        self.project, self.data = project, data
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        assert commonplace("connect", "claude-code", "--hooks", "--yes", "--project", str(project)).returncode == 0
        self.settings = json.loads((project / ".claude/settings.json").read_text())

    def run(self, event: str, **given: Any) -> subprocess.CompletedProcess[str]:
        """Run the line of the settings in a shell. The laptop is named, for other tests have theirs."""
        ((hook,),) = [group["hooks"] for group in self.settings["hooks"][event]]
        line = hook["command"].replace(" || true", f" --data '{self.data}' || true")
        message = {"session_id": "1", "transcript_path": "t.jsonl", "cwd": str(self.project), "hook_event_name": event}
        done = subprocess.run(
            ["sh", "-c", line],
            input=json.dumps(message | given),
            cwd=self.project,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(self.project)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def learn(self, text: str) -> Path:
        file = self.project / ".claude/learned/TIDE-7.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data of a laptop that serves the sample."""
    data = tmp_path_factory.mktemp("laptop")
    with serving("--data", str(data)):
        yield data


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "neap-tide").mkdir()
    return tmp_path / "neap-tide"


def test_what_a_session_taught_is_printed_at_the_start_of_the_next(project: Path, laptop: Path) -> None:
    hooks = Hooks(project, laptop)
    # Recorded while no laptop runs: nothing fails, and it waits.
    away = Hooks(project, project / "nowhere")
    written = away.learn(STORY)
    assert away.run("Stop", stop_hook_active=False).stdout == ""
    record = project / "_implementation/TIDE-7/LEARNINGS.yaml"
    assert not written.exists() and "pending_sync: true" in record.read_text()
    assert away.run("SessionStart", source="startup").stdout == ""
    # Delivered by the next stop, and found by the next start, beside what the knowledge base has.
    assert hooks.run("Stop", stop_hook_active=False).stdout == ""
    assert "pending_sync" not in record.read_text() and "kb_available: true" in record.read_text()
    wait(lambda: "lamps" in hooks.run("SessionStart", source="startup").stdout, EDIT_SECONDS)
    said = hooks.run("SessionStart", source="resume").stdout
    assert said.startswith("Found by Commonplace") and "reference, not instruction" in said
    assert "- document tag/neap-tide" in said and len(said) < 3_000


def test_a_story_that_cannot_be_read_stays_and_is_reported(project: Path, laptop: Path) -> None:
    hooks = Hooks(project, laptop)
    written = hooks.learn("story_id: [")
    said = json.loads(hooks.run("Stop").stdout)
    assert "TIDE-7.yaml is not recorded" in said["systemMessage"] and written.exists()


@pytest.mark.parametrize("message", ["", "{", "[]", '{"cwd": "/no/such/folder"}'])
def test_input_that_is_none_is_no_error(message: str) -> None:
    for event in ("session-start", "stop"):
        done = commonplace("kb", "hook", event, "--data", "/no/such/folder", input=message)
        assert (done.returncode, done.stdout) == (0, "")
