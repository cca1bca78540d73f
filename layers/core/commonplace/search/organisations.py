"""Searches of what organisations have for themselves: each has queries of its own at hand.

Nobody's answer, nor the time it takes, depends on queries of another organisation.
"""

from collections.abc import Sequence
from functools import lru_cache

from commonplace.search.candidates import Ranked, Retrieval
from commonplace.search.embeddings import QueryEmbeddings, model_fingerprint
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine
from commonplace.search.query import Query

REMEMBERED, QUERIES_REMEMBERED = 16, 128
"""Organisations whose last queries' vectors are at hand, and how many of each."""


class Retrievals:
    """One for each organisation, over the same index.

    Several `embeddings` are those of the index that answers and of the one that is to take its place.
    """

    def __init__(self, engine: Engine, embeddings: Sequence[EmbeddingProvider], fusion: Fusion) -> None:
        self._embeddings = embeddings

        def made(_organisation: str) -> tuple[Retrieval, QueryEmbeddings]:  # each has its own
            queries = QueryEmbeddings(embeddings, QUERIES_REMEMBERED)
            return Retrieval(engine, queries, fusion), queries

        self._for = lru_cache(maxsize=REMEMBERED)(made)

    def of(self, organisation: str) -> Retrieval:
        return self._for(organisation)[0]

    def fell_back(self, organisation: str, query: Query, ranked: Ranked) -> bool:
        """Return whether only words were compared for want of a vector of the query.

        An index that has no vectors yet is asked without one. Then a vector is asked for all the same: whether others
        have anything in the index makes no difference.
        """
        if not ranked.by_words or ranked.fused or not self._embeddings:
            return ranked.by_words
        return self._for(organisation)[1].vector(query.text, model_fingerprint(self._embeddings[0])) is None
