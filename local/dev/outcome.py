"""What a sync came to, checked: is everything that is published served and searchable?"""

from collections import Counter
from dataclasses import dataclass

from commonplace.content.manifest import Manifest
from commonplace.sync.report import Report
from local.dev.laptop import Laptop
from local.operations.report_text import failure_text


@dataclass(frozen=True, slots=True)
class Outcome:
    manifest: Manifest | None
    report: Report | None
    faults: tuple[str, ...]
    """Why the work is not done; empty when it is."""

    @property
    def by_type(self) -> list[tuple[str, int]]:
        """Most frequent first."""
        counted = Counter(entry.content_type for entry in self.manifest.documents) if self.manifest else Counter()
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))

    @property
    def skipped(self) -> list[tuple[str, int]]:
        """Reasons for not publishing a file, most frequent first."""
        reasons = self.report.skipped_by_reason if self.report else {}
        return sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))


def judge(laptop: Laptop) -> Outcome:
    """Compares head, store and index. Call it when the laptop is idle."""
    manifest = laptop.manifest()
    return Outcome(manifest, laptop.report(), tuple(_faults(laptop, manifest)))


def _faults(laptop: Laptop, manifest: Manifest | None) -> list[str]:
    summary = laptop.summary()
    if summary is None or manifest is None:
        return ["No run has finished." if summary is None else f"The run failed: {failure_text(summary.error)}."]
    faults = []
    if summary.status == "failed":
        faults.append(f"The last run failed: {failure_text(summary.error)}.")
    if manifest.commit_sha != laptop.workspace.head:
        faults.append(f"The store is at commit {manifest.commit_sha[:12]}, the branch is not.")
    if manifest.pending:
        faults.append(f"{manifest.pending} files could not be fetched.")
    indexed = laptop.indexed()
    missing = sum(indexed.get(entry.ref, -1) < entry.generation for entry in manifest.documents)
    extra = len(indexed.keys() - manifest.by_ref.keys())
    if missing:
        faults.append(f"{missing} documents are not searchable.")
    if extra:
        faults.append(f"{extra} documents are searchable and not published.")
    return faults
