"""A running Commonplace: its bucket, table, functions and addresses, on this machine or on AWS.

The names are those of the stack's outputs; `commonplace dev` writes the same names to `endpoint.json`.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace_local.cloud.environment import UNCHECKED_SECRET
from commonplace_local.errors import CommandError
from commonplace_local.project import STATE

if TYPE_CHECKING:
    from commonplace.kernel.s3 import S3ObjectStore
    from commonplace.reference.settings import CatalogueSource
    from commonplace.repository.github import GitHubRepository
    from commonplace.repository.run_state import DynamoSyncState
    from commonplace.search.settings import RetrievalSettings


R = TypeVar("R", bound="GitHubRepository")


class Ambiguous(CommandError):
    """More than one server may be meant."""


RUNNING_FOLDER = STATE / "running"
"""The folder where each `commonplace dev` announces itself, for commands that name no other deployment."""
ENDPOINT_FILE = "endpoint.json"
NEEDED = (
    "ActivityTable",
    "BaseUrl",
    "ContentBucket",
    "GithubSecretArn",
    "SyncMachineArn",
    "SyncRunFunction",
    "WebhookFunction",
)

OUTPUTS = {
    "STAGE": "Stage",
    "SEARCH_ENGINE": "SearchEngine",
    "INDEX_LOCATION": "IndexLocation",
    "OPENSEARCH_ENDPOINT": "OpenSearchEndpoint",
    "OPENSEARCH_SERVICE": "OpenSearchService",
    "OPENSEARCH_INDEX": "OpenSearchIndex",
    "OPENSEARCH_PARAMETERS": "OpenSearchParameters",
    "EMBEDDING_PROVIDER": "EmbeddingProvider",
    "EMBEDDING_PROVIDER_NEXT": "EmbeddingProviderNext",
    "RERANK_PROVIDER": "RerankProvider",
    "FUSION": "Fusion",
    "BEDROCK_REGION": "BedrockRegion",
    "OPENAI_SECRET_ARN": "OpenAiSecretArn",
    "OPENAI_BASE_URL": "OpenAiBaseUrl",
    "KB_EMBEDDING_MODEL": "OpenAiModel",
    "KB_BATCH_SIZE": "BatchSize",
}
"""Variable -> output. The stack has no such outputs: there the function's own variables are read."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """`outputs` of the stack; `endpoint_url` is set for the laptop cloud, where every AWS service answers at it.

    It answers who has its `access_key`, which is another one at each start.
    """

    outputs: Mapping[str, str]
    endpoint_url: str | None = None
    access_key: str = field(default="", repr=False)

    @property
    def base_url(self) -> str:
        return self.outputs["BaseUrl"].rstrip("/")

    @property
    def store(self) -> "S3ObjectStore":
        from commonplace.kernel.s3 import S3ObjectStore

        return S3ObjectStore(self.client("s3"), self.outputs["ContentBucket"])

    @property
    def state(self) -> "DynamoSyncState":
        """The state of the knowledge base's sync."""
        return self.state_of(None)

    def state_of(self, catalogue: "CatalogueSource | None") -> "DynamoSyncState":
        """Return the state of a catalogue's sync, or of the knowledge base's."""
        from commonplace.repository.run_state import DynamoSyncState

        repository, branch, name = self._place(catalogue)
        client = self.client("dynamodb")
        return DynamoSyncState(client, self.outputs["ActivityTable"], repository, branch, catalogue=name)

    def catalogues(self) -> "tuple[CatalogueSource, ...]":
        """Return the catalogues that the deployment is configured with."""
        from commonplace.reference.settings import catalogue_sources

        return catalogue_sources(self.settings())

    def repository(self, kind: type[R], catalogue: "CatalogueSource | None" = None) -> R:
        """The branch itself, of the knowledge base or of a catalogue, with the deployment's own credentials."""
        from commonplace.repository.github_client import GitHubClient, http_client
        from commonplace.repository.github_credentials import SecretCredentials
        from commonplace.repository.github_secrets import GitHubSecrets

        settings = self.settings()
        secrets = GitHubSecrets(self.client("secretsmanager"), self.outputs["GithubSecretArn"])
        api_url = settings.get("GITHUB_API_URL", "https://api.github.com")
        client = GitHubClient(http_client(api_url), api_url)
        credentials = SecretCredentials(secrets.current)
        repository, branch, _ = self._place(catalogue)
        return kind(client, repository, branch, credentials)

    def _place(self, catalogue: "CatalogueSource | None") -> tuple[str, str, str]:
        if catalogue is not None:
            return catalogue.repository, catalogue.branch, catalogue.name
        settings = self.settings()
        return settings["GITHUB_REPOSITORY"], settings["GITHUB_BRANCH"], ""

    def settings(self) -> Mapping[str, str]:
        """The environment of the function that runs the sync: repository, branch, exclusions, catalogues."""
        if "Repository" in self.outputs:
            given = {"GITHUB_REPOSITORY": "Repository", "GITHUB_BRANCH": "Branch", "GITHUB_API_URL": "GithubApiUrl"}
            found = {variable: self.outputs[name] for variable, name in given.items()}
            return found | {"CATALOGUES": self.outputs.get("Catalogues", "")}
        client = self.client("lambda")
        answer = client.get_function_configuration(FunctionName=self.outputs["SyncRunFunction"])
        variables: dict[str, str] = answer.get("Environment", {}).get("Variables", {})
        return variables

    def retrieval(self) -> "RetrievalSettings":
        """Return where the index is and which models read it, as the index function has it. Raises SettingsError."""
        from commonplace.search.settings import RetrievalSettings

        if "SearchEngine" in self.outputs:
            return RetrievalSettings.from_environ(variables_of(self.outputs))
        client = self.client("lambda")
        answer = client.get_function_configuration(FunctionName=self.outputs["IndexFunction"])
        return RetrievalSettings.from_environ(answer.get("Environment", {}).get("Variables", {}))

    def poke(self, *, full: bool = False, only: str | None = None) -> dict[str, Any]:
        """Asks for a run, as the schedule does. Returns the function's answer.

        `only` is the name of a catalogue, or empty for the knowledge base; None asks for a run of everything.
        """
        from commonplace.repository.run_request import request_run

        return request_run(self.client("lambda"), self.outputs["WebhookFunction"], full=full, only=only)

    def running(self) -> list[str]:
        """Names of the executions under way."""
        client = self.client("stepfunctions")
        answer = client.list_executions(stateMachineArn=self.outputs["SyncMachineArn"], statusFilter="RUNNING")
        return [execution["name"] for execution in answer["executions"]]

    def client(self, service: str, *, read_seconds: float = 60) -> Any:
        """A boto3 client; the laptop's is reached past any proxy and with no credentials of the user's."""
        import boto3
        from botocore.config import Config

        if self.endpoint_url is None:
            return boto3.client(service, config=Config(read_timeout=read_seconds))  # type: ignore[call-overload]
        return boto3.client(  # type: ignore[call-overload]
            service,
            endpoint_url=self.endpoint_url,
            region_name="us-east-1",
            aws_access_key_id=self.access_key,
            aws_secret_access_key=UNCHECKED_SECRET,
            config=Config(proxies={}, read_timeout=read_seconds, retries={"total_max_attempts": 2, "mode": "standard"}),
        )


def find(data: Path | None = None, outputs: Path | None = None, stage: str | None = None) -> Deployment:
    """The deployment that the options name, else the one that `commonplace dev` runs. Raises CommandError."""
    if outputs is not None:
        try:  # a file written by `cdk deploy --outputs-file`: stack name -> outputs
            written = json.loads(outputs.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            hint = "Write it with: cdk deploy --outputs-file outputs.json"
            raise CommandError(f"{outputs} cannot be read as JSON.", hint) from error
        stacks = written.values() if isinstance(written, dict) else ()
        found = next((one for one in stacks if isinstance(one, dict) and "ContentBucket" in one), {})
        return Deployment(_complete(found, str(outputs)))
    if stage is not None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            client = Deployment({}).client("cloudformation")
            stack = client.describe_stacks(StackName=f"Commonplace-{stage}")["Stacks"][0]
        except (BotoCoreError, ClientError) as error:
            raise CommandError(
                f"The stack Commonplace-{stage} cannot be read: {error}",
                "Check the stage, and that your AWS credentials and region are set.",
            ) from error
        named = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}
        return Deployment(_complete(named, f"the stack of stage {stage}"))
    return laptop(data)


def web_address(url: str, what: str = "address") -> str:
    """Return the address of a deployment, without a slash at its end. Raises CommandError."""
    from commonplace.kernel.environment import WEB_URL, web_url

    if found := web_url(url):
        return found
    raise CommandError(f"{url} is not the {what} of a deployment.", f"It is {WEB_URL}.")


def laptop(data: Path | None = None) -> Deployment:
    """The laptop cloud that runs now. Raises CommandError when none does, or several and `data` names none of them."""
    if data is not None:
        return _announced(data / ENDPOINT_FILE)
    found = laptops()
    if not found:
        raise _not_running()
    if len(found) > 1:
        addresses = " and ".join(f"{one.base_url} (--data {folder})" for folder, one in found.items())
        hint = "Choose one with its --data; search takes --url, too."
        raise Ambiguous(f"Several of `commonplace dev` run here: {addresses}.", hint)
    return next(iter(found.values()))


def laptops() -> dict[Path, Deployment]:
    """Return the laptop clouds that run on this machine, by data folder."""
    found = {}
    for file in sorted(RUNNING_FOLDER.glob("*.json")):
        with suppress(CommandError, OSError, ValueError, KeyError):
            found[Path(json.loads(file.read_text(encoding="utf-8"))["data"])] = _announced(file)
    return found


def _announced(file: Path) -> Deployment:
    """Raises CommandError where nobody announced one who is alive."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        pid, outputs = int(facts["pid"]), dict(facts["outputs"])
        endpoint, key = str(facts["endpointUrl"]), str(facts["accessKey"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _not_running() from error
    if not _is_alive(pid):
        raise _not_running()
    return Deployment(_complete(outputs, str(file)), endpoint, key)


@contextmanager
def announced(data: Path, deployment: Deployment) -> Iterator[None]:
    """Lets commands find the laptop cloud of a data folder, as long as the block lasts."""
    facts = {
        "pid": os.getpid(),
        "data": str(data),
        "endpointUrl": deployment.endpoint_url,
        "accessKey": deployment.access_key,
        "httpUrl": deployment.outputs["BaseUrl"],
        "outputs": dict(deployment.outputs),
    }
    for note in RUNNING_FOLDER.glob("*.json"):
        if not _is_alive(int(note.stem)):
            note.unlink(missing_ok=True)
    with ExitStack() as undo:
        for file in (data / ENDPOINT_FILE, RUNNING_FOLDER / f"{os.getpid()}.json"):
            # Whole or not at all, for nobody else of this machine to read: it holds the access key.
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft = file.with_name(f"{file.name}.{os.getpid()}")
            draft.unlink(missing_ok=True)
            draft.touch(mode=0o600, exist_ok=False)
            draft.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
            draft.replace(file)
            undo.callback(file.unlink, missing_ok=True)
        yield


def _complete(outputs: Mapping[str, str], where: str) -> Mapping[str, str]:
    if missing := [name for name in NEEDED if name not in outputs]:
        raise CommandError(f"{where} lacks the outputs {', '.join(missing)}.", "Deploy this version and try again.")
    return outputs


def _not_running() -> CommandError:
    return CommandError(
        "No laptop cloud is running.",
        "Start one with `commonplace dev` and leave it running, or name a deployment with --outputs or --stage.",
    )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def outputs_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return what `commonplace dev` writes down of a function's environment."""
    return {output: variables[name] for name, output in OUTPUTS.items() if variables.get(name)}


def variables_of(outputs: Mapping[str, str]) -> dict[str, str]:
    """The environment again."""
    return {name: outputs[output] for name, output in OUTPUTS.items() if outputs.get(output)}
