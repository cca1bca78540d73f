"""Rows for a terminal, a pipe or a program."""

import json
from collections.abc import Iterable, Mapping

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
