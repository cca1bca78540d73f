"""Embeddings without a cloud: the static token vectors that the `wordllama` package carries in its wheel.

Only its two data files are used, by numpy, `tokenizers` and a reader of the safetensors layout: the package's own
loader looks for the tokenizer where the wheel does not have it, and then on the network.
"""

import importlib.util
import json
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import Vector
from commonplace.search.models.values import encodable

if TYPE_CHECKING:
    import numpy
    from tokenizers import Tokenizer

PACKAGE = "wordllama"
WEIGHTS = Path("weights/l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers/l2_supercat_tokenizer_config.json")
DIMENSION = 256

_LOADING = Lock()


class LocalEmbeddings:
    """256-dimensional vectors: the mean of a text's token vectors, normalised. Files are read at the first use.

    Text without a token (or whose vectors cancel out) gets the zero vector, which is near to nothing.
    """

    name = "wordllama-l2-supercat"
    revision = "0.4-folded"
    dimension = DIMENSION

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:  # noqa: ARG002 - one model for both
        """One vector per text, in order. Raises Unavailable when the bundled files are missing."""
        _, weights = model(self._folder)
        return [_mean(weights, token_ids(text, self._folder)) for text in texts]


@lru_cache(maxsize=1_024)
def token_ids(text: str, folder: Path | None) -> "array[int]":
    """The model's tokens of a text in lower case, in order. Remembered, for what is embedded is also kept as tokens.

    Raises Unavailable when a file is missing.
    """
    tokenizer, _ = model(folder)
    return array("H", tokenizer.encode(encodable(text).casefold(), add_special_tokens=False).ids)


def model(folder: Path | None) -> "tuple[Tokenizer, numpy.ndarray[Any, Any]]":
    """The tokenizer and its vectors, read once in a process. Raises Unavailable when a file is missing."""
    with _LOADING:
        return _read_model(folder)


def bundled() -> Path:
    """Return the folder of the model's package, which is not imported. Raises Unavailable."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable("The local embedding model is not installed.", hint=f"Install the package {PACKAGE}.")
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def _read_model(folder: Path | None) -> "tuple[Tokenizer, numpy.ndarray[Any, Any]]":
    from tokenizers import Tokenizer

    home = folder or bundled()
    tokenizer = Tokenizer.from_str(_read(home / TOKENIZER).decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    import numpy

    try:
        file = numpy.memmap(home / WEIGHTS, mode="r")  # pages of the vectors that are used, shared by all processes
    except OSError as error:
        raise _lacks(home / WEIGHTS) from error
    length = int.from_bytes(bytes(file[:8]), "little")
    header = json.loads(bytes(file[8 : 8 + length]))
    (tensor,) = (value for name, value in header.items() if name != "__metadata__")
    kind = {"F16": "<f2", "F32": "<f4"}[tensor["dtype"]]
    start, end = tensor["data_offsets"]
    return tokenizer, file[8 + length + start : 8 + length + end].view(kind).reshape(tensor["shape"])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _lacks(path) from error


def _lacks(path: Path) -> Unavailable:
    return Unavailable(f"The local embedding model lacks {path.name}.", hint=f"Install {PACKAGE} again.")


def _mean(weights: "numpy.ndarray[Any, Any]", tokens: Sequence[int]) -> Vector:
    import numpy

    if not tokens:
        return array("f", bytes(4 * DIMENSION))
    mean = weights[tokens].astype(numpy.float32).mean(axis=0)
    norm = float(numpy.linalg.norm(mean))
    return array("f", (mean / norm if norm else mean).astype(numpy.float32).tobytes())
