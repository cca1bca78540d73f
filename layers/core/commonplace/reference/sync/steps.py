"""Steps of a run that publishes the head of a catalogue's branch: whole, or not at all.

A catalogue with errors is an outcome and no failure: it is reported, the last good one goes on answering, and nothing
is tried again before the head moves or the rules change.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import BinaryIO

from commonplace.kernel.objects import ObjectStore
from commonplace.kernel.parallel import Parallel
from commonplace.kernel.telemetry import count
from commonplace.reference.settings import CatalogueSource, catalogue_sources
from commonplace.reference.sync.plan import (
    NOT_FETCHED,
    CatalogueBefore,
    Judged,
    KnownCatalogue,
    beyond_bounds,
    catalogue_pipeline,
    catalogue_status_line,
    in_folder,
    judge_files,
    place_of,
    readable,
    worth_an_archive,
)
from commonplace.reference.sync.publication import (
    CatalogueLedger,
    Edition,
    catalogue_report,
    publish,
    standing,
)
from commonplace.repository.blobs import BlobSha
from commonplace.repository.outcomes import Outcome, PublishedBlob
from commonplace.repository.plan import Plan
from commonplace.repository.ports import BlobNotFound, Repository, RepositoryRefused, SyncState, TreeFile
from commonplace.repository.run import Answer, RunSteps, archived_files
from commonplace.repository.sources import StepContext

logger = logging.getLogger(__name__)

FETCHED_LATE = 50
"""Files that publishing itself fetches, where the Map could not or another run has swept them away."""


class CatalogueSteps(RunSteps):
    """One run's steps over the store, the repository and the run state of one catalogue."""

    def __init__(
        self,
        objects: ObjectStore,
        repository: Repository,
        state: SyncState,
        source: CatalogueSource,
        *,
        bucket: str,
        parallel: Parallel | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.parallel = parallel or Parallel()
        self.ledger = CatalogueLedger(objects, self.parallel, source.name)
        super().__init__(self.ledger, repository, state, bucket=bucket, now=now)
        self.source = source
        self.pipeline = catalogue_pipeline(source)

    def _plan(self, run: str, full: bool) -> Answer:
        started, asked, before = self.now(), self.repository.calls, self.ledger.before()
        settled = not full and before.settled(self.pipeline, self.source)
        head = self._moved(settled, before.known.commit_sha, before.known.head_etag)
        if head is None:
            self._confirm(before.known)
            return {"action": "done", "commitSha": before.known.commit_sha}
        tree = self._tree(head.commit_sha)
        files = in_folder(tree, self.source)
        wanted = self._wanted(files, before, full)
        same = before.publishes({file.path: file.blob_sha for file in wanted}, self.pipeline, self.source)
        if settled and same and before.known.outcome == "published":
            moved = before.known.model_copy(update={"commit_sha": head.commit_sha, "head_etag": head.etag})
            self.ledger.put_known(moved)
            self._confirm(moved)
            return {"action": "done", "commitSha": head.commit_sha}
        needed: list[BlobSha] = []
        if not beyond_bounds(readable(files, self.source), self.source):
            at_hand = frozenset[BlobSha]() if full else before.blobs
            needed = list(dict.fromkeys(file.blob_sha for file in wanted if file.blob_sha not in at_hand))
        plan = Plan(
            commit_sha=head.commit_sha,
            head_etag=head.etag,
            manifest_etag=before.fence,
            started_at=started,
            full=full,
            files=files,
            needed=needed,
            github_calls=self.repository.calls - asked,
        )
        return self._planned(run, plan, by_archive=worth_an_archive(len(needed), tree))

    def _wanted(self, files: list[TreeFile], before: CatalogueBefore, full: bool) -> list[TreeFile]:
        """Return what is to be read, without what is known not to be published."""
        left_out = frozenset[BlobSha]() if full else before.left_out(self.pipeline)
        return [file for file in readable(files, self.source) if file.blob_sha not in left_out]

    def _confirm(self, known: KnownCatalogue) -> None:
        """The last word holds: says when that was last found, and takes back a failure."""
        if report := self.ledger.report():
            found = {"status": known.outcome, "error": None, "checked_at": self.now(), "commit_sha": known.commit_sha}
            self.ledger.put_report(report.model_copy(update=found))

    def _take_archive(self, _run: str, spool: BinaryIO, plan: Plan) -> list[Outcome]:
        needed = set(plan.needed)
        wanted = {file.path: file for file in plan.files if file.blob_sha in needed}
        settled = {file.blob_sha: self._settle(file.blob_sha, file.raw) for file in archived_files(spool, wanted)}
        return list(settled.values())

    def _settle(self, blob_sha: BlobSha, raw: bytes) -> Outcome:
        self.ledger.keep(blob_sha, raw)
        return PublishedBlob(blob_sha=blob_sha)

    def _record_failure(self, run: str, error: str, file: str = "") -> None:  # noqa: ARG002 - files are in its problems
        earlier = self.ledger.report() or catalogue_report(self.source, "failed", None, self.now())
        found = {"status": "failed", "error": error, "checked_at": self.now()}
        self.ledger.put_report(earlier.model_copy(update=found))

    def _publish(self, run: str, plan: Plan, generation: int) -> Answer:
        before = self.ledger.before()
        if before.fence != plan.manifest_etag:
            return {"action": "plan"}
        asked = plan.github_calls + self.ledger.add_outcomes(run, {}) - self.repository.calls
        judged, now = self._judge(plan, before), standing(self.ledger, before)
        # What is published may be these files, read by these rules, and whole: then it stays.
        same = now.catalogue is not None and before.publishes(judged.files, self.pipeline, self.source)
        if judged.reading is not None and judged.outcome == "published" and (plan.full or not same):
            edition = Edition(
                judged.reading,
                judged.files,
                self.source.url or self.repository.web_url,
                plan.commit_sha,
                generation,
                self.now(),
                self.pipeline,
                anew=plan.full,
            )
            now = publish(self.ledger, self.source, before, now, edition)
        self.ledger.forget(before.blobs - set(judged.files.values()))
        report = catalogue_report(self.source, judged.outcome, now, self.now()).model_copy(
            update={
                "run": run,
                "commit_sha": plan.commit_sha,
                "started_at": plan.started_at,
                "files": len(judged.files),
                "problems": list(judged.problems),
                "github_calls": asked + self.repository.calls,
            }
        )
        self.ledger.put_report(report)
        good = report.status == "published"
        if not good or now.written or before.known.outcome != "published":
            self._post_status(report.commit_sha or "", "success" if good else "failure", catalogue_status_line(report))
        facts = {"catalogue": report.catalogue, "commit": report.commit_sha, "errors": len(report.errors)}
        if report.status == "refused":
            count("CataloguesRefused")  # its name is no dimension: the line has it
            logger.warning("catalogue refused", extra=facts | {"first": report.problems[0].message})
        else:
            logger.info("catalogue looked at", extra=facts | {"outcome": report.status, "entries": report.entries})
        kept = set(judged.files.values())
        self.ledger.put_known(
            KnownCatalogue(
                commit_sha=plan.commit_sha,
                head_etag=plan.head_etag,
                pipeline=self.pipeline,
                place=place_of(self.source),
                outcome=judged.outcome,
                run=run,
                left_out=sorted({file.blob_sha for file in readable(plan.files, self.source)} - kept),
                manifest_etag=now.manifest_etag,
                catalogue_key=now.manifest.catalogue_key if now.manifest else None,
                catalogue_etag=now.catalogue_etag,
                previous_key=now.previous_key,
            )
        )
        counts = {"entries": report.entries, "errors": len(report.errors), "warnings": report.warnings}
        return {"action": "published", "counts": counts, "pending": int(judged.outcome == "pending")}

    def _judge(self, plan: Plan, before: CatalogueBefore) -> Judged:
        readable_files = readable(plan.files, self.source)
        files = {file.path: file.blob_sha for file in self._wanted(plan.files, before, plan.full)}
        if problems := beyond_bounds(readable_files, self.source):
            return Judged("refused", files, tuple(problems))
        names, pending = list(dict.fromkeys(files.values())), Judged("pending", files, (NOT_FETCHED,))
        raws: dict[BlobSha, bytes] = {}
        for name, raw in zip(names, self.parallel.map(self.ledger.bytes_of, names), strict=True):
            raws |= {} if raw is None else {name: raw}
        missing = [name for name in names if name not in raws]
        if len(missing) > FETCHED_LATE:
            return pending
        for name in missing:
            try:
                raws[name] = self.repository.blob(name)
            except (BlobNotFound, RepositoryRefused):
                return pending
            self.ledger.keep(name, raws[name])
        return judge_files(self.source, plan.files, files, raws)


def steps(context: StepContext) -> CatalogueSteps:
    """Return the steps by which a deployment syncs one of its catalogues."""
    (source,) = (one for one in catalogue_sources(context.environ) if one.name == context.source.name)
    return CatalogueSteps(
        context.objects,
        context.repository,
        context.state,
        source,
        bucket=context.settings.content_bucket,
        parallel=context.parallel,
    )
