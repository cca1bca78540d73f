"""Steps of a run that publishes the head of the knowledge base's branch."""

import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import BinaryIO

from commonplace.documents.content.graph import LinkResolver, ToFile
from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions, is_servable
from commonplace.documents.content.reader import Published, contents_of, judge, outcome_of
from commonplace.documents.settings import DocumentsSettings
from commonplace.documents.sync.ledger import Ledger
from commonplace.documents.sync.plan import (
    Holdings,
    Known,
    ReadPage,
    needed_blobs,
    parser_version,
    pipeline_version,
    select,
)
from commonplace.documents.sync.publication import Publication, Publisher, Source
from commonplace.documents.sync.report import PastRun, Report, Summary, report_of, status_line, summarise
from commonplace.kernel.objects import ObjectStore
from commonplace.kernel.parallel import Parallel
from commonplace.repository.blobs import BlobSha
from commonplace.repository.markdown import MAX_FILE_BYTES
from commonplace.repository.outcomes import LostBlob, Outcome, PublishedBlob
from commonplace.repository.plan import ARCHIVE_THRESHOLD, Plan
from commonplace.repository.ports import Repository, SyncState, TreeFile
from commonplace.repository.run import Answer, RunSteps, archived_files
from commonplace.repository.sources import StepContext

LOOKING_SECONDS = 120
"""For so long an archive's documents are searched for what they embed: the rest is fetched when it is published."""

logger = logging.getLogger(__name__)


class Steps(RunSteps):
    """One run's steps over the store, the repository and the run state."""

    def __init__(
        self,
        objects: ObjectStore,
        repository: Repository,
        state: SyncState,
        *,
        bucket: str,
        exclusions: Exclusions,
        logo: str | None = None,
        everything: bool = False,
        parallel: Parallel | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`logo` is the path of an image that is published whether or not a document shows it; with `everything` files
        are published that say nothing about it."""
        self.objects = objects
        self.exclusions = exclusions
        self.logo = logo
        self.everything = everything
        self.parser = parser_version(everything=everything)
        self.parallel = parallel or Parallel()
        self.ledger = Ledger(objects, self.parallel)
        super().__init__(self.ledger, repository, state, bucket=bucket, now=now)
        self.pipeline = pipeline_version(exclusions, logo, everything=everything)

    def _plan(self, run: str, full: bool) -> Answer:
        started, asked = self.now(), self.repository.calls
        before, holdings, summary = self.ledger.before(), self.ledger.holdings(), self.ledger.summary()
        known, manifest = before.known, before.manifest
        settled = (
            manifest is not None
            and summary is not None
            and not full
            and manifest.pipeline == self.pipeline
            and manifest.pending == 0
            and known.commit_sha == summary.commit_sha == manifest.commit_sha
            and holdings.agrees_with(manifest)
        )
        head = self._moved(settled, known.commit_sha, known.head_etag)
        if head is None:
            # The store is at the head: the summary says when that was last found, and takes back a failure.
            found = {"status": "succeeded", "error": None, "checked_at": self.now()}
            self.ledger.put_summary((summary or Summary(status="succeeded")).model_copy(update=found))
            return {"action": "done", "commitSha": known.commit_sha}
        tree = self._tree(head.commit_sha)
        content = [file for file in tree if self.exclusions.is_content(file.path)]
        misplaced = self._misplaced(tree)
        full = full or (manifest is not None and manifest.everything != self.everything)  # every gate is asked anew
        if full:
            needed = needed_blobs(content, {}, None, Holdings.nothing(), misplaced)
        else:
            needed = needed_blobs(content, known.judged(self.parser), manifest, holdings, misplaced)
        plan = Plan(
            commit_sha=head.commit_sha,
            head_etag=head.etag,
            manifest_etag=before.manifest_etag,
            started_at=started,
            full=full,
            files=tree,
            needed=needed,
            working_copy=head.working_copy,
            github_calls=self.repository.calls - asked,
        )
        return self._planned(run, plan, by_archive=len(needed) > ARCHIVE_THRESHOLD)

    def _publish(self, run: str, plan: Plan, generation: int) -> Answer:
        before = self.ledger.before()
        if before.manifest_etag != plan.manifest_etag:
            return {"action": "plan"}
        holdings = self.ledger.holdings()
        verdicts = {} if plan.full else before.known.judged(self.parser)
        asked = plan.github_calls + self.ledger.add_outcomes(run, verdicts) - self.repository.calls
        content = [file for file in plan.files if self.exclusions.is_content(file.path)]
        manifest = before.manifest
        rewrite = plan.full or manifest is None or manifest.pipeline != self.pipeline or before.graph is None
        selection = select(content, verdicts, manifest, holdings, rewrite=rewrite)
        publisher = Publisher(
            self.objects,
            self.repository,
            plan=plan,
            before=before,
            holdings=holdings,
            source=Source(self.repository.name, self.repository.web_url, plan.commit_sha, self.now(), generation),
            logo=self.logo,
            everything=self.everything,
            parallel=self.parallel,
            fetched=self.ledger.bundle(run),
        )
        prepared = publisher.prepare(selection)
        publication = publisher.write(prepared)
        misplaced = [
            file for file in self._misplaced(plan.files) if isinstance(verdicts.get(file.blob_sha), PublishedBlob)
        ]
        # Before the manifest: if the manifest does not follow, the commits differ and nothing is taken for granted.
        there = {file.blob_sha for file in (*content, *self._misplaced(plan.files))}
        open_elsewhere = {file.blob_sha for file in misplaced}
        shut = [
            verdict
            for blob_sha, verdict in sorted(verdicts.items())
            if blob_sha in open_elsewhere or (blob_sha in there and not isinstance(verdict, PublishedBlob | LostBlob))
        ]
        known = Known(
            commit_sha=plan.commit_sha,
            head_etag=plan.head_etag,
            parser=self.parser,
            verdicts=shut,
            pages={path: read for path, read in publication.read.items() if read != ReadPage()},
        )
        self.ledger.put_known(known)
        publisher.switch(publication, self.pipeline, prepared.naming.refs)
        report = report_of(
            publication,
            run=run,
            plan=plan,
            generation=generation,
            finished_at=self.now(),
            exclusions=self.exclusions,
            misplaced=[file.path for file in misplaced],
        )
        if publication.stored or publication.removed:
            self._post_status(report.commit_sha, "failure" if report.pending else "success", status_line(report))
        report = report.model_copy(update={"github_calls": asked + self.repository.calls})
        return self._conclude(report, publication)

    def _conclude(self, report: Report, publication: Publication) -> Answer:
        self.ledger.put_report(report)
        self.ledger.add_run(
            PastRun(
                status="succeeded",
                finished_at=report.finished_at,
                run=report.run,
                commit_sha=report.commit_sha,
                counts=report.counts,
                pending=report.pending,
            )
        )
        self.ledger.put_summary(summarise(report, ((entry.path, entry.ref) for entry in publication.entries)))
        counts = report.counts.model_dump(by_alias=True)
        logger.info("published", extra={"run": report.run, "commit": report.commit_sha, "counts": counts})
        return {"action": "published", "counts": counts, "pending": report.pending}

    def _record_failure(self, run: str, error: str, file: str = "") -> None:
        earlier, now = self.ledger.summary() or Summary(status="failed"), self.now()
        self.ledger.put_summary(earlier.model_copy(update={"status": "failed", "error": error, "checked_at": now}))
        self.ledger.add_run(PastRun(status="failed", finished_at=now, run=run, error=error, file=file))

    def _settle(self, blob_sha: BlobSha, raw: bytes) -> Outcome:
        """Only published bytes are kept."""
        outcome = outcome_of(blob_sha, judge(raw, everything=self.everything))
        if isinstance(outcome, PublishedBlob):
            self.ledger.stage(blob_sha, raw)
        return outcome

    def _take_archive(self, run: str, spool: BinaryIO, plan: Plan) -> list[Outcome]:
        """Keeps the published files among the needed ones, and the other files that they embed or link."""
        needed = set(plan.needed)
        wanted = {file.path: file for file in plan.files if file.blob_sha in needed}
        others = {path: file for path, file in plan.others.items() if is_servable(path, file.size)}
        suffixes = {PurePosixPath(path).suffix.lower().encode() for path in others}
        resolver = LinkResolver((), plan.others)
        outcomes: dict[BlobSha, Outcome] = {}
        published: dict[BlobSha, bytes] = {}
        linked: dict[str, TreeFile] = {}
        until = time.monotonic() + LOOKING_SECONDS
        for file in archived_files(spool, wanted):
            verdict = judge(file.raw, everything=self.everything)
            outcomes[file.blob_sha] = outcome_of(file.blob_sha, verdict)
            if not isinstance(verdict, Published):
                continue
            published[file.blob_sha] = file.raw
            # Only a hint, for links are read when the file is published: what is missed here is fetched by its id.
            text = file.raw.lower()
            if time.monotonic() < until and any(suffix in text for suffix in suffixes):
                targets = (resolver.resolve(file.path, link) for link in contents_of(verdict.file).links)
                found = (target.path for target in targets if isinstance(target, ToFile))
                linked |= {path: others[path] for path in found if path in others}
        self.ledger.put_bundle(run, published)
        spool.seek(0)
        for file in archived_files(spool, linked) if linked else ():
            self.ledger.stage(file.blob_sha, file.raw)
        return list(outcomes.values())

    def _misplaced(self, files: Iterable[TreeFile]) -> list[TreeFile]:
        """Files that are read to tell an editor about them, and for nothing else."""
        return [file for file in files if self.exclusions.is_misplaced(file.path) and file.size <= MAX_FILE_BYTES]


def steps(context: StepContext) -> Steps:
    """As a deployment syncs its documents: without the folders that other sources of the branch have for themselves."""
    settings = DocumentsSettings.from_environ(context.environ)
    excluded = DEFAULT_EXCLUDES if settings.exclude is None else settings.exclude
    return Steps(
        context.objects,
        context.repository,
        context.state,
        bucket=context.settings.content_bucket,
        exclusions=Exclusions(excluded, elsewhere=context.folders_of_others),
        logo=settings.site_logo,
        everything=settings.everything,
        parallel=context.parallel,
    )
