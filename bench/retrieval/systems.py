"""The systems that are compared: ways to get from one query to one ranking, over the same index."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bench.retrieval.engines import Node
from bench.retrieval.judged import Topic
from bench.retrieval.metrics import DEPTH
from commonplace.search.candidates import CANDIDATES_PER_LEG
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion, fuse
from commonplace.search.model import (
    Candidates,
    EmbeddingProvider,
    Engine,
    QueryVector,
    RecordId,
    Reranker,
    SearchRequest,
    SearchResults,
)
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.client import Numbers, encode
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.query import Query
from commonplace.search.rerank import MemoryRerankCache
from commonplace.search.service import SearchService
from commonplace.search.text import clean_query

LEXICAL, VECTOR, RRF, MIN_MAX = "lexical only", "vector only", "RRF", "min-max"
BUILT, CORRECTED, RERANKED, PERFECT = "as built", "+ did-you-mean", "+ rerank", "+ perfect rerank"
HYBRID_MIN_MAX, HYBRID_RRF = "engine's own min-max", "engine's own RRF"

Ranking = Sequence[RecordId]
System = Callable[[Topic], Ranking]


@dataclass(frozen=True, slots=True)
class Asked:
    """One index and one model, with the answers of the engine kept: every fusion reads the same legs."""

    engine: Engine
    provider: EmbeddingProvider | None
    size: int = CANDIDATES_PER_LEG
    _kept: dict[tuple[str, bool], Candidates] = field(default_factory=dict)

    def vector(self, topic: Topic) -> QueryVector | None:
        """The query's embedding; None without a model."""
        if self.provider is None:
            return None
        values = self.provider.embed([clean_query(topic.text)], query=True)[0]
        return QueryVector(model_fingerprint(self.provider), values)

    def legs(self, topic: Topic, *, words_only: bool = False) -> Candidates:
        """Both legs of the topic, or that of its words. Raises Unavailable."""
        key = (topic.id, words_only)
        if key not in self._kept:
            vector = None if words_only else self.vector(topic)
            self._kept[key] = self.engine.candidates(
                Query.of(clean_query(topic.text)), vector, topic.filters, self.size
            )
        return self._kept[key]


def fused(asked: Asked, fusion: Fusion) -> System:
    """Both legs under this fusion, names first, as the service has it."""
    return lambda topic: [record for record, _ in fuse(asked.legs(topic), fusion)[:DEPTH]]


def lexical_only(asked: Asked) -> System:
    """What a search without any model answers, names first: what everything else is compared with."""
    return lambda topic: [record for record, _ in fuse(asked.legs(topic, words_only=True), Fusion())[:DEPTH]]


def vector_only(asked: Asked) -> System:
    """The nearest by meaning and nothing else: not even a name counts."""
    return lambda topic: [hit.id for hit in asked.legs(topic).vector[:DEPTH]]


def served(service: SearchService) -> System:
    """What the product answers."""
    return lambda topic: _ids(_search(service, topic, topic.text))


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
    """Every system this index and these models allow, the baseline first."""
    service = SearchService(asked.engine, asked.provider, fusion=fusion)
    systems: dict[str, System] = {LEXICAL: lexical_only(asked)}
    if asked.provider is not None:
        systems |= {
            VECTOR: vector_only(asked),
            RRF: fused(asked, replace(fusion, method="rrf")),
            MIN_MAX: fused(asked, replace(fusion, method="min-max")),
        }
    systems |= {BUILT: served(service), CORRECTED: corrected(service)}
    if reranker is not None:
        reranking = SearchService(
            asked.engine, asked.provider, reranker, rerank_cache=MemoryRerankCache(), fusion=fusion
        )
        systems[RERANKED] = served(reranking)
    if grades:
        systems[PERFECT] = perfect(systems[BUILT], grades)
    return systems


def swept(asked: Asked) -> dict[str, System]:
    """Fusions by weights, constants, depths and floors, to choose the defaults from."""
    steps = [number / 10 for number in range(1, 10)]
    systems = {LEXICAL: lexical_only(asked)}
    for words in steps:
        systems[f"min-max {words:.1f}/{1 - words:.1f}"] = fused(asked, Fusion("min-max", words, 1 - words))
    for words in (0.3, 0.5, 0.7):
        systems[f"RRF {words:.1f}/{1 - words:.1f}"] = fused(asked, Fusion("rrf", words, 1 - words))
    for constant in (10, 30):
        systems[f"RRF 0.5/0.5, constant {constant}"] = fused(asked, Fusion("rrf", rank_constant=constant))
    for depth in (20, 50, 100):
        systems[f"min-max 0.5/0.5, {depth} per leg"] = _cut(asked, depth=depth)
    for floor in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        systems[f"min-max 0.5/0.5, floor {floor}"] = _cut(asked, floor=floor)
    return systems


def _cut(asked: Asked, *, depth: int = CANDIDATES_PER_LEG, floor: float = -1.0) -> System:
    """The default fusion over legs cut to a depth and, in meaning, to a floor of cosine."""

    def rank(topic: Topic) -> Ranking:
        found = asked.legs(topic)
        near = tuple(hit for hit in found.vector[:depth] if hit.score >= floor)
        cut = replace(found, lexical=found.lexical[:depth], vector=near)
        return [record for record, _ in fuse(cut, Fusion())[:DEPTH]]

    return rank


def _search(service: SearchService, topic: Topic, text: str) -> SearchResults:
    return service.search(SearchRequest(text, topic.filters, limit=DEPTH))


def _ids(results: SearchResults) -> Ranking:
    """What a reader is told of, in order: a hit names its near-duplicates."""
    told = ((RecordId(f"{hit.content_type}/{hit.id}"), *hit.duplicates) for hit in results.results)
    return [record for records in told for record in records][:DEPTH]


IDS = {"stored_fields": "_none_", "docvalue_fields": ["id"]}


def own_hybrid(node: Node, index: str, asked: Asked, fusion: Fusion) -> dict[str, System]:
    """Both of the engine's fusions, without names, of which it has no notion, and without a floor."""
    return {
        HYBRID_MIN_MAX: _hybrid(node, index, asked, pipeline("min-max", fusion)),
        HYBRID_RRF: _hybrid(node, index, asked, pipeline("rrf", fusion)),
    }


def pipeline(method: str, fusion: Fusion) -> dict[str, Any]:
    """The engine's fusion with these weights, which it wants as fractions of one."""
    whole = fusion.lexical_weight + fusion.vector_weight
    weighted = {"parameters": {"weights": [fusion.lexical_weight / whole, fusion.vector_weight / whole]}}
    if method == "rrf":
        combination = {"technique": "rrf", "rank_constant": fusion.rank_constant, **weighted}
        return {"phase_results_processors": [{"score-ranker-processor": {"combination": combination}}]}
    told = {"normalization": {"technique": "min_max"}, "combination": {"technique": "arithmetic_mean", **weighted}}
    return {"phase_results_processors": [{"normalization-processor": told}]}


def body(
    text: str, vector: QueryVector, filters: Filters, *, depth: int, size: int, fused: dict[str, Any]
) -> dict[str, Any] | None:
    """A hybrid query of both legs; None when the text has no word to ask for."""
    where, terms = queries.conditions(filters), Query.of(text).terms
    if not terms:
        return None
    near = queries.nearest(Numbers(vector.values), where, depth, IndexParameters().ef_search)
    hybrid = {"queries": [queries.lexical(terms, where), near], "pagination_depth": depth}
    return {**IDS, "size": size, "track_total_hits": False, "query": {"hybrid": hybrid}, "search_pipeline": fused}


def _hybrid(node: Node, index: str, asked: Asked, fused: dict[str, Any]) -> System:
    def rank(topic: Topic) -> Ranking:
        vector, text = asked.vector(topic), clean_query(topic.text)
        told = body(text, vector, topic.filters, depth=asked.size, size=DEPTH, fused=fused) if vector else None
        if told is None:
            return []
        answer = json.loads(node.send("POST", f"/{index}/_search", encode(told)))
        return [RecordId(hit["fields"]["id"][0]) for hit in answer["hits"]["hits"]]

    return rank
