"""What the last run of a catalogue came to, for its maintainers: also, and above all, when it was refused."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from commonplace.kernel.stored import Stored
from commonplace.reference.problems import Problem

Status = Literal["published", "refused", "pending", "failed"]
"""The head is published; it has errors, so that the last good catalogue goes on answering; files of it could not be
fetched, so that the next run tries again; the run itself failed."""

REFUSED = "catalogue refused"
"""What the log says of a run that found errors; an alarm counts it."""

STATUS_CHARACTERS = 140
"""GitHub's, of a commit status."""


class CatalogueReport(Stored):
    """Kept at `commonplace.reference.keys.report_key`, replaced by each run that found something to do."""

    catalogue: str
    status: Status
    error: str | None = None
    """Name of the error that ended a failed run; what follows is then of the one before."""
    run: str | None = None
    repository: str
    branch: str
    folder: str = ""
    commit_sha: str | None = None
    """The head that was looked at."""
    published_commit: str | None = None
    """What answers now; None when nothing has ever been published."""
    generation: int = 0
    """Of what is published."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    checked_at: datetime | None = None
    """When a run last looked."""
    files: int = 0
    """Of the head, as many as were read."""
    entries: int = 0
    """Published ones, and by type."""
    by_type: dict[str, int] = Field(default_factory=dict)
    added: list[str] = Field(default_factory=list)
    """Ids of entries, as for the next two: what the last publication changed."""
    changed: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    problems: list[Problem] = Field(default_factory=list)
    """Of the head; errors first."""
    github_calls: int = 0

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> int:
        return len(self.problems) - len(self.errors)


def catalogue_status_line(report: CatalogueReport) -> str:
    """The commit status, within GitHub's 140 characters: what happened, or the first thing to mend."""
    if report.status == "pending":
        return "Files could not be fetched; the next run tries again"
    if not (errors := report.errors):
        entries = "1 entry" if report.entries == 1 else f"{report.entries} entries"
        line = f"{entries}: {len(report.added)} added, {len(report.changed)} changed, "
        line += f"{len(report.removed)} removed"
        return line + (f"; {report.warnings} to mend" if report.warnings else "")
    first = errors[0]
    folder = f"{report.folder}/" if report.folder else ""
    where = f"{folder}{first.path}{f':{first.line}' if first.line else ''}: " if first.path else ""
    more = f" ({len(errors)} errors)" if len(errors) > 1 else ""
    line = f"Refused: {where}{first.message}"
    return _cut(line, len(more)) + more


def _cut(line: str, reserved: int) -> str:
    most = STATUS_CHARACTERS - reserved
    return line if len(line) <= most else line[: most - 1] + "…"
