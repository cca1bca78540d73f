"""Catalogues of commands and endpoints: generate, check, compare and search them."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from commonplace.reference.model import Problem
from commonplace.reference.source.compilation import diff as compare
from commonplace.reference.source.findings import in_order
from commonplace.reference.source.reader import read_catalogue
from commonplace_local import reports
from commonplace_local.cli.reference import text
from commonplace_local.cli.reference.folders import NoSuchFolder, opened
from commonplace_local.cli.reference.generation import generate
from commonplace_local.cli.reference.lookups import publishable, search, show_entry
from commonplace_local.cli.reference.new_catalogue import init
from commonplace_local.cli.reference.staleness import check_sources
from commonplace_local.errors import CommandError
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJson, commands, print_json, show

Where = Annotated[str, typer.Argument(metavar="[FOLDER]", help="[NAME=]FOLDER of a catalogue, or REVISION:FOLDER.")]
Org = Annotated[str | None, typer.Option("--org", help="Organisation; default: the deployment's own.")]
AnyJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = commands("Catalogues of commands, endpoints and guides: generate, check, compare and search them.")


app.command()(init)
app.command()(generate)
app.command()(search)
app.command(name="show")(show_entry)


@app.command()
@grouped
def status(
    name: Annotated[str | None, typer.Argument(help="One catalogue, with the full report of its last run.")] = None,
    *,
    as_json: AnyJson = False,
    target: Target,
) -> None:
    """Show what is published of each catalogue, and the errors of those refused."""
    deployment = target.find()
    if name is not None:
        typer.echo(reports.catalogue_report_text(deployment, name, as_json=as_json), nl=False)
    elif as_json:
        typer.echo(json.dumps(reports.catalogue_facts(deployment), indent=2))
    else:
        lines = [*reports.catalogue_lines(deployment)]
        for one in deployment.catalogues():
            report = reports.report_of(deployment.store, one.name)
            if report and report.status == "refused":
                lines += ["", f"{one.name}, commit {(report.commit_sha or '-')[:12]}:"]
                lines += [f"  {error.code}: {reports.problem_line(error)}" for error in report.errors]
        typer.echo("\n".join(lines) or "There is no catalogue; docs/agents/reference.md says how to add one.")


@app.command()
@grouped
def gaps(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number.")] = 50,
    as_json: AnyJson = False,
    org: Org = None,
    target: Target,
) -> None:
    """List what agents looked for and did not find, the most reported first."""
    from commonplace.reference.store import DynamoGaps

    deployment = target.find()
    table = deployment.outputs.get("RecordsTable")
    if table is None:
        raise CommandError("This deployment records no gaps.", "Deploy this version, or start `commonplace dev` of it.")
    organisation = org or deployment.outputs.get("Organisation", "default")
    found = DynamoGaps(deployment.client("dynamodb"), table).gaps(organisation, limit)
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        show(
            (
                {
                    "COUNT": f"{one.count:,}",
                    "QUERY": one.query,
                    "TYPE": one.type or "",
                    "LAST": one.last_at[:16].replace("T", " "),
                    "NOTE": one.note or "",
                }
                for one in found
            ),
            nothing="No gap has been reported.",
        )


@app.command()
def validate(
    folder: Where = ".",
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a catalogue as a sync would, and more. Exit code 1 if it would not be published."""
    place = opened(folder)
    reading = read_catalogue(place.files, place.name)
    # What a sync would say, and what only a checkout can: whether sources have changed since.
    found = [*reading.problems, *check_sources(reading, place.source)]
    if reading.publishable and not reading.entries:  # as a sync judges it, which takes an empty catalogue for a mistake
        nothing = Problem(
            code="empty-catalogue",
            severity="error",
            message="The folder contains no catalogue entries.",
            hint="Name another folder, or create one: commonplace reference init FOLDER",
        )
        found.append(nothing)
    problems = in_order(found)
    if as_json:
        print_json(text.problems_json(reading, problems))
    elif github:
        for line in text.annotations(place, problems):
            typer.echo(line)
    else:
        typer.echo(text.problems_text(place, reading, problems))
    failed = bool(problems) if strict else any(one.severity == "error" for one in problems)
    raise typer.Exit(1 if failed else 0)


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="A folder, or REVISION:FOLDER, such as main:reference.")],
    new: Annotated[str, typer.Argument(help="The same, of the newer state.")],
    *,
    breaking: Annotated[bool, typer.Option("--breaking", help="Exit code 1 if a name was removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two states of a catalogue: entries new, removed, changed, renamed, deprecated."""
    try:
        before = [one.entry for one in publishable(old)[1].entries]
    except NoSuchFolder:
        before = []  # the catalogue is new
    found = compare(before, [one.entry for one in publishable(new)[1].entries])
    if as_json:
        print_json(text.difference_json(found))
    else:
        typer.echo(text.difference_text(found))
    raise typer.Exit(1 if breaking and found.breaking else 0)
