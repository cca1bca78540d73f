"""Reranking of the best candidates: one batch call, cached for an hour."""

import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.telemetry import count
from commonplace.search.analysis import terms_of
from commonplace.search.fusion import RELEVANCE_SHARE, stretched
from commonplace.search.model import Found, RecordId, RerankCache, Reranked, Reranker
from commonplace.search.models.tokens import Likeness
from commonplace.search.query import Query
from commonplace.search.text import plain

logger = logging.getLogger(__name__)

PASSAGE_CHARACTERS = 8_000
RERANK_TTL_SECONDS = 3_600


class MemoryRerankCache:
    """Orders kept in this process for an hour; the oldest goes when `capacity` is reached."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, capacity: int = 1_000) -> None:
        self._clock = clock
        self._capacity = capacity
        self._kept: OrderedDict[str, tuple[float, list[Reranked]]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> list[Reranked] | None:
        with self._lock:
            until, ranked = self._kept.get(key, (0.0, []))
            return ranked if key in self._kept and self._clock() < until else None

    def put(self, key: str, ranked: Iterable[Reranked]) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (self._clock() + RERANK_TTL_SECONDS, list(ranked))
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)


def rerank(
    query: str, found: Sequence[Found], reranker: Reranker, cache: RerankCache | None
) -> dict[RecordId, float] | None:
    """A score for each candidate, or None when the reranker does not answer."""
    if not found:
        return {}
    # A key of model, query, ids and versions: an edited document is judged anew.
    versions = sorted((item.record.id, item.record.version) for item in found)
    key = hashlib.sha256(json.dumps([reranker.name, query, versions]).encode()).hexdigest()
    ranked = cache.get(key) if cache else None
    if ranked is None:
        try:
            ranked = reranker.rerank(query, [(item.record.id, _passage(item)) for item in found])
        except Unavailable as error:
            count("ModelFallbacks")
            logger.warning("reranking failed, keeping the fused order", extra={"reason": error.message})
            return None
        if cache:
            cache.put(key, ranked)
    return {item.id: item.score for item in ranked}


TOKENS_WEIGHT = 1.0
COVERAGE_WEIGHT = 0.6
TITLE_WEIGHT = 0.3
KIND_WEIGHT = 0.6
"""Beside relevance, which counts as much as the tokens. From judged queries (`docs/inside/retrieval.md`)."""


def blend(
    query: Query,
    ranking: Sequence[tuple[RecordId, float]],
    likeness: Mapping[RecordId, Likeness],
    *,
    by_kind: bool = True,
) -> list[tuple[RecordId, float]]:
    """Return the ranking by the weighted mean of relevance and tokens, each between the worst and the best of these
    records, and of what of the query is covered.

    `by_kind` is for records whose ids begin with their kind. Records that the query names stand first with the scores
    that they have; those of which no likeness is known stand last, in their order.
    """
    relevance = {record: score for record, score in ranking if score <= RELEVANCE_SHARE and record in likeness}
    if not relevance:
        return list(ranking)
    whole = 1.0 + TOKENS_WEIGHT + COVERAGE_WEIGHT + TITLE_WEIGHT + KIND_WEIGHT
    tokens = stretched({record: likeness[record].tokens for record in relevance})
    blended = {}
    for record, share in stretched(relevance).items():
        near = likeness[record]
        share += TOKENS_WEIGHT * tokens[record] + COVERAGE_WEIGHT * near.coverage + TITLE_WEIGHT * near.titled  # noqa: PLW2901
        blended[record] = (
            RELEVANCE_SHARE
            * (share + KIND_WEIGHT * (by_kind and terms_of(record.partition("/")[0])[-1] in query.terms))
            / whole
        )
    least = min(blended.values())
    scores = [
        (record, blended.get(record, score if score > RELEVANCE_SHARE else score * least)) for record, score in ranking
    ]
    return sorted(scores, key=lambda item: (-item[1], item[0]))


def blend_model(
    ranking: Sequence[tuple[RecordId, float]], scores: Mapping[RecordId, float] | None
) -> list[tuple[RecordId, float]]:
    """The ranking by half its scores and half those of a reranker, whose own scale does not matter: from its best,
    which gets 1, to its worst, which gets 0. Named records keep their scores.
    """
    relevant = (
        [scores[record] for record, score in ranking if score <= RELEVANCE_SHARE and record in scores] if scores else []
    )
    if not scores or not relevant:
        return list(ranking)
    low, width = min(relevant), (max(relevant) - min(relevant)) or 1.0
    best = max(score for _, score in ranking if score <= RELEVANCE_SHARE) or 1.0
    blended = [
        (
            record,
            score if score > RELEVANCE_SHARE else (score + best * max(0.0, scores.get(record, low) - low) / width) / 2,
        )
        for record, score in ranking
    ]
    return sorted(blended, key=lambda item: (-item[1], item[0]))


def _passage(found: Found) -> str:
    text = plain(found.chunk.text) if found.chunk else ""
    parts = (found.record.title, found.record.description, text)
    return "\n".join(part for part in parts if part)[:PASSAGE_CHARACTERS]
