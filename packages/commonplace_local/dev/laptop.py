"""The parts of one `commonplace dev`: private clone, GitHub stand-in, laptop cloud; started and stopped together."""

import errno
import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx

from commonplace.documents.content.document import MANIFEST_KEY, Manifest
from commonplace.documents.content.keys import CONTENT_PREFIX
from commonplace.documents.sync import keys
from commonplace.documents.sync.report import Report, Summary
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.reference.library import manifest_key
from commonplace.reference.model import Manifest as CatalogueManifest
from commonplace.reference.sync.plan import CatalogueReport
from commonplace.search.source import Collection
from commonplace_local.cloud.cloud import Cloud
from commonplace_local.cloud.lambda_host import SERVING, WORKING
from commonplace_local.cloud.template import TemplateError
from commonplace_local.deployment import Deployment, outputs_of
from commonplace_local.dev.settings import ENDPOINTS, LOCAL_ACCOUNTS, asked_line, endpoints, role_map
from commonplace_local.dev.source import VARIABLE, CatalogueFolder, Source, catalogue_environment, repositories
from commonplace_local.dev.workspace import Move, Repository, repository
from commonplace_local.errors import CommandError
from commonplace_local.github.server import GitHubServer, deliver, push_event
from commonplace_local.project import PROJECT, TEMPLATE
from commonplace_local.reports import report_of, stored
from commonplace_local.wheel_models import RAMPART

logger = logging.getLogger(__name__)

WEBHOOK_PATH = "/webhooks/github"
MCP_PATH = "/mcp"
INDEX_FUNCTION = "IndexFunction"
AUTH_FUNCTION = "AuthFunction"
CONSOLE_FUNCTION = "ConsoleFunction"
CHAT_FUNCTION = "ChatFunction"
READERS = ("RestFunction", "SiteFunction", CONSOLE_FUNCTION, "McpFunction", AUTH_FUNCTION)
STORE_FUNCTION = "SyncStoreFunction"
ROTATE_FUNCTION = "SigningFunction"
REDACT_FUNCTION = "RedactionFunction"
SERVERS = (*READERS, CHAT_FUNCTION, "WebhookFunction")
WORKERS = (
    INDEX_FUNCTION,
    STORE_FUNCTION,
    ROTATE_FUNCTION,
    REDACT_FUNCTION,
    "SyncRunFunction",
    "GovernanceWebhooksFunction",
)
"""Where functions share processes, those that answer people and agents are in one, and all others in another."""
SECRET, WRITER_SECRET = "SecretsGithub", "SecretsGithubWriter"
LIMITS = (
    "RATE_LIMIT_READS",
    "RATE_LIMIT_SEARCHES",
    "MCP_RATE_LIMIT_READS",
    "MCP_RATE_LIMIT_WRITES",
    "MCP_RATE_LIMIT_SEARCHES",
    "AUTH_RATE_LIMIT",
    "AUTH_REGISTRATIONS_PER_DAY",
    "AUTH_SIGN_INS_PER_HOUR",
    "AUTH_AGENT_SESSIONS_PER_HOUR",
)
"""All are off: nobody else is on this machine."""
EMBEDDED = re.compile(rb'"embedded":(\d+),"texts":(\d+)')
"""A line of the index function's log, after each step of a model."""
LOG_TAIL_BYTES = 10_000
RETRY_SECONDS = 2
"""The workflow's retries start at 30 s on AWS; nobody waits so long for a stand-in."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of the work: documents stored, events waiting for the index, and what it embeds just now."""

    stored: int
    waiting: int
    embedded: int = 0
    passages: int = 0


class Laptop:
    """One knowledge base on this machine. `data` keeps clone, store, index and logs.

    As on AWS, each function has processes of its own; unless `faithful`, they share two.
    """

    def __init__(
        self,
        source: Source,
        data: Path,
        *,
        port: int = 0,
        retry_seconds: int = RETRY_SECONDS,
        environment: Mapping[str, str] | None = None,
        on_log: Callable[[str, str], None] | None = None,
        template: Mapping[str, Any] | None = None,
        rpc: Sequence[str] = (),
        public_chain: bool = False,
        allow: Sequence[str] = (),
        catalogues: Sequence[CatalogueFolder] = (),
        faithful: bool = True,
    ) -> None:
        self.source, self.data, self.catalogues = source, data, tuple(catalogues)
        self.webhook_secret = secrets.token_urlsafe(32)
        token, writer = secrets.token_hex(20), secrets.token_hex(20)
        self.repositories = [
            repository(one, data, (token, writer), first=one is source) for one in repositories(source, catalogues)
        ]
        self.workspace, self.api = self.repositories[0].workspace, self.repositories[0].api
        self.github = GitHubServer(*(one.api for one in self.repositories))
        self._port = port
        self._template = template or committed_template()
        self.endpoints = endpoints(self._template, rpc, public=public_chain)
        roles = role_map(allow, chain=bool(self.endpoints["optimism"]))
        self.cloud = Cloud(
            self._template,
            PROJECT,
            data / "cloud",
            environment=self._environment() | roles | dict(environment or {}),
            secrets={
                SECRET: {"webhookSecret": self.webhook_secret, "token": token},
                WRITER_SECRET: {"token": writer},
                ENDPOINTS: self.endpoints,
            },
            port=port,
            retry_interval_seconds=retry_seconds,
            on_log=on_log,
            prewarm=True,
            later=[*READERS, CHAT_FUNCTION, STORE_FUNCTION, ROTATE_FUNCTION, REDACT_FUNCTION],
            pages=self._proposal,
            processes={} if faithful else dict.fromkeys(WORKERS, WORKING) | dict.fromkeys(SERVERS, SERVING),
        )
        self.api.proposals.front = lambda: self.url
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when everything listens. Raises CommandError with nothing left running."""
        self._undo.callback(self.github.stop)
        try:
            self.github.start()
            self._undo.callback(self.cloud.stop)
            self.cloud.start()
        except OSError as error:
            self.stop()
            if error.errno == errno.EADDRINUSE:
                hint = "Stop the program that uses it, or choose another: --port 8788"
                raise CommandError(f"Port {self._port} is in use.", hint) from error
            raise
        except TemplateError as error:
            self.stop()
            raise CommandError(f"The committed template does not fit the laptop cloud: {error}") from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends every process and closes every port. The saved state stays in `data`."""
        self._undo.close()

    @property
    def url(self) -> str:
        """The address where the knowledge base is served, without a slash at its end."""
        return self.cloud.http_url

    def _proposal(self, path: str) -> str | None:
        """Return the page of a proposal as the stand-in of GitHub holds it."""
        name, _, number = path.removeprefix("/").partition("/pull/")
        return self.api.proposals.page(int(number)) if name == self.api.name and number.isdecimal() else None

    @property
    def mcp_url(self) -> str:
        """The address where agents connect."""
        return self.url + MCP_PATH

    @property
    def asked_of_chains(self) -> str:
        """The hosts that are called about wallets, as a line to show."""
        return asked_line(self.endpoints)

    def welcome_readers(self) -> None:
        """Starts what answers them. Beside the first sync it would take the time of that, and nothing is to be read."""
        for function in READERS:
            self.cloud.warm(function)

    @property
    def index_file(self) -> Path:
        return self.data / "index" / "documents.sqlite"

    def push(self) -> Move | None:
        """Shows every folder as it is now; returns how the knowledge base moved, None when it did not.

        Raises SnapshotFailed, and httpx.HTTPError when the webhook does not take the delivery.
        """
        return self.push_each().get(self.source.name)

    def push_each(self) -> dict[str, Move]:
        """The same; by name of each repository that moved."""
        moves: dict[str, Move] = {}
        for one in self.repositories:
            move = one.workspace.refresh()
            if move is not None:
                moves[one.source.name] = move
                self.announce(move, one)
        return moves

    def announce(
        self, move: Move, repository: Repository | None = None, *, delivery: str | None = None
    ) -> dict[str, Any]:
        """Delivers a push event, signed as GitHub signs it, and returns the webhook's answer.

        Without a `repository` it is the knowledge base's.
        """
        moved = repository or self.repositories[0]
        event = push_event(moved.api.repository, moved.source.name, moved.source.branch, move.before, move.after)
        return deliver(self.url + WEBHOOK_PATH, self.webhook_secret, event, delivery=delivery)

    def poke(self, *, full: bool = False) -> None:
        """Asks for a run without a push, as the schedule does."""
        self.deployment.poke(full=full)

    def idle(self) -> bool:
        """Return True when nothing runs and nothing waits."""
        try:
            self.cloud.wait_idle(0)
        except TimeoutError:
            return False
        return True

    def wait(self, seconds: float = 300) -> None:
        """Waits until nothing runs and nothing waits. Raises TimeoutError."""
        self.cloud.wait_idle(seconds)

    def progress(self) -> Progress:
        """Return how far the work has come. No service is called: this is read five times a second."""
        embedding = []
        with suppress(OSError), (self.data / "cloud" / "logs" / "Index.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
            embedding = EMBEDDED.findall(log.read())
        step = map(int, embedding[-1]) if embedding else ()
        return Progress(self.cloud.count(CONTENT_PREFIX), self.cloud.waiting, *step)

    @property
    def store(self) -> S3ObjectStore:
        return S3ObjectStore(self.cloud.client("s3"), self.cloud.bucket)

    def manifest(self) -> Manifest | None:
        return stored(self.store, MANIFEST_KEY, Manifest)

    def summary(self) -> Summary | None:
        return stored(self.store, keys.SUMMARY_KEY, Summary)

    def report(self) -> Report | None:
        """The full report of what is published now."""
        manifest = self.manifest()
        return stored(self.store, keys.report_key(manifest.commit_sha), Report) if manifest else None

    def catalogue_report(self, name: str) -> CatalogueReport | None:
        """Return the report of a catalogue's last run."""
        return report_of(self.store, name)

    def catalogue_manifest(self, name: str) -> CatalogueManifest | None:
        return stored(self.store, manifest_key(name), CatalogueManifest)

    def get(self, path: str) -> httpx.Response:
        """A request to the public API."""
        return httpx.get(self.url + path, timeout=60, trust_env=False)

    def indexed(self, collection: Collection = "documents") -> dict[str, int]:
        """`{contentType}/{id}` of every searchable document, `{catalogue}/{id}` of every entry, and its version."""
        from commonplace.search import providers
        from commonplace.search.embedded.engine import EmbeddedEngine

        settings = self.deployment.retrieval().collection(collection)
        engine = providers.search_engine(settings, None, None, read_only=True)
        try:
            return {str(name): version for name, version in engine.versions()}
        finally:
            if isinstance(engine, EmbeddedEngine):
                engine.close()
            else:
                providers.open_search_connection(settings).close()
                providers.connection_to.cache_clear()  # the next look must not find the closed one

    def reconcile(self) -> None:
        """Brings the index to what the store holds, as the schedule does. Raises FunctionFailed."""
        self.cloud.invoke(INDEX_FUNCTION, {"source": "commonplace.operator"})
        if self.catalogues:
            self.cloud.invoke(INDEX_FUNCTION, {"source": "commonplace.operator", "collection": "reference"})

    def remembers(self) -> bool:
        """Return True when there is anything in the memory, or in the hive."""
        table = self.cloud.table("StateRecords")
        return bool(self.cloud.client("dynamodb").scan(TableName=table, Limit=1, Select="COUNT")["Count"])

    def look_after_records(self) -> None:
        """Have the indexes of memory, hive and organisations compared with their tables. Returns at once.

        They may be others than a former start had: of another engine, or in a folder that was emptied.
        """
        for collection in ("memory", "contributions", *(["messages"] if self._governance_scheme else [])):
            self.cloud.client("lambda").invoke(
                FunctionName=self.cloud.function(INDEX_FUNCTION).name,
                InvocationType="Event",
                Payload=json.dumps({"source": "commonplace.operator", "collection": collection}).encode(),
            )

    def logs(self) -> str:
        """Everything the functions have written since the start."""
        files = sorted((self.data / "cloud" / "logs").glob("*.log"))
        return "".join(file.read_text(encoding="utf-8", errors="replace") for file in files)

    @property
    def deployment(self) -> Deployment:
        return Deployment(self.outputs(), self.cloud.endpoint_url, self.cloud.access_key)

    def outputs(self) -> dict[str, str]:
        """The stack's outputs, and what `commonplace sync` needs to know of the stand-in."""
        return {
            "BaseUrl": self.url,
            "ContentBucket": self.cloud.bucket,
            "ActivityTable": self.cloud.table("StateActivity"),
            "CacheTable": self.cloud.table("StateCache"),
            "RecordsTable": self.cloud.table("StateRecords"),
            "IndexQueueUrl": self.cloud.queue_url("IndexQueue"),
            "RecordsQueueUrl": self.cloud.queue_url("IndexRecordsQueue"),
            "Organisation": self.cloud.function(AUTH_FUNCTION).variables["ORGANISATION"],
            "IdentityTable": self.cloud.table("IdentityTable"),
            "IdentitySecretArn": self.cloud.secret("IdentityPseudonyms"),
            "SigningSecretArn": self.cloud.secret("IdentitySigning"),
            "SyncMachineArn": self.cloud.machine("Sync"),
            "GithubSecretArn": self.cloud.secret(SECRET),
            "WebhookFunction": _function_name(self._template, "functions/webhook"),
            "SyncRunFunction": _function_name(self._template, "functions/sync"),
            "IndexFunction": self.cloud.function(INDEX_FUNCTION).name,
            "ConsoleVariables": json.dumps(self._console_variables()),
            **outputs_of(self.cloud.function(INDEX_FUNCTION).variables),
            "Repository": self.source.name,
            "Branch": self.source.branch,
            "Folder": str(self.source.work_tree or ""),
            "Catalogues": catalogue_environment(self.catalogues).get(VARIABLE, ""),
            "GovernanceScheme": self._governance_scheme,
            "GithubApiUrl": self.github.url,
        }

    def _console_variables(self) -> dict[str, str]:
        """Return the console's environment without keys of models: commands read the settings of governance there."""
        given = self.cloud.function(CONSOLE_FUNCTION).variables
        kept = {name: value for name, value in given.items() if "KEY" not in name}
        return {**kept, "AWS_ENDPOINT_URL": self.cloud.endpoint_url}

    @property
    def _governance_scheme(self) -> str:
        return self.cloud.function(AUTH_FUNCTION).variables.get("GOVERNANCE_SCHEME", "")

    def _environment(self) -> dict[str, str]:
        self.index_file.parent.mkdir(parents=True, exist_ok=True)
        return {
            "GITHUB_REPOSITORY": self.source.name,
            "GITHUB_BRANCH": self.source.branch,
            "GITHUB_API_URL": self.github.url,
            "INDEX_LOCATION": self.index_file.resolve().as_uri(),
            "EXPLAIN": "anyone",
            "CIMD_LOOPBACK": "true",
            "GOVERNANCE_SCHEME": "",
            "FEDERATION": "",
            "FEDERATION_LOOPBACK": "true",
            "GOVERNANCE_WEBHOOKS_LOOPBACK": "true",
            "LOCAL_ACCOUNTS": LOCAL_ACCOUNTS,
            "MCP_FULL_TEXT_TIER": "public",
            **dict.fromkeys(LIMITS, "0"),
            "PII_MODEL_FOLDER": str(RAMPART.folder),
            "MCP_RATE_LIMITS": "{}",
            "REFERENCE_MAX_AGE_SECONDS": "1",
            **catalogue_environment(self.catalogues),
        }


def committed_template() -> Mapping[str, Any]:
    try:
        template: dict[str, Any] = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{TEMPLATE} is missing.", "Run this from a clone of the project: make dev") from error
    return template


def _function_name(template: Mapping[str, Any], source: str) -> str:
    for resource in template["Resources"].values():
        if resource.get("Metadata", {}).get("commonplace:source") == source:
            return str(resource["Properties"]["FunctionName"])
    raise CommandError(f"The committed template has no function from {source}.")
