"""A search that is built at the first query."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.kernel.deferred import Deferred
from commonplace.search.model import SearchRequest, SearchResults
from commonplace.search.service import SearchService


class DeferredSearch:
    """Builds the search at the first question: most processes only ever answer documents."""

    def __init__(self, build: Callable[[], SearchService]) -> None:
        self._service = Deferred(build)

    def search(self, request: SearchRequest) -> SearchResults:
        return self._service().search(request)

    def check(self) -> None:
        """One small request to the index. Raises Unavailable."""
        self._service().check()
