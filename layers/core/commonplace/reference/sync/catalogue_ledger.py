"""What runs of a catalogue keep in the store, and what they find there."""

import hashlib
from collections.abc import Iterable

from pydantic import ValidationError

from commonplace.kernel.objects import ObjectStore
from commonplace.kernel.parallel import Parallel
from commonplace.reference.catalogue import Catalogue, Manifest
from commonplace.reference.keys import (
    catalogue_blobs_prefix,
    catalogue_key,
    catalogue_known_key,
    catalogues_prefix,
    manifest_key,
    report_key,
)
from commonplace.reference.sync.catalogue_report import CatalogueReport
from commonplace.reference.sync.plan import CatalogueBefore, KnownCatalogue
from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.run_ledger import RunLedger


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
        """What was kept, checked against its id."""
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
