"""What every function that answers readers is told."""

from infra.configuration import Configuration
from infra.models import embedding_environment, ranking_environment
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
