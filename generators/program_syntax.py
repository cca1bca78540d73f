"""How the arguments and options of a program are written: `tidebook visit start <pool> [--observer <name>]...`."""

from collections.abc import Iterable

from pydantic import BaseModel, Field

from generators.commands import Option
from generators.program_text import cleaned

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
    choices: list[str] = Field(default_factory=list)
    hidden: bool = False
    rest: bool = False
    """Whether it takes all that follows, options included."""


def syntax(words: tuple[str, ...], params: Iterable[Param]) -> str:
    """Arguments in their order, then options, those that are required first."""
    shown = [one for one in params if not one.hidden]
    arguments = [_argument(one) for one in shown if one.argument]
    options = [one for one in shown if not one.argument and one.names and not _OF_EVERY & set(one.names)]
    required = [_option(one) for one in options if one.required]
    free = [f"[{_option(one)}]" for one in options if not one.required]
    if len(free) > MAX_SHOWN:
        free = ["[options]"]
    return " ".join([*words, *arguments, *required, *free])


def listed(params: Iterable[Param]) -> tuple[Option, ...]:
    """Each with what its help says."""
    shown = [one for one in params if not one.hidden and not _OF_EVERY & set(one.names)]
    return tuple(
        Option(_bare(one) if one.argument else _whole(one), _said(one)) for one in shown if one.argument or one.names
    )


def _argument(one: Param) -> str:
    if one.rest:
        return f"[{_bare(one)}...]"
    many = "..." if one.several else ""
    return f"{_bare(one)}{many}" if one.required else f"[{_bare(one)}{many}]"


def _option(one: Param) -> str:
    longest = next((name for name in one.names if name.startswith("--")), one.names[0])
    return longest if one.flag else f"{longest} {_bare(one)}"


def _whole(one: Param) -> str:
    """Every spelling: `-o, --output <file>`."""
    names = ", ".join(one.names)
    return names if one.flag else f"{names} {_bare(one)}"


def _bare(one: Param) -> str:
    """`<pool>`; of few choices, these."""
    if one.choices and len(one.choices) <= MAX_CHOICES:
        return f"<{'|'.join(one.choices)}>"
    said = one.metavar or max(one.names, key=len, default="value")
    said = said.strip().strip("[]<>{}").strip("-.") or "value"
    return f"<{'-'.join(said.split()).casefold()}>"


def _said(one: Param) -> str:
    text = " ".join(cleaned(one.help).split())
    many = f" One of: {', '.join(one.choices[:40])}." if len(one.choices) > MAX_CHOICES else ""
    return f"{text}{many}{' Required.' if one.required and not one.argument else ''}".strip()
