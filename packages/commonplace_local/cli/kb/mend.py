"""Single entries of a memory, read and mended: get, list, update, delete."""

import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.kernel.errors import NotFound
from commonplace.memory.client.client import MemoryClient, exported
from commonplace.memory.entry_files import write
from commonplace.memory.model import DEFAULT_LISTED, MAX_LISTED, Direction, EntryType, Order, Role
from commonplace_local.access import Place
from commonplace_local.cli.kb.connection import SEED_SECONDS, reached
from commonplace_local.cli.kb.files import now, read_text
from commonplace_local.cli.kb.parse import RoleName
from commonplace_local.cli.kb.show import beginning, entry_text
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.options import grouped
from commonplace_local.terminal import AsJson, clean, counted, print_json

SHOWN = 10
"""Entries that are named before they are deleted."""

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the entry.")]
Story = Annotated[str | None, typer.Option(help="Only entries of this story.")]
File = Annotated[str | None, typer.Option(help="Only entries from this file.")]


@grouped
def get(
    id: Id,
    *,
    as_of: Annotated[str | None, typer.Option(help="The version at an ISO date (its end) or time.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Also list the changes of its last 20 versions.")] = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Show one entry."""
    with reached(place) as client:
        entry = client.get(id, as_of=as_of, history=history)
    print_json(entry) if as_json else typer.echo(whole_text(entry))


@grouped
def list_entries(
    *,
    role: Annotated[Role | None, typer.Option(help="Entries for this role, and those for all.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Entries with this tag; repeated: with all of them.")] = None,
    entry_type: Annotated[EntryType | None, typer.Option("--type", help="Only entries of this type.")] = None,
    story: Story = None,
    file: File = None,
    since: Annotated[str | None, typer.Option(help="Created at or after this ISO date or time.")] = None,
    until: Annotated[str | None, typer.Option(help="Created up to this ISO date, its whole day, or time.")] = None,
    order_by: Annotated[Order, typer.Option(help="Sort key.")] = "created_at",
    order: Annotated[Direction, typer.Option(help="Sort order.")] = "desc",
    limit: Annotated[int, typer.Option(min=1, help="Maximum number.")] = DEFAULT_LISTED,
    offset: Annotated[int, typer.Option(min=0, help="Number to skip.")] = 0,
    all_of_them: Annotated[bool, typer.Option("--all", help="No limit.")] = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """List entries in order, without a search."""
    filters = {"role": role, "tags": tag, "entry_type": entry_type, "since": since, "until": until}
    page = {"limit": MAX_LISTED if all_of_them else min(limit + 1, MAX_LISTED), "offset": offset}
    with reached(place, SEED_SECONDS) as client:
        found = selected(client, story, file, {**filters, **page, "order_by": order_by, "order": order})
        shown = list(islice(found, None if all_of_them else limit + 1))
    more = not all_of_them and len(shown) > limit
    shown = shown[:limit] if more else shown
    further = offset + limit if more else None
    if as_json:
        print_json({"entries": shown, "nextOffset": further})
        return
    parts = [entry_text(number, one) for number, one in enumerate(shown, offset + 1)] or ["No entries."]
    typer.echo("\n\n".join(parts))
    if more:
        typer.echo(f"There are more: --offset {further}, or --all.", err=True)


@grouped
def update(
    id: Id,
    *,
    content: Annotated[str | None, typer.Option(help="The new text; `-` reads stdin.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Replace its tags; repeatable.")] = None,
    role: Annotated[list[RoleName] | None, typer.Option(help="Replace its roles; repeatable.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="Confidence, 0 to 1.")] = None,
    entry_type: Annotated[EntryType | None, typer.Option("--type", help="Entry type.")] = None,
    story: Annotated[str | None, typer.Option(help="The story it comes from; empty: none.")] = None,
    file: Annotated[str | None, typer.Option(help="The file it comes from; empty: none.")] = None,
    parent: Annotated[str | None, typer.Option(help="Id of its parent entry; empty: none.")] = None,
    expected_version: Annotated[int | None, typer.Option(help="Fail if its version differs.")] = None,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Change the given fields of an entry."""
    named = {"source_story": story, "source_file": file, "parent_id": parent}
    changes: dict[str, Any] = {
        "content": read_text(Path("-")) if content == "-" else content,
        "tags": tag or None,
        "roles": [one.value for one in role] if role else None,
        "confidence": confidence,
        "entry_type": entry_type,
        "expected_version": expected_version,
        "remove": [name for name, value in named.items() if value == ""] or None,
        **{name: value or None for name, value in named.items()},
    }
    with reached(place) as client:
        told = client.update(id, {name: value for name, value in changes.items() if value is not None})
    print_json({"id": id, **told}) if as_json else typer.echo(f"{id}: version {told['version']}.")


@grouped
def delete(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of entries.")] = None,
    *,
    story: Annotated[str | None, typer.Option(help="All entries of this story.")] = None,
    file: Annotated[str | None, typer.Option(help="All entries from this file; with --story: of both.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Backup file; default: deleted-TIME.yaml.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo deletions of the last 30 days.")] = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Delete entries by id, story or file, after a backup to a file and a confirmation."""
    if undo:
        undelete(ids or [], story or file or output, as_json, place)
        return
    if bool(ids) == bool(story or file):
        raise CommandError("Nothing to delete was named.", "Give ids, or --story, --file or both.")
    if not yes and not sys.stdin.isatty():
        raise CommandError("There is no terminal for the confirmation; nothing was deleted.", "Give --yes.")
    kept = output or Path(f"deleted-{now().replace(':', '')}.yaml")
    if kept.exists():
        raise CommandError(f"{kept} already exists.", "Give another one with -o.")
    with reached(place, SEED_SECONDS) as client:
        found: list[dict[str, Any]] = []
        for id in dict.fromkeys(ids or ()):
            try:
                found.append(client.get(id))
            except NotFound as error:
                raise CommandError(f"There is no entry {id}; nothing was deleted.", error.hint or "") from error
        found += [] if ids else selected(client, story, file, {})
        if found:
            write_whole(kept, write([exported(one) for one in found]))
            typer.echo(f"{kept}: {counted(len(found))} that would be deleted.", err=True)
        if found and not yes:
            _confirm(found)
        gone = sum(client.delete(one["id"]) for one in found)
    if as_json:
        print_json({"deleted": gone, "ids": [one["id"] for one in found], "file": str(kept) if found else None})
    elif not found:
        typer.echo("There is no such entry.")
    else:
        typer.echo(f"{counted(gone)} deleted. To restore them: commonplace kb restore {kept}")


def undelete(ids: list[str], beside: object, as_json: bool, place: Place) -> None:
    """Undo deletions of the last 30 days."""
    if not ids or beside:
        raise CommandError("--undo accepts only ids.", "They are in the backup file of the deletion.")
    restored = list(dict.fromkeys(ids))
    with reached(place) as client:
        for id in restored:
            client.answer("kb_delete", id=id, undo=True)
    if as_json:
        print_json({"restored": len(restored), "ids": restored})
    else:
        typer.echo(f"{counted(len(restored))} restored.")


def _confirm(found: list[dict[str, Any]]) -> None:
    """Have the deletion of these entries confirmed on the terminal. Raises Abort."""
    for one in found[:SHOWN]:
        typer.echo(f"  {beginning(one['content'])}", err=True)
    if (more := len(found) - SHOWN) > 0:
        typer.echo(f"  and {more:,} more", err=True)
    typer.confirm(f"Delete {counted(len(found))}?", abort=True, err=True)


def selected(
    client: MemoryClient, story: str | None, file: str | None, filters: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Return the entries of this story and from this file that pass the filters of `kb_list`."""
    wanted = {"source_story": story, "source_file": file, **filters}
    return client.entries(**{name: value for name, value in wanted.items() if value})


def whole_text(entry: Mapping[str, Any]) -> str:
    """Return every field of an entry, a line each, then its content."""
    lines = [
        f"{name}: {clean(', '.join(value) if isinstance(value, list) else str(value))}"
        for name, value in entry.items()
        if name not in ("content", "history", "relevance") and value not in (None, [], {})
    ]
    if rated := entry.get("relevance"):
        lines.append(f"relevance: {rated['mean']:.1f}, mean of {counted(rated['votes'], 'vote', 'votes')}")
    content = "\n".join(clean(line).rstrip() for line in str(entry["content"]).splitlines())
    versions = [
        f"version {one['version']} of {one['updated_at']}: {clean(', '.join(one['changed']) or 'the oldest kept')}"
        for one in entry.get("history") or ()
    ]
    return "\n".join([*lines, "", content, *([""] if versions else []), *versions])
