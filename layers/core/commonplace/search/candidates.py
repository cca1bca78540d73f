"""Candidate retrieval, the first stage of a search: both legs fused into one ranking, and the time each stage takes."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat

from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import QueryEmbeddings, model_fingerprint
from commonplace.search.fusion import RELEVANCE_SHARE, Fusion, fuse
from commonplace.search.model import Candidates, EmbeddingProvider, Engine, Found, QueryVector, RecordId, SearchRequest
from commonplace.search.models.tokens import Likeness, compare
from commonplace.search.names import CORRECTED_SHARE
from commonplace.search.near_duplicates import Collapsed, collapse, fingerprints
from commonplace.search.query import Query
from commonplace.search.spelling import distance

logger = logging.getLogger(__name__)

CANDIDATES_PER_LEG = 200

TOKEN_DEPTH = 50
"""Of a ranking, whose tokens are compared with the query's."""

MOST_MISTAKES = 3

MOST_CORRECTED = 2
"""Telling words of a query that is taken for its correction. In more of them, and in a question, the word may well have
been meant: then only a name counts that the correction is."""


class Stopwatch:
    """Runs from when it is made. `clock` is in seconds; results are in milliseconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self.stages: dict[str, float] = {}
        self.degraded = False
        """Says whether a stage had to be left out."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time inside to that of the stage."""
        started = self._clock()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + (self._clock() - started) * 1000

    def whole(self) -> float:
        """Since the beginning."""
        return (self._clock() - self._started) * 1000


@dataclass(frozen=True, slots=True)
class Ranked:
    """The result of stage one."""

    understood: Query
    """The query, or what it is corrected to where a word of it is in no document."""
    vector: QueryVector | None
    candidates: Candidates
    fused: Sequence[tuple[RecordId, float]]
    """Every candidate, best first."""
    best: Collapsed
    """The best of them, near-duplicates set aside: where the ranking ends."""

    @property
    def by_words(self) -> bool:
        """Return whether meaning could not be compared."""
        return self.vector is None or self.candidates.degraded

    @property
    def total(self) -> int:
        """The number of all matches, by words alone; else of the candidates."""
        kept = len(self.best.ranking)
        return max(self.candidates.total, kept) if self.by_words else kept


class Retrieval:
    """Stage one over one index."""

    def __init__(self, engine: Engine, queries: QueryEmbeddings, fusion: Fusion) -> None:
        self._engine = engine
        self._queries = queries
        self._fusion = fusion

    def rank(self, query: Query, request: SearchRequest, depth: int, watch: Stopwatch) -> Ranked:
        """The `depth` best by words, by meaning and by name. Raises Unavailable when the index does not answer."""
        vector, candidates = self._candidates(query, request, watch)
        understood = query
        if candidates.suggestions:
            corrected, own = Query.of(candidates.suggestions[0]), candidates
            if _is_meant(query, corrected, found=bool(own.lexical)):
                understood, (vector, candidates) = corrected, self._candidates(corrected, request, watch)
                found = candidates
            else:
                with watch.stage("candidates"):
                    found = self._engine.candidates(corrected, None, request.filters, CANDIDATES_PER_LEG)
            already = {hit.id for hit in own.named}
            others = (hit for hit in found.named if hit.id not in already)
            # What the query names, and after it what the corrected query does.
            named = (*own.named, *(hit._replace(score=CORRECTED_SHARE * hit.score) for hit in others))
            candidates = replace(candidates, named=named, suggestions=own.suggestions)
        with watch.stage("fuse"):
            fused = fuse(candidates, self._fusion)
            if not request.collapse:
                return Ranked(understood, vector, candidates, fused, Collapsed(fused[:depth], {}))
            best = collapse(fused, fingerprints(candidates), depth, always_shown=RELEVANCE_SHARE)
            return Ranked(understood, vector, candidates, fused, best)

    def show(
        self,
        query: Query,
        ranked: Ranked,
        ranking: Sequence[tuple[RecordId, float]],
        likeness: Mapping[RecordId, Likeness],
    ) -> dict[RecordId, Found]:
        """Each record with the passage that is nearest by tokens and terms; of what is named, with the first."""
        chunks = {hit.id: hit.chunk for hit in ranked.candidates.vector}
        chunks |= {hit.id: hit.chunk for hit in ranked.candidates.lexical if hit.chunk is not None}
        chunks |= {record: near.best for record, near in likeness.items() if near.best is not None}
        wanted = [
            (record, 0 if likeness and score > RELEVANCE_SHARE else chunks.get(record)) for record, score in ranking
        ]
        return self._engine.fetch(wanted, query, ranked.vector) if wanted else {}

    def likeness(self, query: Query, records: Sequence[RecordId], watch: Stopwatch) -> dict[RecordId, Likeness]:
        """Return how near those of the records are whose tokens the index has."""
        if not records:
            return {}
        with watch.stage("tokens"):
            try:
                kept = self._engine.tokens(records)
                return dict(zip(kept, compare(query.subject, query.terms, list(kept.values())), strict=True))
            except Unavailable as error:
                watch.degraded = True
                logger.warning("tokens could not be compared", extra={"reason": error.message})
                return {}

    def _candidates(
        self, query: Query, request: SearchRequest, watch: Stopwatch
    ) -> tuple[QueryVector | None, Candidates]:
        with watch.stage("embed"):
            vector = self._queries.vector(query.text, self._engine.model())
        with watch.stage("candidates"):
            candidates = self._engine.candidates(query, vector, request.filters, CANDIDATES_PER_LEG)
        if vector is None or not candidates.degraded:
            return vector, candidates
        with watch.stage("embed"):
            model = self._engine.model()
            if model == vector.model or not self._queries.knows(model):
                return vector, candidates
            # Another index has replaced the one whose model was read.
            vector = self._queries.vector(query.text, model)
        with watch.stage("candidates"):
            return vector, self._engine.candidates(query, vector, request.filters, CANDIDATES_PER_LEG)


def _is_meant(query: Query, corrected: Query, *, found: bool) -> bool:
    """Return whether the query is taken for its correction: where none of its words is `found`, if all of them are
    corrected; else in a few words with a few mistakes that are no question.
    """
    if not found:
        return {*query.words}.isdisjoint(corrected.words)
    if len(query.words) > MOST_CORRECTED or query.subject != query.text:
        return False
    return sum(map(distance, query.words, corrected.words, repeat(MOST_MISTAKES))) <= MOST_MISTAKES


ORGANISATIONS_REMEMBERED, QUERIES_REMEMBERED = 16, 128
"""Organisations whose last queries' vectors are at hand, and how many of each."""


class Retrievals:
    """The retrieval of each organisation, over the same index.

    Nobody's answer, nor the time it takes, depends on queries of another organisation.

    Several `embeddings` are those of the index that answers and of the one that is to take its place.
    """

    def __init__(self, engine: Engine, embeddings: Sequence[EmbeddingProvider], fusion: Fusion) -> None:
        self._embeddings = embeddings

        def made(_organisation: str) -> tuple[Retrieval, QueryEmbeddings]:  # each has its own
            queries = QueryEmbeddings(embeddings, QUERIES_REMEMBERED)
            return Retrieval(engine, queries, fusion), queries

        self._for = lru_cache(maxsize=ORGANISATIONS_REMEMBERED)(made)

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
