"""What every function that answers readers is told and allowed: documents, index, models, counters; no writing."""

from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, CONTENT_PREFIX, METADATA_PREFIX, RAW_PREFIX
from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.models import (
    allow_embedding,
    allow_rankings,
    allow_reranking,
    embedding_environment,
    ranking_environment,
)
from infra.opensearch import SearchEngine
from infra.state import State
from infra.store import Store

READ_PREFIXES = (CONTENT_PREFIX, RAW_PREFIX, ATTACHMENTS_PREFIX, METADATA_PREFIX)
"""Everything readers may see. Plans, staged files and reports of the operators are not among it."""

COUNTERS = "counter#*"
"""Partitions of the rate limits' counters (`commonplace.repository.run_state`)."""


def reader_environment(
    configuration: Configuration, store: Store, state: State, engine: SearchEngine
) -> dict[str, str]:
    """What whoever answers readers has to know: which knowledge base it is, where it is, how it is searched."""
    environment = {
        "CONTENT_BUCKET": store.bucket.bucket_name,
        "ACTIVITY_TABLE": state.activity.table_name,
        "GITHUB_REPOSITORY": configuration.repository,
        "GITHUB_BRANCH": configuration.branch,
        "SITE_NAME": configuration.site_name,
        **engine.environment,
        **embedding_environment(configuration),
        **ranking_environment(configuration),
    }
    return environment | ({"CACHE_TABLE": state.cache.table_name} if configuration.reranks else {})


def let_read(
    function: PythonFunction, configuration: Configuration, store: Store, state: State, engine: SearchEngine
) -> None:
    """The documents, the index, the models, and the counters that each caller's requests are counted in."""
    function.allow_objects(store.bucket, ["s3:GetObject"], READ_PREFIXES)
    function.allow_listing(store.bucket, READ_PREFIXES)
    function.allow_items(state.activity, ["UpdateItem"], COUNTERS)
    engine.admit_reader(function)
    allow_embedding(function, configuration)
    allow_reranking(function, configuration)
    if configuration.reranks:
        allow_rankings(function, state.cache)
