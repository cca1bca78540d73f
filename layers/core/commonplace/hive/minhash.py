"""Near duplicates among contributions. Pure.

They are found by MinHash (Broder, 1997) over pairs of neighbouring words: 64 hashes of 32 bits, cut into 16
bands of four. Two texts that share 0.8 of their pairs share a band with a probability of 0.9998, those that share
0.3 with one of 0.12.
"""

import re
from hashlib import blake2b
from itertools import pairwise

from commonplace.kernel.terms import compatible

HASHES, BANDS = 64, 16
_DIGITS = 8
"""Of one hash, in hex."""
_SEED = 20_261_123
# Scripts without spaces between words: there every character counts as one.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def signature(text: str) -> str:
    """MinHash of the text's pairs of words, 512 hex digits; empty for a text without a word.

    Case, punctuation, Markdown and the width of characters make no difference.
    """
    words = _WORD.findall(compatible(text, "NFKC").casefold())
    pairs = {" ".join(pair) for pair in pairwise(words)} or set(words)
    if not pairs:
        return ""
    import numpy

    hashes = [int.from_bytes(blake2b(pair.encode(), digest_size=8).digest(), "big") for pair in pairs]
    factors = numpy.random.default_rng(_SEED).integers(1, 2**63, (2, HASHES, 1), dtype=numpy.uint64)
    # Multiply-shift: products wrap around at 64 bits on purpose, and the upper half of them is well mixed.
    mixed = (numpy.asarray(hashes, dtype=numpy.uint64) * (factors[0] | numpy.uint64(1)) + factors[1]) >> numpy.uint64(
        32
    )
    return "".join(f"{value:08x}" for value in mixed.min(axis=1))


def similarity(one: str, other: str) -> float:
    """The share of equal hashes of two signatures: Jaccard's index, 0 to 1, to about 0.06 (standard error)."""
    if not one or len(one) != len(other):
        return 0.0
    starts = range(0, len(one), _DIGITS)
    return sum(one[at : at + _DIGITS] == other[at : at + _DIGITS] for at in starts) / len(starts)


def bands(signature: str) -> tuple[str, ...]:
    """Keys of which two near duplicates share at least one, almost surely; `0:` and 32 hex digits, and so on."""
    width = HASHES // BANDS * _DIGITS
    return tuple(f"{start // width}:{signature[start : start + width]}" for start in range(0, len(signature), width))
