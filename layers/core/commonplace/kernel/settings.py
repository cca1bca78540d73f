"""What each function reads from its environment, checked once when the function starts.

A missing or malformed variable raises `SettingsError` with a sentence that names the variable and its valid values.
Standard library only: the webhook function carries no third-party package.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast, get_args
from urllib.parse import urlsplit

from commonplace.identity.principals import TIERS, Tier
from commonplace.identity.roles import is_organisation
from commonplace.kernel.configuration import Settings, matching, setting
from commonplace.kernel.configuration import text as any_text
from commonplace.kernel.environment import ORGANISATION, WEB_URL, SettingsError, is_loopback
from commonplace.search.source import Collection

SearchEngine = Literal["embedded", "opensearch"]
OpenSearchService = Literal["es", "aoss", "none"]
EmbeddingKind = Literal["none", "local", "bedrock-titan", "bedrock-cohere", "openai", "onnx"]
RerankKind = Literal["none", "bedrock-cohere", "bedrock-amazon", "onnx"]
Audience = Literal["operators", "anyone"]
Rated = Literal["read", "search", "write"]

GITHUB_API = "https://api.github.com"

DIMENSIONS: Mapping[str, tuple[int, ...]] = {
    "bedrock-titan": (256, 512, 1024),
    "bedrock-cohere": (256, 512, 1024, 1536),
}
"""Numbers in a vector, where the model leaves the choice."""

DEFAULT_DIMENSION = {"bedrock-titan": 1024, "bedrock-cohere": 1024}

OPENAI_API = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_DIMENSIONS = {OPENAI_MODEL: 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""Numbers in a vector of OpenAI's own models. The third has just so many, the others as few as one likes."""
OPENAI_TEXTS_PER_CALL = 100
"""Seed 001, decision 11."""

DEFAULT_RATE_LIMITS = '{"memory": {"read": 300, "search": 120, "write": 120}}'
RATE_LIMITS = (
    'a JSON object of calls a minute by toolset and class, such as {"memory": {"search": 120}}, 0 for no limit'
)

FACTOR = "a whole number from 1 to 100"
LISTENS = "a whole number from 0 to 1000, 0 for none"

_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_BRANCH = re.compile(r"(?![/.-])(?!.*(?:\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])")
_EMBEDDING = re.compile(
    r"(?P<kind>bedrock-titan|bedrock-cohere|local|none)(?::(?P<dimension>[0-9]{3,4}))?|onnx:(?P<folder>/.+)"
)
_OPENAI = re.compile(r"openai(?::(?P<model>[A-Za-z][A-Za-z0-9._/-]{0,99})(?::(?P<dimension>[1-9][0-9]{0,3}))?)?")
_OPENAI_KEY = re.compile(r"[\x21-\x7e]{8,500}")
_RERANK = re.compile(r"(?P<kind>bedrock-cohere|bedrock-amazon|none)|onnx:(?P<folder>/.+)")
_WEIGHT = r"(?:[0-9]{1,3}(?:\.[0-9]{1,6})?)"
_FUSION = re.compile(rf"(?:min-max|rrf)(?::{_WEIGHT},{_WEIGHT})?")
_FILE_NAME = re.compile(r"[^/]+\Z")
_INDEX_STEM = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]")
_TOOLSET = re.compile(r"(?!all$)[a-z][a-z0-9-]{0,39}")
_URI_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ARN = re.compile(r"arn:[a-z-]+:(?P<service>[a-z-]+):[a-z0-9-]*:[0-9]*:.+")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EmbeddingChoice:
    """Which embedding model: `local`, `none`, `bedrock-titan:512`, `bedrock-cohere:1024`, `openai:MODEL`,
    `onnx:/folder`."""

    kind: EmbeddingKind
    dimension: int | None = None
    """Numbers in a vector where the model leaves the choice."""
    folder: Path | None = None
    model: str | None = None
    """By its name at OpenAI, or at what speaks as OpenAI does."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for what names no model, or a dimension that the model does not have."""
        if openai := _OPENAI.fullmatch(text):
            return cls._openai(openai["model"] or OPENAI_MODEL, openai["dimension"])
        match = _EMBEDDING.fullmatch(text)
        if match is None:
            raise ValueError(text)
        if match["folder"]:
            return cls("onnx", folder=Path(match["folder"]))
        kind = cast(EmbeddingKind, match["kind"])
        dimension = int(match["dimension"]) if match["dimension"] else DEFAULT_DIMENSION.get(kind)
        if dimension not in DIMENSIONS.get(kind, (None,)):
            raise ValueError(text)
        return cls(kind, dimension)

    @classmethod
    def _openai(cls, model: str, given: str | None) -> Self:
        """Of a model that is not OpenAI's own the number of dimensions has to be given."""
        most = OPENAI_DIMENSIONS.get(model)
        dimension = int(given) if given else most
        shortens = model != "text-embedding-ada-002"
        if dimension is None or (most and (dimension > most or (dimension < most and not shortens))):
            raise ValueError(f"{model}:{given}")
        return cls("openai", dimension, model=model)


@dataclass(frozen=True, slots=True)
class RerankChoice:
    """Which reranker: `none`, `bedrock-cohere`, `bedrock-amazon`, `onnx:/folder`."""

    kind: RerankKind
    folder: Path | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for what names no reranker."""
        match = _RERANK.fullmatch(text)
        if match is None:
            raise ValueError(text)
        return cls("onnx", Path(match["folder"])) if match["folder"] else cls(cast(RerankKind, match["kind"]))


class Activity(Settings):
    activity_table: str = setting(
        any_text("the name of the table that holds run state, deliveries and counters"), "ACTIVITY_TABLE"
    )
    """The table with run state, deliveries, rate-limit counters, audit records and the latest changes of the index. For
    index it may be missing: then nobody is told of changes."""


class Organisation(Settings):
    organisation: str = setting(
        matching(ORGANISATION, "up to 64 lower-case letters, digits and hyphens"),
        "ORGANISATION",
        key="organisation",
        default="default",
    )
    """Whose data accounts reach that no role gives another organisation: up to 64 lower-case letters, digits and
    hyphens."""


class Environment:
    """Reads variables; every complaint names the variable and what it may be."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def text(self, name: str, valid: str, default: str | None = None) -> str:
        value = self._variables.get(name, "").strip() or default
        if value is None:
            raise SettingsError(f"{name} is not set. It must be {valid}.")
        return value

    def parsed(self, name: str, valid: str, parse: Callable[[str], T | None], default: str | None = None) -> T:
        """The value as `parse` reads it; None or ValueError from `parse` means malformed."""
        text = self.text(name, valid, default)
        try:
            value = parse(text)
        except ValueError:
            value = None
        if value is None:
            raise SettingsError(f"{name} is malformed. It must be {valid}.")
        return value

    def matching(self, name: str, valid: str, pattern: re.Pattern[str]) -> str:
        return self.parsed(name, valid, _matching(pattern))

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str:
        valid = "one of: " + ", ".join(choices)
        return self.parsed(name, valid, lambda text: text if text in choices else None, default)

    def arn(self, name: str, service: str) -> str:
        def parse(text: str) -> str | None:
            match = _ARN.fullmatch(text)
            return text if match and match["service"] == service else None

        return self.parsed(name, f"an ARN of {service}, arn:aws:{service}:REGION:ACCOUNT:...", parse)

    def count(self, name: str, default: int) -> int:
        return self.parsed(name, "a whole number from 0 to 1000000, 0 for no limit", _count, str(default))

    def url(self, name: str, default: str | None = None) -> str:
        """An origin, with or without a path: https, or http to this very machine; no trailing slash."""
        return self.parsed(name, WEB_URL, _web_url, default)

    def origin(self, name: str) -> str:
        """As `url`, and nothing after host and port."""
        return self.parsed(name, f"{WEB_URL}, without a path", _bare_origin)

    def issuer(self, name: str) -> str | None:
        """As it is written, a slash at its end included: it is compared as text. None if it is not set."""
        return self.optional(name, WEB_URL, lambda text: text if _web_url(text) else None)

    def on_this_machine(self) -> bool:
        """Whether the cloud is a laptop's: what helps a developer may be dangerous anywhere else."""
        cloud = self.optional("AWS_ENDPOINT_URL", WEB_URL, _web_url)
        return is_loopback(urlsplit(cloud or "").hostname)

    def toolsets(self) -> tuple[str, ...]:
        valid = "names of toolsets with commas between them, such as knowledge"
        return self.parsed("MCP_TOOLSETS", valid, _listed(_matching(_TOOLSET)), "knowledge")

    def json_object(self, name: str, valid: str) -> dict[str, Any] | None:
        """None for a variable that is not set."""
        text = self.optional(name, valid, _json_object)
        return json.loads(text) if text else None

    def flag(self, name: str) -> bool:
        """False unless it is said."""
        return self.choice(name, ("true", "false"), "false") == "true"

    def tier(self, name: str, default: str) -> Tier:
        return cast(Tier, self.choice(name, TIERS, default))

    def stage(self) -> str:
        return self.matching(
            "STAGE", "a name of lower-case letters, digits and hyphens", re.compile(r"[a-z][a-z0-9-]{0,19}")
        )

    def bucket(self) -> str:
        return self.text("CONTENT_BUCKET", "the name of the bucket that holds the canonical store")

    def activity_table(self) -> str:
        return self.text("ACTIVITY_TABLE", "the name of the table that holds run state, deliveries and counters")

    def repository(self) -> str:
        return self.matching("GITHUB_REPOSITORY", "owner/name, as in a GitHub address", _REPOSITORY)

    def branch(self) -> str:
        return self.matching("GITHUB_BRANCH", "the name of a branch, without refs/heads/", _BRANCH)

    def search_engine(self) -> SearchEngine:
        return cast(SearchEngine, self.choice("SEARCH_ENGINE", ("embedded", "opensearch"), "embedded"))

    def index_location(self) -> str:
        return self.parsed("INDEX_LOCATION", "s3://BUCKET/KEY or file:///ABSOLUTE/PATH", _location)

    def opensearch_service(self, endpoint: str | None) -> OpenSearchService:
        unsigned = endpoint is None or is_loopback(urlsplit(endpoint).hostname)
        default = "none" if unsigned else "es"
        return cast(OpenSearchService, self.choice("OPENSEARCH_SERVICE", ("es", "aoss", "none"), default))

    def embedding(self, name: str, default: str | None = None) -> EmbeddingChoice:
        valid = (
            "local, none, bedrock-titan[:256|512|1024], bedrock-cohere[:256|512|1024|1536], openai[:MODEL[:DIMENSION]],"
            " or onnx:/FOLDER with a model of your own"
        )
        named = self.optional("KB_EMBEDDING_MODEL", "MODEL or MODEL:DIMENSION, as after openai:", _openai_model)
        chosen = self.text(name, valid, f"openai:{named}" if named else default)
        unnamed = chosen == "openai" and named
        return self.parsed(
            name, valid, lambda _: EmbeddingChoice.parse(f"openai:{named}" if unnamed else chosen), chosen
        )

    def openai(self) -> "OpenAiSettings":
        """Never quotes the key."""
        given = bool(self._variables.get("OPENAI_SECRET_ARN", "").strip())
        key = "the key of an OpenAI project: printable characters without spaces"
        batch = f"a whole number from 1 to {OPENAI_TEXTS_PER_CALL}"
        return OpenAiSettings(
            base_url=self.url("OPENAI_BASE_URL", OPENAI_API),
            secret_arn=self.arn("OPENAI_SECRET_ARN", "secretsmanager") if given else None,
            api_key=self.optional("OPENAI_API_KEY", key, _matching(_OPENAI_KEY)),
            texts_per_call=self.parsed("KB_BATCH_SIZE", batch, _batch, str(OPENAI_TEXTS_PER_CALL)),
        )

    def rerank(self) -> RerankChoice:
        valid = "none, bedrock-cohere, bedrock-amazon, or onnx:/FOLDER with a cross-encoder of your own"
        return self.parsed("RERANK_PROVIDER", valid, RerankChoice.parse, "none")

    def fusion(self, name: str = "FUSION") -> str | None:
        valid = "min-max or rrf, with or without weights of words and meaning: min-max:0.6,0.4"
        return self.optional(name, valid, _matching(_FUSION))

    def organisation(self) -> str:
        """The deployment's own."""
        valid = "up to 64 lower-case letters, digits and hyphens"
        return self.parsed("ORGANISATION", valid, lambda text: text if is_organisation(text) else None, "default")

    def optional(self, name: str, valid: str, parse: Callable[[str], T | None]) -> T | None:
        """As `parsed`, and None for a variable that is not set."""
        return self.parsed(name, valid, parse) if self._variables.get(name, "").strip() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiSettings:
    """How OpenAI's API is reached, or a service that speaks as it does."""

    base_url: str = OPENAI_API
    """Without a slash at its end."""
    secret_arn: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """Given in the environment itself: on a laptop. Without key and secret only a service of this machine is asked."""
    texts_per_call: int = OPENAI_TEXTS_PER_CALL


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """Where the index is and which models read and write it: the same for its writer and for every reader."""

    search_engine: SearchEngine = "embedded"
    index_location: str | None = None
    """Of the embedded engine: `s3://BUCKET/KEY` or `file:///PATH`. None only with another engine."""
    opensearch_endpoint: str | None = None
    opensearch_service: OpenSearchService = "none"
    """Whom requests are signed for; `none` signs nothing."""
    opensearch_index: str = "commonplace-dev-documents"
    """The stem of aliases and index names."""
    opensearch_parameters: str | None = None
    """JSON object, read by `search.opensearch.settings`."""
    embedding_provider: EmbeddingChoice = EmbeddingChoice("local")
    embedding_provider_next: EmbeddingChoice | None = None
    """The model to come, while an index of it is built and taken into use."""
    openai: OpenAiSettings = OpenAiSettings()
    bedrock_region: str | None = None
    """None means the function's own."""
    cache_table: str | None = None
    """DynamoDB table that remembers vectors and rerank orders; None remembers in the process alone."""
    organisation: str = "default"
    """Whose vectors those of the documents are."""

    @property
    def slow_to_embed(self) -> bool:
        """Whether a model takes so long, or so much, that no text is to be sent to it twice."""
        chosen = (self.embedding_provider, self.embedding_provider_next)
        return any(choice is not None and choice.kind not in ("none", "local") for choice in chosen)

    def collection(self, name: Collection) -> Self:
        """The same for another collection, whose index is a sibling of the documents' own.

        `documents.sqlite` becomes `memory.sqlite`, and the stem `X-documents` becomes `X-memory`.
        """
        if name == "documents":
            return self
        location = _FILE_NAME.sub(lambda found: _sibling(found[0], name), self.index_location or "") or None
        return replace(self, index_location=location, opensearch_index=_sibling(self.opensearch_index, name))

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        return cls(**_retrieval(Environment(environ)))


def _retrieval(env: Environment) -> dict[str, Any]:
    engine = env.search_engine()
    location = env.optional("INDEX_LOCATION", "s3://BUCKET/KEY or file:///ABSOLUTE/PATH", _location)
    endpoint = env.optional("OPENSEARCH_ENDPOINT", WEB_URL, _web_url)
    if engine == "embedded":
        env.index_location()
    else:
        env.url("OPENSEARCH_ENDPOINT")
    stem = "a name of lower-case letters, digits, _ and - (at most 100)"
    parameters = 'a JSON object such as {"m": 16, "efConstruction": 100}; docs/configuration.md lists its keys'
    return {
        "search_engine": engine,
        "index_location": location,
        "opensearch_endpoint": endpoint,
        "opensearch_service": env.opensearch_service(endpoint),
        "opensearch_index": env.optional("OPENSEARCH_INDEX", stem, _matching(_INDEX_STEM))
        or f"commonplace-{env.stage()}-documents",
        "opensearch_parameters": env.optional("OPENSEARCH_PARAMETERS", parameters, _json_object),
        "embedding_provider": env.embedding("EMBEDDING_PROVIDER", "local"),
        "embedding_provider_next": _next_embedding(env),
        "openai": env.openai(),
        "bedrock_region": env.optional("BEDROCK_REGION", "an AWS region such as eu-central-1", _matching(_REGION)),
        "cache_table": env.optional("CACHE_TABLE", "the name of a DynamoDB table", lambda text: text),
        "organisation": env.organisation(),
    }


def _sibling(name: str, collection: Collection) -> str:
    """`documents` where it is the last word, else the collection after the name."""
    stem, dot, suffix = name.partition(".")
    prefix = stem.removesuffix("documents")
    if prefix != stem and (not prefix or prefix.endswith("-")):
        return f"{prefix}{collection}{dot}{suffix}"
    return f"{stem}-{collection}{dot}{suffix}"


def _next_embedding(env: Environment) -> EmbeddingChoice | None:
    def parse(text: str) -> EmbeddingChoice | None:
        choice = EmbeddingChoice.parse(text)
        return choice if choice.kind != "none" else None

    valid = "the model to come, written as EMBEDDING_PROVIDER is; unset it when there is none"
    return env.optional("EMBEDDING_PROVIDER_NEXT", valid, parse)


@dataclass(frozen=True, slots=True)
class OriginSettings:
    """Of every function that answers requests."""

    secret_arn: str | None
    """What the front door proves itself with; None means that there is no door, and everybody may come."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        given = environ.get("ORIGIN_SECRET_ARN", "").strip()
        return cls(secret_arn=env.arn("ORIGIN_SECRET_ARN", "secretsmanager") if given else None)


@dataclass(frozen=True, slots=True)
class OriginRotationSettings:
    """Of the function that changes that secret."""

    secret_arn: str
    distribution_id: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        valid = "the id of a CloudFront distribution, such as E1A2B3C4D5E6F7"
        return cls(
            secret_arn=env.arn("ORIGIN_SECRET_ARN", "secretsmanager"),
            distribution_id=env.matching("DISTRIBUTION_ID", valid, re.compile(r"[A-Z0-9]{10,20}")),
        )


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    stage: str
    activity_table: str
    machine_arn: str
    repository: str
    branch: str
    github_secret_arn: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            activity_table=env.activity_table(),
            machine_arn=env.arn("SYNC_MACHINE_ARN", "states"),
            repository=env.repository(),
            branch=env.branch(),
            github_secret_arn=env.arn("GITHUB_SECRET_ARN", "secretsmanager"),
        )


@dataclass(frozen=True, slots=True)
class SyncSettings:
    stage: str
    content_bucket: str
    activity_table: str
    repository: str
    branch: str
    github_api_url: str
    github_secret_arn: str
    exclude: tuple[str, ...] | None
    """Path patterns that are never read; None means the defaults of `content.exclusions`."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            content_bucket=env.bucket(),
            activity_table=env.activity_table(),
            repository=env.repository(),
            branch=env.branch(),
            github_api_url=env.url("GITHUB_API_URL", GITHUB_API),
            github_secret_arn=env.arn("GITHUB_SECRET_ARN", "secretsmanager"),
            exclude=_exclude(env) if environ.get("EXCLUDE", "").strip() else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings(RetrievalSettings):
    stage: str
    content_bucket: str
    activity_table: str | None = None
    """Where changes of the index are told; None means that nobody waits for them."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            content_bucket=env.bucket(),
            activity_table=env.optional("ACTIVITY_TABLE", "the name of a DynamoDB table", lambda text: text),
            **_retrieval(env),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSettings(RetrievalSettings):
    """What every function that answers readers is told: which knowledge base, where it is, how it is searched."""

    stage: str
    content_bucket: str
    activity_table: str
    repository: str
    branch: str
    rerank_provider: RerankChoice
    fusion: str | None
    """As `search.fusion` reads it; None means its default."""
    site_name: str


def _reader(env: Environment) -> dict[str, Any]:
    return {
        "stage": env.stage(),
        "content_bucket": env.bucket(),
        "activity_table": env.activity_table(),
        "repository": env.repository(),
        "branch": env.branch(),
        **_retrieval(env),
        "rerank_provider": env.rerank(),
        "fusion": env.fusion(),
        "site_name": env.text("SITE_NAME", "the name that readers see", "Commonplace"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RestSettings(ReaderSettings):
    explain: Audience
    """Who may ask why a search answers as it does."""
    operator_key_hash: str | None
    """sha256 of the operators' key, in hexadecimal digits; None means that there is no such key."""
    base_url: str | None
    """Public origin without trailing slash; None makes the addresses in answers relative."""
    reads_per_minute: int
    """Per client address; 0 switches the limit off."""
    searches_per_minute: int

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        key = "the sha256 of the operators' key, 64 hexadecimal digits"
        return cls(
            **_reader(env),
            explain=cast(Audience, env.choice("EXPLAIN", ("operators", "anyone"), "operators")),
            operator_key_hash=env.optional("OPERATOR_KEY_HASH", key, _matching(_SHA256)),
            base_url=env.optional("BASE_URL", WEB_URL, _web_url),
            reads_per_minute=env.count("RATE_LIMIT_READS", 600),
            searches_per_minute=env.count("RATE_LIMIT_SEARCHES", 60),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSettings(ReaderSettings):
    base_url: str
    """Public origin without trailing slash: behind the gateway a function sees another host than its callers do."""
    toolsets: tuple[str, ...]
    """What `/mcp` serves."""
    read_only: bool
    """No tool that writes exists in this deployment."""
    allowed_origins: tuple[str, ...]
    """Origins of browsers, or `*` alone; empty means the deployment's own."""
    full_text_tier: Tier
    uri_host: str
    names_authors: bool
    reads_per_minute: int
    """Per token, or per address of who has none; 0 switches the limit off. The same for the next two."""
    searches_per_minute: int
    writes_per_minute: int
    rate_limits: Mapping[str, Mapping[Rated, int]] = field(hash=False)
    """Classes that a toolset has of its own, in place of those above: by toolset, then `read`, `search`, `write`."""
    service_rate_factor: int
    """How much more often agents may call that sign in by themselves."""
    account_rate_factor: int
    """How many tokens' worth of reads and searches one account may make with all its tokens."""
    listens_per_account: int
    """How many requests that wait for changes an account may hold open at once; 0 lets nobody wait."""
    listens: int
    """The same of all accounts together; 0 lets nobody wait."""
    github_api_url: str
    github_writer_secret_arn: str | None
    """None means that nothing can be proposed."""
    assumed_tier: Tier | None
    """What every caller is taken for; None but on a laptop."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        writes = environ.get("GITHUB_WRITER_SECRET_ARN", "").strip()
        return cls(
            **_reader(env),
            base_url=env.url("BASE_URL"),
            **_surface(env),
            reads_per_minute=env.count("MCP_RATE_LIMIT_READS", 60),
            searches_per_minute=env.count("MCP_RATE_LIMIT_SEARCHES", 20),
            writes_per_minute=env.count("MCP_RATE_LIMIT_WRITES", 10),
            rate_limits=env.parsed("MCP_RATE_LIMITS", RATE_LIMITS, rate_limits, DEFAULT_RATE_LIMITS),
            service_rate_factor=env.parsed("MCP_SERVICE_RATE_FACTOR", FACTOR, _factor, "5"),
            account_rate_factor=env.parsed("MCP_ACCOUNT_RATE_FACTOR", FACTOR, _factor, "3"),
            listens_per_account=env.parsed("MCP_LISTENS_PER_ACCOUNT", LISTENS, _listens, "2"),
            listens=env.parsed("MCP_LISTENS", LISTENS, _listens, "5"),
            github_api_url=env.url("GITHUB_API_URL", GITHUB_API),
            github_writer_secret_arn=env.arn("GITHUB_WRITER_SECRET_ARN", "secretsmanager") if writes else None,
            assumed_tier=_assumed_tier(env),
        )


def _surface(env: Environment) -> dict[str, Any]:
    origins = "origins such as https://app.example.org with commas between them, or *"
    host = "a host name of lower-case letters, digits, dots and hyphens"
    return {
        "toolsets": env.toolsets(),
        "read_only": env.flag("MCP_READ_ONLY"),
        "allowed_origins": env.optional("MCP_ALLOWED_ORIGINS", origins, _origins) or (),
        "full_text_tier": env.tier("MCP_FULL_TEXT_TIER", "member"),
        "uri_host": env.parsed("MCP_URI_HOST", host, _matching(_URI_HOST), "superbenefit"),
        "names_authors": env.flag("MCP_NAME_AUTHORS"),
    }


def _assumed_tier(env: Environment) -> Tier | None:
    """Raises SettingsError where it would give strangers what is for members."""
    valid = "one of: " + ", ".join(TIERS)
    tier = env.optional("MCP_ASSUMED_TIER", valid, lambda text: text if text in TIERS else None)
    if tier and not env.on_this_machine():
        raise SettingsError("MCP_ASSUMED_TIER is set. It must be absent where AWS_ENDPOINT_URL is not this machine.")
    return cast(Tier | None, tier)


def rate_limits(text: str) -> Mapping[str, Mapping[Rated, int]] | None:
    given = json.loads(text)
    if not isinstance(given, dict) or not all(_TOOLSET.fullmatch(name) for name in given):
        return None
    return given if all(_is_classes(classes) for classes in given.values()) else None


def _is_classes(classes: Any) -> bool:
    return isinstance(classes, dict) and all(
        name in get_args(Rated) and type(calls) is int and 0 <= calls <= 1_000_000 for name, calls in classes.items()
    )


def _factor(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9][0-9]?|100", text) else None


def _listens(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,3}|1000", text) else None


def _web_url(text: str) -> str | None:
    parts = urlsplit(text)
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    plain = parts.username is None and not parts.query and not parts.fragment
    return text.rstrip("/") if secure and plain and parts.hostname else None


def _bare_origin(text: str) -> str | None:
    url = _web_url(text)
    return url if url and not urlsplit(url).path else None


def _listed(parse: Callable[[str], str | None]) -> Callable[[str], tuple[str, ...] | None]:
    """Items with commas between them, each once and in order."""

    def read(text: str) -> tuple[str, ...] | None:
        items = [parse(item.strip()) for item in text.split(",")]
        return None if None in items else tuple(dict.fromkeys(item for item in items if item))

    return read


def _origins(text: str) -> tuple[str, ...] | None:
    return ("*",) if text == "*" else _listed(_origin)(text)


def _origin(text: str) -> str | None:
    """As browsers write it: scheme, host and port, nothing else."""
    url = _web_url(text)
    return url.lower() if url and not urlsplit(url).path else None


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    return lambda text: text if pattern.fullmatch(text) else None


def _openai_model(text: str) -> str | None:
    return text if EmbeddingChoice.parse(f"openai:{text}") else None


def _batch(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= OPENAI_TEXTS_PER_CALL else None


def _json_object(text: str) -> str | None:
    return text if isinstance(json.loads(text), dict) else None


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,7}", text) and int(text) <= 1_000_000 else None


def _location(text: str) -> str | None:
    parts = urlsplit(text)
    in_bucket = parts.scheme == "s3" and parts.netloc and len(parts.path) > 1
    on_disk = parts.scheme == "file" and not parts.netloc and len(parts.path) > 1
    return text if in_bucket or on_disk else None


def _exclude(env: Environment) -> tuple[str, ...]:
    def parse(text: str) -> tuple[str, ...] | None:
        patterns = json.loads(text)
        if not isinstance(patterns, list) or not all(isinstance(item, str) and item for item in patterns):
            return None
        return tuple(patterns)

    return env.parsed("EXCLUDE", 'a JSON list of path patterns, for example ["drafts/", "tools/"]', parse)
