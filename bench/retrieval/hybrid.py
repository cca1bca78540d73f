"""The engine's own hybrid query over the very legs that our fusion reads."""

import json
from typing import Any

from bench.retrieval.http import Node
from bench.retrieval.judged import Topic
from bench.retrieval.metrics import DEPTH
from bench.retrieval.systems import HYBRID_MIN_MAX, HYBRID_RRF, Asked, Ranking, System
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import QueryVector, RecordId
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.client import Numbers, encode
from commonplace.search.opensearch.queries import Words
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.text import clean_query

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
    where, words = queries.conditions(filters), Words.of(text)
    if words is None:
        return None
    near = queries.nearest(Numbers(vector.values), where, depth, IndexParameters().ef_search)
    hybrid = {"queries": [queries.lexical(words, where), near], "pagination_depth": depth}
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
