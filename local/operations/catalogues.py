"""What the last run of a catalogue came to, as text: what is published, what was refused and why."""

from collections.abc import Iterator

from commonplace.kernel.objects import ObjectReader
from commonplace.reference.library import report_key
from commonplace.reference.model import Problem
from commonplace.reference.sync.plan import CatalogueReport
from local.operations.counting import counted
from local.operations.report_text import failure_text

IDS_TOLD = 50
"""Of each kind; `--json` has them all."""
STATES = {
    "published": "published",
    "refused": "refused, the one before goes on answering",
    "pending": "waiting for files that GitHub did not give; the next run tries again",
    "failed": "the run failed",
}


def report_of(store: ObjectReader, name: str) -> CatalogueReport | None:
    """None before the first run."""
    found = store.get(report_key(name))
    return CatalogueReport.model_validate_json(found.body) if found else None


def catalogue_line(name: str, report: CatalogueReport | None) -> str:
    """One line: what answers, and whether it is the head."""
    if report is None:
        return f"Catalogue {name}: no run has finished yet"
    return f"Catalogue {name}: {_state(report)}; {_entries(report)}"


def catalogue_text(report: CatalogueReport) -> str:
    """The full report."""
    return "\n".join(_report(report)) + "\n"


def problem_line(problem: Problem) -> str:
    where = f"{problem.path}{f':{problem.line}' if problem.line else ''}: " if problem.path else ""
    which = f" ({problem.entry})" if problem.entry and problem.entry not in problem.message else ""
    return f"{where}{problem.message}{which}" + (f" {problem.hint}" if problem.hint else "")


def _state(report: CatalogueReport) -> str:
    state = STATES[report.status]
    if report.status == "failed":
        return f"{state}: {failure_text(report.error)}"
    found = [counted(len(report.errors), "error", "errors")] if report.errors else []
    found += [f"{report.warnings} to mend"] if report.warnings else []
    return ", ".join([state, *found])


def _entries(report: CatalogueReport) -> str:
    if report.published_commit is None:
        return "nothing is published"
    types = ", ".join(f"{count} {kind}" for kind, count in report.by_type.items())
    return f"{counted(report.entries)} ({types}) of commit {report.published_commit[:12]}"


def _report(report: CatalogueReport) -> Iterator[str]:
    folder = f", folder {report.folder}" if report.folder else ""
    yield f"# Catalogue {report.catalogue}: {_state(report)}"
    yield ""
    yield f"{report.repository}, branch {report.branch}{folder}; looked at commit {report.commit_sha or '-'}"
    yield f"{_entries(report)}, generation {report.generation}"
    if report.finished_at:
        yield f"Run {report.run}, {report.finished_at:%Y-%m-%d %H:%M:%S} UTC, {report.github_calls} GitHub calls"
    for title, ids in (("Added", report.added), ("Changed", report.changed), ("Removed", report.removed)):
        yield from _listed(title, ids)
    for title, severity in (("Errors", "error"), ("To mend", "warning")):
        problems = [problem for problem in report.problems if problem.severity == severity]
        if problems:
            yield from ("", f"## {title} ({len(problems)})")
            yield from (f"- {problem.code}: {problem_line(problem)}" for problem in problems)


def _listed(title: str, ids: list[str]) -> Iterator[str]:
    if ids:
        yield from ("", f"## {title} ({len(ids)})")
        yield from (f"- {id}" for id in ids[:IDS_TOLD])
    if len(ids) > IDS_TOLD:
        yield f"- ... and {len(ids) - IDS_TOLD} more"
