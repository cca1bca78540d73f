"""What readers reach: the function behind every path that is nobody else's."""

from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction
from infra.models import operator_environment
from infra.opensearch import SearchEngine
from infra.providers import memory_mb
from infra.reading import let_read, reader_environment
from infra.state import State
from infra.store import Store


class Rest(PythonFunction):
    """Serves documents, lists, the graph and search."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        store: Store,
        state: State,
        engine: SearchEngine,
    ) -> None:
        configuration = platform.configuration
        super().__init__(
            scope,
            construct_id,
            platform,
            name="rest",
            description="Serves documents, lists, the graph and search",
            source="functions/rest",
            memory_mb=memory_mb(configuration.providers, 1024),
            timeout_seconds=29,
            environment={
                **reader_environment(configuration, store, state, engine),
                **operator_environment(configuration),
                **_site(configuration),
            },
        )
        let_read(self, configuration, store, state, engine)


def _site(configuration: Configuration) -> dict[str, str]:
    site = {
        "RATE_LIMIT_READS": str(configuration.rate_limit_reads),
        "RATE_LIMIT_SEARCHES": str(configuration.rate_limit_searches),
    }
    return site | ({"BASE_URL": configuration.base_url} if configuration.base_url else {})
