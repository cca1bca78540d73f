"""The systems that are compared: ways to get from one query to one ranking, over the same index."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from bench.retrieval.judged import Topic
from bench.retrieval.metrics import DEPTH
from commonplace.search.candidates import CANDIDATES_PER_LEG
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import (
    VECTOR_FLOOR,
    Candidates,
    EmbeddingProvider,
    Engine,
    QueryVector,
    RecordId,
    Reranker,
    SearchRequest,
    SearchResults,
)
from commonplace.search.query import Query
from commonplace.search.rerank import MemoryRerankCache
from commonplace.search.service import SearchService
from commonplace.search.text import clean_query

LEXICAL, VECTOR, BUILT = "lexical only", "vector only", "as built"
NO_TOKENS, NO_NAMES, RRF = "without tokens", "without names", "RRF"
CORRECTED, RERANKED, PERFECT = "+ did-you-mean", "+ rerank", "+ perfect rerank"

Ranking = Sequence[RecordId]
System = Callable[[Topic], Ranking]


@dataclass(frozen=True, slots=True)
class Asked:
    """One index and one model."""

    engine: Engine
    provider: EmbeddingProvider | None
    size: int = CANDIDATES_PER_LEG

    def vector(self, topic: Topic) -> QueryVector | None:
        """The query's embedding; None without a model."""
        if self.provider is None:
            return None
        values = self.provider.embed([clean_query(topic.text)], query=True)[0]
        return QueryVector(model_fingerprint(self.provider), values)

    def legs(self, topic: Topic) -> Candidates:
        """Both legs of the topic. Raises Unavailable."""
        return self.engine.candidates(Query.of(topic.text), self.vector(topic), topic.filters, self.size)


class KeptCandidates:
    """An engine that gives the same legs again to whoever asks the same, cut where a system is to do with less."""

    def __init__(
        self,
        engine: Engine,
        kept: dict[tuple[str, bool, Filters], Candidates],
        *,
        named: bool = True,
        depth: int = CANDIDATES_PER_LEG,
        floor: float = -1.0,
    ) -> None:
        self._engine, self._kept = engine, kept
        self._named, self._depth, self._floor = named, depth, floor

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        key = (query.text, vector is None, filters)
        if key not in self._kept:
            self._kept[key] = self._engine.candidates(query, vector, filters, size)
        found = self._kept[key]
        near = tuple(hit for hit in found.vector[: self._depth] if hit.score >= self._floor)
        named = found.named if self._named else ()
        return replace(found, lexical=found.lexical[: self._depth], vector=near, named=named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


@dataclass(frozen=True, slots=True)
class Services:
    """Searches over one index and one model that differ in one thing each."""

    asked: Asked
    fusion: Fusion = field(default_factory=Fusion)
    _kept: dict[tuple[str, bool, Filters], Candidates] = field(default_factory=dict)

    def system(
        self, fusion: Fusion | None = None, *, rerank: bool = True, words_only: bool = False, **cut: Any
    ) -> System:
        """What the product answers under this fusion; `cut` as `KeptCandidates` has it."""
        engine = cast(Engine, KeptCandidates(self.asked.engine, self._kept, **cut))
        provider = None if words_only else self.asked.provider
        return served(SearchService(engine, provider, fusion=fusion or self.fusion), rerank=rerank)


def vector_only(asked: Asked) -> System:
    """The nearest by meaning and nothing else: not even a name counts."""
    return lambda topic: [hit.id for hit in asked.legs(topic).vector[:DEPTH]]


def served(service: SearchService, *, rerank: bool = True) -> System:
    """What the product answers."""
    return lambda topic: _ids(_search(service, topic, topic.text, rerank=rerank))


def corrected(service: SearchService) -> System:
    """What the product answers to somebody who takes its suggestion whenever there is one."""

    def rank(topic: Topic) -> Ranking:
        first = _search(service, topic, topic.text)
        return _ids(_search(service, topic, first.suggestion) if first.suggestion else first)

    return rank


def perfect(system: System, grades: Mapping[str, Mapping[str, int]]) -> System:
    """The same twenty in the best order: no reranker can exceed it. It reads the grades, so it is no system."""

    def rank(topic: Topic) -> Ranking:
        judged = grades.get(topic.id, {})
        return sorted(system(topic), key=lambda record: -judged.get(record, 0))

    return rank


def systems_of(
    asked: Asked, grades: Mapping[str, Mapping[str, int]], reranker: Reranker | None, fusion: Fusion
) -> dict[str, System]:
    """Every system this index and these models allow, the baseline first: the whole search without any model."""
    services = Services(asked, fusion)
    service = SearchService(asked.engine, asked.provider, fusion=fusion)
    systems: dict[str, System] = {LEXICAL: services.system(words_only=True, rerank=False)}
    if asked.provider is not None:
        systems |= {VECTOR: vector_only(asked), RRF: services.system(replace(fusion, method="rrf"))}
    systems |= {
        NO_TOKENS: services.system(rerank=False),
        NO_NAMES: services.system(named=False),
        BUILT: served(service),
        CORRECTED: corrected(service),
    }
    if reranker is not None:
        reranking = SearchService(
            asked.engine, asked.provider, reranker, rerank_cache=MemoryRerankCache(), fusion=fusion
        )
        systems[RERANKED] = served(reranking)
    if grades:
        systems[PERFECT] = perfect(systems[BUILT], grades)
    return systems


def swept(asked: Asked) -> dict[str, System]:
    """Fusions by weights, constants, depths and floors, to choose the defaults from. The index has no floor."""
    services, floor = Services(asked), VECTOR_FLOOR
    systems = {LEXICAL: services.system(words_only=True, rerank=False), BUILT: services.system(floor=floor)}
    for words in (number / 10 for number in range(1, 10)):
        weights = Fusion("min-max", words, 1 - words)
        systems[f"min-max {words:.1f}/{1 - words:.1f}"] = services.system(weights, floor=floor)
    for words in (0.3, 0.5, 0.7):
        systems[f"RRF {words:.1f}/{1 - words:.1f}"] = services.system(Fusion("rrf", words, 1 - words), floor=floor)
    for depth in (20, 50, 100):
        systems[f"{depth} per leg"] = services.system(depth=depth, floor=floor)
    for other in (-1.0, 0.1, 0.2, 0.25, 0.3):
        systems["no floor" if other < 0 else f"floor {other}"] = services.system(floor=other)
    return systems


def _search(service: SearchService, topic: Topic, text: str, *, rerank: bool = True) -> SearchResults:
    return service.search(SearchRequest(text, topic.filters, limit=DEPTH, rerank=rerank))


def _ids(results: SearchResults) -> Ranking:
    """Return what a reader sees, in order: a hit names its near-duplicates, and what fits weakly where nothing fits is
    nothing.
    """
    fitting = results.results if results.hint is None else ()
    told = ((RecordId(f"{hit.content_type}/{hit.id}"), *hit.duplicates) for hit in fitting)
    return [record for records in told for record in records][:DEPTH]
