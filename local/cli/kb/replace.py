"""`kb seed --replace`: edited files in the place of what they brought before."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import typer

from commonplace.memory.client.client import MemoryClient
from commonplace.memory.client.replacement import Comparison, Replaced
from local.access import Place
from local.cli.kb.connection import SEED_SECONDS, reached
from local.cli.kb.deliver import deliver
from local.cli.kb.progress import fault_lines, faults_told
from local.cli.kb.text import beginning
from local.terminal import counted, print_json

SHOWN = 10
"""Entries that are named, of those that a file does not have any more."""


def replace_entries(files: Mapping[str, list[Any]], place: Place, *, dry_run: bool, as_json: bool) -> None:
    """Changes what was edited, adds what is new, and names what the files do not have any more."""
    if dry_run:
        with reached(place, SEED_SECONDS) as client:
            compared = {name: client.compare(entries) for name, entries in files.items()}
        told = [_rehearsed(name, files[name], one) for name, one in compared.items()]
        print_json({"dryRun": True, "files": told}) if as_json else _tell_rehearsed(told, compared)
        return
    deliver(files, MemoryClient.replace, partial(_tell, as_json=as_json), place)


def _tell(done: Mapping[str, Replaced], *, as_json: bool) -> None:
    if as_json:
        print_json({"files": [_replaced(name, one) for name, one in done.items()]})
        return
    for name, one in done.items():
        typer.echo(replaced_text(name, one))


def _rehearsed(name: str, entries: Sequence[Any], compared: Comparison) -> dict[str, Any]:
    edited = [
        {"entry": place + 1, "id": was["id"], "was": was["content"]}
        for place, was in sorted(compared.former.items())
        if entries[place].get("content") != was["content"]
    ]
    new = len(entries) - len(compared.former)
    return {"file": name, "total": len(entries), "edited": edited, "new": new, "gone": _ids(compared.gone)}


def _tell_rehearsed(told: Sequence[Mapping[str, Any]], compared: Mapping[str, Comparison]) -> None:
    for one in told:
        typer.echo(f"{one['file']}: {counted(one['new'])} new, {len(one['edited']):,} edited. Nothing was sent.")
        for edited in one["edited"]:
            typer.echo(f"  entry {edited['entry']} takes the place of: {beginning(edited['was'])}")
        for line in gone_lines(str(one["file"]), compared[str(one["file"])].gone):
            typer.echo(line)


def _replaced(name: str, one: Replaced) -> dict[str, Any]:
    return {
        "file": name,
        "total": one.total,
        "imported": one.imported,
        "changed": one.changed,
        "unchanged": one.unchanged,
        "gone": _ids(one.gone),
        "errors": faults_told(one.errors),
    }


def replaced_text(file: str, one: Replaced) -> str:
    """One line for a file, and one for each entry that was refused or is not in it any more."""
    head = f"{file}: {counted(one.imported)} imported, {len(one.changed):,} changed, {one.unchanged:,} as they were."
    return "\n".join([head, *fault_lines(file, one.errors), *gone_lines(file, one.gone)])


def gone_lines(file: str, gone: Sequence[Mapping[str, Any]]) -> list[str]:
    if not gone:
        return []
    head = f"{file}: {counted(len(gone))} not in the file any more, but in the memory (kb delete ID takes one out):"
    more = [f"  and {len(gone) - SHOWN:,} more; --json names all"] if len(gone) > SHOWN else []
    return [head, *(f"  {one['id']}  {beginning(one['content'])}" for one in gone[:SHOWN]), *more]


def _ids(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(one["id"]) for one in entries]
