"""The steps of a sync run, as the state machine calls them: `run` for those of the whole run, `store` for its files."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel import aws
from commonplace.kernel.capability import built, load
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.parallel import Threads
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.settings import SyncSettings
from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_client import GitHubClient, http_client
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecrets
from commonplace.repository.run import RunSteps
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.sources import StepContext

logger = logging.getLogger(__name__)
logging.getLogger("commonplace").setLevel(logging.INFO)

WORKERS = 16
"""Calls to the store side by side; GitHub asks for fewer than a hundred, ten of these functions run at once."""

SETTINGS = SyncSettings.from_environ(os.environ)
HTTP = http_client(SETTINGS.github_api_url)
SECRETS = GitHubSecrets(aws.secretsmanager(), SETTINGS.github_secret_arn)
OBJECTS = S3ObjectStore(aws.s3(connections=WORKERS + 4), SETTINGS.content_bucket)
CREDENTIALS = SecretCredentials(SECRETS.current)
SOURCES = {
    source.name: (source, load(capability.steps))
    for capability in CAPABILITIES
    if capability.steps
    for found in built([capability], "sources", os.environ)
    for source in found
}
"""By name, each with what makes the steps of its runs."""


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
    if name not in SOURCES:
        raise ValueError(f"there is no catalogue {name!r} in CATALOGUES")
    source, steps_of = SOURCES[name]
    client = GitHubClient(HTTP, SETTINGS.github_api_url)
    context = StepContext(
        environ=os.environ,
        settings=SETTINGS,
        source=source,
        sources=[one for one, _ in SOURCES.values()],
        objects=OBJECTS,
        repository=GitHubRepository(client, source.repository, source.branch, CREDENTIALS, context=source.status),
        state=DynamoSyncState(
            aws.dynamodb(), SETTINGS.activity_table, source.repository, source.branch, catalogue=name
        ),
        parallel=Threads(WORKERS),
    )
    steps: RunSteps = steps_of(context)
    return steps


@contextmanager
def _retryable() -> Iterator[None]:
    """The workflow retries by name, and AWS's own failures have many."""
    try:
        yield
    except (BotoCoreError, ClientError, Unavailable) as error:
        cause = error.__cause__ if isinstance(error, Unavailable) else error
        if isinstance(cause, ClientError) and not _is_passing(cause):
            raise
        raise StoreUnavailable(type(cause or error).__name__) from error


def _is_passing(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
    code = error.response.get("Error", {}).get("Code", "")
    return status >= 500 or status == 429 or "Throttl" in code or code == "ProvisionedThroughputExceededException"
