"""Parts that commands share: their parser, options, tables and counts, and findings as GitHub annotations."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption

from commonplace.repository.problems import Severity

Data = Annotated[Path | None, typer.Option(help="Data folder of a `commonplace dev --data`.")]
Outputs = Annotated[Path | None, typer.Option(help="File written by `cdk deploy --outputs-file`.")]
Stage = Annotated[str | None, typer.Option(help="Stage of a deployment, read from its stack.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AsJsonList = Annotated[bool, typer.Option("--json", help="Print a JSON list.")]

WORDS = {"str": "text", "int": "number", "Path": "path", "dir": "folder"}
WORDS |= dict.fromkeys(("int range", "float range"), "number")
"""Names of types in Python -> what the help calls the value of an option."""
PIPE_WIDTH = 200
LONGEST_LINE = 1_000
_ANNOTATIONS: dict[Severity, str] = {"error": "error", "warning": "warning", "hint": "notice"}


class CommandList(TyperGroup):
    """A group of commands whose help has the whole first sentence of each, in parts where it names some."""

    parts: Mapping[str, Sequence[str]] = {}
    """Title -> names of commands, in the order of the help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands; what is long goes on in the next line."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        lines = {name: one.get_short_help_str(LONGEST_LINE) for name, one in found.items() if one and not one.hidden}
        for title, names in (self.parts or {"Commands": tuple(lines)}).items():
            with formatter.section(title):
                formatter.write_dl([(name, lines[name]) for name in names if name in lines])


def commands(text: str | None = None, *, add_completion: bool = False, **more: Any) -> typer.Typer:
    """A parser that leaves errors to the command line. With a text it is a group, whose help shows it."""
    more = {"cls": CommandList, "no_args_is_help": text is not None, **more}
    return typer.Typer(
        help=text,
        add_completion=add_completion,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        **more,
    )


def worded(command: Any) -> Any:
    """Return a parser whose help names the values of options in words, and not by their types in Python."""
    for option in command.params:
        if isinstance(option, TyperOption) and option.metavar is None and not option.is_flag:
            kind = option.display_type(None).strip("<>").removeprefix("list[").removesuffix("]")  # type: ignore[arg-type]
            option.metavar = f"<{WORDS.get(kind, kind)}>"
    for inner in getattr(command, "commands", {}).values():
        worded(inner)
    return command


def print_json(value: Any) -> None:
    """For values that are UTF-8 throughout, which names of files need not be."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def show(rows: Iterable[Mapping[str, str]], *, nothing: str, as_json: bool = False) -> None:
    """A table, or `nothing` where there are no rows; with `as_json` a JSON list whatever there is."""
    found = list(rows)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    if not found:
        typer.echo(nothing)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    table = Table(box=None, pad_edge=False, show_edge=False)
    used = [name for name in found[0] if any(row[name] for row in found)]
    for name in used:
        table.add_column(name, overflow="fold")
    for row in found:
        table.add_row(*(Text(clean(row[name])) for name in used))
    console.print(table)


def clean(text: str) -> str:
    """Without what a terminal would obey: names come from whoever registered them."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def printable(path: str) -> str:
    """The path with bytes that are no UTF-8 and control characters written out, so that one finding is one line."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def counted(number: int, one: str = "entry", many: str = "entries") -> str:
    """`1 entry`, `2,000 entries`."""
    return f"{number:,} {one if number == 1 else many}"


def annotation(
    severity: Severity,
    title: str,
    message: str,
    *,
    file: str,
    line: int,
    col: int | None = None,
) -> str:
    """A workflow command of GitHub; `file` is a path from the top of the repository, lines and columns begin with 1."""
    properties = {"file": printable(file), "line": line, "col": col, "title": title}
    listed = ",".join(
        # In a property `:` and `,` mean something too.
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::{_ANNOTATIONS[severity]} {listed}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
