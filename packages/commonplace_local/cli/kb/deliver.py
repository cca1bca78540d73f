"""Files of entries sent to the memory, and reported even where that stops: new ones, and edited ones (`--replace`)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace.memory.client.client import MemoryClient, Planted, Told
from commonplace.memory.client.replacement import Replaced
from commonplace_local.access import Grant, Place
from commonplace_local.cli.kb.connection import GRANT, SEED_SECONDS, reached
from commonplace_local.cli.kb.show import beginning, fault_lines, faults_told, progress
from commonplace_local.errors import CommandError
from commonplace_local.terminal import counted, print_json

AGAIN = "Run the same command again to resume."

SHOWN = 10
"""Entries that are named, of those that a file does not have any more."""


S = TypeVar("S", Planted, Replaced)


def deliver(
    files: Mapping[str, list[Any]],
    send: Callable[[MemoryClient, list[Any], Told], S],
    text: Callable[[str, S], str],
    place: Place,
    grant: Grant = GRANT,
    *,
    as_json: bool,
) -> None:
    """Send each file, then report those that are done. The command ends with 1 where an entry was refused."""
    done: dict[str, S] = {}

    def report() -> None:
        if as_json:
            print_json({"files": [{"file": name, **_facts(one)} for name, one in done.items()]})
        else:
            for name, one in done.items():
                typer.echo(text(name, one))

    try:
        with reached(place, SEED_SECONDS, grant) as client:
            for name, entries in files.items():
                with progress(name) as told:
                    told(0, len(entries))
                    done[name] = send(client, entries, partial(told, total=len(entries)))
    except (CommandError, CommonplaceError) as error:
        report()
        raise CommandError(error.message, f"{error.hint or ''} {AGAIN}".strip()) from error
    except KeyboardInterrupt:
        report()
        typer.echo(f"Interrupted. {AGAIN}", err=True)
        raise
    report()
    if any(one.errors for one in done.values()):
        raise typer.Exit(1)


def replace_entries(files: Mapping[str, list[Any]], place: Place, *, dry_run: bool, as_json: bool) -> None:
    """Change what was edited, add what is new, and name what the files do not have any more."""
    if dry_run:
        with reached(place, SEED_SECONDS) as client:
            compared = {name: client.compare(entries) for name, entries in files.items()}
        rehearsed = []
        for name, one in compared.items():
            entries = files[name]
            edited = [
                {"entry": at + 1, "id": was["id"], "was": was["content"]}
                for at, was in sorted(one.former.items())
                if entries[at].get("content") != was["content"]
            ]
            new = len(entries) - len(one.former)
            rehearsed.append(
                {"file": name, "total": len(entries), "edited": edited, "new": new, "gone": _ids(one.gone)}
            )
            if not as_json:
                typer.echo(f"{name}: {counted(new)} new, {len(edited):,} edited (dry run).")
                for each in edited:
                    typer.echo(f"  entry {each['entry']} replaces: {beginning(each['was'])}")
                for line in gone_lines(name, one.gone):
                    typer.echo(line)
        if as_json:
            print_json({"dryRun": True, "files": rehearsed})
        return

    deliver(files, MemoryClient.replace, replaced_text, place, as_json=as_json)


def _facts(one: Planted | Replaced) -> dict[str, Any]:
    """Return the outcome of a file as JSON has it."""
    facts: dict[str, Any] = {"total": one.total, "imported": one.imported}
    if isinstance(one, Planted):
        facts |= {"skipped": one.skipped}
    else:
        facts |= {"changed": one.changed, "unchanged": one.unchanged, "gone": _ids(one.gone)}
    return facts | {"errors": faults_told(one.errors)}


def planted_text(file: str, planted: Planted) -> str:
    """Return one line for a file, and one for each entry that was refused."""
    lines = [f"{file}: {counted(planted.imported)} imported, {planted.skipped:,} skipped."]
    return "\n".join([*lines, *fault_lines(file, planted.errors)])


def replaced_text(file: str, one: Replaced) -> str:
    """Return one line for a file, and one for each entry that was refused or is not in it any more."""
    head = f"{file}: {counted(one.imported)} imported, {len(one.changed):,} changed, {one.unchanged:,} unchanged."
    return "\n".join([head, *fault_lines(file, one.errors), *gone_lines(file, one.gone)])


def gone_lines(file: str, gone: Sequence[Mapping[str, Any]]) -> list[str]:
    if not gone:
        return []
    head = f"{file}: {counted(len(gone))} only in the memory, no longer in the file (to remove one: kb delete ID):"
    more = [f"  and {len(gone) - SHOWN:,} more; --json lists all"] if len(gone) > SHOWN else []
    return [head, *(f"  {one['id']}  {beginning(one['content'])}" for one in gone[:SHOWN]), *more]


def _ids(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(one["id"]) for one in entries]
