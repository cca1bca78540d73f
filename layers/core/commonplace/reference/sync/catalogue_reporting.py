"""A run of a catalogue told to its maintainers. Pure."""

from collections import Counter
from datetime import datetime

from commonplace.reference.entries import ENTRY_TYPES
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.sync.catalogue_report import CatalogueReport, Status
from commonplace.reference.sync.publication import Standing


def catalogue_report(source: CatalogueSource, status: Status, now: Standing | None, at: datetime) -> CatalogueReport:
    """What is published when the run ends; what it has read is the run's to add."""
    manifest, catalogue = (now.manifest, now.catalogue) if now else (None, None)
    types = Counter(placed.entry.type for placed in catalogue.entries) if catalogue else Counter()
    return CatalogueReport(
        catalogue=source.name,
        status=status,
        repository=source.repository,
        branch=source.branch,
        folder=source.folder,
        published_commit=manifest.commit_sha if manifest else None,
        generation=manifest.generation if manifest else 0,
        finished_at=at,
        checked_at=at,
        entries=types.total(),
        by_type={kind: types[kind] for kind in ENTRY_TYPES if types[kind]},
        added=list(now.added) if now else [],
        changed=list(now.changed) if now else [],
        removed=list(now.removed) if now else [],
    )
