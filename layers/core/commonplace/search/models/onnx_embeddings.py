"""Embeddings by an encoder from a folder."""

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commonplace.kernel.environment import SettingsError
from commonplace.search.model import Vector
from commonplace.search.models.onnx import Graph
from commonplace.search.models.onnx_folder import ModelFolder
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
        self.dimension = self._probed_dimension()

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

    def _probed_dimension(self) -> int:
        (_, answer, _) = next(self._graph.run(self._output, self._graph.encode_texts([PROBE])))
        return int(answer.shape[-1])


def _output(outputs: Mapping[str, Any], folder: ModelFolder) -> str:
    """A pooled output where the graph has one, else the one per token; graphs name them in various ways."""
    for name in (*POOLED, *PER_TOKEN):
        if name in outputs:
            return name
    fitting = [name for name, shape in outputs.items() if shape is not None and len(shape) in (2, 3)]
    if not fitting:
        raise SettingsError(f"{folder.model} has no output last_hidden_state or sentence_embedding.")
    return fitting[0]
