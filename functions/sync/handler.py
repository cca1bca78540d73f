"""The steps of a sync run, as the state machine calls them: `run` for those of the whole run, `store` for its files."""

import os

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel import aws
from commonplace.kernel.capability import built, load
from commonplace.kernel.parallel import Threads
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.kernel.settings import SyncSettings
from commonplace.kernel.telemetry import instrument
from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_client import GitHubClient, http_client
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecrets
from commonplace.repository.run import RunSteps
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.sources import StepContext
from commonplace.repository.sync_function import SyncFunction

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


def _steps_of(name: str) -> RunSteps:
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


SYNC = SyncFunction(_steps_of)
run = instrument(SYNC.run, os.environ)
store = instrument(SYNC.store, os.environ)
