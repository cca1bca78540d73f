"""The steps of a sync run, as the state machine calls them: `run` for those of the whole run, `store` for its files."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.adapters import clients
from commonplace.adapters.dynamodb import Contended, DynamoSyncState
from commonplace.adapters.github import GitHubRepository
from commonplace.adapters.github_client import GitHubClient, http_client
from commonplace.adapters.github_credentials import SecretCredentials
from commonplace.adapters.s3 import S3ObjectStore
from commonplace.adapters.secrets import GitHubSecrets
from commonplace.adapters.threads import Threads
from commonplace.content.exclusions import DEFAULT_EXCLUDES, Exclusions
from commonplace.settings import SyncSettings
from commonplace.sync.steps import Steps

logger = logging.getLogger(__name__)
logging.getLogger("commonplace").setLevel(logging.INFO)

WORKERS = 16
"""Calls to the store side by side; GitHub asks for fewer than a hundred, ten of these functions run at once."""

SETTINGS = SyncSettings.from_environ(os.environ)
HTTP = http_client(SETTINGS.github_api_url)
SECRETS = GitHubSecrets(clients.secretsmanager(), SETTINGS.github_secret_arn)
OBJECTS = S3ObjectStore(clients.s3(connections=WORKERS + 4), SETTINGS.content_bucket)
STATE = DynamoSyncState(clients.dynamodb(), SETTINGS.activity_table, SETTINGS.repository, SETTINGS.branch)
CREDENTIALS = SecretCredentials(SECRETS.current)
EXCLUSIONS = Exclusions(DEFAULT_EXCLUDES if SETTINGS.exclude is None else SETTINGS.exclude)


class StoreUnavailable(Exception):
    """S3, DynamoDB or Secrets Manager does not answer: worth a retry by the workflow's schedule."""


def run(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """`step` names it: plan, archive, publish, finish or fail."""
    steps = _steps()
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
        return _steps().store(event)


def _steps() -> Steps:
    """Anew for each event: the count of GitHub calls is the event's own."""
    client = GitHubClient(HTTP, SETTINGS.github_api_url)
    repository = GitHubRepository(client, SETTINGS.repository, SETTINGS.branch, CREDENTIALS)
    return Steps(
        OBJECTS, repository, STATE, bucket=SETTINGS.content_bucket, exclusions=EXCLUSIONS, parallel=Threads(WORKERS)
    )


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
