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
from commonplace.search.fusion import RELEVANCE_SHARE
from commonplace.search.model import Found, RecordId, RerankCache, Reranked, Reranker
from commonplace.search.models.tokens import similarities
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


def rerank_key(reranker: str, query: str, found: Sequence[Found]) -> str:
    """sha256 over model, query, ids and versions: an edited document is judged anew (note on stale caches)."""
    versions = sorted((found.record.id, found.record.version) for found in found)
    return hashlib.sha256(json.dumps([reranker, query, versions]).encode()).hexdigest()


def rerank(
    query: str, found: Sequence[Found], reranker: Reranker, cache: RerankCache | None
) -> dict[RecordId, float] | None:
    """A score for each candidate, or None when the reranker does not answer."""
    if not found:
        return {}
    key = rerank_key(reranker.name, query, found)
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


def blend(
    ranking: Sequence[tuple[RecordId, float]], query: str, tokens: Mapping[RecordId, Sequence[bytes]]
) -> list[tuple[RecordId, float]]:
    """The ranking by half its scores and half the likeness of tokens. Named records keep theirs. Raises Unavailable."""
    likeness = similarities(query, [tokens.get(record, ()) for record, _ in ranking])
    best = max(likeness, default=0.0) or 1.0
    blended = [
        (
            record,
            score if score > RELEVANCE_SHARE or record not in tokens else (score + RELEVANCE_SHARE * near / best) / 2,
        )
        for (record, score), near in zip(ranking, likeness, strict=True)
    ]
    return sorted(blended, key=lambda item: (-item[1], item[0]))


def _passage(found: Found) -> str:
    text = plain(found.chunk.text) if found.chunk else ""
    parts = (found.record.title, found.record.description, text)
    return "\n".join(part for part in parts if part)[:PASSAGE_CHARACTERS]
