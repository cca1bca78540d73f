"""Engines, models and caches of a search, built from settings. Only what is chosen is imported."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from commonplace.kernel.environment import SettingsError, is_loopback
from commonplace.search.model import EmbeddingProvider, Engine, RerankCache, Reranker, VectorMemory
from commonplace.search.rerank import MemoryRerankCache
from commonplace.search.settings import (
    DEFAULT_DIMENSION,
    OPENAI_DIMENSIONS,
    OPENAI_MODEL,
    EmbeddingChoice,
    OpenAiSettings,
    OpenSearchService,
    RankingSettings,
    RetrievalSettings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.opensearch.client import OpenSearchClient
    from commonplace.search.opensearch.settings import IndexParameters

QUERY_READ_SECONDS = 1.5
RERANK_READ_SECONDS = 2.0
CACHE_SECONDS = 0.5
"""A reader waits: with all retries a query's vector, its rerank and the cache stay below the REST function's 29 s."""

MEMORY_READ_SECONDS = 4.0
"""A caller of the memory waits as well, but a hundred texts take their time: 23 s with all retries."""

FRESH_SECONDS = 0.5
"""How old the copy of an embedded index may be, for a fresh reader."""

INDEX_READ_SECONDS = 15.0
"""Nobody waits for an index to be written, and 96 chunks in one call take their time."""


def embedding_providers(
    settings: RetrievalSettings, *, read_seconds: float = QUERY_READ_SECONDS
) -> list[EmbeddingProvider]:
    """The configured embedding model and, during a change of model, the one to come. Empty means words only.

    `read_seconds` is the longest wait for one answer of a service: with all retries four of them, and seven more.
    """
    return [model for model in indexed_models(settings, read_seconds=read_seconds) if model is not None]


def indexed_models(
    settings: RetrievalSettings, *, read_seconds: float = INDEX_READ_SECONDS
) -> list[EmbeddingProvider | None]:
    """One entry per index that is to be written: its embedding model, None for an index of words alone."""
    wanted = [settings.embedding_provider, settings.embedding_provider_next]
    choices = list(dict.fromkeys(choice for choice in wanted if choice is not None))
    return [_embeddings(choice, settings, read_seconds) for choice in choices]


def reranker(settings: RankingSettings) -> Reranker | None:
    """Return the configured reranker; None where the fused order stands."""
    choice = settings.rerank_provider
    match choice.kind:
        case "none":
            return None
        case "onnx":
            from commonplace.search.models.onnx import OnnxReranker

            return OnnxReranker(_folder(choice.folder))
        case "bedrock-cohere" | "bedrock-amazon":
            from commonplace.kernel import aws
            from commonplace.search.models.bedrock import AMAZON, COHERE, BedrockReranker
            from commonplace.search.models.guarded import GuardedReranker

            client = aws.bedrock(
                "bedrock-agent-runtime", region=settings.bedrock_region, read_timeout_seconds=RERANK_READ_SECONDS
            )
            model = COHERE if choice.kind == "bedrock-cohere" else AMAZON
            meta = client.meta
            return GuardedReranker(BedrockReranker(client, model, region=meta.region_name, partition=meta.partition))


def search_engine(
    settings: RetrievalSettings,
    objects: ObjectStore | None,
    provider: EmbeddingProvider | None,
    *,
    read_only: bool,
    fresh: bool = False,
) -> Engine:
    """The configured index, for a reader or a writer with this model. `objects` is the store of the embedded one.

    A `fresh` reader finds what was written within two seconds, for it looks for a new copy of an embedded index more
    often.
    """
    if settings.search_engine == "embedded":
        from commonplace.search.embedded.published import REFRESH_SECONDS, open_index

        if settings.index_location is None:
            raise SettingsError("INDEX_LOCATION is not set. The embedded engine needs it.")
        refresh = FRESH_SECONDS if fresh else REFRESH_SECONDS
        return open_index(settings.index_location, objects, provider, read_only=read_only, refresh_seconds=refresh)
    from commonplace.search.opensearch.engine import OpenSearchEngine

    parameters = index_parameters(settings)
    return OpenSearchEngine(open_search_connection(settings), settings.opensearch_index, provider, parameters)


def index_parameters(settings: RetrievalSettings) -> IndexParameters:
    """Return how an index of OpenSearch is built. Raises SettingsError."""
    from commonplace.search.opensearch.settings import IndexParameters

    try:
        return IndexParameters.parse(settings.opensearch_parameters or "{}")
    except ValueError as error:
        raise SettingsError(f"OPENSEARCH_PARAMETERS is malformed. {error}") from error


def open_search_connection(settings: RetrievalSettings) -> OpenSearchClient:
    """The connection to the configured OpenSearch: one per process, so that its breaker and budget are shared."""
    if settings.opensearch_endpoint is None:
        raise SettingsError("OPENSEARCH_ENDPOINT is not set. The engine opensearch needs it.")
    return connection_to(settings.opensearch_endpoint, settings.opensearch_service)


@cache
def connection_to(endpoint: str, service: OpenSearchService) -> OpenSearchClient:
    from commonplace.search.opensearch.client import connect

    if service == "none":
        return connect(endpoint, "none")
    from commonplace.kernel import aws

    return connect(endpoint, service, credentials=aws.credentials(), region=aws.region())


def vector_memory(settings: RetrievalSettings, engine: Engine) -> VectorMemory | None:
    """Return where vectors of unchanged text are found: the embedded index keeps its own, and there may be the cache
    table.

    The embedded index knows a vector once its record is written. With a slow model it is given the table as well: what
    was embedded before a function ran out of time is not embedded again.
    """
    own = cast(VectorMemory, engine) if settings.search_engine == "embedded" else None
    if settings.cache_table is None or (own and not settings.slow_to_embed):
        return own
    from commonplace.kernel import aws
    from commonplace.search.store import DynamoVectorCaches, MemoryBehind

    client = aws.dynamodb(read_timeout_seconds=5)
    table = DynamoVectorCaches(client, settings.cache_table).of(settings.organisation)
    return MemoryBehind(own, table) if own else table


def rerank_cache(settings: RetrievalSettings) -> RerankCache:
    """Return where rerank orders are kept for an hour: in the cache table, else in this process."""
    if settings.cache_table is None:
        return MemoryRerankCache()
    from commonplace.kernel import aws
    from commonplace.search.store import DynamoRerankCache

    client = aws.dynamodb(read_timeout_seconds=CACHE_SECONDS, connect_timeout_seconds=CACHE_SECONDS, attempts=1)
    return DynamoRerankCache(client, settings.cache_table)


def _embeddings(choice: EmbeddingChoice, settings: RetrievalSettings, read_seconds: float) -> EmbeddingProvider | None:
    match choice.kind:
        case "none":
            return None
        case "local":
            from commonplace.search.models.local import LocalEmbeddings

            return LocalEmbeddings()
        case "onnx":
            from commonplace.search.models.onnx import OnnxEmbeddings

            return OnnxEmbeddings(_folder(choice.folder))
        case "bedrock-titan" | "bedrock-cohere":
            from commonplace.kernel import aws
            from commonplace.search.models.bedrock import CohereEmbeddings, TitanEmbeddings, geography
            from commonplace.search.models.guarded import GuardedEmbeddings

            client = aws.bedrock("bedrock-runtime", region=settings.bedrock_region, read_timeout_seconds=read_seconds)
            dimension = choice.dimension or DEFAULT_DIMENSION[choice.kind]
            if choice.kind == "bedrock-titan":
                return GuardedEmbeddings(TitanEmbeddings(client, dimension))
            return GuardedEmbeddings(CohereEmbeddings(client, dimension, geography=geography(client.meta.region_name)))
        case "openai":
            from commonplace.search.models.guarded import GuardedEmbeddings
            from commonplace.search.models.openai import OpenAiEmbeddings

            model = OpenAiEmbeddings(
                _openai_key(settings.openai),
                model=choice.model or OPENAI_MODEL,
                dimension=choice.dimension or OPENAI_DIMENSIONS[OPENAI_MODEL],
                base_url=settings.openai.base_url,
                texts_per_call=settings.openai.texts_per_call,
                read_seconds=read_seconds,
            )
            return GuardedEmbeddings(model)


def _openai_key(settings: OpenAiSettings) -> Callable[[], str | None]:
    """The key of the secret, else of the environment. Raises SettingsError when it would have to be sent and is not."""
    if settings.secret_arn:
        from commonplace.kernel import aws
        from commonplace.kernel.secrets import KeptSecret
        from commonplace.search.models.openai import api_key

        return KeptSecret(aws.secretsmanager(), settings.secret_arn, api_key).current
    if settings.api_key is None and not is_loopback(urlsplit(settings.base_url).hostname):
        raise SettingsError("OPENAI_API_KEY is not set, nor OPENAI_SECRET_ARN. The embedding model openai needs a key.")
    return lambda: settings.api_key


def _folder(folder: Path | None) -> Path:
    if folder is None:
        raise SettingsError("onnx needs a folder: onnx:/FOLDER")
    return folder
