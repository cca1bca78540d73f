"""Late interaction over the token vectors of the local model: for each token of a query the nearest of a passage.

It needs no model call: a passage is known by the ids of its distinct tokens, which are kept with its chunk.
"""

from array import array
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from commonplace.search.models.local import model
from commonplace.search.models.local import token_ids as _tokens_of
from commonplace.search.models.values import encodable

if TYPE_CHECKING:
    import numpy

TOKENS_VERSION = "wordllama-l2-supercat@0.4"
"""Of the ids. Stored with the index: another value means that it is built anew."""


def token_ids(texts: Sequence[str]) -> list[bytes]:
    """The distinct token ids of each text in ascending order, 16 bits each, little-endian.

    Raises Unavailable when the files of the model are missing.
    """
    return [_packed(sorted(set(_tokens_of(text, None)))) for text in texts]


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
    directions = _directions()
    lengths = numpy.linalg.norm(weights[asked].astype(numpy.float32), axis=1)
    near = (directions.of(distinct) @ directions.of(asked).T).take(places.take(ids), axis=0)
    best = numpy.maximum.reduceat(near, starts, axis=0) @ (lengths / lengths.sum())
    likeness, start = [0.0] * len(passages), 0
    for place, passage in enumerate(passages):
        if end := sum(map(bool, passage)):
            likeness[place] = max(0.0, float(best[start : start + end].max()))
            start += end
    return likeness


def _packed(ids: Sequence[int]) -> bytes:
    packed = array("H", ids)
    return packed.tobytes()


class _Directions:
    """The vectors of tokens at length 1, each made when it is first needed: most of a search would be spent on them."""

    def __init__(self, weights: "numpy.ndarray[Any, Any]") -> None:
        import numpy

        self._weights = weights
        self._made = numpy.zeros(weights.shape, dtype=numpy.float32)
        self._known = numpy.zeros(len(weights), dtype=bool)

    def of(self, tokens: Any) -> "numpy.ndarray[Any, Any]":
        import numpy

        wanted = numpy.asarray(tokens)
        new = wanted[~self._known[wanted]]
        if len(new):
            single = self._weights[new].astype(numpy.float32)
            self._made[new] = single / numpy.maximum(numpy.linalg.norm(single, axis=1), 1e-9)[:, None]
            self._known[new] = True  # last: another thread may be reading
        return self._made.take(wanted, axis=0)


@cache
def _directions() -> _Directions:
    return _Directions(model(None)[1])
