"""The steps of a sync run, as the state machine calls them: `run` for those of the whole run, `store` for its files."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace.documents.sync.steps import Steps
from commonplace.kernel import aws
from commonplace.kernel.parallel import Threads
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.settings import SyncSettings
from commonplace.reference.settings import catalogue_sources, folders_within
from commonplace.reference.sync.steps import CatalogueSteps
from commonplace.repository.github import STATUS_CONTEXT, GitHubRepository, catalogue_context
from commonplace.repository.github_client import GitHubClient, http_client
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecrets
from commonplace.repository.run import RunSteps
from commonplace.repository.run_state import Contended, DynamoSyncState

logger = logging.getLogger(__name__)
logging.getLogger("commonplace").setLevel(logging.INFO)

WORKERS = 16
"""Calls to the store side by side; GitHub asks for fewer than a hundred, ten of these functions run at once."""

SETTINGS = SyncSettings.from_environ(os.environ)
HTTP = http_client(SETTINGS.github_api_url)
SECRETS = GitHubSecrets(aws.secretsmanager(), SETTINGS.github_secret_arn)
OBJECTS = S3ObjectStore(aws.s3(connections=WORKERS + 4), SETTINGS.content_bucket)
CREDENTIALS = SecretCredentials(SECRETS.current)
CATALOGUES = {one.name: one for one in catalogue_sources(os.environ)}
EXCLUSIONS = Exclusions(
    [
        *(DEFAULT_EXCLUDES if SETTINGS.exclude is None else SETTINGS.exclude),
        *folders_within(CATALOGUES.values(), SETTINGS.repository, SETTINGS.branch),
    ]
)


class StoreUnavailable(Exception):
    """S3, DynamoDB or Secrets Manager does not answer: worth a retry by the workflow's schedule."""


def run(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """`step` names it: plan, archive, publish, finish or fail. `source` is empty, or the name of a catalogue."""
    steps = _steps(event)
    calls = {
        "plan": steps.plan,
        "archive": steps.archive,
        "publish": steps.publish,
        "finish": steps.finish,
        "fail": steps.fail,
    }
    step = event.get("step")
    if step not in calls:
        raise ValueError(f"step must be one of: {', '.join(calls)}")
    with _retryable():
        return calls[step](event)


def store(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """One item of the Map: a few blobs."""
    with _retryable():
        return _steps(event).store(event)


def _steps(event: Mapping[str, Any]) -> RunSteps:
    """Anew for each event: the count of GitHub calls is the event's own."""
    name = event.get("source") or ""
    bucket, parallel = SETTINGS.content_bucket, Threads(WORKERS)
    if not name:
        repository = _repository(SETTINGS.repository, SETTINGS.branch, STATUS_CONTEXT)
        state = _state(SETTINGS.repository, SETTINGS.branch, "")
        return Steps(OBJECTS, repository, state, bucket=bucket, exclusions=EXCLUSIONS, parallel=parallel)
    if name not in CATALOGUES:
        raise ValueError(f"there is no catalogue {name!r} in CATALOGUES")
    source = CATALOGUES[name]
    repository = _repository(source.repository, source.branch, catalogue_context(name))
    state = _state(source.repository, source.branch, name)
    return CatalogueSteps(OBJECTS, repository, state, source, bucket=bucket, parallel=parallel)


def _repository(name: str, branch: str, context: str) -> GitHubRepository:
    client = GitHubClient(HTTP, SETTINGS.github_api_url)
    return GitHubRepository(client, name, branch, CREDENTIALS, context=context)


def _state(repository: str, branch: str, catalogue: str) -> DynamoSyncState:
    return DynamoSyncState(aws.dynamodb(), SETTINGS.activity_table, repository, branch, catalogue=catalogue)


@contextmanager
def _retryable() -> Iterator[None]:
    """The workflow retries by name, and AWS's own failures have many."""
    try:
        yield
    except (BotoCoreError, ClientError, Contended) as error:
        if isinstance(error, ClientError) and not _is_passing(error):
            raise
        raise StoreUnavailable(type(error).__name__) from error


def _is_passing(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
    code = error.response.get("Error", {}).get("Code", "")
    return status >= 500 or status == 429 or "Throttl" in code or code == "ProvisionedThroughputExceededException"
