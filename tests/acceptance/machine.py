"""Sync and index in this process: real steps, adapters and engine, over moto's S3 and DynamoDB and a stand-in GitHub,
with a branch that goes where it is told.

What the cloud does between them (Step Functions, SQS) is done here in the same order, and can be put out of order.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote_plus

import boto3
from moto import mock_aws

from commonplace.documents.content.document import MANIFEST_KEY, Manifest
from commonplace.documents.content.keys import CONTENT_PREFIX
from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace.documents.index_source import StoredDocuments
from commonplace.documents.sync.keys import report_key
from commonplace.documents.sync.report import Report
from commonplace.documents.sync.steps import Steps
from commonplace.kernel.objects import ListedObject, StoredObject
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_client import GitHubClient, http_client
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.webhook import Hint, Poker
from commonplace.search.indexer import Indexer, Message
from commonplace.search.models.local import LocalEmbeddings
from commonplace_local.dev.source import Source
from commonplace_local.dev.workspace import Workspace
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository, git_text, neutral_environment
from commonplace_local.github.server import GitHubServer
from tests.acceptance.indexes import EmbeddedIndex, Index


class Branch:
    """A private repository over the clone's objects, whose one branch goes where it is told."""

    def __init__(self, source: Source, git_dir: Path) -> None:
        workspace = Workspace(source, git_dir)
        workspace.refresh()
        self.git_dir = git_dir
        self.name = source.branch
        self.head = workspace.head or ""
        if source.git_dir is not None and source.revision is not None:
            # The newest commit; what is only on the disk has no history.
            revision = f"{source.revision}^{{commit}}"
            self.head = git_text(f"--git-dir={source.git_dir}", "rev-parse", revision)
        self.move(self.head)

    def first_parents(self) -> list[str]:
        """Return the commits, oldest first, up to the head that the branch had at the start."""
        return self._git("rev-list", "--first-parent", "--reverse", self.head).split()

    def move(self, commit: str) -> None:
        self._git("update-ref", f"refs/heads/{self.name}", commit)

    def _git(self, *arguments: str) -> str:
        return git_text(f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment())


logger = logging.getLogger(__name__)

BUCKET, TABLE = "content", "activity"
TURNS = 50
"""More rounds than any run takes: a run that goes on is a defect."""


class ToldStore:
    """S3, and the notifications it would send for documents, in the order of the writes."""

    def __init__(self, store: S3ObjectStore) -> None:
        self._store = store
        self.messages: list[Message] = []

    def get(self, key: str) -> StoredObject | None:
        return self._store.get(key)

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        return self._store.get_if_changed(key, etag)

    def list(self, prefix: str) -> Iterator[ListedObject]:
        return self._store.list(prefix)

    def put(
        self,
        key: str,
        body: bytes,
        *,
        media_type: str = "application/json",
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> str:
        etag = self._store.put(key, body, media_type=media_type, if_match=if_match, if_absent=if_absent)
        self._tell(key)
        return etag

    def delete(self, keys: Iterable[str]) -> None:
        gone = list(keys)
        self._store.delete(gone)
        for key in gone:
            self._tell(key)

    def _tell(self, key: str) -> None:
        if key.startswith(CONTENT_PREFIX):
            record = {"eventVersion": "2.1", "s3": {"object": {"key": quote_plus(key)}}}
            self.messages.append(Message(str(len(self.messages)), json.dumps({"Records": [record]})))


class Executions:
    """The workflow engine: remembers what was started, for the caller to run when it likes."""

    def __init__(self) -> None:
        self.waiting: list[dict[str, object]] = []
        self.running: str | None = None

    def start(self, name: str, run_input: dict[str, object]) -> None:
        self.waiting.append(run_input)

    def is_running(self, name: str) -> bool:
        return name == self.running or any(name == item["run"] for item in self.waiting)


class Machine:
    """One deployment, empty at first. Use as a context manager."""

    def __init__(self, source: Source, data: Path, index: Index | None = None) -> None:
        data.mkdir(parents=True)
        self.index = index or EmbeddedIndex(data / "documents.sqlite")
        self.when_unavailable: Callable[[], bool] = lambda: False
        """Is asked whether an index that did not take something is to be tried again."""
        self.branch = Branch(source, data / "repository.git")
        self.source = source
        self.runs = self.failed = self.stored = self.removed = self.github_calls = 0
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        self._undo.enter_context(mock_aws())
        session = boto3.session.Session("123456789012", "x", region_name="us-east-1")
        s3, dynamodb = session.client("s3"), session.client("dynamodb")
        s3.create_bucket(Bucket=BUCKET)
        dynamodb.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
        self.github = self._undo.enter_context(
            GitHubServer(GitHubApi(GitRepository(self.branch.git_dir), self.source.name))
        )
        http = self._undo.enter_context(http_client(self.github.url))
        self.objects = ToldStore(S3ObjectStore(s3, BUCKET))
        self.state = DynamoSyncState(dynamodb, TABLE, self.source.name, self.source.branch)
        self.executions = Executions()
        self.poker = Poker(self.state, self.executions)
        credentials = SecretCredentials(lambda: GitHubSecret("webhook", token="token-of-the-stand-in"))
        client = GitHubClient(http, self.github.url)
        repository = GitHubRepository(client, self.source.name, self.source.branch, credentials)
        exclusions = Exclusions(DEFAULT_EXCLUDES)
        self.steps = Steps(self.objects, repository, self.state, bucket=BUCKET, exclusions=exclusions)
        self.engine = self.index.open(embeddings := LocalEmbeddings())
        self._undo.callback(self.index.close, self.engine)
        memory = self.index.memory(self.engine)
        self.indexer = Indexer(StoredDocuments(self.objects), self.engine, embeddings, lambda _: memory)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()

    def hint(self, reason: str, commit: str | None = None, delivery: str | None = None) -> None:
        """Do what the webhook and the schedule do."""
        self.poker.poke(Hint(reason, commit, delivery))

    def run(self) -> None:
        """Run whatever has been started, to its end."""
        for _ in self.turns():
            pass

    def turns(self) -> Iterator[str]:
        """Run the same, stopping after each state, so that something may happen in between."""
        while self.executions.waiting:
            started = self.executions.waiting.pop(0)
            run = self.executions.running = str(started["run"])
            self.runs += 1
            try:
                yield from self._states(run, full=bool(started["full"]))
            except Exception as error:
                logger.exception("a run failed")
                self.failed += 1
                self.steps.fail({"run": run, "error": type(error).__name__})
            self.executions.running = None
            self.github_calls += len(self.github.api.requests)
            self.github.api.forget_requests()

    def take_messages(self) -> list[Message]:
        """Return the notifications since the last time."""
        taken, self.objects.messages = self.objects.messages, []
        return taken

    def manifest(self) -> Manifest | None:
        found = self.objects.get(MANIFEST_KEY)
        return Manifest.model_validate_json(found.body) if found else None

    def _states(self, run: str, *, full: bool) -> Iterator[str]:
        """Go through the states as functions/sync/machine.asl.json orders them."""
        for _ in range(TURNS):
            answer = self.steps.plan({"run": run, "full": full})
            seen, action = answer["seen"], answer["action"]
            yield "plan"
            if action == "archive":
                answer = self.steps.archive({"run": run})
                action = answer["action"]
                yield "archive"
            if action == "store":
                listed = self.objects.get(answer["items"]["key"])
                for item in json.loads(listed.body) if listed else ():
                    self.steps.store({"run": run, "item": item})
                yield "store"
            if action in ("store", "publish"):
                action = self.steps.publish({"run": run})["action"]
                yield "publish"
            if action in ("plan", "wait"):
                continue
            if action == "published":
                self._count()
            again = self.steps.finish({"run": run, "seen": seen})["again"]
            yield "finish"
            if not again:
                return
        raise RuntimeError("the run goes round without end")

    def _count(self) -> None:
        manifest = self.manifest()
        found = self.objects.get(report_key(manifest.commit_sha)) if manifest else None
        if found:
            report = Report.model_validate_json(found.body)
            self.stored += report.counts.stored
            self.removed += report.counts.removed
