"""Reports of the last runs of the sync, as text: what is published, what to mend, most important first."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from commonplace.documents.content.document import MANIFEST_KEY, Manifest
from commonplace.documents.content.findings import Findings
from commonplace.documents.sync import keys
from commonplace.documents.sync.report import History, Report, Summary
from commonplace.kernel.objects import ObjectReader
from commonplace.reference.library import report_key
from commonplace.reference.model import Problem as CatalogueProblem
from commonplace.reference.sync.plan import CatalogueReport
from commonplace_local.deployment import Deployment
from commonplace_local.errors import CommandError
from commonplace_local.findings import finding_line, finding_lines, tally_line
from commonplace_local.terminal import counted, printable

if TYPE_CHECKING:
    from commonplace.reference.settings import CatalogueSource
    from commonplace_local.dry_run import Rehearsal

M = TypeVar("M", bound=BaseModel)

IDS_TOLD = 50
"""The ids that are listed of each kind; `--json` has them all."""
PATHS_TOLD = 10
"""The files that are listed for one reason; `--all` has them all."""
STATES = {
    "published": "published",
    "refused": "refused",
    "pending": "pending, some files could not be fetched; the next run retries them",
    "failed": "the run failed",
}

STOPPED = ("too-much-markup", "not-stored")
"""Codes of files that are not served as they stand: `status` names them, too."""

CAUSES = {
    "RepositoryRefused": "GitHub rejects the credentials, the repository or the branch",
    "RepositoryUnavailable": "GitHub is not available",
    "UntrustedTree": "the branch is empty, missing, or too large to list",
    "LeaseHeld": "another run held the lease of publication",
    "StoreUnavailable": "the store is not available",
    "MalformedSecret": "the secret with GitHub's credentials is incomplete",
}
"""The causes that end a run, in words."""


def report_text(report: Report, *, verbose: bool = False) -> str:
    """The report, paths of unpublished files included: for operators only. `verbose`: every path and every finding."""
    counts, findings = report.counts, report.judged()
    seconds = (report.finished_at - report.started_at).total_seconds()
    lines = [
        f"# Sync of commit {report.commit_sha}",
        "",
        f"Run {report.run}, generation {report.generation}, {report.finished_at:%Y-%m-%d %H:%M:%S} UTC",
        f"{seconds:.1f} s, {report.github_calls} GitHub calls",
        f"{counts.documents} documents: {counts.stored} stored, {counts.unchanged} unchanged, "
        f"{counts.removed} removed; {counted(counts.attachments, 'attachment', 'attachments')}",
    ]
    pending = counted(report.pending, "file", "files")
    lines += [f"{pending} pending; the next run retries them"] if report.pending else []
    lines += [*_listed("Stored", report.stored), *_listed("Removed", report.removed)]
    lines += _by_reason(report, PATHS_TOLD if not verbose else len(report.skipped))
    kept = [item.path for item in report.skipped if item.kept_last_good]
    lines += _listed("Served in their previous version", kept)
    if report.findings:
        lines += ["", "## Problems", *finding_lines(findings, every=verbose)]
    lines += [tally_line(findings.tally)] if report.findings else ["", tally_line(findings.tally)]
    return "\n".join(lines) + "\n"


def stored(store: ObjectReader, key: str, kind: type[M]) -> M | None:
    """Return the model that is stored at a key; None where there is none."""
    found = store.get(key)
    return kind.model_validate_json(found.body) if found else None


def stored_report(deployment: Deployment, commit_sha: str) -> Report | None:
    return stored(deployment.store, keys.report_key(commit_sha), Report)


def manifest_of(deployment: Deployment, commit_sha: str | None = None) -> Manifest | None:
    """Return what is published, if it is of this commit."""
    manifest = stored(deployment.store, MANIFEST_KEY, Manifest)
    return manifest if manifest and commit_sha in (None, manifest.commit_sha) else None


def last_findings(deployment: Deployment) -> Findings:
    """Return the findings of the last sync, from its report for operators. Raises CommandError before the first."""
    manifest = manifest_of(deployment)
    report = stored_report(deployment, manifest.commit_sha) if manifest else None
    if manifest is None or report is None:
        raise CommandError("There is no report of a sync yet.", "Start a run: commonplace sync run")
    return report.judged(manifest)


def summary_text(store: ObjectReader, summary: Summary, report: Report | None) -> str:
    """The last run in a few lines; `report` counts what the public summary does not."""
    counts = summary.counts
    lines = [f"Last run: {summary.status}" + (f" ({failure_of(store, summary)})" if summary.error else "")]
    if summary.commit_sha:
        lines.append(f"Published: commit {summary.commit_sha[:12]}, generation {summary.generation}")
        lines.append(
            f"Documents: {counts.documents} ({counts.stored} stored, {counts.unchanged} unchanged, "
            f"{counts.removed} removed), {counts.attachments} attachments"
        )
        lines += [tally_line(report.tally)] if report else []
        lines += [finding_line(one) for one in report.findings if one.problem.code in STOPPED] if report else []
    if summary.checked_at:
        lines.append(f"Last check: {summary.checked_at:%Y-%m-%d %H:%M:%S} UTC")
    return "\n".join(lines)


def failure_of(store: ObjectReader, summary: Summary) -> str:
    """Return what ended the last run, with the file where one was the cause."""
    history = stored(store, keys.HISTORY_KEY, History)
    runs = history.runs if history else []
    file = runs[0].file if runs and runs[0].error == summary.error else ""
    return failure_text(summary.error) + (f", at {printable(file)}" if file else "")


def failure_text(error: str | None) -> str:
    """The name of the error that ended a run, and what it means where that is known (runbooks/sync-failed.md)."""
    cause = CAUSES.get(error or "")
    return f"{error}, {cause}" if cause else str(error)


def rehearsal_text(rehearsal: "Rehearsal") -> str:
    """Return what a run would do."""
    report = rehearsal.report
    if report is None:
        return "The store is at the head of the branch. A run would change nothing.\n"
    lines = [f"A run would publish commit {report.commit_sha[:12]}. Nothing has been written."]
    for title, refs in (
        ("New", rehearsal.new),
        ("Changed", rehearsal.changed),
        ("Removed", tuple(report.removed)),
        ("Rewritten with the same content", rehearsal.same),
    ):
        lines += _listed(title, refs)
    lines += _by_reason(report)
    return "\n".join(lines) + "\n"


def _by_reason(report: Report, most: int = 0) -> Iterator[str]:
    """Yield how many files are not published for each reason, and the paths of so many of them."""
    if report.skipped_by_reason:
        yield from ("", "## Not published, and why")
    for reason, count in sorted(report.skipped_by_reason.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"- {count:5} {reason}"
        paths = [item.path for item in report.skipped if item.reason == reason]
        yield from (f"        {printable(path)}" for path in paths[:most])
        if 0 < most < len(paths):
            yield f"        ... and {len(paths) - most} more (--all)"


def _listed(title: str, found: Sequence[object], count: int | None = None) -> Iterator[str]:
    if found:
        yield from ("", f"## {title} ({count or len(found)})")
        yield from (f"- {one}" for one in found)


def report_of(store: ObjectReader, name: str) -> CatalogueReport | None:
    """None before the first run."""
    return stored(store, report_key(name), CatalogueReport)


def catalogue_line(name: str, report: CatalogueReport | None) -> str:
    """One line: what answers, and whether it is the head."""
    if report is None:
        return f"Catalogue {name}: no run has finished yet"
    return f"Catalogue {name}: {_state(report)}; {_published(report)}"


def catalogue_text(report: CatalogueReport) -> str:
    """The full report."""
    folder = f", folder {report.folder}" if report.folder else ""
    lines = [
        f"# Catalogue {report.catalogue}: {_state(report)}",
        "",
        f"{report.repository}, branch {report.branch}{folder}; checked commit {report.commit_sha or '-'}",
        f"{_published(report)}, generation {report.generation}",
    ]
    if report.finished_at:
        ended = f"{report.finished_at:%Y-%m-%d %H:%M:%S} UTC"
        lines.append(f"Run {report.run}, {ended}, {report.github_calls} GitHub calls")
    for title, ids in (("Added", report.added), ("Changed", report.changed), ("Removed", report.removed)):
        lines += _listed(title, ids[:IDS_TOLD], len(ids))
        lines += [f"- ... and {len(ids) - IDS_TOLD} more"] if len(ids) > IDS_TOLD else []
    for title, severity in (("Errors", "error"), ("Warnings", "warning")):
        found = [one for one in report.problems if one.severity == severity]
        lines += _listed(title, [f"{one.code}: {problem_line(one)}" for one in found])
    return "\n".join(lines) + "\n"


def problem_line(problem: CatalogueProblem) -> str:
    where = f"{problem.path}{f':{problem.line}' if problem.line else ''}: " if problem.path else ""
    which = f" ({problem.entry})" if problem.entry and problem.entry not in problem.message else ""
    return f"{where}{problem.message}{which}" + (f" {problem.hint}" if problem.hint else "")


def _state(report: CatalogueReport) -> str:
    state = STATES[report.status]
    if report.status == "failed":
        return f"{state}: {failure_text(report.error)}"
    found = [counted(len(report.errors), "error", "errors")] if report.errors else []
    found += [counted(report.warnings, "warning", "warnings")] if report.warnings else []
    return ", ".join([state, *found])


def _published(report: CatalogueReport) -> str:
    if report.published_commit is None:
        return "nothing is published"
    types = ", ".join(f"{count} {kind}" for kind, count in report.by_type.items())
    return f"{counted(report.entries)} ({types}) of commit {report.published_commit[:12]}"


def named_catalogue(deployment: Deployment, name: str) -> "CatalogueSource":
    """Raises CommandError."""
    catalogues = {one.name: one for one in deployment.catalogues()}
    if name not in catalogues:
        none = "none; the key `catalogues` of cdk.json, or commonplace dev --catalogue, adds one"
        raise CommandError(f"There is no catalogue {name}.", f"Catalogues: {', '.join(catalogues) or none}.")
    return catalogues[name]


def catalogue_lines(deployment: Deployment) -> Iterator[str]:
    """Yield the state of every catalogue, for people."""
    for one in deployment.catalogues():
        state, report = deployment.state_of(one).read(), report_of(deployment.store, one.name)
        yield catalogue_line(one.name, report)
        if state.running:
            yield f"  running: {state.running}"
        elif state.pokes > state.done:
            yield f"  queued: {state.pokes - state.done} pushes that no finished run covers"
        if report and report.status == "refused":
            yield f"  details: commonplace sync report --source {one.name}"


def catalogue_facts(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the state of every catalogue, for programs."""
    facts = []
    without = {"added", "changed", "removed"}
    for one in deployment.catalogues():
        state, report = deployment.state_of(one).read(), report_of(deployment.store, one.name)
        last = report.model_dump(mode="json", by_alias=True, exclude=without) if report else None
        about: dict[str, Any] = {
            "name": one.name,
            "repository": one.repository,
            "branch": one.branch,
            "folder": one.folder,
        }
        work = {"running": state.running, "openHints": max(0, state.pokes - state.done), "lastRun": last}
        facts.append(about | work)
    return facts


def catalogue_report_text(deployment: Deployment, name: str, *, as_json: bool) -> str:
    """The report of a catalogue's last run. Raises CommandError."""
    report = report_of(deployment.store, named_catalogue(deployment, name).name)
    if report is None:
        hint = f"Start one: commonplace sync run --source {name}"
        raise CommandError("No run of this catalogue has finished yet.", hint)
    if as_json:
        return json.dumps(report.model_dump(mode="json", by_alias=True), indent=2) + "\n"
    return catalogue_text(report)


def catalogue_outcome(deployment: Deployment, source: "CatalogueSource") -> str:
    """Return how a run ended. Raises CommandError unless the head is published."""
    report = report_of(deployment.store, source.name)
    line = catalogue_line(source.name, report)
    if report is None or report.status in ("failed", "pending"):
        raise CommandError(f"{line}.", "See its execution and the functions' logs; the next run retries.")
    if report.status == "refused":
        hint = f"Full report: commonplace sync report --source {source.name}"
        raise CommandError(f"{line}. First: {problem_line(report.errors[0])}", hint)
    return line
