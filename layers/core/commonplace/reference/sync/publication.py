"""One publication of a catalogue: the object, the manifest that names it, and only then deletions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.kernel.objects import PreconditionFailed
from commonplace.reference.catalogue import Catalogue, Manifest
from commonplace.reference.keys import catalogue_key, manifest_key
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.compiling import compile
from commonplace.reference.source.reader import Reading
from commonplace.reference.sync.catalogue_ledger import CatalogueLedger, digest
from commonplace.reference.sync.plan import CatalogueBefore
from commonplace.repository.blobs import BlobSha
from commonplace.repository.ports import LeaseHeld


@dataclass(frozen=True, slots=True)
class Standing:
    """What is published when a run ends, and what its keys hold."""

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
    """What is to be published: a reading without errors, of these files of a commit."""

    reading: Reading
    files: Mapping[str, BlobSha]
    """Path in the repository -> blob id."""
    commit_sha: str
    generation: int
    synced_at: datetime
    pipeline: str
    anew: bool
    """No entry keeps its generation (a backfill)."""


def standing(ledger: CatalogueLedger, before: CatalogueBefore) -> Standing:
    """As the last publication left it."""
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
        commit=edition.commit_sha,
        generation=generation,
        synced_at=edition.synced_at,
        before=None if edition.anew else now.catalogue,
    )
    body = catalogue.to_json()
    key = catalogue_key(source.name, digest(body))
    catalogue_etag = ledger.objects.put(key, body)
    manifest = _manifest(source, edition, catalogue, key)
    manifest_etag = _replace(ledger, manifest, now.manifest_etag)
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
    _sweep(ledger, before, published)
    return published


def _sweep(ledger: CatalogueLedger, before: CatalogueBefore, now: Standing) -> None:
    """Deletes catalogues that nobody reads any more, of those that were there when the run began.

    Only who has replaced the manifest may: until then a run that was overtaken could still publish what it has put
    there, and afterwards a newer run may have put something else.
    """
    kept = {now.manifest.catalogue_key if now.manifest else None, now.previous_key}
    if stale := sorted(before.catalogues.keys() - kept):
        ledger.objects.delete(stale)


def _manifest(source: CatalogueSource, edition: Edition, catalogue: Catalogue, key: str) -> Manifest:
    return Manifest(
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


def _replace(ledger: CatalogueLedger, manifest: Manifest, expected_etag: str | None) -> str:
    """Fenced: an overtaken run stops here instead of undoing a newer one."""
    try:
        return ledger.objects.put(
            manifest_key(manifest.name), manifest.to_json(), if_match=expected_etag, if_absent=expected_etag is None
        )
    except PreconditionFailed as error:
        raise LeaseHeld("another run is publishing") from error
