"""A team's memory: import, search and edit entries, record the lessons of a story."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.memory.client.client import MemoryClient, exported, importable
from commonplace.memory.entry_files import combined, write
from commonplace.memory.model import Role
from commonplace.memory.operations import OPERATIONS
from commonplace_local.access import Place
from commonplace_local.cli.kb import mend
from commonplace_local.cli.kb.connection import RESTORING, SEED_SECONDS, DryRun, reached
from commonplace_local.cli.kb.deliver import deliver, planted_text, replace_entries
from commonplace_local.cli.kb.files import entries_of, faults_of, is_hidden, read_text, relative, seed_files
from commonplace_local.cli.kb.hook import hook
from commonplace_local.cli.kb.learn import learn, sync_pending, validated
from commonplace_local.cli.kb.parse import Roles, report
from commonplace_local.cli.kb.parse import app as parse
from commonplace_local.cli.kb.show import entry_text, fault_lines, faults_told, progress
from commonplace_local.errors import CommandError
from commonplace_local.files import whole
from commonplace_local.memory.other_tools import READERS
from commonplace_local.operation_commands import add_commands
from commonplace_local.options import grouped
from commonplace_local.terminal import AsJson, clean, commands, counted, print_json

app = commands("A team's memory: import, search and edit entries, record the lessons of a story.")
app.add_typer(parse, name="parse")


class Source(StrEnum):
    """The tools whose memories can be imported."""

    BASIC_MEMORY = "basic-memory"
    MCP_MEMORY = "mcp-memory"
    MEM0 = "mem0"


@app.command()
@grouped
def seed(
    *,
    file: Annotated[
        list[Path] | None, typer.Option(help="A YAML file; repeatable; default: all of seed-data/.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Update entries that were edited in the file.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Import entries from YAML. Existing entries are skipped, so it can be repeated."""
    files = {str(one): importable(entries_of(one)) for one in seed_files(file)}
    if replace:
        replace_entries(files, place, dry_run=dry_run, as_json=as_json)
    elif dry_run:
        _rehearse(files, as_json)
    else:
        deliver(files, MemoryClient.seed, planted_text, place, as_json=as_json)


@app.command("import")
@grouped
def import_entries(
    path: Annotated[Path, typer.Argument(help="A folder of notes, or a JSON file.", exists=True)],
    *,
    source: Annotated[Source, typer.Option("--from", help="The tool that it comes from.")],
    role: Roles = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Import what another tool remembers. Existing entries are skipped, so it can be repeated."""
    if path.is_dir() and source is not Source.BASIC_MEMORY:
        raise CommandError(f"{path} is a folder.", "Give memory.json, or the JSON that mem0 exported.")
    files = sorted(path.rglob("*.md")) if path.is_dir() else [path]
    roles: tuple[Role, ...] = tuple(dict.fromkeys(one.value for one in role or ())) or ("all",)
    parts = []
    for file in files:
        if not path.is_dir() or not is_hidden(file.relative_to(path)):
            parts.append(READERS[source.value](relative(file), read_text(file), roles))
            report(file, parts[-1])
    entries = [one.as_import() for one in combined(parts).seeds]
    if not entries:
        raise CommandError(f"{path} has no memories of {source.value}.", "Is --from the tool that wrote it?")
    if dry_run:
        _rehearse({str(path): entries}, as_json)
    else:
        deliver({str(path): entries}, MemoryClient.seed, planted_text, place, as_json=as_json)


def _rehearse(files: dict[str, list[Any]], as_json: bool) -> None:
    faults = {name: faults_of(entries) for name, entries in files.items()}
    if as_json:
        told = [
            {"file": name, "total": len(files[name]), "errors": faults_told(found)} for name, found in faults.items()
        ]
        print_json({"dryRun": True, "files": told})
    else:
        for name, found in faults.items():
            typer.echo(f"{name}: {counted(len(files[name]) - len(found))} would be sent (dry run).")
            for line in fault_lines(name, found):
                typer.echo(line)
    if any(faults.values()):
        raise typer.Exit(1)


@app.command()
@grouped
def restore(
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", help="A file of `kb export` or `kb delete`.")],
    *,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Restore entries with ids, dates and versions. Existing entries are skipped."""
    files = {str(one): importable(entries_of(one), as_they_were=True) for one in file}
    deliver(files, MemoryClient.seed, planted_text, place, RESTORING, as_json=as_json)


@app.command()
@grouped
def export(
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Output file; default: stdout.")] = None,
    place: Place,
) -> None:
    """Export every entry as YAML, for `kb seed` or `kb restore`."""
    count = 0
    with (
        reached(place, SEED_SECONDS) as client,
        progress("Reading") as told,
        nullcontext(sys.stdout) if output is None else whole(output) as file,
    ):
        for count, entry in enumerate(client.entries(told), start=1):  # noqa: B007 - the last is told
            file.write(write([exported(entry)]))
        if not count:
            file.write(write([]))
    if output is not None:
        typer.echo(f"{output}: {counted(count)}.", err=True)


app.command()(mend.get)
app.command("list")(mend.list_entries)
app.command()(mend.update)
app.command()(mend.delete)
app.command()(learn)
app.command(hidden=True)(hook)
app.command("sync-pending")(sync_pending)
app.command()(validated)


def results_text(answer: Mapping[str, Any]) -> str:
    """Return what a search has found as text, the best first."""
    found: Sequence[Mapping[str, Any]] = answer.get("entries") or []
    parts = [entry_text(place, one) for place, one in enumerate(found, start=1)]
    if not found:
        parts.append("Nothing was found. Try other words, another role, or a lower --min-confidence.")
    if answer.get("fallback"):
        parts.append("The model is unavailable; these results are by words only.")
    return "\n\n".join(parts)


def stats_text(stats: Mapping[str, Any]) -> str:
    """Return figures, one to a line."""
    lines = [f"Entries: {stats.get('total_entries', 0):,}"]
    for title, name in (("By type", "by_type"), ("By role", "by_role")):
        told = ", ".join(f"{count:,} {kind}" for kind, count in (stats.get(name) or {}).items() if count)
        lines += [f"{title}: {told}"] if told else []
    lines.append(f"Mean confidence: {float(stats.get('avg_confidence') or 0):.2f}")
    lines.append(f"Last change: {stats.get('last_updated') or 'none yet'}")
    lines.append(f"Cached vectors: {int(stats.get('cache_size') or 0):,}")
    queries: Mapping[str, Mapping[str, int]] = stats.get("queries") or {}
    asked = [f"{count} {phase}, {role}" for phase, roles in queries.items() for role, count in roles.items()]
    lines += [f"Searches: {'; '.join(asked)}"] if asked else []
    lines.append(f"Recurrences: {int(stats.get('recurrences') or 0):,}")
    lines += metrics_lines(stats["metrics"]) if stats.get("metrics") else []
    return "\n".join(clean(line) for line in lines)


def metrics_lines(metrics: Mapping[str, Any]) -> list[str]:
    """Return the four metrics of seed 001, "Success Metrics", one to a paragraph, with those that are not known."""

    def mean(one: Mapping[str, Any], of: str) -> str:
        return f"{one['mean']:,.1f} (mean of {one['n']:,} {of})" if one.get("n") else f"unknown: no {of}"

    tokens, again = metrics["tokens_per_story"], metrics["recurrence"]
    relevance, adoption = metrics["relevance"], metrics["adoption"]
    votes = ", ".join(f"{n} of {vote}" for vote, n in relevance["votes"].items())
    return [
        "",
        "1. Tokens of a story",
        f"   with searches of the memory: {mean(tokens['with_searches'], 'stories with token counts')}",
        f"   without: {mean(tokens['without_searches'], 'stories with token counts')}",
        f"   of the memory's answers: {mean(tokens['of_answers'], 'stories that searched')}",
        "2. Recurrence",
        f"   lessons learned again by another story: {again['recurrences']:,}",
        *(
            f"   {counted(one['seen'], 'time', 'times')}: {one['id']}, "
            f"from {one['first_story'] or 'no story'} to {one['last_story']}"
            for one in again["most"]
        ),
        "3. Relevance, 0 to 5",
        f"   {mean(relevance, 'votes')}" + (f": {votes}" if votes else ""),
        *(f"   lowest: {one['id']}, {one['mean']:.1f} of {one['n']:,}" for one in relevance["lowest"]),
        "4. Adoption",
        f"   searches of a story: {mean(adoption, 'stories')}; {adoption['stories_that_searched']:,} searched",
    ]


def rated_text(rated: Mapping[str, Any]) -> str:
    """Return the mean of all votes on an entry, as a line."""
    return f"{rated['id']}: {rated['mean']:.1f}, mean of {counted(rated['votes'], 'vote', 'votes')}."


add_commands(
    app,
    OPERATIONS,
    lambda place, _: reached(place),
    options={"tags": "--tag", "entry_type": "--type"},
    texts={"kb_search": results_text, "kb_stats": stats_text, "kb_rate": rated_text},
)
