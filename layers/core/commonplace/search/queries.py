"""Embedding what is asked, with the model whose vectors the index holds."""

import logging
from collections.abc import Sequence
from functools import lru_cache

from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.model import EmbeddingProvider, QueryVector

logger = logging.getLogger(__name__)

QUERIES_REMEMBERED = 512


class QueryEmbeddings:
    """The providers of a deployment: one, or two while it changes its model. Remembers what was asked lately."""

    def __init__(self, providers: Sequence[EmbeddingProvider], remembered: int = QUERIES_REMEMBERED) -> None:
        self._providers = {model_fingerprint(provider): provider for provider in providers}
        self._remembered = lru_cache(maxsize=remembered)(self._embed)
        self._told: set[str] = set()

    def vector(self, query: str, model: str | None) -> QueryVector | None:
        """The query under this model, or under the first one when no provider is of this model.

        None without providers, for an index without vectors, and when the provider fails.
        """
        if not self._providers or model is None:
            return None
        if model not in self._providers:
            self._tell(model)
        try:
            return self._remembered(query, model if model in self._providers else next(iter(self._providers)))
        except Unavailable as error:
            logger.warning("the query could not be embedded, searching words only", extra={"reason": error.message})
            return None

    def _tell(self, model: str) -> None:
        """Once for each model: every search says so in its answer."""
        if model not in self._told:
            self._told.add(model)
            facts = {"index_model": model, "configured": list(self._providers), "hint": "Run: commonplace index build"}
            logger.error("the index is of a model that is not configured, searching words only", extra=facts)

    def knows(self, model: str | None) -> bool:
        """Whether a provider is of this model."""
        return model in self._providers

    def _embed(self, query: str, model: str) -> QueryVector:
        return QueryVector(model, self._providers[model].embed([query], query=True)[0])
