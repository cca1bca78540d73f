"""What readers reach: the function behind every path that is nobody else's."""

from constructs import Construct

from infra.functions import Platform, PythonFunction
from infra.identity import IdentityState, let_guard
from infra.models import let_search
from infra.providers import memory_mb
from infra.search_engine import SearchEngine
from infra.store import State


class Rest(PythonFunction):
    """Serves documents, lists, the graph and search."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        state: State,
        engine: SearchEngine,
        identity: IdentityState,
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
            snap_start=configuration.snap_start,
            withheld="" if configuration.reranks else "CACHE_TABLE",  # it holds nothing else that readers may see
        )
        let_search(self, configuration, state, engine)
        let_guard(self, identity, state)
