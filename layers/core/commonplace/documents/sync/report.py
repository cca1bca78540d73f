"""Reports of the sync: the full one for operators, and a public summary that names published documents only. Pure."""

from collections import Counter
from datetime import datetime
from typing import Literal

from pydantic import Field

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.graph import BrokenLink
from commonplace.documents.sync.publication import Publication
from commonplace.kernel.stored import Stored
from commonplace.repository.plan import Plan
from commonplace.repository.problems import Problem

MAX_NOTES = 200
"""Notes in the public summary; the full report has them all."""

UNKNOWN_TYPE = "unknown-type"


class Counts(Stored):
    documents: int = 0
    stored: int = 0
    unchanged: int = 0
    removed: int = 0
    attachments: int = 0
    problems: int = 0
    broken_links: int = 0


class Note(Stored):
    """A problem of a published document."""

    ref: DocumentRef
    path: str
    problem: Problem


class SkippedFile(Stored):
    """A file that is not published as it stands. Its path is for operators only."""

    path: str
    reason: str
    problem: Problem | None = None
    kept_last_good: bool = False


class Report(Stored):
    """Everything one run did, kept per commit at `operations/reports/{commit}.json`."""

    run: str
    commit_sha: str
    generation: int
    started_at: datetime
    finished_at: datetime
    counts: Counts
    stored: list[DocumentRef] = Field(default_factory=list)
    removed: list[DocumentRef] = Field(default_factory=list)
    skipped: list[SkippedFile] = Field(default_factory=list)
    skipped_by_reason: dict[str, int] = Field(default_factory=dict)
    notes: list[Note] = Field(default_factory=list)
    broken_links: list[BrokenLink] = Field(default_factory=list)
    unknown_types: dict[str, int] = Field(default_factory=dict)
    pending: int = 0
    github_calls: int = 0


class Summary(Stored):
    """The last run as the public may know it (`metadata/sync.json`): published documents, never other files."""

    status: Literal["succeeded", "failed"]
    error: str | None = None
    """Name of the error that ended a failed run; what follows is then of the last good one."""
    checked_at: datetime | None = None
    """When a run last looked."""
    commit_sha: str | None = None
    generation: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    counts: Counts = Field(default_factory=Counts)
    notes: list[Note] = Field(default_factory=list)


def summarise(report: Report) -> Summary:
    return Summary(
        status="succeeded",
        checked_at=report.finished_at,
        commit_sha=report.commit_sha,
        generation=report.generation,
        started_at=report.started_at,
        finished_at=report.finished_at,
        counts=report.counts,
        notes=report.notes[:MAX_NOTES],
    )


def status_line(report: Report) -> str:
    """The commit status, within GitHub's 140 characters."""
    counts = report.counts
    line = f"{counts.documents} documents: {counts.stored} stored, {counts.removed} removed"
    if counts.problems or counts.broken_links:
        line += f"; {counts.problems} to mend, {counts.broken_links} broken links"
    if report.pending:
        line += f"; {report.pending} pending"
    return line


def report_of(publication: Publication, *, run: str, plan: Plan, generation: int, finished_at: datetime) -> Report:
    refs = {entry.path: entry.ref for entry in publication.entries}
    notes = [
        Note(ref=refs[path], path=path, problem=problem)
        for path, problems in sorted(publication.problems.items())
        if path in refs
        for problem in problems
    ]
    unknown = Counter(note.problem.message for note in notes if note.problem.code == UNKNOWN_TYPE)
    broken = publication.graph.broken
    return Report(
        run=run,
        commit_sha=plan.commit_sha,
        generation=generation,
        started_at=plan.started_at,
        finished_at=finished_at,
        counts=Counts(
            documents=len(publication.entries),
            stored=len(publication.stored),
            unchanged=len(publication.entries) - len(publication.stored),
            removed=len(publication.removed),
            attachments=len(publication.attachments),
            problems=len(notes),
            broken_links=len(broken),
        ),
        stored=publication.stored,
        removed=publication.removed,
        skipped=[
            SkippedFile(path=item.path, reason=item.reason, problem=item.problem, kept_last_good=item.kept_last_good)
            for item in publication.skipped
        ],
        skipped_by_reason=dict(Counter(item.reason for item in publication.skipped).most_common()),
        notes=notes,
        broken_links=list(broken),
        unknown_types=dict(unknown),
        pending=publication.pending,
    )
