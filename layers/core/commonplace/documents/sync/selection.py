"""Which files are published at the head, given the verdicts: the net effect, whatever the pushes were. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from commonplace.documents.content.manifest import Entry, Manifest
from commonplace.documents.sync.plan import Holdings
from commonplace.repository.blobs import BlobSha
from commonplace.repository.outcomes import InvalidBlob, LostBlob, PublishedBlob, UnpublishedBlob, Verdicts
from commonplace.repository.ports import TreeFile
from commonplace.repository.problems import Problem

NEVER_FETCHED = "not fetched in this run"


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the next publication. `entry` is set when its document can stay as it is."""

    path: str
    blob_sha: BlobSha
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not published as it stands, for the operators' report."""

    path: str
    reason: str
    problem: Problem | None = None
    kept_last_good: bool = False


@dataclass(slots=True)
class Selection:
    members: list[Member] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    pending: int = 0


def select(
    content: Iterable[TreeFile],
    verdicts: Verdicts,
    manifest: Manifest | None,
    holdings: Holdings,
    *,
    rewrite: bool,
) -> Selection:
    """The next published set.

    A file that cannot be read keeps its last good version, one that could not be fetched too (and is pending).
    `rewrite` lets no document stay as it is (new pipeline, backfill).
    """
    entries: Mapping[str, Entry] = manifest.by_path if manifest else {}
    selection = Selection()

    def keep(path: str, blob_sha: BlobSha) -> None:
        entry = entries.get(path)
        stays = entry and entry.blob_sha == blob_sha and holdings.intact(entry) and holdings.has_raw(entry)
        selection.members.append(Member(path, blob_sha, entry if stays and not rewrite else None))

    available = set(holdings.staged) | {entry.blob_sha for entry in entries.values() if holdings.has_raw(entry)}
    for file in content:
        last_good = entries.get(file.path)
        verdict = verdicts.get(file.blob_sha)
        if verdict is None and file.blob_sha in available:
            verdict = PublishedBlob(blob_sha=file.blob_sha)
        match verdict:
            case PublishedBlob():
                keep(file.path, file.blob_sha)
            case UnpublishedBlob(reason=reason, problem=problem):
                selection.skipped.append(Skipped(file.path, reason, problem))
            case InvalidBlob(problem=problem):
                selection.skipped.append(
                    Skipped(file.path, problem.message, problem, kept_last_good=last_good is not None)
                )
                if last_good:
                    keep(file.path, last_good.blob_sha)
            case LostBlob() | None:
                reason = verdict.reason if verdict else NEVER_FETCHED
                selection.pending += 1
                selection.skipped.append(Skipped(file.path, reason, kept_last_good=last_good is not None))
                if last_good:
                    keep(file.path, last_good.blob_sha)
            case never:
                assert_never(never)
    return selection
