"""Inputs and outputs of models: text that fits, vectors that are valid. Standard library only."""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Callable, Sequence

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import Vector

BLANK = "."
"""Stands for a text without a visible character: services refuse empty text."""

_WORD_CHARACTERS = 200
_SPACES = re.compile(r"\s+")


def encodable(text: str) -> str:
    """The text without lone surrogates, which Python strings may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fitting(text: str, characters: int) -> str:
    """At most so many characters of the text, cut between words where there are any; never empty."""
    text = encodable(text)
    if len(text) > characters:
        text = _whole_words(text[: characters + 1], characters)
    return text if text.strip() else BLANK


def fitting_bytes(text: str, size: int) -> str:
    """Return what `fitting` does, by the length in UTF-8."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= size:
        return fitting(text, len(text))
    whole = raw[:size].decode("utf-8", "ignore")
    return fitting(_whole_words(whole, len(whole)), len(whole))


def batched(texts: Sequence[str], *, count: int, size: int, measure: Callable[[str], int] = len) -> list[Sequence[str]]:
    """The texts in order, in runs of at most `count` whose measures add up to at most `size`; one text always fits."""
    runs: list[list[str]] = []
    used = 0
    for text in texts:
        weight = measure(text)
        if not runs or len(runs[-1]) == count or used + weight > size:
            runs.append([])
            used = 0
        runs[-1].append(text)
        used += weight
    return list(runs)


def unit(values: object, dimension: int) -> Vector:
    """The numbers as a vector of length one. Raises Unavailable for anything that is not `dimension` finite numbers.

    A zero vector is near to nothing and would fail an index that compares by angle: it is refused as well.
    """
    try:
        vector = array("f", values)  # type: ignore[call-overload]
    except (TypeError, OverflowError) as error:
        raise Unavailable("The embedding model answered with something that is not a vector.") from error
    if len(vector) != dimension:
        raise Unavailable(f"The embedding model answered with {len(vector)} numbers in place of {dimension}.")
    norm = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(norm) or norm == 0:
        raise Unavailable("The embedding model answered with a vector that has no direction.")
    return array("f", [value / norm for value in vector])


def _whole_words(text: str, characters: int) -> str:
    """`text` is one character longer than allowed when there is more of it: so a word that just ends is kept."""
    spaces = [match.start() for match in _SPACES.finditer(text, max(0, len(text) - _WORD_CHARACTERS))]
    return text[: spaces[-1]] if spaces and spaces[-1] > 0 else text[:characters]


def packed(vector: Vector) -> bytes:
    """32-bit floats, the lowest byte first."""
    return _lowest_first(array("f", vector)).tobytes()


def unpacked(raw: bytes) -> array[float]:
    """The other way. Raises ValueError for bytes that are no whole floats."""
    return _lowest_first(array("f", raw))


def _lowest_first(numbers: array[float]) -> array[float]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
