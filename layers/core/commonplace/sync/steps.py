"""The steps of a run, as the state machine calls them: JSON in, JSON out, everything large in the store.

plan -> archive | store (one item of the Map) | publish | done;  publish -> finish;  any of them -> fail
"""

import logging
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from commonplace.content.document import BlobSha
from commonplace.content.exclusions import Exclusions
from commonplace.content.links import LinkResolver, ToFile, extract_links
from commonplace.content.reading import PARSER_VERSION, Published, Verdict, judge
from commonplace.content.store import ObjectStore
from commonplace.sync.archive import archived_files
from commonplace.sync.attachments import servable
from commonplace.sync.composition import Source
from commonplace.sync.ledger import Ledger
from commonplace.sync.outcomes import Batch, LostBlob, Outcome, PublishedBlob, Verdicts, outcome_of
from commonplace.sync.parallel import Parallel
from commonplace.sync.planning import (
    ARCHIVE_THRESHOLD,
    Holdings,
    Known,
    Plan,
    needed_blobs,
    pipeline_version,
)
from commonplace.sync.ports import (
    BlobNotFound,
    Repository,
    RepositoryRateLimited,
    RepositoryRefused,
    RepositoryUnavailable,
    SyncState,
    TreeFile,
    UntrustedTree,
)
from commonplace.sync.publishing import Before, Publication, Publisher
from commonplace.sync.report import Report, Summary, status_line, summarise
from commonplace.sync.reporting import report_of
from commonplace.sync.selection import select

logger = logging.getLogger(__name__)

LEASE_SECONDS = 660
"""Longer than the function that publishes may run."""
MAX_WAITS = 8
"""How often one item of the Map waits for GitHub's limit before it is left pending."""

Event = Mapping[str, Any]
Answer = dict[str, Any]


class Steps:
    """One run's steps over the store, the repository and the run state."""

    def __init__(
        self,
        objects: ObjectStore,
        repository: Repository,
        state: SyncState,
        *,
        bucket: str,
        exclusions: Exclusions,
        parallel: Parallel | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.objects = objects
        self.repository = repository
        self.state = state
        self.bucket = bucket
        self.exclusions = exclusions
        self.parallel = parallel or Parallel()
        self.ledger = Ledger(objects, self.parallel)
        self.now = now
        self.pipeline = pipeline_version(exclusions)

    def plan(self, event: Event) -> Answer:
        """Reads the head, the tree and the store, and writes what the run has to do."""
        run, full = str(event["run"]), bool(event.get("full"))
        seen = self.state.read().pokes  # before the head is read: a later hint makes the run go round once more
        try:
            return self._plan(run, full) | {"seen": seen}
        except RepositoryRateLimited as limit:
            return _wait(limit) | {"seen": seen}

    def archive(self, event: Event) -> Answer:
        """Fetches what is needed by one download; what it does not hold is left to the Map."""
        run = str(event["run"])
        plan = self.ledger.plan(run)
        needed, asked = set(plan.needed), self.repository.calls
        try:
            with tempfile.TemporaryFile() as spool:
                self.repository.archive(plan.commit_sha, spool)
                spool.seek(0)
                outcomes, linked = self._judge_archive(spool, plan, needed)
                spool.seek(0)
                self._stage_archived(spool, linked)
        except RepositoryRateLimited as limit:
            return _wait(limit)
        except (tarfile.TarError, EOFError) as error:
            raise RepositoryUnavailable("the archive arrived broken") from error
        self.ledger.put_batch(run, "archive", Batch(outcomes=outcomes, github_calls=self.repository.calls - asked))
        remaining = [blob for blob in plan.needed if blob not in {outcome.blob_sha for outcome in outcomes}]
        return self._items(run, remaining)

    def store(self, event: Event) -> Answer:
        """One item of the Map: fetches, judges and stages a few blobs. Files go by blob id; no path is known here."""
        run, blobs = str(event["run"]), [BlobSha(blob) for blob in event["item"]["blobs"]]
        waits = int(event.get("waits", 0))
        outcomes: list[Outcome] = []
        asked = self.repository.calls
        for blob_sha in blobs:
            try:
                raw = self.repository.blob(blob_sha)
            except BlobNotFound:
                outcomes.append(LostBlob(blob_sha=blob_sha, reason="GitHub has no such blob"))
                continue
            except RepositoryRefused:
                outcomes.append(LostBlob(blob_sha=blob_sha, reason="GitHub refused the blob"))
                continue
            except RepositoryRateLimited as limit:
                if waits < MAX_WAITS:
                    return _wait(limit) | {"ok": False, "waits": waits + 1}
                outcomes.append(LostBlob(blob_sha=blob_sha, reason="GitHub's rate limit"))
                continue
            outcomes.append(self._settle(blob_sha, raw, judge(raw)))
        self.ledger.put_batch(run, blobs[0], Batch(outcomes=outcomes, github_calls=self.repository.calls - asked))
        return {"ok": True, "action": "stored"}

    def publish(self, event: Event) -> Answer:
        """Brings the store to the plan's commit, unless another run has published since: then it is planned anew."""
        run = str(event["run"])
        plan = self.ledger.plan(run)
        generation = self.state.lease(run, LEASE_SECONDS)
        try:
            before = self.ledger.before()
            if before.manifest_etag != plan.manifest_etag:
                return {"action": "plan"}
            return self._publish(run, plan, before, generation)
        except RepositoryRateLimited as limit:
            return _wait(limit)
        finally:
            self.state.end_lease(run)

    def finish(self, event: Event) -> Answer:
        """Gives the claim up, or says that a hint has come meanwhile and the run must go round again."""
        return {"again": not self.state.finish(str(event["run"]), int(event["seen"]))}

    def fail(self, event: Event) -> Answer:
        """A run that failed whole: the store is as it was, the hints stay open, the next run heals."""
        run, error = str(event["run"]), str(event.get("error", "Unknown"))
        self.state.end_lease(run)
        self.state.release(run)
        earlier = self.ledger.summary() or Summary(status="failed")
        self.ledger.put_summary(
            earlier.model_copy(update={"status": "failed", "error": error, "checked_at": self.now()})
        )
        logger.error("sync run failed", extra={"run": run, "error": error})
        return {"failed": True}

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
        head = self.repository.head(known.head_etag if settled else None)
        if head is None or (settled and head.commit_sha == known.commit_sha):
            self._confirm(summary)
            return {"action": "done", "commitSha": known.commit_sha}
        tree = self.repository.tree(head.commit_sha)
        if not tree:
            raise UntrustedTree("the tree is empty")
        content = [file for file in tree if self.exclusions.is_content(file.path)]
        if full:
            needed = needed_blobs(content, {}, None, Holdings.nothing())
        else:
            needed = needed_blobs(content, known.judged(), manifest, holdings)
        plan = Plan(
            commit_sha=head.commit_sha,
            head_etag=head.etag,
            manifest_etag=before.manifest_etag,
            started_at=started,
            full=full,
            files=tree,
            needed=needed,
            github_calls=self.repository.calls - asked,
        )
        self.ledger.put_plan(run, plan)
        if len(needed) > ARCHIVE_THRESHOLD:
            return {"action": "archive", "commitSha": head.commit_sha}
        return self._items(run, needed) | {"commitSha": head.commit_sha}

    def _confirm(self, summary: Summary | None) -> None:
        """The store is at the head: says when that was last found, and takes back a failure."""
        found = {"status": "succeeded", "error": None, "checked_at": self.now()}
        self.ledger.put_summary((summary or Summary(status="succeeded")).model_copy(update=found))

    def _items(self, run: str, needed: Sequence[BlobSha]) -> Answer:
        """Writes the Map's input. An empty one is never mapped: the state machine goes straight to publishing."""
        key, count = self.ledger.put_items(run, needed)
        action = "store" if count else "publish"
        return {"action": action, "bucket": self.bucket, "items": {"key": key, "count": count}}

    def _publish(self, run: str, plan: Plan, before: Before, generation: int) -> Answer:
        holdings = self.ledger.holdings()
        verdicts = {} if plan.full else before.known.judged()
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
            source=Source(self.repository.name, plan.commit_sha, self.now(), generation),
            parallel=self.parallel,
        )
        prepared = publisher.prepare(selection)
        publication = publisher.write(prepared)
        self._remember(plan, content, verdicts, publication)
        publisher.switch(publication, self.pipeline, prepared.naming.refs)
        report = report_of(publication, run=run, plan=plan, generation=generation, finished_at=self.now())
        if publication.stored or publication.removed:
            self._post_status(report)
        return self._conclude(report.model_copy(update={"github_calls": asked + self.repository.calls}))

    def _conclude(self, report: Report) -> Answer:
        self.ledger.put_report(report)
        self.ledger.put_summary(summarise(report))
        counts = report.counts.model_dump(by_alias=True)
        logger.info("published", extra={"run": report.run, "commit": report.commit_sha, "counts": counts})
        return {"action": "published", "counts": counts, "pending": report.pending}

    def _post_status(self, report: Report) -> None:
        """A courtesy to the editors: a token that may not write statuses does not fail the run."""
        try:
            self.repository.set_status(
                report.commit_sha, "failure" if report.pending else "success", status_line(report)
            )
        except (RepositoryRefused, RepositoryUnavailable, RepositoryRateLimited) as error:
            logger.warning("the commit status could not be set", extra={"error": type(error).__name__})

    def _settle(self, blob_sha: BlobSha, raw: bytes, verdict: Verdict) -> Outcome:
        """What becomes of one blob; only published bytes are kept."""
        outcome = outcome_of(blob_sha, verdict)
        if isinstance(outcome, PublishedBlob):
            self.ledger.stage(blob_sha, raw)
        return outcome

    def _judge_archive(self, spool: Any, plan: Plan, needed: set[BlobSha]) -> tuple[list[Outcome], dict[str, TreeFile]]:
        """Outcomes of the needed blobs, and the other files that published ones among them embed or link."""
        wanted = {file.path: file for file in plan.files if file.blob_sha in needed}
        others = plan.others
        resolver = LinkResolver((), others)
        outcomes: dict[BlobSha, Outcome] = {}
        linked: dict[str, TreeFile] = {}
        for file in archived_files(spool, wanted):
            verdict = judge(file.raw)
            if file.blob_sha not in outcomes:
                outcomes[file.blob_sha] = self._settle(file.blob_sha, file.raw, verdict)
            for link in extract_links(verdict.file) if isinstance(verdict, Published) else ():
                target = resolver.resolve(file.path, link)
                if isinstance(target, ToFile) and servable(others[target.path]):
                    linked[target.path] = others[target.path]
        return list(outcomes.values()), linked

    def _stage_archived(self, spool: Any, linked: Mapping[str, TreeFile]) -> None:
        for file in archived_files(spool, linked) if linked else ():
            self.ledger.stage(file.blob_sha, file.raw)

    def _remember(self, plan: Plan, content: Sequence[TreeFile], verdicts: Verdicts, publication: Publication) -> None:
        """Before the manifest: if the manifest does not follow, the commits differ and nothing is taken for granted."""
        present = {file.blob_sha for file in content}
        shut = [
            verdict
            for blob_sha, verdict in sorted(verdicts.items())
            if blob_sha in present and not isinstance(verdict, PublishedBlob | LostBlob)
        ]
        known = Known(
            commit_sha=plan.commit_sha,
            head_etag=plan.head_etag,
            parser=PARSER_VERSION,
            verdicts=shut,
            problems={path: problems for path, problems in publication.problems.items() if problems},
        )
        self.ledger.put_known(known)


def _wait(limit: RepositoryRateLimited) -> Answer:
    """The workflow waits as long as GitHub told; a retry's delay could not."""
    return {"action": "wait", "waitUntil": f"{limit.until:%Y-%m-%dT%H:%M:%SZ}"}
