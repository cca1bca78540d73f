"""The steps that all runs share, and their ledger in the store: JSON in, JSON out, everything large in the store.

plan -> archive | store (one item of the Map) | publish | done;  publish -> finish;  any of them -> fail
"""

import json
import logging
import tarfile
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal

from commonplace.kernel.objects import ObjectStore
from commonplace.kernel.parallel import Parallel
from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.outcomes import Batch, LostBlob, Outcome, Verdicts, merge
from commonplace.repository.plan import ITEM_SIZE, Plan, items_key, outcomes_prefix, plan_key
from commonplace.repository.ports import (
    BlobNotFound,
    Head,
    Repository,
    RepositoryRateLimited,
    RepositoryRefused,
    RepositoryUnavailable,
    SyncState,
    TreeFile,
    UntrustedTree,
)

logger = logging.getLogger(__name__)

LEASE_SECONDS = 660  # Longer than the function that publishes may run
MAX_WAITS = 8  # How often one item of the Map waits for GitHub's limit before it is left pending

Event = Mapping[str, Any]
Answer = dict[str, Any]


class RunLedger:
    """Plans, items and outcomes of runs, each under the run's name."""

    def __init__(self, objects: ObjectStore, parallel: Parallel) -> None:
        self.objects = objects
        self.parallel = parallel

    def plan(self, run: str) -> Plan:
        """Raises LookupError for a run that has not planned."""
        found = self.objects.get(plan_key(run))
        if found is None:
            raise LookupError(f"run {run} has no plan")
        return Plan.model_validate_json(found.body)

    def put_batch(self, run: str, name: str, batch: Batch) -> None:
        self.objects.put(f"{outcomes_prefix(run)}{name}.json", batch.to_json())

    def add_outcomes(self, run: str, verdicts: Verdicts) -> int:
        """Adds what the run's steps found; returns how often they called GitHub."""
        calls = 0
        names = [item.key for item in self.objects.list(outcomes_prefix(run))]
        for found in self.parallel.map(self.objects.get, names):
            if found:
                batch = Batch.model_validate_json(found.body)
                merge(verdicts, batch.outcomes)
                calls += batch.github_calls
        return calls


class RunSteps(ABC):
    """One run's steps over the repository and the run state; what is made of the files is its subclasses' matter."""

    def __init__(
        self,
        ledger: RunLedger,
        repository: Repository,
        state: SyncState,
        *,
        bucket: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._runs = ledger
        self.repository = repository
        self.state = state
        self.bucket = bucket
        self.now = now

    def plan(self, event: Event) -> Answer:
        """Reads the head, the tree and the store, and writes what the run has to do."""
        run, full = str(event["run"]), bool(event.get("full"))
        seen = self.state.read().pokes  # before the head is read: a later hint makes the run go round once more
        try:
            return self._plan(run, full) | {"seen": seen}
        except RepositoryRateLimited as limit:
            return waiting(limit) | {"seen": seen}

    def archive(self, event: Event) -> Answer:
        """Fetches what is needed by one download; what it does not hold is left to the Map."""
        run = str(event["run"])
        plan = self._runs.plan(run)
        asked = self.repository.calls
        try:
            with tempfile.TemporaryFile() as spool:
                self.repository.archive(plan.commit_sha, spool)
                spool.seek(0)
                outcomes = self._take_archive(run, spool, plan)
        except RepositoryRateLimited as limit:
            return waiting(limit)
        except (tarfile.TarError, EOFError) as error:
            raise RepositoryUnavailable("the archive arrived broken") from error
        self._runs.put_batch(run, "archive", Batch(outcomes=outcomes, github_calls=self.repository.calls - asked))
        fetched = {outcome.blob_sha for outcome in outcomes}
        return self._items(run, [blob for blob in plan.needed if blob not in fetched])

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
                reason = "GitHub has no such blob"
            except RepositoryRefused:
                reason = "GitHub refused the blob"
            except RepositoryRateLimited as limit:
                if waits < MAX_WAITS:
                    return waiting(limit) | {"ok": False, "waits": waits + 1}
                reason = "GitHub's rate limit"
            else:
                outcomes.append(self._settle(blob_sha, raw))
                continue
            outcomes.append(LostBlob(blob_sha=blob_sha, reason=reason))
        self._runs.put_batch(run, blobs[0], Batch(outcomes=outcomes, github_calls=self.repository.calls - asked))
        return {"ok": True, "action": "stored"}

    def publish(self, event: Event) -> Answer:
        """Brings the store to the plan's commit, unless another run has published since: then it is planned anew."""
        run = str(event["run"])
        plan = self._runs.plan(run)
        generation = self.state.lease(run, LEASE_SECONDS)
        try:
            return self._publish(run, plan, generation)
        except RepositoryRateLimited as limit:
            return waiting(limit)
        finally:
            self.state.end_lease(run)

    def finish(self, event: Event) -> Answer:
        """Gives the claim up, or says that a hint has come meanwhile and the run must go round again."""
        return {"again": not self.state.finish(str(event["run"]), int(event["seen"]))}

    def fail(self, event: Event) -> Answer:
        """Record a run that failed whole: the store is as it was, the hints stay open, the next run heals."""
        run, error = str(event["run"]), str(event.get("error", "Unknown"))
        self.state.end_lease(run)
        self.state.release(run)
        self._record_failure(run, error)
        logger.error("sync run failed", extra={"run": run, "error": error})
        return {"failed": True}

    def stumbled(self, event: Event, error: Exception) -> None:
        """Record what ended a step before it is tried again, which may take half an hour. `error` may name a file."""
        file = next((note for one in (error, error.__cause__) for note in getattr(one, "__notes__", ())), "")
        self._record_failure(str(event["run"]), type(error).__name__, file)

    @abstractmethod
    def _plan(self, run: str, full: bool) -> Answer:
        """`done`, or the answer of `_planned`."""

    @abstractmethod
    def _take_archive(self, run: str, spool: BinaryIO, plan: Plan) -> list[Outcome]:
        """Settles what the plan needs of an archive of the whole tree."""

    @abstractmethod
    def _settle(self, blob_sha: BlobSha, raw: bytes) -> Outcome:
        """Return what becomes of one blob; keeps its bytes if they are wanted."""

    @abstractmethod
    def _publish(self, run: str, plan: Plan, generation: int) -> Answer:
        """`published`, or `plan` when the manifest is not the plan's any more."""

    @abstractmethod
    def _record_failure(self, run: str, error: str, file: str = "") -> None:
        """Record how the last run went. A file that is the cause is named to operators alone."""

    def _moved(self, settled: bool, commit_sha: str, etag: str | None) -> Head | None:
        """Return where the branch is; None when a settled store is at it already."""
        head = self.repository.head(etag if settled else None)
        return None if head is None or (settled and head.commit_sha == commit_sha) else head

    def _tree(self, commit_sha: str) -> list[TreeFile]:
        tree = self.repository.tree(commit_sha)
        if not tree:
            raise UntrustedTree("the tree is empty")
        return tree

    def _planned(self, run: str, plan: Plan, *, by_archive: bool) -> Answer:
        self._runs.objects.put(plan_key(run), plan.to_json())
        if by_archive:
            answer: Answer = {"action": "archive"}
        elif len(plan.needed) > ITEM_SIZE:
            answer = self._items(run, plan.needed)
        else:  # as most pushes: for so few, a Map takes far longer to start than they take to fetch
            answer = self.store({"run": run, "item": {"blobs": plan.needed}}) if plan.needed else {}
            answer = answer if answer.get("action") == "wait" else self._items(run, ())
        return answer | {"commitSha": plan.commit_sha}

    def _post_status(self, commit_sha: str, state: Literal["success", "failure"], description: str) -> None:
        """A courtesy to the editors: a token that may not write statuses does not fail the run."""
        try:
            self.repository.set_status(commit_sha, state, description)
        except (RepositoryRefused, RepositoryUnavailable, RepositoryRateLimited) as error:
            logger.warning("the commit status could not be set", extra={"error": type(error).__name__})

    def _items(self, run: str, needed: Sequence[BlobSha]) -> Answer:
        """Write the Map's input: short lists of blob ids, and no paths, for their gates are not known yet.

        An empty one is never mapped: the state machine goes straight to publishing.
        """
        key = items_key(run)
        items = [{"blobs": needed[start : start + ITEM_SIZE]} for start in range(0, len(needed), ITEM_SIZE)]
        self._runs.objects.put(key, json.dumps(items).encode())
        action = "store" if items else "publish"
        return {"action": action, "bucket": self.bucket, "items": {"key": key, "count": len(items)}}


def waiting(limit: RepositoryRateLimited) -> Answer:
    """Return the answer by which the workflow waits as long as GitHub says; a retry's delay could not."""
    return {"action": "wait", "waitUntil": f"{limit.until:%Y-%m-%dT%H:%M:%SZ}"}


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    path: str
    blob_sha: BlobSha
    raw: bytes


def archived_files(archive: BinaryIO, wanted: Mapping[str, TreeFile]) -> Iterator[ArchivedFile]:
    """Each wanted file whose bytes are the blob the tree names.

    GitHub wraps the tree in one folder, and `.gitattributes` may leave files out or rewrite them: what is missing
    here is fetched by its id afterwards. Raises tarfile.TarError for a broken download.
    """
    with tarfile.open(fileobj=archive, mode="r:gz") as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            planned = wanted.get(path)
            if planned is None or not member.isfile() or member.size != planned.size:
                continue
            stream = tar.extractfile(member)
            raw = stream.read() if stream else b""
            if git_blob_sha(raw) == planned.blob_sha:
                yield ArchivedFile(path, planned.blob_sha, raw)
