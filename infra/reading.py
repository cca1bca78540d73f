"""What every function that answers readers is told, and how it is let at the index and the models."""

from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.models import (
    allow_embedding,
    allow_rankings,
    allow_reranking,
    embedding_environment,
    ranking_environment,
)
from infra.search_engine import SearchEngine
from infra.store import State, Store


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


def let_search(function: PythonFunction, configuration: Configuration, state: State, engine: SearchEngine) -> None:
    """The index, and the models."""
    engine.admit_reader(function)
    allow_embedding(function, configuration)
    allow_reranking(function, configuration)
    if configuration.reranks:
        allow_rankings(function, state.cache)
