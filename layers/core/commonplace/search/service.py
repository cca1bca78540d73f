"""The search service: embed the query, search both legs, fuse, rerank, show. It degrades instead of failing.

Three stages (seed 000, section 6): candidates of both legs become one ranking; its best, as many as the limit and at
least twenty, are reranked in one call; whole documents are read for the hits shown, where the request wants them.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace.kernel.byte_cache import ByteCache
from commonplace.kernel.deferred import Deferred
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.kernel.terms import compatible_length
from commonplace.search.candidates import TOKEN_DEPTH, Ranked, Retrieval, Stopwatch
from commonplace.search.embeddings import QueryEmbeddings
from commonplace.search.explanation import Explainer, Stages
from commonplace.search.filters import Filters
from commonplace.search.fitness import COVERAGE, DEPTH, MOST_WEAK, NOTHING_FITS, NOTHING_WITHIN, fits, gate_of
from commonplace.search.fusion import RELEVANCE_SHARE, Fusion
from commonplace.search.model import (
    Candidates,
    Documents,
    EmbeddingProvider,
    Engine,
    Fit,
    Found,
    Hit,
    Publication,
    RecordId,
    RerankCache,
    Reranker,
    SearchRequest,
    SearchResults,
)
from commonplace.search.near_duplicates import Collapsed
from commonplace.search.query import Query
from commonplace.search.rerank import blend, blend_model, rerank
from commonplace.search.snippets import Snippet, snippet

KEPT_SECONDS = 3_600.0
KEPT_BYTES = 16_000_000

HIT_BYTES = 1_000
"""The size of a hit beside its texts, more or less."""

State = tuple[str | None, ...]
"""The state of the index and of what is published: another one, another answer."""


class Answers:
    """Answers of one service, without whole documents and explanations. Any thread may use it.

    An answer is given back for the very request, in the state that it was found in. `clock` is in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

        def size(held: tuple[float, SearchResults]) -> int:
            texts = (len(hit.snippet) + len(hit.description or "") for hit in held[1].results)
            return HIT_BYTES + sum(HIT_BYTES + 2 * characters for characters in texts)

        self._held: ByteCache[tuple[State, SearchRequest], tuple[float, SearchResults]] = ByteCache(KEPT_BYTES, size)

    def get(self, state: State, request: SearchRequest) -> SearchResults | None:
        found = self._held.get((state, request))
        return found[1] if found is not None and self._clock() - found[0] < KEPT_SECONDS else None

    def put(self, state: State, request: SearchRequest, found: SearchResults) -> None:
        self._held.put((state, request), (self._clock(), found))


logger = logging.getLogger(__name__)

HALF_SCORE = 10.0
"""The score by words that is shown as half of what relevance can reach, where there is no best one to compare with."""

DESCRIPTION_CHARACTERS = 500
"""The longest description that is shown in place of a passage."""

MAX_QUERY_CHARACTERS = 1_000
MAX_LIMIT = 100
RERANK_DEPTH = 20


def to_hit(
    query: Query,
    found: Found,
    score: float,
    fit: Fit,
    *,
    rerank_score: float | None = None,
    duplicates: Sequence[RecordId] = (),
    shown: bool = True,
) -> Hit:
    """A result with the part of its chunk that shows why it was found; one that the query names, with its description.

    Without a text it has its description, too.
    """
    record, chunk = found.record, found.chunk
    if record.description and (score > RELEVANCE_SHARE or not chunk):
        chunk, excerpt = None, snippet(record.description, query, DESCRIPTION_CHARACTERS)
    else:
        excerpt = snippet(chunk.text, query) if chunk and shown else Snippet("")
    return Hit(
        id=record.document_id,
        content_type=record.content_type,
        title=record.title,
        description=record.description,
        snippet=excerpt.text,
        heading=(" › ".join(chunk.heading_path) or None) if chunk else None,
        score=round(score, 6),
        rerank_score=rerank_score,
        url=record.url,
        source_url=record.source_url,
        path=record.path,
        group=record.group,
        tags=record.tags,
        date=record.date,
        fit=fit,
        marks=excerpt.marks,
        duplicates=tuple(duplicates),
    )


class SearchService:
    """Searches one index. Without `embeddings` it is lexical only, without `reranker` the fused order stands.

    Several providers are those of the index that answers and of the one that is to take its place. `documents` are
    needed for whole documents, `publication` to explain why something is not found. `answers` are kept by this service
    alone. `clock` is in seconds.
    """

    def __init__(
        self,
        engine: Engine,
        embeddings: EmbeddingProvider | Sequence[EmbeddingProvider] | None,
        reranker: Reranker | None = None,
        *,
        rerank_cache: RerankCache | None = None,
        answers: Answers | None = None,
        fusion: Fusion | None = None,
        documents: Documents | None = None,
        publication: Publication | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        fusion = fusion or Fusion()
        if not isinstance(embeddings, Sequence):
            embeddings = [embeddings] if embeddings else []
        self._engine = engine
        self._retrieval = Retrieval(engine, QueryEmbeddings(embeddings), fusion)
        self._reranker = reranker
        self._rerank_cache = rerank_cache
        self._documents = documents
        self._publication = publication
        self._embeds = bool(embeddings)
        self._answers = answers
        self._explainer = Explainer(engine, fusion, reranker.name if reranker else None, publication)
        self._clock = clock

    def search(self, request: SearchRequest) -> SearchResults:
        """The best records for a query. Raises InvalidInput, and Unavailable when the index does not answer.

        Any text is a valid query: nothing in it is syntax. A query without a visible character finds nothing.
        """
        watch = Stopwatch(self._clock)
        size = len(request.query)
        if size > MAX_QUERY_CHARACTERS or (size := compatible_length(request.query)) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(
                f"The query has {size} characters; at most {MAX_QUERY_CHARACTERS} are read.",
                hint="Ask for the subject in a sentence or a few words.",
            )
        if not 1 <= request.limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT}.", hint="Narrow a search with filters instead.")
        if request.after is not None and request.mode != "lexical":
            message = "Only a search in mode lexical can be paged through."
            raise InvalidInput(message, hint="Ask for more at once with limit, or use mode.")
        query = Query.of(request.query)
        if not query.text:
            found = SearchResults(request.query, (), 0, fallback=False, reranked=False, took_ms=0)
            return replace(found, took_ms=round(watch.whole()))
        asked, state = replace(request, query=query.text, documents=False), self._state(request)
        if self._answers and state and (held := self._answers.get(state, asked)) is not None:
            held = replace(held, query=request.query, results=self._with_documents(held.results, request, watch))
            return replace(held, took_ms=round(watch.whole()))
        found, stages = (self._by_words if request.mode == "lexical" else self._ranked)(query, request, watch)
        # A model that was needed and did not answer may do so another time.
        unranked = self._reranker is not None and request.rerank and not found.reranked
        partial = watch.degraded or unranked or (found.fallback and self._embeds)
        whole = request.mode == "lexical" or not partial
        # What was written meanwhile may be in the answer or not.
        if self._answers and state and whole and state == self._state(request):
            self._answers.put(state, asked, found)
        results = self._with_documents(found.results, request, watch)
        took = watch.whole()
        found = replace(found, results=results, took_ms=round(took))
        if not request.explain:
            return found
        timings = {**watch.stages, "whole": took}
        return replace(found, explanation=self._explainer.explain(query, request, found, stages, timings))

    def _state(self, request: SearchRequest) -> State | None:
        """The state of what the answer is made of, but for whole documents; None for an answer that is not cached."""
        if self._answers is None or request.explain:
            return None
        try:
            state = self._engine.state()
            return None if state is None else (state, self._publication.version() if self._publication else None)
        except Unavailable:
            return None

    def check(self) -> None:
        """Does nothing if a search could be answered. Raises Unavailable."""
        self._engine.held(())

    def _ranked(self, query: Query, request: SearchRequest, watch: Stopwatch) -> tuple[SearchResults, Stages]:
        """Search by words and by meaning: a ranking that ends at its candidates, or after a few where none of them
        fits.
        """
        ranked = self._retrieval.rank(query, request, max(TOKEN_DEPTH, request.limit), watch)
        candidates, ranking = ranked.candidates, ranked.best.ranking
        best = [record for record, _ in ranking[:TOKEN_DEPTH]]
        likeness = self._retrieval.likeness(ranked.understood, best, watch)
        if request.rerank:
            ranking = blend(ranked.understood, ranking, likeness)
        grades = fits(ranked, [record for record, _ in ranking], likeness)
        fitting = any(grades[record] != "weak" for record, _ in ranking[:DEPTH])
        # Coverage alone says little of what a model finds by meaning: then all is given, in the order of the reranker.
        few = not fitting and gate_of(ranked) is not COVERAGE
        if few:
            ranking = ranking[:MOST_WEAK]
        reranker = self._reranker if request.rerank and not few else None
        ranking = ranking[: max(RERANK_DEPTH, request.limit)] if reranker else ranking[: request.limit]
        with watch.stage("fetch"):
            # Of a corrected query the corrected words are shown and marked: those that were found.
            found = self._retrieval.show(ranked.understood, ranked, ranking, likeness)
        scores: dict[RecordId, float] | None = None
        if reranker:
            with watch.stage("rerank"):
                shown = [found[record] for record, _ in ranking if record in found]
                scores = rerank(query.text, shown, reranker, self._rerank_cache)
        order = blend_model([(record, score) for record, score in ranking if record in found], scores)
        with watch.stage("fetch"):
            hits = [
                to_hit(
                    ranked.understood,
                    found[record],
                    score,
                    grades[record],
                    rerank_score=(scores or {}).get(record),
                    duplicates=ranked.best.duplicates.get(record, ()),
                    shown=request.shown is None or at < request.shown,
                )
                for at, (record, score) in enumerate(order[: request.limit])
            ]
        results = SearchResults(
            query=request.query,
            results=tuple(hits),
            total=min(ranked.total, MOST_WEAK) if few else ranked.total,
            fallback=ranked.by_words,
            reranked=scores is not None,
            took_ms=0,
            suggestion=next(iter(candidates.suggestions), None),
            hint=None if fitting else NOTHING_FITS if request.filters == Filters() else NOTHING_WITHIN,
        )
        return results, Stages(ranked, [record for record, _ in order], likeness)

    def _by_words(self, query: Query, request: SearchRequest, watch: Stopwatch) -> tuple[SearchResults, Stages]:
        """Search by words alone: exact total, any page, in the engine's order. Nothing is collapsed and nothing
        reranked.
        """
        with watch.stage("candidates"):
            page = self._engine.page(query, request.filters, request.limit, request.after)
        # Between 0 and the share of relevance: the same on every page, and in the order of the engine.
        scores = [(hit.id, RELEVANCE_SHARE * max(hit.score, 0) / (max(hit.score, 0) + HALF_SCORE)) for hit in page.hits]
        candidates = Candidates(lexical=page.hits, vector=(), total=page.total, suggestions=page.suggestions)
        with watch.stage("fetch"):
            ranked = Ranked(query, None, candidates, scores, Collapsed(scores, {}))
            found = self._retrieval.show(query, ranked, scores, {})
        order = [record for record, _ in scores if record in found]
        grades = fits(ranked, order, self._retrieval.likeness(query, order, watch))
        hits = [to_hit(query, found[record], score, grades[record]) for record, score in scores if record in found]
        results = SearchResults(
            query=request.query,
            results=tuple(hits),
            total=page.total,
            fallback=False,
            reranked=False,
            took_ms=0,
            suggestion=next(iter(page.suggestions), None),
            after=page.after,
        )
        return results, Stages(ranked, order, {})

    def _with_documents(self, hits: Sequence[Hit], request: SearchRequest, watch: Stopwatch) -> tuple[Hit, ...]:
        """Return the hits, those that are shown with their whole documents where these are requested and readable."""
        if not request.documents or self._documents is None or not hits:
            return tuple(hits)
        shown = hits[: request.shown]
        with watch.stage("documents"):
            try:
                documents = self._documents.read([RecordId(f"{hit.content_type}/{hit.id}") for hit in shown])
            except Unavailable as error:
                logger.warning("whole documents cannot be read", extra={"reason": error.message})
                return tuple(hits)
        read = (replace(hit, document=document) for hit, document in zip(shown, documents, strict=True))
        return (*read, *hits[len(shown) :])


class DeferredSearch:
    """Builds the search at the first question: most processes only ever answer documents."""

    def __init__(self, build: Callable[[], SearchService]) -> None:
        self._service = Deferred(build)

    def search(self, request: SearchRequest) -> SearchResults:
        return self._service().search(request)

    def check(self) -> None:
        """One small request to the index. Raises Unavailable."""
        self._service().check()
