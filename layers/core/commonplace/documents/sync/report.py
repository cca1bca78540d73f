"""Reports of the sync: the full one for operators, and a public summary that names published documents only. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from commonplace.documents.content.document import LFS_POINTER_TYPE, DocumentRef, Manifest
from commonplace.documents.content.findings import OF_LINKS, Finding, Findings, Page, Skip, Tree, find
from commonplace.documents.content.paths import Exclusions
from commonplace.kernel.stored import Stored
from commonplace.repository.problems import SEVERITIES, Problem, Tally

if TYPE_CHECKING:
    from commonplace.documents.sync.publication import Publication
    from commonplace.repository.plan import Plan

MAX_NOTES = 200  # Notes in the public summary; the full report has them all

RUNS_KEPT = 20


class SkippedFile(Stored):
    """A file that is not published as it stands. Its path is for operators only."""

    path: str
    reason: str
    problem: Problem | None = None
    kept_last_good: bool = False


class Counts(Stored):
    documents: int = 0
    stored: int = 0
    unchanged: int = 0
    removed: int = 0
    attachments: int = 0
    problems: int = 0  # Errors and warnings, broken links among them
    hints: int = 0
    broken_links: int = 0


class Note(Stored):
    """A problem of a published document."""

    ref: DocumentRef
    path: str
    problem: Problem


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
    findings: list[Finding] = Field(default_factory=list)
    """What there is to mend in the whole tree, by path and line."""
    excluded: list[str] = Field(default_factory=list)  # Patterns of paths that are left out
    pending: int = 0
    github_calls: int = 0

    @property
    def tally(self) -> Tally:
        return Tally.of(finding.problem for finding in self.findings)

    def judged(self, manifest: Manifest | None = None) -> Findings:
        """As `validate_tree` judges the same files. What is published is known from a manifest of the same commit."""
        skipped = {item.path: Skip(item.reason, item.problem) for item in self.skipped}
        documents, attachments = (manifest.documents, manifest.attachments) if manifest else ([], [])
        return Findings(
            findings=self.findings,
            published={entry.path: entry.ref for entry in documents if entry.path not in skipped},
            skipped=skipped,
            attachments=[item.path for item in attachments],
            exclusions=Exclusions(self.excluded),
        )


class PastRun(Stored):
    """One run, in a line."""

    status: Literal["succeeded", "failed"]
    finished_at: datetime
    run: str = ""
    commit_sha: str = ""
    error: str | None = None  # Name of the error that ended a failed run
    file: str = ""  # The one that a failed run ended at, where one was the cause
    counts: Counts = Field(default_factory=Counts)
    pending: int = 0


class History(Stored):
    """The last runs that published something or failed, newest first, kept at `operations/history.json`."""

    runs: list[PastRun] = Field(default_factory=list)

    def with_run(self, run: PastRun) -> "History":
        """Failures of one run are one entry, which names a file if one of them did; its success takes their place."""
        failures = [one for one in self.runs if one.status == "failed" and one.run == run.run and run.run]
        named = run if run.status == "succeeded" else next((one for one in failures if one.file), run)
        return History(runs=[named, *(one for one in self.runs if one not in failures)][:RUNS_KEPT])


class Summary(Stored):
    """The last run as the public may know it (`metadata/sync.json`): published documents, never other files."""

    status: Literal["succeeded", "failed"]
    error: str | None = None
    """Name of the error that ended a failed run; what follows is then of the last good one."""
    checked_at: datetime | None = None  # When a run last looked
    commit_sha: str | None = None
    generation: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    counts: Counts = Field(default_factory=Counts)
    notes: list[Note] = Field(default_factory=list)


def summarise(report: Report, published: Iterable[tuple[str, DocumentRef]]) -> Summary:
    """Without what concerns other files; that a link's target exists and is private is not told either."""
    refs = dict(published)
    found = [one for one in report.findings if one.path in refs]
    tally = Tally.of(one.problem for one in found)
    notes = sorted(
        (
            Note(ref=refs[one.path], path=one.path, problem=one.problem)
            for one in found
            if one.problem.code not in OF_LINKS and one.problem.written is None
        ),
        key=lambda note: SEVERITIES.index(note.problem.severity),
    )
    return Summary(
        status="succeeded",
        checked_at=report.finished_at,
        commit_sha=report.commit_sha,
        generation=report.generation,
        started_at=report.started_at,
        finished_at=report.finished_at,
        counts=report.counts.model_copy(update={"problems": tally.problems, "hints": tally.hints}),
        notes=notes[:MAX_NOTES],
    )


def status_line(report: Report) -> str:
    """Return the commit status, within GitHub's 140 characters."""
    counts = report.counts
    line = f"{counts.documents} documents: {counts.stored} stored, {counts.removed} removed"
    line += f"; {report.tally}" if counts.problems else ""
    if report.pending:
        line += f"; {report.pending} pending"
    return line


def report_of(
    publication: "Publication",
    *,
    run: str,
    plan: "Plan",
    generation: int,
    finished_at: datetime,
    exclusions: Exclusions,
    misplaced: Sequence[str] = (),
) -> Report:
    # What is served is judged as it stands in the tree: a last good version is not that.
    skipped = {item.path: Skip(item.reason, item.problem) for item in publication.skipped}
    unreadable = {path for path, skip in skipped.items() if skip.problem}
    pages: dict[str, Page] = {}
    for entry in publication.entries:
        if entry.path in unreadable:
            continue
        read = publication.read[entry.path]
        links = publication.links.get(entry.path, ())
        pages[entry.path] = Page(
            entry.ref, entry.title, entry.aliases, entry.tags, read.problems, links, read.tag_lines, read.anchors
        )
    pointers = {item.path for item in publication.attachments if item.media_type == LFS_POINTER_TYPE}
    found = find(Tree(pages, skipped, misplaced, {file.path: file.size for file in plan.files}, pointers), exclusions)
    tally = found.tally
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
            problems=tally.problems,
            hints=tally.hints,
            broken_links=len(publication.graph.broken),
        ),
        stored=publication.stored,
        removed=publication.removed,
        skipped=publication.skipped,
        skipped_by_reason=dict(Counter(item.reason for item in publication.skipped).most_common()),
        findings=list(found.findings),
        excluded=list(exclusions.patterns),
        pending=publication.pending,
    )
