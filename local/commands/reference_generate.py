"""`commonplace reference generate`: entries made from API documents, consoles and programs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from local.errors import CommandError

if TYPE_CHECKING:
    from local.operations.reference_generating import Done, Item

SHOWN = 20
"""Parts that could not be read, of one item, unless all are asked for."""


def generate(
    what: Annotated[str, typer.Argument(metavar="[FOLDER|KIND]", help="A catalogue's folder, or a generator.")] = ".",
    source: Annotated[str | None, typer.Argument(help="With a generator: the file, or the program.")] = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="With a generator: the JSON file.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="With a generator: NAME=VALUE; may be repeated.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only what goes into this file; may be repeated.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; end with 1 if a file is stale.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="End with 1 if a part could not be read.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Tell every part that could not be read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make entries out of the sources that catalogue.yaml names, or out of one: openapi, console, click, argparse,
    typer, help. The last four run the program."""
    from local.operations.reference_generating import run

    folder, items = _adhoc(what, source, output, option) if source else _listed(Path(what), only or [])
    done = run(folder, items, check=check, told=_announce)
    if as_json:
        typer.echo(json.dumps({"check": check, "items": [_facts(one) for one in done]}, indent=2, ensure_ascii=False))
    else:
        for one in done:
            _tell(one, every)
    if any(one.state == "stale" for one in done):
        typer.echo(f"Bring them up to date: commonplace reference generate {what}", err=True)
    if not all(one.good for one in done) or (strict and any(one.unread for one in done)):
        raise typer.Exit(1)


def _announce(item: "Item") -> None:
    """What is read; where that means that code of somebody's runs, this too."""
    from generators.plan import KINDS

    kind = KINDS.get(item.kind)
    runs = kind is not None and kind.runs and not item.source.endswith(".txt")
    how = {"help": " (runs it, to ask for its help)"}.get(item.kind, " (imports the program: its code runs)")
    typer.echo(f"{item.kind} {item.source}{how if runs else ''} …", err=True)


def _adhoc(kind: str, source: str, output: Path | None, option: list[str] | None) -> "tuple[Path, Sequence[Item]]":
    from commonplace.kernel.errors import InvalidInput
    from generators.plan import kind_of
    from local.operations.reference_generating import Item

    try:
        runs = kind_of(kind).runs
    except InvalidInput as error:
        raise CommandError(error.message, error.hint or "") from error
    if output is None:
        raise CommandError("Where shall the entries go?", "Give a JSON file with -o.")
    name = source if runs else str(Path(source).resolve())
    return output.parent, [Item(kind, name, output.name, dict(_option(one) for one in option or []), anywhere=True)]


def _option(text: str) -> tuple[str, Any]:
    """A value is JSON where it reads as such, so that lists and numbers can be given; else text."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise CommandError(f"“{text}” is no option.", "Write --option NAME=VALUE.")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def _listed(folder: Path, only: Sequence[str]) -> "tuple[Path, Sequence[Item]]":
    from local.operations.reference_generating import items_of

    items = items_of(folder)
    unknown = sorted(set(only) - {one.into for one in items})
    if unknown:
        known = ", ".join(one.into for one in items)
        raise CommandError(f"catalogue.yaml generates no {', '.join(unknown)}.", f"It generates: {known}.")
    return folder, [one for one in items if not only or one.into in only]


def _tell(done: "Done", every: bool) -> None:
    item = done.item
    if done.state == "failed":
        typer.echo(f"{item.into}: not made. {done.error}", err=True)
        if done.hint:
            typer.echo(f"  {done.hint}", err=True)
        return
    counts = f"{done.added:,} new, {done.changed:,} changed, {done.removed:,} gone"
    said = {"written": f"written ({counts})", "unchanged": "unchanged", "stale": f"stale ({counts})"}[done.state]
    typer.echo(f"{item.into}: {done.entries:,} entries from {item.source}, {said}.")
    shown = done.unread if every else done.unread[:SHOWN]
    for one in shown:
        typer.echo(f"  not read: {one.where}: {one.what}" + (f" {one.hint}" if one.hint else ""), err=True)
    if len(shown) < len(done.unread):
        typer.echo(f"  and {len(done.unread) - len(shown):,} more; --all tells them.", err=True)


def _facts(done: "Done") -> dict[str, Any]:
    told = {
        "kind": done.item.kind,
        "source": done.item.source,
        "into": done.item.into,
        "state": done.state,
        "entries": done.entries,
        "added": done.added,
        "changed": done.changed,
        "removed": done.removed,
        "error": done.error,
        "hint": done.hint,
        "unread": [{"where": one.where, "what": one.what, "hint": one.hint} for one in done.unread],
    }
    return {name: value for name, value in told.items() if value is not None}
