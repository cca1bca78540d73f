"""Rows for a terminal, a pipe or a program.

Numbers with what they count.

Findings as GitHub shows them beside the lines of a change.
"""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

Row = Mapping[str, str]

PIPE_WIDTH = 200


def show(rows: Iterable[Row], *, nothing: str, as_json: bool = False) -> None:
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


def counted(number: int, one: str = "entry", many: str = "entries") -> str:
    """`1 entry`, `2,000 entries`."""
    return f"{number:,} {one if number == 1 else many}"


_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


@dataclass(frozen=True, slots=True)
class Place:
    """`path` is from the top of the repository; lines and columns count from 1."""

    path: str
    line: int = 1
    column: int | None = None


def annotation(severity: Literal["error", "warning", "note"], place: Place, title: str, message: str) -> str:
    """A workflow command."""
    properties = {"file": printable(place.path), "line": place.line, "col": place.column, "title": title}
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    return f"::{_COMMANDS[severity]} {listed}::{_data(message)}"


def workspace_prefix(root: Path) -> str:
    """Path of the folder inside its repository: GitHub wants annotations to name files from there."""
    prefix = git(["-C", str(root), "rev-parse", "--show-prefix"])
    return os.fsdecode(prefix.rstrip(b"\n")) if prefix else ""


def git(command: Sequence[str]) -> bytes | None:
    """What Git prints, or None: no Git, no repository."""
    try:
        return subprocess.run(["git", *command], capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def printable(path: str) -> str:
    """The path with bytes that are no UTF-8 and control characters written out, so that one finding is one line."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _data(text: str) -> str:
    """Escapes a message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escapes a property of a workflow command, where `:` and `,` mean something too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
