"""A search whose parts are loaded when they are first needed."""

from collections.abc import Callable
from functools import cached_property

from commonplace.search.model import SearchRequest, SearchResults
from commonplace.search.service import SearchService


class DeferredSearch:
    """Builds the search at the first question: most processes only ever answer documents.

    A search that could not be built is built again at the next question, so that nothing needs a restart.
    """

    def __init__(self, build: Callable[[], SearchService]) -> None:
        self._build = build

    def search(self, request: SearchRequest) -> SearchResults:
        return self._service.search(request)

    def check(self) -> None:
        """One small request to the index. Raises Unavailable."""
        self._service.check()

    @cached_property
    def _service(self) -> SearchService:
        return self._build()
