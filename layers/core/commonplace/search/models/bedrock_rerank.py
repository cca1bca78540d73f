"""Reranking by the Rerank operation of `bedrock-agent-runtime`: query and passages in one call."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from commonplace.search.model import RecordId, Reranked
from commonplace.search.models.bedrock_answers import translated, unreadable
from commonplace.search.models.values import fitting

logger = logging.getLogger(__name__)

COHERE = "cohere.rerank-v3-5:0"
AMAZON = "amazon.rerank-v1:0"

SOURCES_PER_CALL = 1_000
QUERY_CHARACTERS = 4_000
PASSAGE_CHARACTERS = 10_000
"""The operation takes 32,000 characters each; Cohere's model reads 4,096 tokens of query and passage together."""

PAGES = 20


class AgentRuntime(Protocol):
    """The client of `bedrock-agent-runtime`, as far as it is used."""

    def rerank(self, **request: Any) -> Mapping[str, Any]: ...


class BedrockReranker:
    """Cohere Rerank 3.5 or Amazon Rerank 1.0, by its id, in the region of the client."""

    def __init__(self, client: AgentRuntime, model: str, *, region: str, partition: str = "aws") -> None:
        self.name = model
        self._client = client
        self._arn = f"arn:{partition}:bedrock:{region}::foundation-model/{model}"

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        """A score per passage that the model gave one for, best first. Raises Transient and Unavailable."""
        found: dict[RecordId, float] = {}
        for start in range(0, len(passages), SOURCES_PER_CALL):
            part = passages[start : start + SOURCES_PER_CALL]
            for index, score in self._scores(query, [text for _, text in part]):
                if 0 <= index < len(part) and math.isfinite(score):
                    found.setdefault(part[index][0], score)
        if missing := len(passages) - len(found):
            logger.warning("the reranker left passages out", extra={"model": self.name, "missing": missing})
        ranked = [Reranked(record, score) for record, score in found.items()]
        return sorted(ranked, key=lambda item: (-item.score, item.id))

    def _scores(self, query: str, texts: Sequence[str]) -> Iterator[tuple[int, float]]:
        request = self._request(query, texts)
        token: str | None = None
        for _ in range(PAGES):
            with translated(self.name):
                answer = self._client.rerank(**request, **({"nextToken": token} if token else {}))
            yield from self._pairs(answer)
            token = answer.get("nextToken")
            if not token:
                return

    def _pairs(self, answer: Mapping[str, Any]) -> list[tuple[int, float]]:
        try:
            return [(int(item["index"]), float(item["relevanceScore"])) for item in answer["results"]]
        except (KeyError, TypeError, ValueError) as error:
            raise unreadable(self.name) from error

    def _request(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        return {
            "queries": [{"type": "TEXT", "textQuery": {"text": fitting(query, QUERY_CHARACTERS)}}],
            "sources": [_source(fitting(text, PASSAGE_CHARACTERS)) for text in texts],
            "rerankingConfiguration": {
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "numberOfResults": len(texts),
                    "modelConfiguration": {"modelArn": self._arn},
                },
            },
        }


def _source(text: str) -> dict[str, Any]:
    return {"type": "INLINE", "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}}}
