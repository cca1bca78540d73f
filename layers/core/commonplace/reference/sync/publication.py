"""Publication of a catalogue: the object, the manifest that names it, deletions; with ledger and report of a run."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import ValidationError

from commonplace.kernel.objects import ObjectStore, PreconditionFailed
from commonplace.kernel.parallel import Parallel
from commonplace.reference.library import (
    catalogue_blobs_prefix,
    catalogue_key,
    catalogue_known_key,
    catalogues_prefix,
    manifest_key,
    report_key,
)
from commonplace.reference.model import ENTRY_TYPES, Catalogue, Manifest
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.compilation import compile
from commonplace.reference.source.reader import Reading
from commonplace.reference.sync.plan import CatalogueBefore, CatalogueReport, KnownCatalogue, Status
from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.ports import LeaseHeld
from commonplace.repository.run import RunLedger


class CatalogueLedger(RunLedger):
    """Files, reports and the last publication of the catalogue `name`, as objects of the store."""

    def __init__(self, objects: ObjectStore, parallel: Parallel, name: str) -> None:
        super().__init__(objects, parallel)
        self.name = name

    def before(self) -> CatalogueBefore:
        found = self.objects.get(manifest_key(self.name))
        known = self.objects.get(catalogue_known_key(self.name))
        blobs, report = catalogue_blobs_prefix(self.name), self.report()
        return CatalogueBefore(
            manifest=Manifest.model_validate_json(found.body) if found else None,
            manifest_etag=found.etag if found else None,
            known=KnownCatalogue.model_validate_json(known.body) if known else KnownCatalogue(),
            known_etag=known.etag if known else None,
            reported_by=report.run if report else None,
            catalogues={item.key: item.etag for item in self.objects.list(catalogues_prefix(self.name))},
            blobs=frozenset(BlobSha(item.key.removeprefix(blobs)) for item in self.objects.list(blobs)),
        )

    def put_known(self, known: KnownCatalogue) -> None:
        self.objects.put(catalogue_known_key(self.name), known.to_json())

    def catalogue(self, key: str) -> Catalogue | None:
        """None for an object that is gone, or is not what its name says: its bytes' digest."""
        found = self.objects.get(key)
        if found is None or key != catalogue_key(self.name, digest(found.body)):
            return None
        try:
            return Catalogue.model_validate_json(found.body)
        except ValidationError:  # of another version of this program
            return None

    def keep(self, blob_sha: BlobSha, raw: bytes) -> None:
        self.objects.put(self._blob_key(blob_sha), raw, media_type="application/octet-stream")

    def bytes_of(self, blob_sha: BlobSha) -> bytes | None:
        """Return what was kept, checked against its id."""
        found = self.objects.get(self._blob_key(blob_sha))
        return found.body if found and git_blob_sha(found.body) == blob_sha else None

    def forget(self, blobs: Iterable[BlobSha]) -> None:
        if stale := [self._blob_key(blob_sha) for blob_sha in sorted(blobs)]:
            self.objects.delete(stale)

    def report(self) -> CatalogueReport | None:
        found = self.objects.get(report_key(self.name))
        return CatalogueReport.model_validate_json(found.body) if found else None

    def put_report(self, report: CatalogueReport) -> None:
        self.objects.put(report_key(self.name), report.to_json())

    def _blob_key(self, blob_sha: BlobSha) -> str:
        return f"{catalogue_blobs_prefix(self.name)}{blob_sha}"


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Standing:
    """The publication at the end of a run, and the objects at its keys."""

    manifest: Manifest | None
    catalogue: Catalogue | None
    manifest_etag: str | None
    catalogue_etag: str | None
    previous_key: str | None
    added: tuple[str, ...] = ()
    """Ids of entries, as for the next two."""
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def written(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class Edition:
    """The edition to publish: a reading without errors, of these files of a commit."""

    reading: Reading
    files: Mapping[str, BlobSha]
    """Path in the repository -> blob id."""
    web_url: str | None
    """Where people see the repository."""
    commit_sha: str
    generation: int
    synced_at: datetime
    pipeline: str
    anew: bool
    """No entry keeps its generation (a backfill)."""


def standing(ledger: CatalogueLedger, before: CatalogueBefore) -> Standing:
    """Return what the last publication left."""
    manifest, known = before.manifest, before.known
    key = manifest.catalogue_key if manifest else ""
    replaced = known.previous_key if known.catalogue_key == key else known.catalogue_key
    return Standing(
        manifest=manifest,
        catalogue=ledger.catalogue(key) if manifest else None,
        manifest_etag=before.manifest_etag,
        catalogue_etag=before.catalogues.get(key),
        previous_key=replaced,
    )


def publish(
    ledger: CatalogueLedger, source: CatalogueSource, before: CatalogueBefore, now: Standing, edition: Edition
) -> Standing:
    """Writes the catalogue and the manifest, and removes what these leave behind.

    The generation is above the manifest's own, whatever the run state has forgotten: the index takes no older ones.
    Raises LeaseHeld where another run has been faster.
    """
    earlier = now.manifest
    generation = max(edition.generation, earlier.generation + 1 if earlier else 0)
    catalogue = compile(
        edition.reading,
        source=source,
        web_url=edition.web_url,
        commit=edition.commit_sha,
        generation=generation,
        synced_at=edition.synced_at,
        before=None if edition.anew else now.catalogue,
    )
    body = catalogue.to_json()
    key = catalogue_key(source.name, digest(body))
    catalogue_etag = ledger.objects.put(key, body)
    manifest = Manifest(
        name=source.name,
        pipeline=edition.pipeline,
        repository=source.repository,
        branch=source.branch,
        folder=source.folder,
        commit_sha=edition.commit_sha,
        generation=catalogue.generation,
        synced_at=edition.synced_at,
        files=dict(edition.files),
        catalogue_key=key,
        versions={placed.entry.id: placed.generation for placed in catalogue.entries},
    )
    expected = now.manifest_etag
    try:
        # Fenced: an overtaken run stops here instead of undoing a newer one.
        manifest_etag = ledger.objects.put(
            manifest_key(manifest.name), manifest.to_json(), if_match=expected, if_absent=expected is None
        )
    except PreconditionFailed as error:
        raise LeaseHeld("another run is publishing") from error
    versions = earlier.versions if earlier else {}
    published = replace(
        now,
        manifest=manifest,
        catalogue=catalogue,
        manifest_etag=manifest_etag,
        catalogue_etag=catalogue_etag,
        previous_key=earlier.catalogue_key if earlier else None,
        added=tuple(id for id in manifest.versions if id not in versions),
        changed=tuple(id for id, version in manifest.versions.items() if versions.get(id, version) != version),
        removed=tuple(id for id in versions if id not in manifest.versions),
    )
    # Only who has replaced the manifest may delete catalogues that nobody reads any more, of those that were there when
    # the run began: until then a run that was overtaken could still publish what it has put there, and afterwards a
    # newer run may have put something else.
    kept = {published.manifest.catalogue_key if published.manifest else None, published.previous_key}
    if stale := sorted(before.catalogues.keys() - kept):
        ledger.objects.delete(stale)
    return published


def catalogue_report(source: CatalogueSource, status: Status, now: Standing | None, at: datetime) -> CatalogueReport:
    """Return what is published when the run ends; what it has read is the run's to add."""
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
