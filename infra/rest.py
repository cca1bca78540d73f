"""What readers reach: the function behind every path that is nobody else's."""

from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction
from infra.guarding import guard_environment
from infra.identity import IdentityState, let_guard
from infra.models import let_search, operator_environment
from infra.providers import memory_mb
from infra.reading import reader_environment
from infra.search_engine import SearchEngine
from infra.store import State, Store


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
        identity: IdentityState,
        base_url: str,
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
                **guard_environment(configuration, identity, state, base_url),
                **_site(configuration),
            },
            snap_start=configuration.snap_start,
        )
        let_search(self, configuration, state, engine)
        let_guard(self, identity, state)


def _site(configuration: Configuration) -> dict[str, str]:
    return {
        "RATE_LIMIT_READS": str(configuration.rate_limit_reads),
        "RATE_LIMIT_SEARCHES": str(configuration.rate_limit_searches),
    }
