"""`commonplace connect claude-code --hooks` writes what is ours into `.claude`, and leaves the rest alone."""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.integration.running_dev import commonplace
from tests.unit.docs.pages import ROOT
from tests.unit.docs.pages import commands as page_commands

PAGE = ROOT / "docs" / "agents" / "claude-code.md"
THEIRS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(ls)"]},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
    },
}


def run(project: Path, *options: str) -> Any:
    return commonplace("connect", "claude-code", "--hooks", "--project", str(project), *options)


def settings(project: Path) -> Any:
    return json.loads((project / ".claude/settings.json").read_text())


def commands(found: Any, event: str) -> list[str]:
    return [hook["command"] for group in found["hooks"].get(event, []) for hook in group["hooks"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps(THEIRS))
    return tmp_path


def test_hooks_are_added_to_those_of_others_and_removed_again(project: Path) -> None:
    assert run(project, "--yes").returncode == 0
    found = settings(project)
    assert found["permissions"] == THEIRS["permissions"] and commands(found, "PreToolUse") == ["check"]
    assert commands(found, "Stop")[0] == "say done" and commands(found, "Stop")[1].endswith("kb hook stop || true")
    assert commands(found, "SessionStart")[0].endswith("kb hook session-start || true")
    skill = project / ".claude/skills/commonplace/SKILL.md"
    assert skill.read_text().startswith("---\nname: commonplace\n") and ".claude/learned/" in skill.read_text()
    # Again, it changes nothing; for a deployment, it replaces its own.
    assert "Nothing to change" in run(project).stdout
    assert run(project, "--yes", "--url", "https://kb.example.org/").returncode == 0
    assert [len(commands(settings(project), event)) for event in ("SessionStart", "Stop")] == [1, 2]
    assert commands(settings(project), "Stop")[1].endswith("kb hook stop --url https://kb.example.org || true")
    assert run(project, "--yes", "--url", "http://127.0.0.1:9001").returncode == 0
    assert commands(settings(project), "Stop")[1].endswith("kb hook stop --url http://127.0.0.1:9001 || true")
    assert run(project, "--remove", "--yes").returncode == 0
    assert settings(project) == THEIRS and not (project / ".claude/skills").exists()


def test_a_project_without_settings_gets_them_and_is_left_without(tmp_path: Path) -> None:
    assert run(tmp_path, "--yes").returncode == 0 and set(settings(tmp_path)) == {"hooks"}
    assert run(tmp_path, "--remove", "--yes").returncode == 0
    assert not (tmp_path / ".claude/settings.json").exists()


def test_nothing_is_written_without_a_yes(project: Path) -> None:
    done = run(project)
    assert done.returncode == 1 and "Add --yes" in done.stderr and settings(project) == THEIRS


DEEP = b'{"a":' * 200_000 + b"1" + b"}" * 200_000


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "is not JSON"),
        (b"[]", "another form"),
        (b'{"hooks": []}', "another form"),
        (b'{"hooks": {"Stop": {}}}', "another form"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": "\\ud800"}', "half of a character"),
        (DEEP, "nested too deeply"),
        (b"[" * 200_000, "nested too deeply"),
    ],
    ids=lambda given: str(given[:12]),
)
def test_settings_that_cannot_be_read_are_left_alone(project: Path, raw: bytes, says: str) -> None:
    file = project / ".claude/settings.json"
    file.write_bytes(raw)
    done = run(project, "--yes")
    assert done.returncode == 1 and says in " ".join(done.stderr.split()) and "Traceback" not in done.stderr
    assert file.read_bytes() == raw and not (project / ".claude/skills").exists()


def test_a_skill_of_somebody_else_is_left_alone(project: Path) -> None:
    skill = project / ".claude/skills/commonplace/SKILL.md"
    skill.parent.mkdir(parents=True)
    for mine, says in ((b"mine", "is not ours"), (b"\xff", "is not UTF-8")):
        skill.write_bytes(mine)
        done = run(project, "--yes")
        assert done.returncode == 1 and says in done.stderr
        assert skill.read_bytes() == mine and settings(project) == THEIRS


def test_settings_keep_their_mode_and_stay_where_a_link_has_them(project: Path, tmp_path: Path) -> None:
    link, kept = project / ".claude/settings.json", tmp_path / "dotfiles.json"
    link.rename(kept)
    kept.chmod(0o600)
    link.symlink_to(kept)
    assert run(project, "--yes").returncode == 0
    assert link.is_symlink() and "SessionStart" in kept.read_text() and kept.stat().st_mode & 0o777 == 0o600
    kept.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "commonplace kb hook stop || true"}]}]}}))
    assert run(project, "--remove", "--yes").returncode == 0
    assert link.is_symlink() and json.loads(kept.read_text()) == {}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """An environment of its own with the program, which nobody has activated."""
    home = tmp_path / "place" / "environment"
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text("\n".join(path for path in sys.path if path))
    program = home / "bin/commonplace"
    program.write_text(f"#!{home}/bin/python\nfrom commonplace_local.entry import main\nmain()\n")
    program.chmod(0o755)
    return program


def connected(program: Path, project: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(program), "connect", "claude-code", "--hooks", "--yes", "--project", str(project)]
    given = {"PATH": "/usr/bin:/bin", "HOME": str(project)} | environment
    return subprocess.run(words, env=given, capture_output=True, text=True, check=False)


def test_a_hook_names_a_program_that_is_found_later(project: Path, installed: Path) -> None:
    folder = str(installed.parent)
    for environment, program in (
        ({}, str(installed)),
        ({"PATH": f"{folder}:/usr/bin:/bin", "VIRTUAL_ENV": str(installed.parents[1])}, str(installed)),
        ({"PATH": f"{folder}:/usr/bin:/bin"}, "commonplace"),
    ):
        done = connected(installed, project, **environment)
        assert done.returncode == 0, done.stderr
        command = commands(settings(project), "Stop")[1]
        assert command == f"{program} kb hook stop || true"
        line = command.replace(" || true", " --help")
        subprocess.run(["sh", "-c", line], env=os.environ | environment, capture_output=True, check=True)


def test_a_program_in_a_cache_writes_no_hooks_that_would_fail_later(project: Path, installed: Path) -> None:
    (installed.parents[2] / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55")
    done = connected(installed, project)
    assert done.returncode == 1 and "uv tool install" in " ".join(done.stderr.split())
    assert settings(project) == THEIRS


def test_only_claude_code_has_hooks() -> None:
    done = commonplace("connect", "cursor", "--hooks")
    assert done.returncode == 1 and "commonplace connect claude-code --hooks" in done.stderr


def test_every_command_of_the_page_works_in_its_order(tmp_path: Path) -> None:
    shown = [command.words[1:] for command in page_commands(PAGE) if command.name == "commonplace"]
    assert len(shown) > 3
    for words in shown:
        done = commonplace(*words, at=tmp_path)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stderr}"
    assert not (tmp_path / ".claude/settings.json").exists(), "the last of them removes the hooks"


def test_the_page_shows_what_is_written(tmp_path: Path) -> None:
    assert run(tmp_path, "--yes").returncode == 0
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    written = re.sub(r'"[^"]* kb hook', '"commonplace kb hook', json.dumps(settings(tmp_path)))
    assert written == json.dumps(json.loads(shown))
    skill = (tmp_path / ".claude/skills/commonplace/SKILL.md").read_text()
    (story,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert story in skill
