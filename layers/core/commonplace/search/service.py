"""A search: embed the query, ask both legs, fuse, rerank, show. Degrades instead of failing."""

import logging
import time
from collections.abc import Callable, Sequence

from commonplace.errors import InvalidInput
from commonplace.search.fusion import RELEVANCE_SHARE, Fusion, fuse
from commonplace.search.model import (
    Candidates,
    EmbeddingProvider,
    Engine,
    Found,
    Hit,
    QueryVector,
    RecordId,
    RerankCache,
    Reranker,
    SearchRequest,
    SearchResults,
)
from commonplace.search.queries import QueryEmbeddings
from commonplace.search.reranking import rerank
from commonplace.search.snippets import snippet
from commonplace.search.text import clean_query

logger = logging.getLogger(__name__)

MAX_QUERY_CHARACTERS = 1_000
MAX_LIMIT = 100
CANDIDATES_PER_LEG = 200
RERANK_DEPTH = 20


class SearchService:
    """Searches one index. Without `embeddings` it is lexical only, without `reranker` the fused order stands."""

    def __init__(
        self,
        engine: Engine,
        embeddings: EmbeddingProvider | Sequence[EmbeddingProvider] | None,
        reranker: Reranker | None = None,
        *,
        rerank_cache: RerankCache | None = None,
        fusion: Fusion | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._queries = QueryEmbeddings(_as_list(embeddings))
        self._reranker = reranker
        self._rerank_cache = rerank_cache
        self._fusion = fusion or Fusion()
        self._clock = clock

    def search(self, request: SearchRequest) -> SearchResults:
        """The best records for a query. Raises InvalidInput, and Unavailable when the index does not answer.

        Any text is a valid query: nothing in it is syntax. A query without a visible character finds nothing.
        """
        started = self._clock()
        _check(request)
        query = clean_query(request.query)
        vector, candidates = self._candidates(query, request) if query else (None, Candidates((), (), 0))
        depth = max(RERANK_DEPTH, request.limit) if self._reranker else request.limit
        fused = fuse(candidates, self._fusion)
        ranking = fused[:depth]
        found = self._show(query, vector, ranking, candidates)
        reranked = self._rerank(query, ranking, found)
        hits = self._hits(query, ranking, found, reranked)
        by_words = bool(query) and (vector is None or candidates.degraded)
        return SearchResults(
            query=request.query,
            results=tuple(hits[: request.limit]),
            total=max(candidates.total, len(ranking)) if by_words else min(len(fused), max(depth, RERANK_DEPTH)),
            fallback=by_words,
            reranked=reranked is not None,
            took_ms=round((self._clock() - started) * 1000),
        )

    def check(self) -> None:
        """Does nothing if a search could be answered. Raises Unavailable."""
        self._engine.held(())

    def _candidates(self, query: str, request: SearchRequest) -> tuple[QueryVector | None, Candidates]:
        vector = self._queries.vector(query, self._engine.model())
        candidates = self._engine.candidates(query, vector, request.filters, CANDIDATES_PER_LEG)
        if vector and candidates.degraded and self._queries.knows(model := self._engine.model()):
            # Another index took the place of the one that was asked for its model.
            vector = self._queries.vector(query, model)
            candidates = self._engine.candidates(query, vector, request.filters, CANDIDATES_PER_LEG)
        return vector, candidates

    def _show(
        self,
        query: str,
        vector: QueryVector | None,
        ranking: Sequence[tuple[RecordId, float]],
        candidates: Candidates,
    ) -> dict[RecordId, Found]:
        """What was found in words shows those words; the rest shows the chunk nearest in meaning."""
        chunks = {hit.id: hit.chunk for hit in candidates.vector}
        chunks |= {hit.id: hit.chunk for hit in candidates.lexical if hit.chunk is not None}
        wanted = [(record, chunks.get(record)) for record, _ in ranking]
        return self._engine.fetch(wanted, query, vector) if wanted else {}

    def _rerank(
        self, query: str, ranking: Sequence[tuple[RecordId, float]], found: dict[RecordId, Found]
    ) -> dict[RecordId, float] | None:
        if self._reranker is None:
            return None
        best = [found[record] for record, _ in ranking if record in found]
        return rerank(query, best, self._reranker, self._rerank_cache)

    def _hits(
        self,
        query: str,
        ranking: Sequence[tuple[RecordId, float]],
        found: dict[RecordId, Found],
        reranked: dict[RecordId, float] | None,
    ) -> list[Hit]:
        shown = [(score, found[record]) for record, score in ranking if record in found]
        if reranked is not None:
            # A record the query names stays first: the reranker orders what is merely relevant.
            shown.sort(key=lambda hit: _reranked_order(hit[0], reranked.get(hit[1].record.id)))
        return [_hit(query, score, hit, (reranked or {}).get(hit.record.id)) for score, hit in shown]


def _as_list(embeddings: EmbeddingProvider | Sequence[EmbeddingProvider] | None) -> Sequence[EmbeddingProvider]:
    if embeddings is None:
        return ()
    return embeddings if isinstance(embeddings, Sequence) else (embeddings,)


def _check(request: SearchRequest) -> None:
    if len(request.query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(
            f"The query has {len(request.query)} characters; at most {MAX_QUERY_CHARACTERS} are read.",
            hint="Ask for the subject in a sentence or a few words.",
        )
    if not 1 <= request.limit <= MAX_LIMIT:
        raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT}.", hint="Narrow a search with filters instead.")


def _reranked_order(score: float, rerank_score: float | None) -> tuple[float, float, float]:
    named = score if score > RELEVANCE_SHARE else 0.0
    return (-named, -rerank_score if rerank_score is not None else float("inf"), -score)


def _hit(query: str, score: float, found: Found, rerank_score: float | None) -> Hit:
    record, chunk = found.record, found.chunk
    text = snippet(chunk.text, query) if chunk else ""
    return Hit(
        id=record.document_id,
        content_type=record.content_type,
        title=record.title,
        description=record.description,
        snippet=text or record.description or "",
        heading=(" › ".join(chunk.heading_path) or None) if chunk else None,
        score=round(score, 6),
        rerank_score=rerank_score,
        url=record.url,
        source_url=record.source_url,
        path=record.path,
        group=record.group,
        tags=record.tags,
        date=record.date,
    )
