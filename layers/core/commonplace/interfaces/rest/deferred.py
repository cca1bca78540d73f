"""A search whose parts are loaded when they are first needed."""

from collections.abc import Callable
from functools import cached_property

from commonplace.search.model import Engine, SearchRequest, SearchResults
from commonplace.search.service import SearchService


class DeferredSearch:
    """Builds the search at the first question: most processes only ever answer documents."""

    def __init__(self, build: Callable[[], tuple[SearchService, Engine]]) -> None:
        self._build = build

    def search(self, request: SearchRequest) -> SearchResults:
        return self._parts[0].search(request)

    def check(self) -> None:
        """Reads one entry of the index. Raises Unavailable."""
        next(self._parts[1].versions(), None)

    @cached_property
    def _parts(self) -> tuple[SearchService, Engine]:
        return self._build()
