"""Settings of the index, and of the models that read and write it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self, cast
from urllib.parse import urlsplit

from commonplace.kernel.configuration import (
    SECRET_ARN,
    URL,
    Kind,
    Settings,
    at_most,
    json_object,
    matching,
    missing,
    one_of,
    setting,
    setting_of,
    text,
    whole,
)
from commonplace.kernel.environment import is_loopback
from commonplace.kernel.settings import ContentStore, Deployment, Organisation
from commonplace.search.source import Collection

SearchEngine = Literal["embedded", "opensearch"]
OpenSearchService = Literal["es", "aoss", "none"]
EmbeddingKind = Literal["none", "local", "bedrock-titan", "bedrock-cohere", "openai", "onnx"]
RerankKind = Literal["none", "bedrock-cohere", "bedrock-amazon", "onnx"]

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

TEXTS_PER_CALL = 100
"""Of OpenAI, and entries that are written together (seed 001, decision 11)."""

MAX_PARAMETERS = 2_048
"""Bytes. All variables of a function together may have 4 KB; longer synonyms belong into a package of the domain."""

_EMBEDDING = re.compile(
    r"(?P<kind>bedrock-titan|bedrock-cohere|local|none)(?::(?P<dimension>[0-9]{3,4}))?|onnx:(?P<folder>/.+)"
)
_OPENAI = re.compile(r"openai(?::(?P<model>[A-Za-z][A-Za-z0-9._/-]{0,99})(?::(?P<dimension>[1-9][0-9]{0,3}))?)?")
_RERANK = re.compile(r"(?P<kind>bedrock-cohere|bedrock-amazon|none)|onnx:(?P<folder>/.+)")
_WEIGHT = r"[0-9]{1,3}(?:\.[0-9]{1,6})?"
_FILE_NAME = re.compile(r"[^/]+\Z")

EMBEDDING = (
    "local, none, bedrock-titan[:256|512|1024], bedrock-cohere[:256|512|1024|1536], openai[:MODEL[:DIMENSION]],"
    " or onnx:/FOLDER with a model of your own"
)

PARAMETERS = 'a JSON object such as {"m": 16, "efConstruction": 100}; docs/operate/configuration.md lists its keys'
REGION = matching(r"[a-z]{2}(?:-[a-z]+)+-[0-9]", "an AWS region such as eu-central-1")
HTTPS = matching(r"https://[^\s/?#@]+(/[^\s?#]*[^\s/?#])?", "an https URL without a slash at its end")


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
            model, given = openai["model"] or OPENAI_MODEL, openai["dimension"]
            # The number of dimensions has to be given of a model that is not OpenAI's own.
            most = OPENAI_DIMENSIONS.get(model)
            wanted = int(given) if given else most
            shortens = model != "text-embedding-ada-002"
            if wanted is None or (most and (wanted > most or (wanted < most and not shortens))):
                raise ValueError(f"{model}:{given}")
            return cls("openai", wanted, model=model)
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


def _fusion(given: str) -> str | None:
    from commonplace.search.fusion import Fusion

    return given if re.fullmatch(rf"(?:min-max|rrf)(?::{_WEIGHT},{_WEIGHT})?", given) and Fusion.parse(given) else None


def _next(given: str) -> EmbeddingChoice | None:
    choice = EmbeddingChoice.parse(given)
    return choice if choice.kind != "none" else None


def _location(given: str) -> str | None:
    parts = urlsplit(given)
    in_bucket = parts.scheme == "s3" and parts.netloc and len(parts.path) > 1
    on_disk = parts.scheme == "file" and not parts.netloc and len(parts.path) > 1
    return given if in_bucket or on_disk else None


def _index_parameters(given: str) -> object:
    from commonplace.search.opensearch.settings import IndexParameters

    return IndexParameters.parse(given)


FUSION = Kind("min-max or rrf, with or without weights of words and meaning: min-max:0.6,0.4", _fusion)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiSettings:
    """The address and key of OpenAI's API, or of a service that speaks as it does."""

    base_url: str = OPENAI_API
    """Without a slash at its end."""
    secret_arn: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """Given in the environment itself: on a laptop. Without key and secret only a service of this machine is asked."""
    texts_per_call: int = TEXTS_PER_CALL


class Batch(Settings):
    batch: int = setting(whole(1, TEXTS_PER_CALL), "KB_BATCH_SIZE", key="kbBatchSize", default=TEXTS_PER_CALL)
    """Entries embedded and written together, and texts per call to OpenAI (1 to 100)."""


class RetrievalSettings(Organisation, Batch):
    """Where the index is and which models read and write it: the same for its writer and for every reader."""

    stage: str = setting(text("the name of a stage"), "STAGE", default="dev")
    search_engine: SearchEngine = setting(
        one_of("embedded", "opensearch"), "SEARCH_ENGINE", key="engine", default="embedded", deployed="opensearch"
    )
    """[`opensearch`](deploy.md#opensearch), a managed domain, or `embedded`, a file that the functions read."""
    index_location: str | None = setting(
        Kind("s3://BUCKET/KEY or file:///ABSOLUTE/PATH", _location), "INDEX_LOCATION", default=None
    )
    """With `embedded`: `s3://BUCKET/KEY` or `file:///PATH`."""
    opensearch_endpoint: str | None = setting(URL, "OPENSEARCH_ENDPOINT", default=None)
    """With `opensearch`: an `https://` URL, or `http://` on this machine."""
    opensearch_service: OpenSearchService = setting(
        one_of("es", "aoss", "none"), "OPENSEARCH_SERVICE", default="none", shown="`none` for this machine, else `es`"
    )
    """The service that requests are signed for: `es` (a domain), `aoss` (serverless), `none`."""
    opensearch_index: str = setting(
        matching(r"[a-z0-9][a-z0-9_-]{0,99}", "a name of lower-case letters, digits, _ and - (at most 100)"),
        "OPENSEARCH_INDEX",
        default="commonplace-dev-documents",
        shown="`commonplace-STAGE-documents`",
    )
    """Stem of alias and index names."""
    opensearch_parameters: str | None = setting(
        json_object(PARAMETERS),
        "OPENSEARCH_PARAMETERS",
        key="openSearchParameters",
        default=None,
        context=at_most(MAX_PARAMETERS, Kind(PARAMETERS, _index_parameters)),
    )
    """JSON object, every key optional: `{"engine": "lucene", "m": 16, "efConstruction": 100, "efSearch": 200, "shards":
    1, "replicas": 0, "refreshInterval": "1s", "synonyms": ["dao, decentralized autonomous organization"]}`, at most
    2,048 bytes. A change needs [a new index](opensearch.md)."""
    embedding_model: str | None = setting(
        Kind(
            "MODEL or MODEL:DIMENSION, as after openai:",
            lambda given: EmbeddingChoice.parse(f"openai:{given}") and given,
        ),
        "KB_EMBEDDING_MODEL",
        default=None,
        shown="`text-embedding-3-small`",
    )
    """`MODEL[:DIMENSION]` of OpenAI where `EMBEDDING_PROVIDER` is `openai` without a model, or unset."""
    embedding_provider: EmbeddingChoice = setting(
        Kind(EMBEDDING, EmbeddingChoice.parse), "EMBEDDING_PROVIDER", key="embeddingProvider", default="local"
    )
    """The [embedding model](models.md): `local`, `minilm`, `none`, `bedrock-titan[:256|512|1024]`,
    `bedrock-cohere[:256|512|1024|1536]`, `openai[:MODEL[:DIMENSION]]` or `onnx:FOLDER`."""
    embedding_provider_next: EmbeddingChoice | None = setting(
        Kind("the model to come, written as EMBEDDING_PROVIDER is; unset it when there is none", _next),
        "EMBEDDING_PROVIDER_NEXT",
        key="embeddingProviderNext",
        default=None,
    )
    """With OpenSearch: the model to [change to](opensearch.md#changing-the-model)."""
    openai_base_url: str = setting(
        URL, "OPENAI_BASE_URL", key="openAiBaseUrl", default=OPENAI_API, deployed=None, context=HTTPS
    )
    """With `openai`: another address than `https://api.openai.com/v1`."""
    openai_secret_arn: str | None = setting(SECRET_ARN, "OPENAI_SECRET_ARN", default=None)
    """The secret with [the key for OpenAI](deploy.md#the-key-for-openai)."""
    openai_api_key: str | None = setting(
        matching(r"[\x21-\x7e]{1,500}", "the key of an OpenAI project: printable characters without spaces"),
        "OPENAI_API_KEY",
        default=None,
        secret=True,
    )
    """The key itself, on a laptop; the secret comes first."""
    bedrock_region: str | None = setting(
        REGION, "BEDROCK_REGION", key="bedrockRegion", default=None, shown="the deployment's own"
    )
    """Where Bedrock's models are called."""
    cache_table: str | None = setting(text("the name of a DynamoDB table"), "CACHE_TABLE", default=None)
    """The table that caches vectors and rerank orders; empty means in-process caching only."""

    @property
    def openai(self) -> OpenAiSettings:
        return OpenAiSettings(
            base_url=self.openai_base_url,
            secret_arn=self.openai_secret_arn,
            api_key=self.openai_api_key,
            texts_per_call=self.batch,
        )

    @property
    def slow_to_embed(self) -> bool:
        """Return whether a model takes so long, or so much, that no text is to be sent to it twice."""
        chosen = (self.embedding_provider, self.embedding_provider_next)
        return any(choice is not None and choice.kind not in ("none", "local") for choice in chosen)

    def collection(self, name: Collection) -> Self:
        """The same for another collection, whose index is a sibling of the documents' own.

        `documents.sqlite` becomes `memory.sqlite`, and the stem `X-documents` becomes `X-memory`.
        """
        if name == "documents":
            return self
        location = _FILE_NAME.sub(lambda found: _sibling(found[0], name), self.index_location or "") or None
        index = _sibling(self.opensearch_index, name)
        return self.model_copy(update={"index_location": location, "opensearch_index": index})

    @classmethod
    def completed(cls, given: dict[str, str]) -> dict[str, str]:
        needed = {"embedded": "index_location", "opensearch": "opensearch_endpoint"}
        name = needed.get(given.get("search_engine", "embedded"))
        if name and name not in given:
            raise missing(cls, name)
        if not is_loopback(urlsplit(given.get("opensearch_endpoint", "//localhost")).hostname):
            given.setdefault("opensearch_service", "es")
        if "stage" in given:
            given.setdefault("opensearch_index", f"commonplace-{given['stage']}-documents")
        model = given.get("embedding_model")
        if model and given.get("embedding_provider", "openai") == "openai":
            given["embedding_provider"] = f"openai:{model}"
        return given


def _sibling(name: str, collection: Collection) -> str:
    """`documents` where it is the last word, else the collection after the name."""
    stem, dot, suffix = name.partition(".")
    prefix = stem.removesuffix("documents")
    if prefix != stem and (not prefix or prefix.endswith("-")):
        return f"{prefix}{collection}{dot}{suffix}"
    return f"{stem}-{collection}{dot}{suffix}"


class IndexSettings(RetrievalSettings, Deployment, ContentStore):
    """The settings of the function that writes the index."""

    stage: str = setting_of(Deployment, "stage")
    activity_table: str | None = setting(text("the name of a DynamoDB table"), "ACTIVITY_TABLE", default=None)
    """Where changes of the index are told; empty means that nobody waits for them."""


class RankingSettings(RetrievalSettings):
    """The settings of functions that search."""

    rerank_provider: RerankChoice = setting(
        Kind(
            "none, bedrock-cohere, bedrock-amazon, or onnx:/FOLDER with a cross-encoder of your own", RerankChoice.parse
        ),
        "RERANK_PROVIDER",
        key="rerankProvider",
        default="none",
    )
    """The [reranker](models.md): `none`, `bedrock-cohere`, `bedrock-amazon` or `onnx:FOLDER`."""
    fusion: str | None = setting(
        FUSION, "FUSION", key="fusion", default=None, shown="the [code's own](../inside/search.md)"
    )
    """`min-max` or `rrf`, optionally with weights of words and vectors, such as `min-max:0.6,0.4`."""
