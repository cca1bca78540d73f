"""The search of documents, built from settings: engine, models and caches, loaded when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.search import providers
from commonplace.search.fusion import Fusion
from commonplace.search.service import SearchService

if TYPE_CHECKING:
    from commonplace.documents.content.library import Library
    from commonplace.kernel.objects import ObjectStore
    from commonplace.web.settings import ReaderSettings


def search_service(
    settings: ReaderSettings, fusion: Fusion | None, objects: ObjectStore, library: Library
) -> SearchService:
    """For the functions that answer readers and agents. `objects` is the store of an embedded index."""
    models = providers.embedding_providers(settings)
    return SearchService(
        providers.search_engine(settings, objects, next(iter(models), None), read_only=True),
        models,
        providers.reranker(settings),
        rerank_cache=providers.rerank_cache(settings),
        fusion=fusion,
        documents=library,
        publication=library,
    )
