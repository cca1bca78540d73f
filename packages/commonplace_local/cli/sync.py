"""Inspect and run the sync, read reports."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from commonplace.documents.sync import keys
from commonplace.documents.sync.report import Report, Summary
from commonplace_local import reports
from commonplace_local.deployment import Deployment
from commonplace_local.dry_run import ReadOnlyRepository, rehearse
from commonplace_local.errors import CommandError
from commonplace_local.findings import findings_facts
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJson, commands

if TYPE_CHECKING:
    from commonplace.reference.settings import CatalogueSource
    from commonplace.repository.ports import RunState
    from commonplace.repository.run_state import DynamoSyncState

LOOK_SECONDS = 0.5
WHY = "See its execution and the functions' logs; the next run retries."

Named = Annotated[str | None, typer.Option("--source", help="A catalogue, by its name.")]

app = commands("Inspect and run the sync, read its reports, preview a backfill.")


@app.command()
@grouped
def status(*, target: Target, as_json: AsJson = False) -> None:
    """Show what is published, what runs, and how far it is behind the branch."""
    from commonplace.repository.ports import RepositoryRateLimited, RepositoryRefused, RepositoryUnavailable

    deployment = target.find()
    state, summary = deployment.state.read(), _summary(deployment)
    try:
        found = deployment.repository(ReadOnlyRepository).head()
        head = found.commit_sha if found else None
    except (RepositoryUnavailable, RepositoryRateLimited, RepositoryRefused):
        head = None
    published = summary.commit_sha if summary else None
    if as_json:
        last = _report(deployment, summary) if summary else None
        facts = {
            "repository": deployment.settings()["GITHUB_REPOSITORY"],
            "branch": deployment.settings()["GITHUB_BRANCH"],
            "head": head,
            "upToDate": head == published,
            "running": state.running,
            "openHints": max(0, state.pokes - state.done),
            "lastRun": summary.model_dump(mode="json", by_alias=True, exclude={"notes"}) if summary else None,
            "toMend": asdict(last.tally) if last else None,
            "catalogues": reports.catalogue_facts(deployment),
        }
        typer.echo(json.dumps(facts, indent=2))
        return
    settings = deployment.settings()
    typer.echo(f"Repository: {settings['GITHUB_REPOSITORY']}, branch {settings['GITHUB_BRANCH']}")
    typer.echo(f"Served at: {deployment.base_url}")
    since = f", since {state.running_since:%H:%M:%S} UTC" if state.running and state.running_since else ""
    typer.echo(f"Running: {state.running or 'nothing'}{since}")
    if state.pokes > state.done:
        typer.echo(f"Queued: {state.pokes - state.done} pushes that no finished run covers")
    if summary:
        typer.echo(reports.summary_text(deployment.store, summary, _report(deployment, summary)))
    else:
        typer.echo("No run has finished yet.")
    if head is None:
        typer.echo("Behind: unknown, GitHub does not report the head of the branch")
    elif summary and summary.commit_sha == head:
        typer.echo("Behind: no, the head of the branch is published")
    else:
        typer.echo(f"Behind: yes, the branch is at {head[:12]}")
    for line in reports.catalogue_lines(deployment):
        typer.echo(line)


@app.command()
@grouped
def run(*, source: Named = None, target: Target) -> None:
    """Sync everything or one catalogue, and wait for it."""
    deployment = target.find()
    if source is not None:
        _run_catalogues(deployment, [reports.named_catalogue(deployment, source)])
        return
    _run(deployment, full=False)
    _run_catalogues(deployment, deployment.catalogues())


@app.command()
@grouped
def report(
    commit: Annotated[str | None, typer.Argument(help="A published commit; default: the one served now.")] = None,
    *,
    source: Named = None,
    every: Annotated[bool, typer.Option("--all", help="List every finding and every skipped file.")] = False,
    target: Target,
    as_json: AsJson = False,
) -> None:
    """Print the report of a run, paths of unpublished files included; of a catalogue, that of its last run."""
    deployment = target.find()
    if source is not None:
        if commit is not None:
            raise CommandError("Only the last report of a catalogue is stored.", "Omit the commit.")
        typer.echo(reports.catalogue_report_text(deployment, source, as_json=as_json), nl=False)
        return
    if commit is None:
        summary = _summary(deployment)
        if summary is None or summary.commit_sha is None:
            raise CommandError("No run has finished yet.", "Start one: commonplace sync run")
        key = keys.report_key(summary.commit_sha)
    else:  # a commit may be given by its first digits
        begun = [item.key for item in deployment.store.list(keys.REPORTS_PREFIX + commit.lower())]
        if len(begun) > 1:
            raise CommandError(f"{len(begun)} reports begin with {commit}.", "Give more digits.")
        key = begun[0] if begun else keys.report_key(commit)
    found = deployment.store.get(key)
    if found is None:
        raise CommandError("There is no such report.", "Reports of published commits expire.")
    told = Report.model_validate_json(found.body)
    if as_json:
        found_there = findings_facts(told.judged(reports.manifest_of(deployment, told.commit_sha)))
        typer.echo(json.dumps(told.model_dump(mode="json", by_alias=True) | found_there, indent=2))
        return
    typer.echo(reports.report_text(told, verbose=every), nl=False)


@app.command()
@grouped
def backfill(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")] = False,
    source: Named = None,
    target: Target,
    as_json: AsJson = False,
) -> None:
    """Read every file again and rewrite every document, or every entry of a catalogue."""
    from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
    from commonplace.kernel.parallel import Threads
    from commonplace.repository.sources import folders_within

    deployment = target.find()
    if source is not None:
        catalogue = reports.named_catalogue(deployment, source)
        if dry_run:
            hint = "What is wrong with one: commonplace reference validate FOLDER"
            raise CommandError("--dry-run does not support catalogues.", hint)
        _run_catalogues(deployment, [catalogue], full=True)
        return
    if not dry_run:
        _run(deployment, full=True)
        return
    settings = deployment.settings()
    configured = settings.get("EXCLUDE", "").strip()
    catalogues = folders_within(deployment.catalogues(), settings["GITHUB_REPOSITORY"], settings["GITHUB_BRANCH"])
    exclusions = Exclusions([*(json.loads(configured) if configured else DEFAULT_EXCLUDES), *catalogues])
    repository = deployment.repository(ReadOnlyRepository)
    rehearsal = rehearse(deployment.store, repository, exclusions, full=True, parallel=Threads(8))
    if not as_json:
        typer.echo(reports.rehearsal_text(rehearsal), nl=False)
        return
    told = rehearsal.report
    facts = {
        "commitSha": told.commit_sha if told else None,
        "new": list(rehearsal.new),
        "changed": list(rehearsal.changed),
        "removed": list(told.removed) if told else [],
        "same": list(rehearsal.same),
        "skippedByReason": told.skipped_by_reason if told else {},
    }
    typer.echo(json.dumps(facts, indent=2))


def _run(deployment: Deployment, *, full: bool) -> None:
    """Request a run and wait until the hint is worked off. Exit code 1 when the run failed."""
    target = _ask(deployment, None, full=full)
    state = _wait(deployment, deployment.state, target)
    summary = _summary(deployment)
    if summary:
        typer.echo(reports.summary_text(deployment.store, summary, _report(deployment, summary)))
    if state.done < target or summary is None or summary.status == "failed":
        raise CommandError("The run failed.", WHY)


def _run_catalogues(deployment: Deployment, catalogues: "Sequence[CatalogueSource]", *, full: bool = False) -> None:
    """The same for catalogues, all at once. Exit code 1 when one of them is not published."""
    targets = {one: _ask(deployment, one, full=full) for one in catalogues}
    for one, target in targets.items():
        if _wait(deployment, deployment.state_of(one), target).done < target:
            raise CommandError(f"The run of the catalogue {one.name} failed.", WHY)
    for one in catalogues:
        typer.echo(reports.catalogue_outcome(deployment, one))


def _ask(deployment: Deployment, catalogue: "CatalogueSource | None", *, full: bool) -> int:
    """The hint that the run has to work off."""
    answer = deployment.poke(full=full, only=catalogue.name if catalogue else "")
    target = deployment.state_of(catalogue).read().pokes
    typer.echo(f"{str(answer.get('status', 'asked')).capitalize()}: {answer.get('run', 'a run')}")
    return target


def _wait(deployment: Deployment, source: "DynamoSyncState", target: int) -> "RunState":
    from rich.console import Console

    from commonplace.documents.content.keys import CONTENT_PREFIX

    began = time.monotonic()
    with Console(stderr=True, highlight=False).status("Running") as shown:
        while True:
            state = source.read()
            if state.done >= target or state.running is None:
                return state
            stored = sum(1 for _ in deployment.store.list(CONTENT_PREFIX))
            shown.update(f"Running {state.running}: {time.monotonic() - began:.0f} s, {stored} stored")
            time.sleep(LOOK_SECONDS)


def _summary(deployment: Deployment) -> Summary | None:
    return reports.stored(deployment.store, keys.SUMMARY_KEY, Summary)


def _report(deployment: Deployment, summary: Summary) -> Report | None:
    return reports.stored_report(deployment, summary.commit_sha) if summary.commit_sha else None
