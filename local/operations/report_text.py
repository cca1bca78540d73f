"""A sync report as text: what happened, what to mend, most important first."""

from collections.abc import Iterator, Sequence

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.sync.report import Report, Summary
from commonplace.repository.problems import Problem
from local.operations.dry_run import Rehearsal

CAUSES = {
    "RepositoryRefused": "the credentials, the repository or the branch are not as GitHub knows them",
    "RepositoryUnavailable": "GitHub does not answer",
    "UntrustedTree": "the branch is empty, gone, or too large to be listed",
    "LeaseHeld": "another run was publishing all the while",
    "StoreUnavailable": "the store does not answer",
    "MalformedSecret": "the secret with GitHub's credentials lacks a part",
}
"""What ended a run, in words."""


def report_text(report: Report) -> str:
    """The full report, paths of unpublished files included: for operators only."""
    return "\n".join(_report(report)) + "\n"


def summary_text(summary: Summary) -> str:
    """The last run in a few lines."""
    counts = summary.counts
    lines = [f"Last run: {summary.status}" + (f" ({failure_text(summary.error)})" if summary.error else "")]
    if summary.commit_sha:
        lines.append(f"Published: commit {summary.commit_sha[:12]}, generation {summary.generation}")
        lines.append(
            f"Documents: {counts.documents} ({counts.stored} stored, {counts.unchanged} unchanged, "
            f"{counts.removed} removed), {counts.attachments} attachments"
        )
        lines.append(f"To mend: {counts.problems} problems, {counts.broken_links} broken links")
    if summary.checked_at:
        lines.append(f"Looked last: {summary.checked_at:%Y-%m-%d %H:%M:%S} UTC")
    return "\n".join(lines)


def failure_text(error: str | None) -> str:
    """The name of the error that ended a run, and what it means where that is known (docs/runbooks/sync-failed.md)."""
    cause = CAUSES.get(error or "")
    return f"{error}, {cause}" if cause else str(error)


def rehearsal_text(rehearsal: Rehearsal) -> str:
    """What a run would do."""
    report = rehearsal.report
    if report is None:
        return "The store is at the head of the branch. A run would change nothing.\n"
    lines = [f"A run would publish commit {report.commit_sha[:12]}. Nothing has been written."]
    for title, refs in (
        ("New", rehearsal.new),
        ("Changed", rehearsal.changed),
        ("Removed", tuple(report.removed)),
        ("Written again with the same content", rehearsal.same),
    ):
        lines += _listed(title, refs)
    lines += _by_reason(report)
    return "\n".join(lines) + "\n"


def _report(report: Report) -> Iterator[str]:
    counts = report.counts
    seconds = (report.finished_at - report.started_at).total_seconds()
    yield f"# Sync of commit {report.commit_sha}"
    yield ""
    yield f"Run {report.run}, generation {report.generation}, {report.finished_at:%Y-%m-%d %H:%M:%S} UTC"
    yield f"{seconds:.1f} s, {report.github_calls} GitHub calls"
    yield (
        f"{counts.documents} documents: {counts.stored} stored, {counts.unchanged} unchanged, "
        f"{counts.removed} removed; {counts.attachments} attachments"
    )
    if report.pending:
        yield f"{report.pending} files are pending: the next run tries again"
    yield from _listed("Stored", report.stored)
    yield from _listed("Removed", report.removed)
    yield from _skipped(report)
    yield from _notes(report)
    yield from _broken_links(report)


def _skipped(report: Report) -> Iterator[str]:
    yield from _by_reason(report)
    unreadable = [item for item in report.skipped if item.problem]
    if unreadable:
        yield from ("", "## Files that cannot be read")
    for item in unreadable:
        kept = " (the last good version is still served)" if item.kept_last_good else ""
        yield f"- {item.path}{_place(item.problem)}: {_said(item.problem)}{kept}"


def _by_reason(report: Report) -> Iterator[str]:
    if report.skipped_by_reason:
        yield from ("", "## Not published, and why")
    for reason, count in sorted(report.skipped_by_reason.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"- {count:5} {reason}"


def _notes(report: Report) -> Iterator[str]:
    if report.notes:
        yield from ("", "## To mend")
    for note in report.notes:
        yield f"- {note.path}{_place(note.problem)}: {_said(note.problem)}"


def _broken_links(report: Report) -> Iterator[str]:
    if report.broken_links:
        yield from ("", "## Broken links")
    for link in report.broken_links:
        suggestion = f" (did you mean {link.suggestion}?)" if link.suggestion else ""
        yield f"- {link.source}, line {link.line}: {link.target}{suggestion}"


def _listed(title: str, refs: Sequence[DocumentRef]) -> Iterator[str]:
    if refs:
        yield from ("", f"## {title} ({len(refs)})")
        yield from (f"- {ref}" for ref in refs)


def _place(problem: Problem | None) -> str:
    if problem is None or problem.line is None:
        return ""
    return f":{problem.line}" + (f":{problem.column}" if problem.column else "")


def _said(problem: Problem | None) -> str:
    if problem is None:
        return ""
    return problem.message + (f" {problem.hint}" if problem.hint else "")
