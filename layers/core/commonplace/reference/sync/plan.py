"""The plan of a catalogue's run: its part of a tree, what to fetch, and whether the files make a catalogue or errors.

Pure. The report of the last run is for maintainers, above all when it was refused.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from commonplace.kernel.stored import Stored
from commonplace.reference.model import Manifest, Problem
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source import bounds
from commonplace.reference.source.drafts import is_read
from commonplace.reference.source.reader import READER_VERSION, Reading, read_catalogue
from commonplace.repository.blobs import BlobSha
from commonplace.repository.plan import ARCHIVE_THRESHOLD
from commonplace.repository.ports import TreeFile
from commonplace.repository.slugs import is_markdown

Status = Literal["published", "refused", "pending", "failed"]
"""The head is published; it has errors, so that the last good catalogue goes on answering; files of it could not be
fetched, so that the next run tries again; the run itself failed."""

STATUS_CHARACTERS = 140
"""GitHub's, of a commit status."""

CATALOGUE_VERSION = "3"
"""Raise it when the stored catalogue gains or changes a field."""
ARCHIVE_BYTES = 256 * 1024 * 1024
"""A repository with more in it is never downloaded whole for the sake of one folder."""
MB = 1_000_000

NOT_FETCHED = Problem(
    code="not-fetched",
    severity="error",
    message="Files of the catalogue could not be fetched from GitHub.",
    hint="Nothing needs to be mended: the next run tries again.",
)


class CatalogueReport(Stored):
    """Kept at `commonplace.reference.library.report_key`, replaced by each run that found something to do."""

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
    reserved = len(more)
    most = STATUS_CHARACTERS - reserved
    return (line if len(line) <= most else line[: most - 1] + "…") + more


class KnownCatalogue(Stored):
    """The knowledge of the last run, written as its last word. Only a cache: without it the next run judges anew."""

    commit_sha: str = ""
    head_etag: str | None = None
    pipeline: str = ""
    place: str = ""
    """Repository, branch and folder."""
    outcome: Status | None = None
    run: str | None = None
    """Whose report this goes with."""
    left_out: list[BlobSha] = Field(default_factory=list)
    """Files that are not to be published: their bytes are not kept."""
    manifest_etag: str | None = None
    """As the run left it; so the next three."""
    catalogue_key: str | None = None
    catalogue_etag: str | None = None
    previous_key: str | None = None
    """The catalogue before: readers may still hold its manifest."""


@dataclass(frozen=True, slots=True)
class CatalogueBefore:
    """The state that the last publication left, and what is really in the store."""

    manifest: Manifest | None
    manifest_etag: str | None
    known: KnownCatalogue
    known_etag: str | None
    reported_by: str | None
    """The run whose report is in the store: an overtaken one may have put its own over a newer one's."""
    catalogues: Mapping[str, str]
    """Object key -> ETag."""
    blobs: frozenset[BlobSha]
    """Whose bytes are at hand."""

    @property
    def fence(self) -> str:
        """Return what a plan is made against; publishing over another would undo a newer run."""
        return f"{self.manifest_etag}/{self.known_etag}"

    def settled(self, pipeline: str, source: CatalogueSource) -> bool:
        """Return whether the last run's word on its head still holds."""
        known = self.known
        # An overtaken run may have left other bytes than those of published files.
        published = set(self.manifest.files.values()) if self.manifest else set()
        return (
            known.outcome in ("published", "refused")
            and known.pipeline == pipeline
            and known.place == place_of(source)
            and known.run == self.reported_by
            and known.manifest_etag == self.manifest_etag
            and self.catalogues.get(known.catalogue_key or "") == known.catalogue_etag
            and (known.outcome == "refused" or self.blobs <= published)
        )

    def publishes(self, files: Mapping[str, BlobSha], pipeline: str, source: CatalogueSource) -> bool:
        """Return whether the manifest is that of these very files, read from there by today's rules."""
        found = self.manifest
        return (
            found is not None
            and found.pipeline == pipeline
            and (found.repository, found.branch, found.folder) == (source.repository, source.branch, source.folder)
            and found.files == files
        )

    def left_out(self, pipeline: str) -> frozenset[BlobSha]:
        """Files that today's rules have left out."""
        return frozenset(self.known.left_out) if self.known.pipeline == pipeline else frozenset()


def place_of(source: CatalogueSource) -> str:
    return f"{source.repository}#{source.branch}#{source.folder}"


def catalogue_pipeline(source: CatalogueSource) -> str:
    """Fingerprint of what decides what a file becomes; another one means that everything is read anew."""
    return hashlib.sha256(f"{CATALOGUE_VERSION}\0{READER_VERSION}\0{source.url}".encode()).hexdigest()[:16]


def in_folder(tree: Iterable[TreeFile], source: CatalogueSource) -> list[TreeFile]:
    prefix = prefix_of(source)
    return [file for file in tree if file.path.startswith(prefix)]


def prefix_of(source: CatalogueSource) -> str:
    return f"{source.folder}/" if source.folder else ""


def readable(files: Iterable[TreeFile], source: CatalogueSource) -> list[TreeFile]:
    """Files that make the catalogue; nothing else is ever fetched."""
    prefix = prefix_of(source)
    return [file for file in files if is_read(file.path.removeprefix(prefix))]


def beyond_bounds(files: list[TreeFile], source: CatalogueSource) -> list[Problem]:
    """Return why this is not even fetched: `files` are those to be read."""
    found = [
        _error(
            "too-large",
            f"The file is larger than {bounds.MAX_FILE_BYTES // MB} MB.",
            "Split it into several files.",
            file.path.removeprefix(prefix_of(source)),
        )
        for file in files
        if file.size > bounds.MAX_FILE_BYTES
    ]
    if len(files) > bounds.MAX_FILES:
        message = f"The catalogue has {len(files):,} files; at most {bounds.MAX_FILES:,} are read."
        found.append(_error("too-many", message, "Put several entries into one file."))
    if sum(file.size for file in files) > bounds.MAX_CATALOGUE_BYTES:
        message = f"The catalogue is larger than {bounds.MAX_CATALOGUE_BYTES // MB} MB."
        found.append(_error("too-large", message, "Divide it into several catalogues."))
    if not files:
        found.append(nothing_there(source))
    return found[: bounds.MAX_PROBLEMS]


def nothing_there(source: CatalogueSource) -> Problem:
    """An empty catalogue is taken for a mistake: publishing it would take everything away."""
    where = f"The folder {source.folder} on the" if source.folder else "The"
    return _error(
        "empty-catalogue",
        f"{where} branch {source.branch} of {source.repository} holds no entry of a catalogue.",
        "Check repository, branch and folder of the catalogue in the deployment's configuration.",
    )


def worth_an_archive(needed: int, tree: Iterable[TreeFile]) -> bool:
    return needed > ARCHIVE_THRESHOLD and sum(file.size for file in tree) <= ARCHIVE_BYTES


def _error(code: str, message: str, hint: str, path: str | None = None) -> Problem:
    return Problem(code=code, severity="error", message=message, hint=hint, path=path)


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on the files of a head: a catalogue or errors."""

    outcome: Status
    files: Mapping[str, BlobSha]
    """Path in the repository -> blob id, of those that are read and not left out."""
    problems: tuple[Problem, ...]
    """Errors first."""
    reading: Reading | None = None


def judge_files(
    source: CatalogueSource,
    folder: Sequence[TreeFile],
    wanted: Mapping[str, BlobSha],
    raws: Mapping[BlobSha, bytes],
) -> Judged:
    """`folder` is everything in the catalogue's folder, `wanted` what is to be read of it, by path."""
    prefix = prefix_of(source)
    shut = {file.path for file in readable(folder, source)} - wanted.keys()
    # Of other files only the names count: entries may link them.
    given = {file.path.removeprefix(prefix): b"" for file in folder if file.path not in shut}
    given |= {path.removeprefix(prefix): raws[blob_sha] for path, blob_sha in wanted.items()}
    reading, files = read_catalogue(given, source.name), wanted
    if hidden := unpublished(reading, given):
        reading = read_catalogue({path: raw for path, raw in given.items() if path not in hidden}, source.name)
        files = {path: blob_sha for path, blob_sha in wanted.items() if path.removeprefix(prefix) not in hidden}
    if reading.publishable and not reading.entries:
        return Judged("refused", files, (nothing_there(source), *reading.problems))
    problems = sorted(reading.problems, key=lambda problem: problem.severity)
    return Judged("published" if reading.publishable else "refused", files, tuple(problems), reading)


def unpublished(reading: Reading, given: Mapping[str, bytes]) -> set[str]:
    """Files that say of themselves that they are not for readers. Only of a whole reading: what has errors and is no
    entry may be anything."""
    if not reading.publishable:
        return set()
    pages = {path for path in given if is_markdown(path) and is_read(path)}
    return pages - {one.path for one in reading.entries} - {problem.path for problem in reading.problems}
