"""The ledger of a run: staged files, reports and the last publication, as objects of the store."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZipFile

from commonplace.documents.content.document import MANIFEST_KEY, Manifest
from commonplace.documents.content.graph import Graph
from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, CONTENT_PREFIX, RAW_PREFIX
from commonplace.documents.sync.keys import (
    HISTORY_KEY,
    KNOWN_KEY,
    STAGED_PREFIX,
    SUMMARY_KEY,
    bundle_key,
    report_key,
    staged_key,
)
from commonplace.documents.sync.plan import Holdings, Known
from commonplace.documents.sync.publication import GRAPH_PREFIX, Before
from commonplace.documents.sync.report import History, PastRun, Report, Summary
from commonplace.repository.blobs import BlobSha
from commonplace.repository.run import RunLedger


class Ledger(RunLedger):
    """Staged files, reports and the last publication, as objects of the store."""

    def stage(self, blob_sha: BlobSha, raw: bytes) -> None:
        """Keeps the bytes of a published file or an attachment until they are published."""
        self.objects.put(staged_key(blob_sha), raw, media_type="application/octet-stream")

    def put_bundle(self, run: str, files: Mapping[BlobSha, bytes]) -> None:
        """Keeps the published files of an archive as `stage` does, but in one object: there may be thousands."""
        bundle = BytesIO()
        with ZipFile(bundle, "w") as archive:
            for blob_sha, raw in files.items():
                archive.writestr(blob_sha, raw)
        self.objects.put(bundle_key(run), bundle.getvalue(), media_type="application/zip")

    def bundle(self, run: str) -> dict[BlobSha, bytes]:
        """Empty for a run that needed no archive."""
        found = self.objects.get(bundle_key(run))
        if found is None:
            return {}
        with ZipFile(BytesIO(found.body)) as archive:
            return {BlobSha(name): archive.read(name) for name in archive.namelist()}

    def known(self) -> Known:
        found = self.objects.get(KNOWN_KEY)
        return Known.model_validate_json(found.body) if found else Known()

    def put_known(self, known: Known) -> None:
        self.objects.put(KNOWN_KEY, known.to_json())

    def before(self) -> Before:
        """Return the last publication: manifest, graph, and what was to mend."""
        found = self.objects.get(MANIFEST_KEY)
        manifest = Manifest.model_validate_json(found.body) if found else None
        stored = self.objects.get(manifest.graph_key) if manifest and manifest.graph_key else None
        return Before(
            manifest=manifest,
            manifest_etag=found.etag if found else None,
            graph=Graph.model_validate_json(stored.body) if stored else None,
            known=self.known(),
        )

    def holdings(self) -> Holdings:
        """Return what is really there, by listing."""

        def listed(prefix: str) -> dict[str, str]:
            return {item.key: item.etag for item in self.objects.list(prefix)}

        staged = (item.key.removeprefix(STAGED_PREFIX) for item in self.objects.list(STAGED_PREFIX))
        return Holdings(
            content=listed(CONTENT_PREFIX),
            raw=listed(RAW_PREFIX),
            attachments=listed(ATTACHMENTS_PREFIX),
            graphs=frozenset(listed(GRAPH_PREFIX)),
            staged=frozenset(BlobSha(name) for name in staged),
        )

    def put_report(self, report: Report) -> None:
        self.objects.put(report_key(report.commit_sha), report.to_json())

    def add_run(self, run: PastRun) -> None:
        found = self.objects.get(HISTORY_KEY)
        history = History.model_validate_json(found.body) if found else History()
        self.objects.put(HISTORY_KEY, history.with_run(run).to_json())

    def summary(self) -> Summary | None:
        found = self.objects.get(SUMMARY_KEY)
        return Summary.model_validate_json(found.body) if found else None

    def put_summary(self, summary: Summary) -> None:
        self.objects.put(SUMMARY_KEY, summary.to_json())
