"""ONNX models from a folder: embeddings by an encoder, reranking by a cross-encoder.

A folder that cannot work is refused when it is opened.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.onnx import Graph, ModelFolder
from commonplace.search.model import RecordId, Reranked, Vector
from commonplace.search.models.values import encodable, unit

POOLED = ("sentence_embedding",)
PER_TOKEN = ("last_hidden_state", "token_embeddings")
PROBE = "dimension"


class OnnxEmbeddings:
    """Vectors of an encoder, pooled and brought to length one. Text of which no token is known gets the zero vector.

    Raises SettingsError when it is built from a folder that cannot work.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = ModelFolder(folder)
        self._graph = Graph(self._folder)
        self._output = _output(self._graph.outputs, self._folder)
        self.name = self._folder.name
        self.revision = self._folder.revision
        (_, answer, _) = next(self._graph.run(self._output, self._graph.encode_texts([PROBE])))
        self.dimension = int(answer.shape[-1])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector per text, in order; a text of more tokens than the model takes is cut. Raises Unavailable."""
        options = self._folder.options
        prefix = options.query_prefix if query else options.passage_prefix
        encodings = self._graph.encode_texts([encodable(prefix + text) for text in texts])
        vectors: list[Vector] = [array("f", bytes(4 * self.dimension))] * len(texts)
        for positions, answer, mask in self._graph.run(self._output, encodings):
            for position, values in zip(positions, self._pooled(answer, mask), strict=True):
                vectors[position] = unit(values, self.dimension)
        return vectors

    def _pooled(self, answer: Any, mask: Any) -> Any:
        import numpy

        answer = answer.astype(numpy.float32)
        if answer.ndim == 2:
            return answer
        if self._folder.options.pooling == "cls":
            return answer[:, 0]
        weights = mask[:, :, numpy.newaxis].astype(answer.dtype)
        return (answer * weights).sum(axis=1) / weights.sum(axis=1)


def _output(outputs: Mapping[str, Any], folder: ModelFolder) -> str:
    """A pooled output where the graph has one, else the one per token; graphs name them in various ways."""
    for name in (*POOLED, *PER_TOKEN):
        if name in outputs:
            return name
    fitting = [name for name, shape in outputs.items() if shape is not None and len(shape) in (2, 3)]
    if not fitting:
        raise SettingsError(f"{folder.model} has no output last_hidden_state or sentence_embedding.")
    return fitting[0]


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
            raise SettingsError(f"{self._folder.model} is not a cross-encoder: it has no logits of one or two labels.")
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
                if len(row) > 2 or not all(map(math.isfinite, row)):
                    raise Unavailable(f"The model {self._folder.name} returned no score.")
                margin = row[0] if len(row) == 1 else row[1] - row[0]
                power = math.exp(-abs(margin))
                scores[position] = (1 if margin >= 0 else power) / (1 + power)
        return [Reranked(record, score) for (record, _), score in zip(passages, scores, strict=True)]
