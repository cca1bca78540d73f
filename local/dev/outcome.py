"""What a sync came to, checked: is everything that is published served and searchable?"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from commonplace.content.manifest import Manifest
from commonplace.sync.catalogue_report import CatalogueReport
from commonplace.sync.report import Report
from local.dev.laptop import Laptop
from local.operations.catalogues import catalogue_line
from local.operations.counting import counted
from local.operations.report_text import failure_text


@dataclass(frozen=True, slots=True)
class Outcome:
    manifest: Manifest | None
    report: Report | None
    faults: tuple[str, ...]
    """Why the work is not done; empty when it is."""
    catalogues: tuple[tuple[str, CatalogueReport | None], ...] = ()
    """Each by its name, and what its last run came to."""

    @property
    def by_type(self) -> list[tuple[str, int]]:
        """Most frequent first."""
        types = Counter(entry.content_type for entry in self.manifest.documents) if self.manifest else Counter()
        return sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))

    @property
    def skipped(self) -> list[tuple[str, int]]:
        """Reasons for not publishing a file, most frequent first."""
        reasons = self.report.skipped_by_reason if self.report else {}
        return sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))


def judge(laptop: Laptop) -> Outcome:
    """Compares head, store and index. Call it when the laptop is idle."""
    manifest = laptop.manifest()
    catalogues = tuple((one.name, laptop.catalogue_report(one.name)) for one in laptop.catalogues)
    faults = [*_faults(laptop, manifest), *_catalogue_faults(laptop, dict(catalogues))]
    return Outcome(manifest, laptop.report(), tuple(faults), catalogues)


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


def _catalogue_faults(laptop: Laptop, reports: Mapping[str, CatalogueReport | None]) -> Iterator[str]:
    """Errors themselves are told beside the catalogue (`Screen.outcome`)."""
    heads = {one.source.name: one.workspace.head for one in laptop.repositories}
    indexed = laptop.indexed("reference") if laptop.catalogues else {}
    for one in laptop.catalogues:
        report = reports[one.name]
        if report is None:
            yield f"No run of the catalogue {one.name} has finished."
        elif report.status == "refused":
            yield f"The catalogue {one.name} is refused: {counted(len(report.errors), 'error', 'errors')}."
        elif report.status != "published":
            yield f"The catalogue {one.name} is not at the head of its branch: {catalogue_line(one.name, report)}"
        elif report.commit_sha != heads[one.source.name]:
            yield f"The catalogue {one.name} is at commit {(report.commit_sha or '-')[:12]}, the branch is not."
        manifest = laptop.catalogue_manifest(one.name)
        versions = manifest.versions if manifest else {}
        missing = sum(indexed.get(f"{one.name}/{id}", -1) < version for id, version in versions.items())
        extra = sum(key.startswith(f"{one.name}/") and key.partition("/")[2] not in versions for key in indexed)
        if missing or extra:
            yield f"The index of the catalogue {one.name} lacks {missing} entries, and has {extra} that are gone."
