"""`commonplace kb`: a team's memory. Fill it from files, ask it, record what a story taught, deliver what waits."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from local.commands.kb_learn import learn, sync_pending
from local.commands.kb_options import AsJson, Data, DryRun, EntryType, Org, Outputs, Phase, Role, Stage, Url, reached
from local.commands.kb_parse import parse_app
from local.commands.kb_validate import validated
from local.errors import CommandError
from local.operations.memory import SEED_SECONDS, Place

if TYPE_CHECKING:
    from commonplace.memory.client.client import MemoryClient, Planted

AGAIN = "Run the same command again: it goes on where it stopped."

kb_app = typer.Typer(
    help="A team's memory: fill it from files, ask it, record what a story taught.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
kb_app.add_typer(parse_app, name="parse")


@kb_app.command()
def seed(
    *,
    file: Annotated[
        list[Path] | None, typer.Option(help="A YAML file; may be repeated; default: all of seed-data/.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    url: Url = None,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    org: Org = None,
) -> None:
    """Import entries from YAML. What is there already is skipped, so it may be stopped and run again."""
    from local.operations.memory_files import entries_of, seed_files

    files = {str(one): entries_of(one) for one in seed_files(file)}
    if dry_run:
        _rehearse(files, as_json)
        return
    done: dict[str, Planted] = {}
    try:
        with reached(Place(url, data, outputs, stage, org), SEED_SECONDS) as client:
            for name, entries in files.items():
                done[name] = _plant(client, name, entries)
    except CommandError as error:
        _tell_planted(done, as_json)
        raise CommandError(error.message, f"{error.hint} {AGAIN}".strip()) from error
    except KeyboardInterrupt:
        _tell_planted(done, as_json)
        typer.echo(f"Stopped. {AGAIN}", err=True)
        raise
    _tell_planted(done, as_json)
    if any(one.errors for one in done.values()):
        raise typer.Exit(1)


def _plant(client: "MemoryClient", name: str, entries: list[Any]) -> "Planted":
    from local.operations.memory_text import progress

    with progress(name) as told:
        told(0, len(entries))
        return client.seed(entries, lambda done: told(done, len(entries)))


def _rehearse(files: dict[str, list[Any]], as_json: bool) -> None:
    from local.operations.counting import counted
    from local.operations.memory_files import faults_of
    from local.operations.memory_text import fault_lines

    faults = {name: faults_of(entries) for name, entries in files.items()}
    if as_json:
        told = [{"file": name, "total": len(files[name]), "errors": _faults(found)} for name, found in faults.items()]
        typer.echo(json.dumps({"dryRun": True, "files": told}, indent=2, ensure_ascii=False))
    else:
        for name, found in faults.items():
            typer.echo(f"{name}: {counted(len(files[name]) - len(found))} would be sent. Nothing was.")
            for line in fault_lines(name, found):
                typer.echo(line)
    if any(faults.values()):
        raise typer.Exit(1)


def _tell_planted(done: "dict[str, Planted]", as_json: bool) -> None:
    from local.operations.memory_text import planted_text

    if as_json:
        told = [
            {
                "file": name,
                "total": one.total,
                "imported": one.imported,
                "skipped": one.skipped,
                "errors": _faults(one.errors),
            }
            for name, one in done.items()
        ]
        typer.echo(json.dumps({"files": told}, indent=2, ensure_ascii=False))
        return
    for name, one in done.items():
        typer.echo(planted_text(name, one))


def _faults(errors: dict[int, str]) -> list[dict[str, Any]]:
    return [{"entry": place + 1, "error": told} for place, told in sorted(errors.items())]


@kb_app.command()
def stats(
    *,
    as_json: AsJson = False,
    url: Url = None,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    org: Org = None,
) -> None:
    """Say how much the memory holds, and how often it was asked."""
    from local.operations.memory_text import stats_text

    with reached(Place(url, data, outputs, stage, org)) as client:
        told = client.stats()
    typer.echo(json.dumps(told, indent=2, ensure_ascii=False) if as_json else stats_text(told))


@kb_app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, or a few words.")],
    *,
    role: Annotated[Role | None, typer.Option(help="Entries for this role, and those for all.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Entries with this tag; repeated: with any of them.")] = None,
    entry_type: Annotated[EntryType | None, typer.Option("--type", help="Only entries of this type.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many at most.")] = 10,
    min_confidence: Annotated[float, typer.Option(min=0, max=1, help="Leave out what is less sure.")] = 0.5,
    phase: Annotated[Phase | None, typer.Option(help="For the statistics: the phase that asks.")] = None,
    as_json: AsJson = False,
    url: Url = None,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    org: Org = None,
) -> None:
    """Ask the memory, as an agent would."""
    from local.operations.memory_text import results_text

    asked = {
        "query": query,
        "role": role.value if role else None,
        "tags": tag or [],
        "entry_type": entry_type.value if entry_type else None,
        "limit": limit,
        "min_confidence": min_confidence,
        "phase": phase.value if phase else None,
    }
    with reached(Place(url, data, outputs, stage, org)) as client:
        answer = client.search(asked)
    typer.echo(json.dumps(answer, indent=2, ensure_ascii=False) if as_json else results_text(answer))


@kb_app.command()
def export(
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The YAML file; default: print it.")] = None,
    url: Url = None,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
    org: Org = None,
) -> None:
    """Write every entry as YAML that `kb seed` takes."""
    from commonplace.memory.client.client import as_imports
    from commonplace.memory.entry_files import write
    from local.operations.counting import counted
    from local.operations.memory_files import write_whole
    from local.operations.memory_text import progress

    with reached(Place(url, data, outputs, stage, org), SEED_SECONDS) as client, progress("Reading") as told:
        entries = list(client.entries(told))
    text = write(as_imports(entries))
    if output is None:
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    typer.echo(f"{output}: {counted(len(entries))}.", err=True)


kb_app.command()(learn)
kb_app.command("sync-pending")(sync_pending)
kb_app.command()(validated)
