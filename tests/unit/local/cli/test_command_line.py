"""What every command has: help by `-h`, one version, completion of commands and of their options."""

import importlib.metadata
import json
import os
import subprocess
import tomllib

import pytest

from commonplace import __version__
from commonplace.web.mcp.calls import Surface
from commonplace_local.cli import PARTS, modules
from commonplace_local.project import DISTRIBUTION
from tests.integration.running_dev import COMMAND
from tests.unit.docs.pages import ROOT


def said(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False
    )


def completed(line: str) -> list[str]:
    place = str(len(line.split(" ")) - 1)
    return said(_COMMONPLACE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=place).stdout.split()


@pytest.mark.parametrize("words", [[], ["kb", "seed"]], ids=" ".join)
def test_help_is_one_letter_away(words: list[str]) -> None:
    short, long = said(*words, "-h"), said(*words, "--help")
    assert (short.returncode, short.stdout) == (0, long.stdout)
    assert short.stdout.startswith(f"Usage: {' '.join(['commonplace', *words])} ")


def test_every_command_stands_in_one_part_of_the_help_with_its_whole_sentence() -> None:
    assert sorted(name for names in PARTS.values() for name in names) == sorted(modules())
    for words in ([], ["kb"], ["partners"]):
        shown = said(*words, "-h").stdout
        assert "..." not in shown.replace("[ARGS]...", ""), shown
    assert [title for title in PARTS if f"{title}:\n" in said("-h").stdout] == ["Write", "Ask", "Operate"]


def test_the_version_is_the_same_everywhere() -> None:
    contract = json.loads((ROOT / "tests/conformance/openapi.json").read_text(encoding="utf-8"))
    assert said("--version").stdout == f"{__version__}\n"
    assert importlib.metadata.version(DISTRIBUTION) == __version__
    assert contract["info"]["version"] == __version__
    assert Surface.__dataclass_fields__["version"].default == __version__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str) -> None:
    assert f"complete_{shell}" in said(_COMMONPLACE_COMPLETE=f"source_{shell}").stdout


def test_commands_and_their_options_are_completed() -> None:
    assert set(completed("commonplace ")) == set(modules())
    assert completed("commonplace op") == ["operators"]
    assert completed("commonplace dev --cat") == ["--catalogue"]
    assert completed("commonplace kb see") == ["seed"]


def test_what_is_installed_to_serve_holds_no_group_of_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    setup = subprocess.run(["make", "-n", "setup"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert project["tool"]["uv"]["default-groups"] == []
    assert "group" not in setup
