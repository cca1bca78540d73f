"""Commands out of what a click, argparse or Typer program says of itself.

The bytes are what `local/cli/reference/introspection.py` writes: nothing is imported here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from commonplace.kernel.errors import InvalidInput
from generators.commands import Command, CommandOptions, Option, generated
from generators.generated import Generated, Unread
from generators.program_syntax import Param, listed, syntax
from generators.program_text import cleaned, examples_in, summary_of, without

CATEGORY = "command-line"
FORMAT = 1


class Program(BaseModel):
    """A command, or a group of them."""

    name: str
    help: str | None = None
    short: str | None = None
    """What its group says of it."""
    epilog: str | None = None
    error: str | None = None
    """Why it could not be read."""
    hidden: bool = False
    deprecated: bool | str = False
    aliases: list[str] = Field(default_factory=list)
    params: list[Param] = Field(default_factory=list)
    group: bool = False
    alone: bool = False
    """Whether a group does something when no command of it is typed."""
    commands: list["Program"] = Field(default_factory=list)


class Described(BaseModel):
    format: int
    program: Program


@dataclass(frozen=True, slots=True)
class _Above:
    """The groups that a command is in."""

    words: tuple[str, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = ((),)
    """Other ways to type them, and this one."""
    options: tuple[Option, ...] = ()
    hidden: bool = False


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:
    """Options besides those of all commands: `hidden: true` takes commands that the program does not show.

    Raises InvalidInput for bytes that describe no program, and for options.
    """
    wanted = CommandOptions.read(options, CATEGORY)
    program = _described(raw)
    name = wanted.root or program.name or source.rpartition(":")[0].rpartition(".")[2]
    if not name.split():
        raise InvalidInput("The program says no name.", hint="Give it: `root: tidebook`.")
    wanted = replace(wanted, root=name)
    unread: list[Unread] = []
    root = program.model_copy(update={"name": name})
    found = list(_commands(root, _Above(), unread, shown=options.get("hidden") is not True))
    return generated(found, unread, wanted)


def _described(raw: bytes) -> Program:
    try:
        told = Described.model_validate_json(raw)
    except ValidationError as error:
        raise InvalidInput("This describes no program.", hint="Name a click, argparse or Typer program.") from error
    if told.format != FORMAT:
        raise InvalidInput(f"Programs are not described in format {told.format} here.")
    return told.program


def _commands(one: Program, above: _Above, unread: list[Unread], *, shown: bool) -> Iterator[Command]:
    words = (*above.words, *one.name.split())
    hidden = above.hidden or one.hidden
    if one.error is not None:
        unread.append(Unread(" ".join(words), f"It could not be read: {one.error}"))
        return
    if hidden and shown:
        return
    typed = tuple((*path, *name.split()) for path in above.aliases for name in (one.name, *one.aliases) if name)[:20]
    if not one.group or one.alone:
        yield _command(one, words, typed, above.options, unread)
    if one.group and not one.commands and not one.alone:
        unread.append(Unread(" ".join(words), "It is a group without commands."))
    passed = tuple(_from_above(option, words) for option in listed(one.params) if option.called.startswith("-"))
    inner = _Above(words, typed, (*above.options, *passed), hidden)
    for below in one.commands:
        yield from _commands(below, inner, unread, shown=shown)


def _command(
    one: Program,
    words: tuple[str, ...],
    typed: tuple[tuple[str, ...], ...],
    passed: tuple[Option, ...],
    unread: list[Unread],
) -> Command:
    text, short = cleaned(one.help), cleaned(one.short)
    summary = summary_of(text) or summary_of(short)
    if not summary:
        unread.append(Unread(" ".join(words), "Nothing says what it does."))
    epilog = cleaned(one.epilog)
    options = listed(one.params)
    said = one.deprecated if isinstance(one.deprecated, str) else ""
    examples = examples_in(f"{text}\n{epilog}", words, summary)
    told = (without(part, examples) for part in (text or short, epilog, said))
    return Command(
        words=words,
        summary=summary,
        description="\n\n".join(part for part in told if part),
        syntax=syntax(words, one.params),
        arguments=tuple(option for option in options if not option.called.startswith("-")),
        options=(*(option for option in options if option.called.startswith("-")), *passed),
        examples=examples,
        aliases=tuple(" ".join(path) for path in typed if path != words),
        deprecated=bool(one.deprecated),
    )


def _from_above(option: Option, words: tuple[str, ...]) -> Option:
    """An option of a group stands between the group's words and the command."""
    said = f"{option.summary.rstrip('.')}. " if option.summary else ""
    return Option(option.called, f"{said}Given to `{' '.join(words)}`, before the command.")
