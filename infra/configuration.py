"""The configuration of a deployment: read from `cdk.json` and `-c key=value`, checked once, then only passed on.

Options of rooms and frame are declared in their settings; here are those of the stack itself.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import model_validator
from pydantic_settings import SettingsConfigDict

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.configuration import (
    FLAG,
    Declaration,
    Kind,
    Settings,
    declaration,
    listed,
    matching,
    one_of,
    setting,
    whole,
)
from commonplace.search.settings import REGION
from infra.declarations import ROOM_KEYS, ConfigurationError, camel_case, chosen, snake_case
from infra.identity_keys import MAINNET_RPC_URLS, OPTIMISM_RPC_URLS, role_map, waap
from infra.providers import (
    MINILM,
    OPENAI,
    bundled_folder,
    embedding_provider,
    located,
    next_embedding_provider,
    rerank_provider,
)

__all__ = ["Configuration", "ConfigurationError", "from_context"]

EDGE_REGION = "us-east-1"
"""Where CloudFront takes certificates, web ACLs and functions from; everything of the edge is there."""

LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653)
"""The periods CloudWatch Logs knows."""

OCU_LIMITS = (1, 2, 4, 8, 16)
"""The limits of capacity that OpenSearch Serverless takes; beyond 16 it goes on in steps of 16, and is not for us."""

MAX_TOLD = 1_800
"""Bytes of role map, `openSearchParameters` and `catalogues` together: a function can be told 4 KB."""

_CLASSIC = (
    "classic vector collections take neither ids nor versions of our own, so that a late write would undo a newer one "
    "and a repeated one would double a document; serverless means NextGen"
)
_OLD = "before 3.5 filters inside nested k-NN fail and hybrid search loses the best hits without an error"
_ORIGIN = r"https://[A-Za-z0-9.-]+(:\d{1,5})?"

INSTANCE = matching(
    r"(?!t2\.)[a-z][a-z0-9]{1,7}\.[a-z0-9]{4,10}\.search", "an instance type such as m7g.medium.search, and not a t2"
)
URLS = listed(matching(rf"{_ORIGIN}(/[^\s,]*)?", "a URL"), "https URLs, the first before its fall-backs, each once")

READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "roleMap": role_map,
    "waap": waap,
    "embeddingProvider": embedding_provider,
    "embeddingProviderNext": next_embedding_provider,
    "rerankProvider": rerank_provider,
}
"""Of keys that say more than their variables: files of this machine, for one."""


def _service(text: str) -> str | None:
    if text == "serverless-classic":
        raise ValueError(_CLASSIC)
    return text if text in ("domain", "serverless") else None


def _version(text: str) -> str | None:
    found = re.fullmatch(r"(\d{1,2})\.(\d{1,2})", text)
    if found and (int(found[1]), int(found[2])) < (3, 5):
        raise ValueError(_OLD)
    if found and found[1] != "3":
        raise ValueError("no other major version has been tried")
    return text if found else None


def _among(numbers: tuple[int, ...]) -> Kind:
    found = {str(number): number for number in numbers}
    return Kind(f"one of {', '.join(found)}", found.get)


class Configuration(Settings):
    """One deployment. The context key of a field is its name in camelCase; fields of rooms are named after theirs."""

    model_config = SettingsConfigDict(extra="allow")

    domain: str | None = setting(
        matching(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "a lower-case host name without scheme or path"),
        default=None,
    )
    """Host name, for example `kb.example.org`; needs `certificateArn`."""
    certificate_arn: str | None = setting(
        matching(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[a-f0-9-]+", "the ARN of a certificate"),
        default=None,
    )
    """ACM certificate for `domain`, in the same region; with `edge` in us-east-1."""
    open_search_service: Literal["domain", "serverless"] = setting(
        Kind("domain or serverless", _service), default="domain"
    )
    """`domain` (managed nodes) or `serverless` (a NextGen collection, experimental)."""
    open_search_version: str = setting(Kind("3.5 or newer", _version), default="3.5")
    """Version of the domain, at least 3.5."""
    open_search_instance_type: str = setting(INSTANCE, default="t3.small.search")
    """Instance type of the data nodes."""
    open_search_nodes: int = setting(whole(1, 80), default=1)
    """Number of data nodes, a multiple of `openSearchZones`. From two on, new indexes have one replica."""
    open_search_zones: int = setting(whole(1, 3), default=1)
    """Availability zones (1 to 3)."""
    open_search_master_type: str | None = setting(INSTANCE, default=None)
    """Instance type of three dedicated masters."""
    open_search_storage_gb: int = setting(whole(10, 12_288), default=10)
    """Gp3 storage of each data node."""
    open_search_max_ocu: int = setting(_among(OCU_LIMITS), default=4)
    """Capacity limit of a collection, for searching and indexing each: 1, 2, 4, 8 or 16 OCU."""
    open_search_endpoint: str | None = setting(
        matching(r"https://[a-z0-9.-]+\.[a-z]+(:\d{1,5})?", "an https URL without a path"), default=None
    )
    """`https` URL of [an existing domain](deploy.md#a-domain-that-is-there-already) or collection."""
    open_search_arn: str | None = setting(
        matching(
            r"arn:aws[a-z-]*:(es:[a-z0-9-]+:\d{12}:domain|aoss:[a-z0-9-]+:\d{12}:collection)/[a-z0-9-]{2,40}",
            "the ARN of a domain or a collection",
        ),
        default=None,
    )
    """Its ARN."""
    removal_policy: Literal["destroy", "retain"] = setting(
        one_of("destroy", "retain"), default="destroy", shown="`destroy`, in prod `retain`"
    )
    """Whether bucket and tables outlive the stack."""
    region: str | None = setting(REGION, default=None, shown="from your AWS profile")
    """AWS region."""
    account: str | None = setting(
        matching(r"\d{12}", "an AWS account number of twelve digits"), default=None, shown="from your AWS profile"
    )
    """AWS account number."""
    alarm_email: str | None = setting(matching(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address"), default=None)
    """Recipient of alarms; AWS sends a confirmation first."""
    log_retention_days: int = setting(_among(LOG_RETENTION_DAYS), default=30)
    """How long logs are stored; a period that CloudWatch knows."""
    reconcile_minutes: int = setting(whole(5, 1440), default=60)
    """How often the branch is compared with the store (5 to 1440)."""
    index_reconcile_hours: int = setting(whole(1, 24), default=6)
    """How often the store is compared with the index (1 to 24)."""
    throttle_rate: int = setting(whole(1, 10_000), default=100)
    """Requests per second for the whole API."""
    throttle_burst: int = setting(whole(1, 5_000), default=200)
    """Bursts above that."""
    snap_start: bool = setting(FLAG, default=False)
    """`true` starts `rest`, `mcp` and `auth` from a memory snapshot: faster, [at a
    price](costs.md#the-rest-of-the-stack)."""
    optimism_rpc_urls: tuple[str, ...] = setting(URLS, default=OPTIMISM_RPC_URLS)
    """Endpoints for hats and contract wallets, fall-backs last: a JSON list or comma-separated. First value of [a
    secret](deploy.md#the-secrets-of-identity), where access keys belong."""
    mainnet_rpc_urls: tuple[str, ...] = setting(URLS, default=MAINNET_RPC_URLS)
    """The same for ENS names."""
    edge: bool = setting(FLAG, default=False)
    """`true` puts a [CloudFront distribution](deploy.md#behind-cloudfront) before the API; needs `region`."""
    public_url: str | None = setting(
        matching(r"https://([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "an https URL without a path"), default=None
    )
    """With `edge` and without `domain`: the distribution's address, printed by the first deployment."""
    origin_lock: bool = setting(FLAG, default=True)
    """Whether functions refuse requests that bypass the distribution; `false` during a move."""
    origin_secret_rotation_days: int = setting(whole(1, 365), default=30)
    """How often the value behind that is rotated (1 to 365)."""
    restore_challenge: bool = setting(FLAG, default=True)
    """Whether the edge restores the name of `WWW-Authenticate`, without which agents cannot sign in."""
    waf: bool = setting(FLAG, default=True)
    """With `edge`: AWS WAF, see [costs](costs.md#the-front-door)."""
    waf_rate_limit: int = setting(whole(10, 2_000_000), default=2_000)
    """Requests of one address in five minutes."""
    waf_auth_rate_limit: int = setting(whole(10, 2_000_000), default=300)
    """The same for sign-in and tokens. Hosted agents share few addresses."""
    hsts_days: int = setting(whole(0, 730), default=365)
    """With `edge`: days in `Strict-Transport-Security`; 0 omits it."""
    edge_logs: bool = setting(FLAG, default=False)
    """With `edge`: logs of requests and WAF refusals in CloudWatch, without query strings."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what the rooms' settings say."""

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {snake_case(key): declared.default for key, declared in ROOM_KEYS.items()} | given

    def told(self, declared: Declaration) -> str | None:
        """Return what the variable of a setting is set to. None where there is no key, or nothing is chosen."""
        value = getattr(self, snake_case(declared.key)) if declared.key else None
        if isinstance(value, bool):
            return "true" if value else "false"
        return None if value is None else str(value)

    @property
    def retains(self) -> bool:
        """Return whether data outlives the stack, and is protected from deletion."""
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
        """Return whether the functions refuse what went round the front door: not before it is known where that is."""
        return self.edge and self.origin_lock and self.base_url is not None

    @property
    def private(self) -> bool:
        """Return whether what is published is for accounts of a tier alone."""
        return bool(self.site_tier != "public")

    @property
    def reranks(self) -> bool:
        """Return whether a model puts the best hits in a second order."""
        return bool(self.rerank_provider != "none")

    @property
    def asks_openai(self) -> bool:
        """Return whether vectors come from OpenAI's API, or from what speaks as it does."""
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
        """Return whether a managed domain is part of the stack."""
        return self.engine == "opensearch" and self.open_search_service == "domain" and not self.open_search_endpoint

    @property
    def makes_collection(self) -> bool:
        """Return whether a serverless collection is part of the stack."""
        return self.engine == "opensearch" and self.open_search_service != "domain" and not self.open_search_endpoint


KEYS: dict[str, Declaration] = ROOM_KEYS | {
    camel_case(name): declaration(field) for name, field in Configuration.model_fields.items()
}


def from_context(context: Mapping[str, Any]) -> Configuration:
    """The deployment that a CDK context describes. Values given on the command line are text and are read as such.

    Raises ConfigurationError for an unknown key, a value out of bounds, or a prod stage that leaves essentials open.
    """
    # Feature flags and the toolkit's own keys are namespaced: `@aws-cdk/…`, `aws:cdk:…`, `availability-zones:…`.
    own = {key: value for key, value in context.items() if not any(mark in key for mark in "@/:")}
    if unknown := sorted(own.keys() - KEYS.keys()):
        raise ConfigurationError(f"unknown context {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    given = {key: value for key, value in own.items() if value not in (None, "")}
    if given.get("stage") == "prod":
        if missing := [key for key in ("repository", "branch") if key not in given]:
            raise ConfigurationError(f"stage prod needs {' and '.join(missing)}")
        given.setdefault("removalPolicy", "retain")
    chosen = Configuration(**{snake_case(key): _value(key, value) for key, value in given.items()})
    for conflicts in (_conflicts_of_stack, _conflicts_of_identity, _conflicts_of_search):
        for conflict in conflicts(chosen):
            raise ConfigurationError(conflict)
    return chosen


def _value(key: str, value: Any) -> Any:
    if reader := READERS.get(key):
        return reader(key, value)
    return chosen(key, KEYS[key].context, value)


def _conflicts_of_stack(chosen: Configuration) -> Iterator[str]:
    """Sentences about what cannot stand together."""
    if chosen.domain and not chosen.certificate_arn:
        yield "domain needs certificateArn: the ACM certificate of that name in this region"
    if chosen.certificate_arn and not chosen.domain:
        yield "certificateArn without domain has no use; set both or neither"
    if chosen.stage == "prod" and chosen.removal_policy != "retain":
        yield "stage prod keeps its data: removalPolicy can only be retain"
    for each in CAPABILITIES:
        if not each.scopes or not each.requires or getattr(chosen, each.requires):
            continue
        if each.scopes.toolset in chosen.mcp_toolsets.split(","):
            yield f"mcpToolsets names {each.scopes.toolset}, which needs {camel_case(each.requires)}"
    if chosen.public_url and chosen.domain:
        yield "publicUrl is for a deployment without a domain; with one it is the domain's"
    if not chosen.edge and chosen.public_url:
        yield "publicUrl without edge has no use: it is the address of the distribution"
    if chosen.edge and not chosen.region:
        yield "edge needs region: the secret of the front door is kept there, too"
    if chosen.edge and chosen.certificate_arn and chosen.certificate_arn.split(":")[3] != EDGE_REGION:
        yield f"certificateArn names a certificate in {EDGE_REGION} when edge is true: CloudFront's"


def _conflicts_of_identity(chosen: Configuration) -> Iterator[str]:
    if bool(chosen.oidc_issuer) != bool(chosen.oidc_client_id):
        yield "oidcIssuer and oidcClientId are a provider and our name there: set both"
    for key, value in (("oidcName", chosen.oidc_name), ("oidcParameters", chosen.oidc_parameters)):
        if value and not chosen.oidc_issuer:
            yield f"{key} without oidcIssuer has no use; set both or neither"
    told = (chosen.role_map, chosen.open_search_parameters, chosen.catalogues)
    if sum(len(each.encode()) for each in told if each) > MAX_TOLD:
        yield f"roleMap, openSearchParameters and catalogues have {MAX_TOLD} bytes together at most"


def _conflicts_of_search(chosen: Configuration) -> Iterator[str]:
    names = [located(folder).name for folder in chosen.model_folders] + [MINILM] * (MINILM in chosen.providers)
    if len(set(names)) < len(names):
        yield "folders of ONNX models need different names: a function sees them side by side"
    if chosen.embedding_provider_next and chosen.engine == "embedded":
        yield (
            "embeddingProviderNext needs engine opensearch; the embedded index is built anew in place: "
            "set embeddingProvider"
        )
    if chosen.embedding_provider_next == chosen.embedding_provider:
        yield "embeddingProviderNext is the model to change to, and embeddingProvider is that one"
    if chosen.open_ai_base_url and not chosen.asks_openai:
        yield "openAiBaseUrl is the address of embeddingProvider openai, which is not chosen"
    if chosen.chat_base_url and not (chosen.chat_model or "").startswith("openai:"):
        yield "chatBaseUrl is the address of chatModel openai:MODEL, which is not chosen"
    if bool(chosen.open_search_endpoint) != bool(chosen.open_search_arn):
        yield "openSearchEndpoint and openSearchArn name one domain or collection: set both"
    if chosen.open_search_arn:
        service = {"domain": "es", "serverless": "aoss"}[chosen.open_search_service]
        if chosen.open_search_arn.split(":")[2] != service:
            yield f"openSearchArn is not one of a {chosen.open_search_service} (openSearchService)"
    if chosen.open_search_nodes % chosen.open_search_zones:
        yield (
            f"openSearchNodes is a multiple of openSearchZones ({chosen.open_search_zones}), "
            f"not {chosen.open_search_nodes}: every zone gets as many nodes"
        )
    if chosen.open_search_service == "serverless":
        parameters = json.loads(chosen.open_search_parameters or "{}")
        if parameters.get("engine", "faiss") != "faiss":
            yield "openSearchParameters: a serverless collection knows the k-NN engine faiss only"
