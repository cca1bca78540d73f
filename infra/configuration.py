"""What one deployment is: read from `cdk.json` and `-c key=value`, checked once, then only passed on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.identity.principals import Tier
from commonplace.kernel.settings import DEFAULT_RATE_LIMITS
from commonplace.memory.model import BATCH, DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE
from infra.edge_keys import check_edge
from infra.identity_keys import MAINNET_RPC_URLS, OPTIMISM_RPC_URLS, check_identity
from infra.keys import KEYS
from infra.providers import OPENAI, bundled_folder
from infra.readers import ConfigurationError
from infra.search_checks import check_search

__all__ = ["Configuration", "ConfigurationError", "from_context"]

Engine = Literal["embedded", "opensearch"]
OpenSearchService = Literal["domain", "serverless"]
RemovalPolicy = Literal["destroy", "retain"]

EXAMPLE_REPOSITORY = "example/knowledge-base"
"""Stands in where no repository is configured, so that `make synth` works in a fresh clone. Never deployed to prod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One deployment. The context key of a field is its name in camelCase."""

    stage: str = "dev"
    repository: str = EXAMPLE_REPOSITORY
    branch: str = "main"
    domain: str | None = None
    certificate_arn: str | None = None
    engine: Engine = "opensearch"
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
    open_ai_base_url: str | None = None
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
    mcp_rate_limits: str = DEFAULT_RATE_LIMITS
    service_rate_factor: int = 5
    account_rate_factor: int = 3
    listens_per_account: int = 2
    listens: int = 5
    kb_default_search_limit: int = DEFAULT_LIMIT
    kb_min_confidence: str = str(DEFAULT_MIN_CONFIDENCE)
    kb_fusion: str | None = None
    kb_batch_size: int = BATCH
    catalogues: str | None = None
    throttle_rate: int = 100
    throttle_burst: int = 200
    exclude: tuple[str, ...] | None = None
    snap_start: bool = False
    organisation: str = "default"
    role_map: str | None = None
    hats_contract: str = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
    hats_chain_id: int = 10
    siwe_chain_id: int = 10
    optimism_rpc_urls: str = OPTIMISM_RPC_URLS
    mainnet_rpc_urls: str = MAINNET_RPC_URLS
    registrations_per_day: int = 20
    sign_ins_per_hour: int = 30
    agent_sessions_per_hour: int = 5
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_name: str | None = None
    oidc_claims_hours: int = 24
    oidc_parameters: str | None = None
    waap: str | None = None
    edge: bool = False
    public_url: str | None = None
    origin_lock: bool = True
    origin_secret_rotation_days: int = 30
    restore_challenge: bool = True
    waf: bool = True
    waf_rate_limit: int = 2_000
    waf_auth_rate_limit: int = 300
    hsts_days: int = 365
    edge_logs: bool = False

    def __post_init__(self) -> None:
        if self.domain and not self.certificate_arn:
            raise ConfigurationError("domain needs certificateArn: the ACM certificate of that name in this region")
        if self.certificate_arn and not self.domain:
            raise ConfigurationError("certificateArn without domain has no use; set both or neither")
        if self.stage == "prod" and self.removal_policy != "retain":
            raise ConfigurationError("stage prod keeps its data: removalPolicy can only be retain")
        if "reference" in self.mcp_toolsets.split(",") and not self.catalogues:
            raise ConfigurationError("mcpToolsets names reference, which needs catalogues")
        check_identity(self)
        check_search(self)
        check_edge(self)

    @property
    def retains(self) -> bool:
        """Whether data outlives the stack, and is protected from deletion."""
        return self.removal_policy == "retain"

    @property
    def base_url(self) -> str | None:
        """The public origin, where one is configured; else callers' own Host header tells."""
        return f"https://{self.domain}" if self.domain else self.public_url

    @property
    def regional_domain(self) -> str | None:
        """The domain, where the API answers to it itself and no distribution stands before it."""
        return None if self.edge else self.domain

    @property
    def locks_origin(self) -> bool:
        """Whether the functions refuse what went round the front door: not before it is known where that is."""
        return self.edge and self.origin_lock and self.base_url is not None

    @property
    def reranks(self) -> bool:
        """Whether a model puts the best hits in a second order."""
        return self.rerank_provider != "none"

    @property
    def asks_openai(self) -> bool:
        """Whether vectors come from OpenAI's API, or from what speaks as it does."""
        return any(each.partition(":")[0] == OPENAI for each in self.providers)

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
    if unknown := sorted(own.keys() - KEYS.keys()):
        raise ConfigurationError(f"unknown context {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    given = {key: value for key, value in own.items() if value not in (None, "")}
    if given.get("stage") == "prod":
        if missing := [key for key in ("repository", "branch") if key not in given]:
            raise ConfigurationError(f"stage prod needs {' and '.join(missing)}")
        given.setdefault("removalPolicy", "retain")
    return Configuration(**{_snake_case(key): KEYS[key](key, value) for key, value in given.items()})


def _is_cdks(key: str) -> bool:
    """Feature flags and the toolkit's own keys are namespaced: `@aws-cdk/…`, `aws:cdk:…`, `availability-zones:…`."""
    return any(mark in key for mark in "@/:")


def _snake_case(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)
