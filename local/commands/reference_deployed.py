"""The part of `commonplace reference` that asks a deployment: what is published, and what nobody found."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from local.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.reference.model import Gap
    from local.operations.deployment import Deployment

Data = Annotated[Path | None, typer.Option(help="Data folder of a `commonplace dev --data`.")]
Outputs = Annotated[Path | None, typer.Option(help="File written by `cdk deploy --outputs-file`.")]
Stage = Annotated[str | None, typer.Option(help="Stage of a deployment, read from its stack.")]
Org = Annotated[str | None, typer.Option("--org", help="Organisation; default: the deployment's own.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def status(
    name: Annotated[str | None, typer.Argument(help="One catalogue: with everything its last run said.")] = None,
    *,
    as_json: AsJson = False,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
) -> None:
    """Say what is published of each catalogue, and what was refused and why."""
    from local.commands import sync_catalogues
    from local.operations.deployment import find

    deployment = find(data, outputs, stage)
    if name is not None:
        typer.echo(sync_catalogues.report_text(deployment, name, as_json=as_json), nl=False)
    elif as_json:
        typer.echo(json.dumps(sync_catalogues.facts(deployment), indent=2))
    else:
        told = [*sync_catalogues.lines(deployment), *_refused(deployment)]
        typer.echo("\n".join(told) or "There is no catalogue; docs/reference.md says how to add one.")


def _refused(deployment: "Deployment") -> "Iterator[str]":
    """Every error that keeps a catalogue from being published."""
    from local.operations.catalogues import problem_line, report_of

    for one in deployment.catalogues():
        report = report_of(deployment.store, one.name)
        if report and report.status == "refused":
            yield from ("", f"{one.name}, commit {(report.commit_sha or '-')[:12]}:")
            yield from (f"  {error.code}: {problem_line(error)}" for error in report.errors)


def gaps(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    as_json: AsJson = False,
    org: Org = None,
    data: Data = None,
    outputs: Outputs = None,
    stage: Stage = None,
) -> None:
    """List what agents looked for and did not find, the most reported first."""
    from commonplace.kernel.errors import CommonplaceError
    from local.operations.deployment import find

    deployment = find(data, outputs, stage)
    try:
        found = _gaps(deployment, org, limit)
    except CommonplaceError as error:
        raise CommandError(error.message, error.hint or "") from error
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found], indent=2, ensure_ascii=False))
        return
    from local.operations.tables import show

    show((_row(one) for one in found), nothing="No gap has been reported.")


def _gaps(deployment: "Deployment", org: str | None, limit: int) -> "Sequence[Gap]":
    from commonplace.reference.store import DynamoGaps

    table = deployment.outputs.get("RecordsTable")
    if table is None:
        raise CommandError("No gaps are kept there.", "Deploy this version, or start `commonplace dev` of it.")
    organisation = org or deployment.outputs.get("Organisation", "default")
    return DynamoGaps(deployment.client("dynamodb"), table).gaps(organisation, limit)


def _row(gap: "Gap") -> dict[str, str]:
    return {
        "COUNT": f"{gap.count:,}",
        "QUERY": gap.query,
        "TYPE": gap.type or "",
        "LAST": gap.last_at[:16].replace("T", " "),
        "NOTE": gap.note or "",
    }
