"""What one deployment is: read from `cdk.json` and `-c key=value`, checked once, then only passed on."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.identity.principals import TIERS, Tier
from infra.providers import (
    bundled_folder,
    embedding_provider,
    fusion,
    located,
    next_embedding_provider,
    opensearch_parameters,
    rerank_provider,
)
from infra.readers import ConfigurationError, Reader, flag, names, number, one_of, patterns, text, version

__all__ = ["Configuration", "ConfigurationError", "from_context"]

Engine = Literal["embedded", "opensearch"]
OpenSearchService = Literal["domain", "serverless"]
RemovalPolicy = Literal["destroy", "retain"]

EXAMPLE_REPOSITORY = "example/knowledge-base"
"""Stands in where no repository is configured, so that `make synth` works in a fresh clone. Never deployed to prod."""

LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653)
"""The periods CloudWatch Logs knows."""

TOOLSETS = ("knowledge",)
"""What `functions/mcp` has."""

OCU_LIMITS = (1, 2, 4, 8, 16)
"""The limits of capacity that OpenSearch Serverless takes; beyond 16 it goes on in steps of 16, and is not for us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One deployment. The context key of a field is its name in camelCase."""

    stage: str = "dev"
    repository: str = EXAMPLE_REPOSITORY
    branch: str = "main"
    domain: str | None = None
    certificate_arn: str | None = None
    engine: Engine = "embedded"
    open_search_service: OpenSearchService = "domain"
    open_search_version: str = "3.5"
    open_search_instance_type: str = "t3.small.search"
    open_search_nodes: int = 1
    open_search_zones: int = 1
    open_search_master_type: str | None = None
    open_search_storage_gb: int = 10
    open_search_max_ocu: int = 4
    open_search_endpoint: str | None = None
    open_search_arn: str | None = None
    open_search_parameters: str | None = None
    bedrock_region: str | None = None
    embedding_provider: str = "local"
    embedding_provider_next: str | None = None
    rerank_provider: str = "none"
    fusion: str | None = None
    operator_key_hash: str | None = None
    removal_policy: RemovalPolicy = "destroy"
    region: str | None = None
    account: str | None = None
    site_name: str = "Commonplace"
    github_api_url: str = "https://api.github.com"
    alarm_email: str | None = None
    log_retention_days: int = 30
    reconcile_minutes: int = 60
    index_reconcile_hours: int = 6
    rate_limit_reads: int = 600
    rate_limit_searches: int = 60
    mcp_toolsets: str = "knowledge"
    mcp_read_only: bool = False
    mcp_allowed_origins: str | None = None
    full_text_tier: Tier = "member"
    uri_host: str = "superbenefit"
    name_authors: bool = False
    rate_limit_mcp_reads: int = 60
    rate_limit_mcp_writes: int = 10
    rate_limit_mcp_searches: int = 20
    throttle_rate: int = 100
    throttle_burst: int = 200
    exclude: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.domain and not self.certificate_arn:
            raise ConfigurationError("domain needs certificateArn: the ACM certificate of that name in this region")
        if self.certificate_arn and not self.domain:
            raise ConfigurationError("certificateArn without domain has no use; set both or neither")
        if self.stage == "prod" and self.removal_policy != "retain":
            raise ConfigurationError("stage prod keeps its data: removalPolicy can only be retain")
        _check_search(self)

    @property
    def retains(self) -> bool:
        """Whether data outlives the stack, and is protected from deletion."""
        return self.removal_policy == "retain"

    @property
    def base_url(self) -> str | None:
        """The public origin, where one is configured; else callers' own Host header tells."""
        return f"https://{self.domain}" if self.domain else None

    @property
    def reranks(self) -> bool:
        """Whether a model puts the best hits in a second order."""
        return self.rerank_provider != "none"

    @property
    def providers(self) -> tuple[str, ...]:
        """Every model that is configured, embedding and rerank."""
        named = (self.embedding_provider, self.embedding_provider_next, self.rerank_provider)
        return tuple(dict.fromkeys(each for each in named if each and each != "none"))

    @property
    def model_folders(self) -> tuple[str, ...]:
        """The folders of ONNX models that the functions have to bring along."""
        return tuple(folder for each in self.providers if (folder := bundled_folder(each)))

    @property
    def makes_domain(self) -> bool:
        """Whether a managed domain is part of the stack."""
        return self.engine == "opensearch" and self.open_search_service == "domain" and not self.open_search_endpoint

    @property
    def makes_collection(self) -> bool:
        """Whether a serverless collection is part of the stack."""
        return self.engine == "opensearch" and self.open_search_service != "domain" and not self.open_search_endpoint


def from_context(context: Mapping[str, Any]) -> Configuration:
    """The deployment that a CDK context describes. Values given on the command line are text and are read as such.

    Raises ConfigurationError for an unknown key, a value out of bounds, or a prod stage that leaves essentials open.
    """
    own = {key: value for key, value in context.items() if not _is_cdks(key)}
    if unknown := sorted(own.keys() - _READERS.keys()):
        raise ConfigurationError(f"unknown context {', '.join(unknown)}; known are {', '.join(sorted(_READERS))}")
    given = {key: value for key, value in own.items() if value not in (None, "")}
    if given.get("stage") == "prod":
        if missing := [key for key in ("repository", "branch") if key not in given]:
            raise ConfigurationError(f"stage prod needs {' and '.join(missing)}")
        given.setdefault("removalPolicy", "retain")
    return Configuration(**{_snake_case(key): _READERS[key](key, value) for key, value in given.items()})


def _is_cdks(key: str) -> bool:
    """Feature flags and the toolkit's own keys are namespaced: `@aws-cdk/…`, `aws:cdk:…`, `availability-zones:…`."""
    return any(mark in key for mark in "@/:")


def _snake_case(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)


def _check_search(chosen: Configuration) -> None:
    if len({located(folder).name for folder in chosen.model_folders}) < len(chosen.model_folders):
        raise ConfigurationError("folders of ONNX models need different names: a function sees them side by side")
    if chosen.embedding_provider_next and chosen.engine == "embedded":
        raise ConfigurationError(
            "embeddingProviderNext needs engine opensearch; the embedded index is built anew in place: "
            "set embeddingProvider"
        )
    if chosen.embedding_provider_next == chosen.embedding_provider:
        raise ConfigurationError("embeddingProviderNext is the model to change to, and embeddingProvider is that one")
    if bool(chosen.open_search_endpoint) != bool(chosen.open_search_arn):
        raise ConfigurationError("openSearchEndpoint and openSearchArn name one domain or collection: set both")
    if chosen.open_search_arn:
        service = {"domain": "es", "serverless": "aoss"}[chosen.open_search_service]
        if chosen.open_search_arn.split(":")[2] != service:
            raise ConfigurationError(f"openSearchArn is not one of a {chosen.open_search_service} (openSearchService)")
    if chosen.open_search_nodes % chosen.open_search_zones:
        raise ConfigurationError(
            f"openSearchNodes is a multiple of openSearchZones ({chosen.open_search_zones}), "
            f"not {chosen.open_search_nodes}: every zone gets as many nodes"
        )
    if chosen.open_search_service == "serverless":
        parameters = json.loads(chosen.open_search_parameters or "{}")
        if parameters.get("engine", "faiss") != "faiss":
            raise ConfigurationError("openSearchParameters: a serverless collection knows the k-NN engine faiss only")


_READERS: dict[str, Reader] = {
    "stage": text(r"[a-z][a-z0-9-]{0,15}", "lower-case letters, digits and dashes (at most 16)"),
    "repository": text(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", "owner/name on GitHub"),
    "branch": text(
        r"(?![/.-])(?!.*(\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])", "the name of a branch"
    ),
    "domain": text(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "a lower-case host name without scheme or path"),
    "certificateArn": text(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[a-f0-9-]+", "the ARN of a certificate"),
    "engine": one_of("embedded", "opensearch"),
    "openSearchService": one_of(
        "domain",
        "serverless",
        refused={
            "serverless-classic": "classic vector collections take neither ids nor versions of our own, so that a "
            "late write would undo a newer one and a repeated one would double a document; serverless means NextGen"
        },
    ),
    "openSearchVersion": version(
        (3, 5), "before 3.5 filters inside nested k-NN fail and hybrid search loses the best hits without an error"
    ),
    "openSearchInstanceType": text(
        r"(?!t2\.)[a-z][a-z0-9]{1,7}\.[a-z0-9]{4,10}\.search", "an instance type such as t3.small.search, and not a t2"
    ),
    "openSearchNodes": number(1, 80),
    "openSearchZones": number(1, 3),
    "openSearchMasterType": text(
        r"(?!t2\.)[a-z][a-z0-9]{1,7}\.[a-z0-9]{4,10}\.search", "an instance type such as m7g.medium.search"
    ),
    "openSearchStorageGb": number(10, 12_288),
    "openSearchMaxOcu": number(1, 16, among=OCU_LIMITS),
    "openSearchEndpoint": text(r"https://[a-z0-9.-]+\.[a-z]+(:\d{1,5})?", "an https URL without a path"),
    "openSearchArn": text(
        r"arn:aws[a-z-]*:(es:[a-z0-9-]+:\d{12}:domain|aoss:[a-z0-9-]+:\d{12}:collection)/[a-z0-9-]{2,40}",
        "the ARN of a domain or a collection",
    ),
    "openSearchParameters": opensearch_parameters,
    "bedrockRegion": text(r"[a-z]{2}(-[a-z]+)+-\d", "an AWS region such as eu-central-1"),
    "embeddingProvider": embedding_provider,
    "embeddingProviderNext": next_embedding_provider,
    "rerankProvider": rerank_provider,
    "fusion": fusion,
    "operatorKeyHash": text(r"[0-9a-f]{64}", "the SHA-256 of the operators' key, in 64 hexadecimal digits"),
    "removalPolicy": one_of("destroy", "retain"),
    "region": text(r"[a-z]{2}(-[a-z]+)+-\d", "an AWS region such as eu-central-1"),
    "account": text(r"\d{12}", "an AWS account number of twelve digits"),
    "siteName": text(r"[^\x00-\x1f]{1,80}", "a title of at most 80 characters"),
    "githubApiUrl": text(r"https://[^\s/]+(/[^\s]*[^\s/])?", "an https URL without a slash at its end"),
    "alarmEmail": text(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address"),
    "logRetentionDays": number(1, 3653, among=LOG_RETENTION_DAYS),
    "reconcileMinutes": number(5, 1440),
    "indexReconcileHours": number(1, 24),
    "rateLimitReads": number(0, 1_000_000),
    "rateLimitSearches": number(0, 1_000_000),
    "mcpToolsets": names("|".join(TOOLSETS), f"names of toolsets (there are: {', '.join(TOOLSETS)})"),
    "mcpReadOnly": flag,
    "mcpAllowedOrigins": names(
        r"https://[a-z0-9.-]+(:\d{1,5})?", "origins such as https://chat.example.org", every="*"
    ),
    "fullTextTier": one_of(*TIERS),
    "uriHost": text(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?", "a name of lower-case letters, digits, dots and dashes"),
    "nameAuthors": flag,
    "rateLimitMcpReads": number(0, 1_000_000),
    "rateLimitMcpWrites": number(0, 1_000_000),
    "rateLimitMcpSearches": number(0, 1_000_000),
    "throttleRate": number(1, 10_000),
    "throttleBurst": number(1, 5_000),
    "exclude": patterns,
}
