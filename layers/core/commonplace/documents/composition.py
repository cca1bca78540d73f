"""The search of documents, built from settings at the first question: engine, models and caches are loaded then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.search.fusion import Fusion
from commonplace.search.service import DeferredSearch

if TYPE_CHECKING:
    from commonplace.documents.content.library import Library
    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.service import SearchService
    from commonplace.web.settings import ReaderSettings


def deferred_search(settings: ReaderSettings, objects: ObjectStore, library: Library) -> DeferredSearch:
    """Return the search of the functions that answer readers and agents. `objects` is an embedded index's store."""
    fusion = Fusion.parse(settings.fusion) if settings.fusion else None

    def build() -> SearchService:
        from commonplace.search import providers
        from commonplace.search.service import Answers, SearchService

        models = providers.embedding_providers(settings)
        return SearchService(
            providers.search_engine(settings, objects, next(iter(models), None), read_only=True),
            models,
            providers.reranker(settings),
            rerank_cache=providers.rerank_cache(settings),
            answers=Answers(),
            fusion=fusion,
            documents=library,
            publication=library,
        )

    return DeferredSearch(build)
