"""Late interaction over the token vectors of the local model: for each token of a query the nearest of a passage.

It needs no model call: a passage is known by the ids of its distinct tokens, which are kept with its chunk.
"""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from commonplace.search.models.local import model
from commonplace.search.models.values import encodable

if TYPE_CHECKING:
    import numpy

TOKENS_VERSION = "wordllama-l2-supercat@0.4"
"""Of the ids. Stored with the index: another value means that it is built anew."""


def token_ids(texts: Sequence[str]) -> list[bytes]:
    """The distinct token ids of each text in ascending order, 16 bits each, little-endian.

    Raises Unavailable when the files of the model are missing.
    """
    tokenizer, _ = model(None)
    encodings = tokenizer.encode_batch([encodable(text) for text in texts], add_special_tokens=False)
    return [_packed(sorted(set(encoding.ids))) for encoding in encodings]


def similarities(query: str, passages: Sequence[Sequence[bytes]]) -> list[float]:
    """How near each passage is to the query, by the best of its parts, from 0 to 1; 0 for one without parts.

    Each token of the query counts by the length of its vector, which is how much it tells. Raises Unavailable.
    """
    import numpy

    tokenizer, weights = model(None)
    asked = sorted(set(tokenizer.encode(encodable(query), add_special_tokens=False).ids))
    parts = [part for passage in passages for part in passage if part]
    if not asked or not parts:
        return [0.0] * len(passages)
    ids = numpy.frombuffer(b"".join(parts), dtype="<u2")
    starts = numpy.cumsum([0, *(len(part) // 2 for part in parts[:-1])])
    present = numpy.zeros(len(weights), dtype=bool)
    present[ids] = True
    distinct = numpy.flatnonzero(present)
    places = numpy.zeros(len(weights), dtype=numpy.int32)
    places[distinct] = numpy.arange(len(distinct))
    vectors, lengths = _unit(weights[asked])
    near = (_unit(weights[distinct])[0] @ vectors.T)[places[ids]]
    best = numpy.maximum.reduceat(near, starts, axis=0) @ (lengths / lengths.sum())
    found = iter(best.tolist())
    return [max((max(0.0, next(found)) for part in passage if part), default=0.0) for passage in passages]


def _packed(ids: Sequence[int]) -> bytes:
    packed = array("H", ids)
    return packed.tobytes()


def _unit(
    vectors: "numpy.ndarray[Any, Any]",
) -> "tuple[numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]":
    import numpy

    single = vectors.astype(numpy.float32)
    lengths = numpy.linalg.norm(single, axis=1)
    return single / numpy.maximum(lengths, 1e-9)[:, None], lengths
