"""The sync function: steps of a run, as the state machine calls them, with errors named as it retries them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from commonplace.kernel.errors import Unavailable
from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_client import GitHubClient, http_client
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecrets
from commonplace.repository.ports import LeaseHeld
from commonplace.repository.run import Answer, Event, RunSteps
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.sources import BranchSource, StepContext

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

    from commonplace.kernel.objects import ObjectStore
    from commonplace.kernel.parallel import Parallel
    from commonplace.repository.settings import SyncSettings

Source = tuple[BranchSource, Callable[[StepContext], RunSteps]]
"""A branch that is followed, and what makes the steps of its runs."""


class StoreUnavailable(Exception):
    """S3, DynamoDB or Secrets Manager does not answer: worth a retry by the workflow's schedule."""


class SyncFunction:
    """Answers every event of the two functions. Steps are made anew for each: the count of GitHub calls is its own."""

    def __init__(
        self,
        environ: Mapping[str, str],
        settings: SyncSettings,
        sources: Mapping[str, Source],
        *,
        objects: ObjectStore,
        dynamodb: DynamoDBClient,
        secrets: SecretsManagerClient,
        parallel: Parallel,
    ) -> None:
        """`sources` by name: empty for the knowledge base, else that of a catalogue."""
        self._environ, self._settings, self._sources = environ, settings, sources
        self._objects, self._dynamodb, self._parallel = objects, dynamodb, parallel
        self._http = http_client(settings.github_api_url)
        self._credentials = SecretCredentials(GitHubSecrets(secrets, settings.github_secret_arn).current)

    def steps_of(self, name: str) -> RunSteps:
        """Raises ValueError for a source that is not configured."""
        if name not in self._sources:
            raise ValueError(f"there is no catalogue {name!r} in CATALOGUES")
        source, steps_of = self._sources[name]
        client = GitHubClient(self._http, self._settings.github_api_url)
        place = source.repository, source.branch
        context = StepContext(
            environ=self._environ,
            settings=self._settings,
            source=source,
            sources=[one for one, _ in self._sources.values()],
            objects=self._objects,
            repository=GitHubRepository(client, *place, self._credentials, context=source.status),
            state=DynamoSyncState(self._dynamodb, self._settings.activity_table, *place, catalogue=name),
            parallel=self._parallel,
        )
        return steps_of(context)

    def run(self, event: Event, _context: object) -> Answer:
        """`step` names it: plan, archive, publish, finish or fail. `source` is empty, or the name of a catalogue."""
        steps = self.steps_of(event.get("source") or "")
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
        try:
            with _retryable():
                return calls[step](event)
        except LeaseHeld:
            raise
        except Exception as error:
            if step != "fail":
                with suppress(Exception):  # what cannot be recorded must not hide what happened
                    steps.stumbled(event, error)
            raise

    def store(self, event: Event, _context: object) -> Answer:
        """One item of the Map: a few blobs."""
        with _retryable():
            return self.steps_of(event.get("source") or "").store(event)


@contextmanager
def _retryable() -> Iterator[None]:
    """Give AWS's own failures one name: the workflow retries by name, and they have many."""
    try:
        yield
    except (BotoCoreError, ClientError, Unavailable) as error:
        cause = error.__cause__ if isinstance(error, Unavailable) else error
        if isinstance(cause, ClientError):
            status = cause.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
            code = cause.response.get("Error", {}).get("Code", "")
            slowed = "Throttl" in code or code == "ProvisionedThroughputExceededException"
            if not (status >= 500 or status == 429 or slowed):
                raise
        raise StoreUnavailable(type(cause or error).__name__) from error
