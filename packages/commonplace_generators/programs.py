"""Commands out of what a click, argparse or Typer program says of itself.

The bytes are what `packages/commonplace_local/cli/reference/introspection.py` writes: nothing is imported here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Parameter
from commonplace_generators.commands import Command, CommandOptions, before_command, generated
from commonplace_generators.generated import Generated, Unread
from commonplace_generators.help_pages import page
from commonplace_generators.program_text import cleaned, examples_in, summary_of, without

CATEGORY = "command-line"
FORMAT = 1
MAX_SHOWN = 8
"""More options than these are not spelt out in a syntax."""
MAX_CHOICES = 6
_OF_EVERY = {"--help", "--install-completion", "--show-completion", "--version"}


class Param(BaseModel):
    """An argument or an option."""

    argument: bool = False
    names: list[str] = Field(default_factory=list)
    metavar: str = ""
    help: str | None = None
    required: bool = False
    several: bool = False
    flag: bool = False
    optional: bool = False
    """Whether its value may be left out."""
    choices: list[str] = Field(default_factory=list)
    hidden: bool = False
    rest: bool = False
    """Whether it takes all that follows, options included."""


class Program(BaseModel):
    """A command, or a group of them."""

    name: str
    help: str | None = None
    short: str | None = None
    """What its group says of it."""
    epilog: str | None = None
    page: str | None = None
    """Its help as it is printed."""
    error: str | None = None
    """Why it could not be read."""
    hidden: bool = False
    deprecated: bool | str = False
    aliases: list[str] = Field(default_factory=list)
    params: list[Param] = Field(default_factory=list)
    open: bool = False
    """Whether it takes whatever follows, as what passes it on does."""
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
    options: tuple[Parameter, ...] = ()
    hidden: bool = False


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:
    """Options besides those of all commands: `hidden: true` takes commands that the program does not show.

    Raises InvalidInput for bytes that describe no program, and for options.
    """
    wanted = CommandOptions.read(options, CATEGORY)
    try:
        told = Described.model_validate_json(raw)
    except ValidationError as error:
        raise InvalidInput("This describes no program.", hint="Name a click, argparse or Typer program.") from error
    if told.format != FORMAT:
        raise InvalidInput(f"Programs are not described in format {told.format} here.")
    program = told.program
    name = wanted.root or program.name or source.rpartition(":")[0].rpartition(".")[2]
    if not name.split():
        raise InvalidInput("The program has no name.", hint="Give it: `root: tidebook`.")
    wanted = wanted.model_copy(update={"root": name})
    unread: list[Unread] = []
    root = program.model_copy(update={"name": name})
    found = list(_commands(root, _Above(), unread, shown=options.get("hidden") is not True))
    return generated(found, unread, wanted)


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
        text, short = cleaned(one.help), cleaned(one.short)
        summary = summary_of(text) or summary_of(short)
        if not summary:
            unread.append(Unread(" ".join(words), "It has no description."))
        epilog = cleaned(one.epilog)
        said = one.deprecated if isinstance(one.deprecated, str) else ""
        examples = examples_in(f"{text}\n{epilog}", words, summary)
        told = (without(part, examples) for part in (text or short, epilog, said))
        parameters = (*listed(one.params), *_printed(one, words), *above.options)
        yield Command(
            words=words,
            summary=summary,
            description="\n\n".join(part for part in told if part),
            syntax=syntax(words, one.params),
            parameters=parameters if parameters or not one.open else None,
            examples=examples,
            aliases=tuple(" ".join(path) for path in typed if path != words),
            deprecated=bool(one.deprecated),
        )
    if one.group and not one.commands and not one.alone:
        unread.append(Unread(" ".join(words), "It is a group without commands."))
    passed = tuple(before_command(option, words) for option in listed(one.params) if option.place == "option")
    inner = _Above(words, typed, (*above.options, *passed), hidden)
    for below in one.commands:
        yield from _commands(below, inner, unread, shown=shown)


def _printed(one: Program, words: tuple[str, ...]) -> Iterator[Parameter]:
    """Options of its help that its parser does not have."""
    known = {name for param in one.params for name in param.names} | _OF_EVERY
    for option in page(one.page or "", words).parameters:
        names = {option.name, *option.aliases}
        if option.place == "option" and not names & known and not re.search("[A-Z]{2}", option.name):
            yield option


def syntax(words: tuple[str, ...], params: Iterable[Param]) -> str:
    """Arguments in their order, then options, those that are required first."""
    shown = [one for one in params if not one.hidden]
    options = [one for one in shown if not one.argument and one.names and not _OF_EVERY & set(one.names)]
    free = [f"[{_option(one)}]" for one in options if not one.required]
    return " ".join(
        [
            *words,
            *(_argument(one) for one in shown if one.argument),
            *(_option(one) for one in options if one.required),
            *(["[options]"] if len(free) > MAX_SHOWN else free),
        ]
    )


def listed(params: Iterable[Param]) -> tuple[Parameter, ...]:
    """Each with what its help says, arguments first."""
    shown = [one for one in params if not one.hidden and not _OF_EVERY & set(one.names)]
    return tuple(_parameter(one) for one in shown if one.argument) + tuple(
        _parameter(one) for one in shown if not one.argument and one.names
    )


def _parameter(one: Param) -> Parameter:
    said = " ".join(cleaned(one.help).split())
    many = f" One of: {', '.join(one.choices[:40])}." if len(one.choices) > MAX_CHOICES else ""
    dots = "..." if one.several or one.rest else ""
    names = sorted(one.names, key=lambda name: not name.startswith("--"))
    return Parameter(
        name=f"{_bare(one)}{dots}" if one.argument else names[0],
        place="argument" if one.argument else "option",
        aliases=[] if one.argument else names[1:],
        type=None if one.argument or one.flag else f"[={_bare(one)}]" if one.optional else _bare(one),
        required=one.required,
        description=f"{said}{many}".strip()[:1_000],
    )


def _argument(one: Param) -> str:
    if one.rest:
        return f"[{_bare(one)}...]"
    many = "..." if one.several else ""
    return f"{_bare(one)}{many}" if one.required else f"[{_bare(one)}{many}]"


def _option(one: Param) -> str:
    longest = next((name for name in one.names if name.startswith("--")), one.names[0])
    return longest if one.flag else f"{longest} {_bare(one)}"


def _bare(one: Param) -> str:
    """`<pool>`; of few choices, these."""
    if one.choices and len(one.choices) <= MAX_CHOICES:
        return f"<{'|'.join(one.choices)}>"
    said = one.metavar or max(one.names, key=len, default="value")
    said = said.strip().strip("[]<>{}").strip("-.") or "value"
    return f"<{'-'.join(said.split()).casefold()}>"
