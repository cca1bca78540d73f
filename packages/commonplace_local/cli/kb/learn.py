"""`commonplace kb learn`, `sync-pending` and `validated`: delivery of learnings, and a quality gate's verdict."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.kernel.errors import CommonplaceError, RateLimited, Unavailable
from commonplace.memory.client.client import FAILURE, Gate, MemoryClient
from commonplace.memory.client.learnings import FILE_NAME, Address, Learnings, learnings_of
from commonplace_local.access import Place, Unreachable
from commonplace_local.cli.kb.connection import LEARN_LIMITED_SECONDS, LEARN_SECONDS, QUERY_SECONDS, DryRun, reached
from commonplace_local.cli.kb.files import (
    alone,
    faults_of,
    in_file,
    now,
    read_document,
    read_learnings,
    records_below,
    write_learnings,
)
from commonplace_local.cli.kb.show import beginning
from commonplace_local.errors import CommandError
from commonplace_local.options import grouped
from commonplace_local.terminal import AsJson, clean, counted, print_json

FOLDER = "_implementation"
SYNC = "commonplace kb sync-pending"
STDIN = Path("-")


@grouped
def learn(
    story: Annotated[Path, typer.Argument(help="YAML of a story: story_id, summary, recommendations; - reads stdin.")],
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The record; default: _implementation/LEARNINGS.yaml beside the story."),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Record the lessons of a story. If the memory cannot be reached, they stay pending in a file."""
    file = output or (Path() if story == STDIN else story.parent) / FOLDER / FILE_NAME
    learnings = record(story, file, place, dry_run=dry_run)
    if as_json:
        print_json(_facts(file, learnings) | {"dryRun": dry_run})
    elif dry_run:
        typer.echo(f"{learnings.story}: {counted(len(learnings.pending))} would be delivered, and {file} written.")
        for one in learnings.pending:
            typer.echo(f"  {one.category or one.seed.entry_type}: {beginning(one.seed.content)}")
    elif learnings.available:
        typer.echo(learnings_text(str(file), learnings))
    if any(one.error for one in learnings.pending):
        raise typer.Exit(1)


def record(story: Path, file: Path, place: Place, *, dry_run: bool = False, seconds: float | None = None) -> Learnings:
    """Write the learnings of a story to their record, and deliver them if the memory can be reached.

    `seconds` bounds each wait for it.
    Raises CommandError for a story that cannot be read, and for what will not mend itself.
    """
    learnings = _learnings_of(story)
    with alone(file):
        # What the file knows already is retained: ids that were given, and what still waits.
        if file.exists():
            earlier = read_learnings(file)
            if earlier.story != learnings.story:
                raise CommandError(f"{file} is the record of {earlier.story}.", "Give another one with -o.")
            learnings = learnings.joined(earlier)
        if dry_run:
            return learnings
        # Before the memory is called: whatever happens from here on, `sync-pending` finds it.
        write_learnings(file, replace(learnings, available=not learnings.pending))
        return _deliver(learnings, file, place, seconds)


def _learnings_of(story: Path) -> Learnings:
    value = read_document(story)
    learnings = in_file(story, lambda: learnings_of(value, now()))
    for place, told in faults_of(learnings.imports()).items():
        # Not its words: what is refused may be a secret.
        what = learnings.entries[place].category or "summary"
        raise CommandError(f"{story}: the memory rejected the {what} (entry {place + 1}).", told)
    return learnings


def _deliver(learnings: Learnings, file: Path, place: Place, seconds: float | None) -> Learnings:
    """Deliver the learnings, and look up what was delivered before, if the memory can be reached.

    Raises CommandError for what will not mend itself.
    """
    left = learnings.pending
    waits = f"{counted(len(left))} of {learnings.story} pending in {file}"
    try:
        limited = seconds or LEARN_LIMITED_SECONDS
        with reached(place, LEARN_SECONDS, limited_seconds=limited, seconds=seconds) as client:
            done = client.deliver(learnings, now())
    except (Unreachable, Unavailable, RateLimited) as error:
        typer.echo(f"Warning: the memory cannot be reached. {error.message}", err=True)
        later = f"{waits}. Deliver them" if left else f"What {file} records was not compared with it. Do so"
        typer.echo(f"{later} later: {SYNC}", err=True)
        return replace(learnings, available=False)
    except (CommandError, CommonplaceError) as error:
        raise CommandError(f"{error.message} {waits}.", f"{error.hint or ''} Then: {SYNC}".strip()) from error
    write_learnings(file, done)
    tell_again(learnings, done)
    return done


@grouped
def sync_pending(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Folder to search.")] = Path(),
    *,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Send pending entries of each LEARNINGS.yaml, and those that its memory lost. Exit code 1 if some stay pending."""
    found, broken = records_below(folder)
    for error in broken:
        typer.echo(f"{error.message} {error.hint}", err=True)
    pending = [(file, one) for file, one in found if one.pending]
    if found and not dry_run:
        pending = sync_all([file for file, _ in found], place)
    if as_json:
        facts = {
            "dryRun": dry_run,
            "looked": len(found),
            "files": [_facts(*one) for one in pending],
            "broken": len(broken),
        }
        print_json(facts)
    else:
        for file, one in pending:
            typer.echo(learnings_text(str(file), one))
        if not pending:
            checked = "read, not compared with the memory" if dry_run else "compared with the memory"
            typer.echo(f"Nothing is pending below {folder}; {counted(len(found), 'record', 'records')} {checked}.")
    if broken or (not dry_run and any(one.pending for _, one in pending)):
        raise typer.Exit(1)


def sync_all(files: list[Path], place: Place, seconds: float | None = None) -> list[tuple[Path, Learnings]]:
    """Deliver each file by itself, so that a stop costs none of those before it. Raises CommandError.

    `seconds` bounds each wait for the memory.
    """
    done: list[tuple[Path, Learnings]] = []
    left = files[:]
    try:
        with reached(place, seconds or QUERY_SECONDS, limited_seconds=seconds, seconds=seconds) as client:
            for file in files:
                with alone(file):
                    # Read again: another sync may have been faster.
                    before = read_learnings(file)
                    learnings = client.deliver(before, now())
                    write_learnings(file, learnings)
                left.remove(file)
                tell_again(before, learnings)
                if learnings.entries != before.entries:
                    done.append((file, learnings))
    except (CommandError, CommonplaceError) as error:
        rest = counted(len(left), "record was", "records were")
        hint = f"{error.hint or ''} {rest} not looked at; nothing is lost."
        raise CommandError(error.message, hint.strip()) from error
    return done


def tell_again(before: Learnings, after: Learnings) -> None:
    """Print which entries had been delivered, and were not there."""
    ids = {one.id for one in after.entries}
    lost = [one for one in before.entries if not one.pending and one.id not in ids]
    if not lost:
        return
    moved = before.address is not None and before.address != after.address
    why = f"this is another memory than {before.address}" if moved else "the memory did not have them"
    typer.echo(f"{before.story}: {counted(len(lost))} delivered again: {why}.", err=True)
    for one in lost:
        typer.echo(f"  {one.id}: {beginning(one.seed.content)}", err=True)


def _facts(file: Path, learnings: Learnings) -> dict[str, Any]:
    entries = [
        {
            "id": one.id,
            "type": one.seed.entry_type,
            "category": one.category,
            "error": one.error,
            "first_story": one.first,
        }
        for one in learnings.entries
    ]
    return {
        "story_id": learnings.story,
        "file": str(file),
        "kb_available": learnings.available,
        "pending_sync": bool(learnings.pending),
        "entries": [{name: value for name, value in one.items() if value is not None} for one in entries],
    }


@grouped
def validated(
    what: Annotated[str, typer.Argument(metavar="STORY|FILE", help="A story's id, or its LEARNINGS.yaml.")],
    *,
    gate: Annotated[Gate, typer.Option(help="Result of the quality gate.")],
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Apply a quality gate's result to a story's failures: PASS raises their confidence, CONCERNS and FAIL lower it."""
    files = [Path(what)] if Path(what).is_file() else []
    files = files or [file for file, one in records_below(Path())[0] if one.story == what]
    confirmed, gone = 0, 0
    failures = [one for file in files for one in read_learnings(file).entries if one.category == FAILURE]
    # Where everything that is confirmed still waits to be delivered, no memory has to be there.
    nobody = nullcontext(MemoryClient(Nobody(), Address("nobody")))
    with nobody if files and all(one.pending for one in failures) else reached(place) as client:
        for file in files:
            with alone(file):
                told = client.validated(read_learnings(file), gate, now())
                write_learnings(file, told.learnings)
            confirmed, gone = confirmed + told.confirmed, gone + len(told.gone)
        if not files:
            for entry in client.failures_of(what):
                confirmed += client.confirm(entry["id"], gate, now())
    if as_json:
        typer.echo(json.dumps({"gate": gate, "confirmed": confirmed, "gone": gone}, indent=2))
        return
    typer.echo(f"{counted(confirmed, 'failure', 'failures')} of {what}: {gate}.")
    if gone:
        typer.echo(f"{counted(gone)} of the record are no longer in the memory.", err=True)


class Nobody:
    """A memory that is never called."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError(f"{tool} is not asked here: {sorted(arguments)}")


def learnings_text(file: str, learnings: Learnings) -> str:
    """Return what a LEARNINGS.yaml says now."""
    left = learnings.pending
    if not left:
        lines = [f"{learnings.story}: {counted(len(learnings.entries))} in the memory, see {file}."]
        for one in learnings.entries:
            if one.first is not None:
                by = f" by {clean(one.first)}" if one.first else ""
                lines.append(f"  already known{by}: {beginning(one.seed.content)}")
        return "\n".join(lines)
    lines = [
        f"{learnings.story}: {counted(len(left))} of {len(learnings.entries):,} not in the memory yet, see {file}."
    ]
    lines += [f"  {one.id}: {clean(one.error)}" for one in left if one.error]
    return "\n".join(lines)
