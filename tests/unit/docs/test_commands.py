"""Every command that a page shows exists, with these options."""

import re

import click
import pytest
import typer
from local.cli import app

from tests.unit.docs.pages import ROOT, Command, commands, label, pages

PLAIN = {"aws", "cd", "curl", "export", "git", "head", "npx", "python3"}
"""Commands that are not ours; `curl` is run by tests/integration/test_readme.py."""
CDK = {"bootstrap", "deploy", "destroy", "diff", "synth"}


def shown() -> list[Command]:
    return [command for page in pages() for command in commands(page)]


def described(command: Command) -> str:
    return f"{label(command.page)}: {' '.join(command.words)}"


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def parse(words: list[str]) -> None:
    """Parses a command line as `commonplace` would; a path or file that is not there is no fault of the line."""
    command = typer.main.get_command(app)
    context = command.make_context("commonplace", list(words))
    while isinstance(command, click.Group):
        name, command, rest = command.resolve_command(context, [*context.protected_args, *context.args])
        try:
            context = command.make_context(name, rest, parent=context)
        except click.MissingParameter:
            raise
        except click.BadParameter as error:
            assert "does not exist" in error.format_message(), error.format_message()
            return


@pytest.mark.parametrize("command", [command for command in shown() if command.name == "make"], ids=described)
def test_every_make_target_exists(command):
    targets = [word for word in command.words[1:] if "=" not in word]
    assert set(targets) <= make_targets()
    for word in command.words:
        if word.startswith("ARGS="):
            parse(["dev", *word.removeprefix("ARGS=").split()])


@pytest.mark.parametrize("command", [command for command in shown() if command.name == "commonplace"], ids=described)
def test_every_commonplace_command_parses(command):
    parse(list(command.words[1:]))


def test_a_command_with_an_unknown_option_would_be_noticed():
    with pytest.raises(click.NoSuchOption):
        parse(["dev", "--no-such-option"])


def test_every_other_command_is_a_known_one():
    own = {"make", "commonplace"}
    strangers = {described(command) for command in shown() if command.name not in own | PLAIN}
    assert strangers == set()


def test_cdk_is_used_with_commands_it_has():
    used = {command.words[2] for command in shown() if command.words[:2] == ("npx", "cdk")}
    assert used <= CDK
