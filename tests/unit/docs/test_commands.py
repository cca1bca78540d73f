"""Every command that a page shows exists, with these options."""

import re
from functools import cache
from typing import Any

import pytest
import typer

from commonplace_local.cli import app, parser
from tests.unit.docs.pages import ROOT, Command, commands, label, pages

PLAIN = {"aws", "curl", "export", "mkdir", "npm", "npx", "pipx", "printf", "python", "source", "uvx"}
"""Commands that are not ours: tests/integration/test_tutorial.py and test_federation_page.py run `curl`, `mkdir` and
`printf`, tests/integration/test_wheel.py `uvx` and `pipx`, tests/browser/test_sites.py Astro."""
CDK = {"bootstrap", "destroy", "diff"}


@cache
def shown() -> list[Command]:
    return [command for page in pages() for command in commands(page)]


def described(command: Command) -> str:
    return f"{label(command.page)}: {' '.join(command.words)}"


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def faults(words: list[str]) -> list[str]:
    """What `commonplace` would not understand of a command line. Values are not looked at."""
    name, *rest = words
    known: Any = typer.main.get_command(app)
    if name.startswith("-"):
        return [] if any(name in option.opts for option in known.params) else [f"there is no option {name}"]
    if name not in known.commands:
        return [f"there is no command {name}"]
    command: Any = typer.main.get_command(parser(name))
    while subcommands := getattr(command, "commands", None):
        if not rest and command.invoke_without_command:
            break
        name = rest.pop(0) if rest else ""
        if name not in subcommands:
            return [f"there is no command {name}"]
        command = subcommands[name]
    options = {spelling: option for option in command.params for spelling in option.opts if spelling.startswith("-")}
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    found, given = [], 0
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            given += 1
        elif word not in options:
            found.append(f"there is no option {word}")
        elif not options[word].is_flag and not rest:
            found.append(f"{word} needs a value")
        elif not options[word].is_flag:
            rest.pop(0)
    if given < sum(argument.required for argument in arguments):
        found.append("an argument is missing")
    if given > len(arguments) and all(argument.nargs == 1 for argument in arguments):
        found.append("there are too many arguments")
    return found


@pytest.mark.parametrize("command", [command for command in shown() if command.name == "make"], ids=described)
def test_every_make_target_exists(command: Command) -> None:
    targets = [word for word in command.words[1:] if "=" not in word]
    assert set(targets) <= make_targets()
    for word in command.words:
        if word.startswith("ARGS=") and "dev" in targets:
            assert faults(["dev", *word.removeprefix("ARGS=").split()]) == []


@pytest.mark.parametrize("command", [command for command in shown() if command.name == "commonplace"], ids=described)
def test_every_commonplace_command_parses(command: Command) -> None:
    assert faults(list(command.words[1:])) == []


@pytest.mark.parametrize(
    "line",
    [
        "serve",
        "--no-such-option",
        "dev --no-such-option",
        "dev --port",
        "sync",
        "sync twice",
        "validate one two",
        "search",
    ],
)
def test_a_wrong_command_line_would_be_noticed(line: str) -> None:
    assert faults(line.split()) != []


def test_every_other_command_is_a_known_one() -> None:
    own = {"make", "commonplace"}
    strangers = {described(command) for command in shown() if command.name not in own | PLAIN}
    assert strangers == set()


def test_cdk_is_reached_through_our_own_node_and_with_commands_it_has() -> None:
    ours = [command for command in shown() if command.name == "python"]
    assert ours
    for command in (command for command in ours if command.words[1] != "-c"):
        assert command.words[:5] == (".venv/bin/python", "-m", "infra.node", "npx", "cdk")
        assert command.words[5] in CDK
