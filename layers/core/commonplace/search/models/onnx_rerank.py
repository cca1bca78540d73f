"""Reranking by a cross-encoder from a folder."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.search.model import RecordId, Reranked
from commonplace.search.models.onnx import Graph
from commonplace.search.models.onnx_folder import ModelFolder
from commonplace.search.models.values import encodable


class OnnxReranker:
    """Query and passage read together; the score is the sigmoid of one label, or the share of the second of two.

    Raises SettingsError when it is built from a folder that cannot work.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = ModelFolder(folder)
        self._graph = Graph(self._folder)
        outputs = self._graph.outputs
        self._output = "logits" if "logits" in outputs else next(iter(outputs))
        shape = outputs[self._output] or []
        labels = shape[-1] if len(shape) == 2 and isinstance(shape[-1], int) else 1
        if len(shape) not in (1, 2) or labels not in (1, 2):
            raise SettingsError(f"{self._folder.model} is no cross-encoder: it has no logits of one or two labels.")
        self.name = f"{self._folder.name}@{self._folder.revision}"

    def rerank(self, query: str, passages: Sequence[tuple[RecordId, str]]) -> list[Reranked]:
        """A score from 0 to 1 per passage, in their order. A passage that is too long is cut. Raises Unavailable."""
        if not passages:
            return []
        options = self._folder.options
        texts = [encodable(options.passage_prefix + text) for _, text in passages]
        encodings = self._graph.encode_pairs(encodable(options.query_prefix + query), texts)
        scores = [0.0] * len(passages)
        for positions, logits, _ in self._graph.run(self._output, encodings):
            for position, row in zip(positions, logits.reshape(len(positions), -1).tolist(), strict=True):
                scores[position] = self._score(row)
        return [Reranked(record, score) for (record, _), score in zip(passages, scores, strict=True)]

    def _score(self, logits: list[Any]) -> float:
        if len(logits) > 2 or not all(math.isfinite(logit) for logit in logits):
            raise Unavailable(f"The model {self._folder.name} gave no score.")
        margin = logits[0] if len(logits) == 1 else logits[1] - logits[0]
        return 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))
