"""Near-duplicates: fingerprints of texts, and rankings that show one of several alike.

The fingerprint is a simhash (Charikar 2002) over pairs of neighbouring words: each of its 64 bits is the majority of
that bit over all pairs, so that few changed words change few bits.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from operator import mul

from commonplace.kernel.errors import Unavailable
from commonplace.search.analysis import stop_terms, terms
from commonplace.search.model import Candidates, RecordId
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.text import WORDS, fold, plain, words

FEWEST_WORDS = 40
"""Shorter texts have no fingerprint: a changed word changes too much of them."""

NEAR = 6
"""Bits in which near-duplicates may differ.

On 266 real documents the four pairs of versions of one text differ in 2 to 5 bits, and no other pair in fewer than 10;
in the samples no pair in fewer than 20. One changed word in a hundred leaves 95 % of the documents near, one in ten
10 %.
"""

NEAR_COSINE = 0.935
"""The least cosine of short texts that say the same: 12 of 15 such pairs, and 1 of 20 that differ in one word."""

DECIDING = frozenset(WORDS["deciding"])
"""Negations, quantities, scopes and opposites: texts that differ in one of them say something else."""

FEW = 100
"""Records of a ranking that are compared one by one; of more of them all pairs at once."""

# The bits of a byte, 32 bits apart, so that a sum of them counts each bit by itself.
_SPREAD = tuple(sum((value >> bit & 1) << (32 * bit) for bit in range(8)) for value in range(256))
_LANE = (1 << 32) - 1


def fingerprint(text: str) -> str | None:
    """16 hex digits for a text without markup; None under 40 words.

    Kept in every index: a change of what it answers is a change of the indexes' schema.
    """
    found = words(text)
    if len(found) < FEWEST_WORDS:
        return None
    hashes = b"".join(
        blake2b(f"{one} {next_}".encode("utf-8", "replace"), digest_size=8).digest() for one, next_ in pairwise(found)
    )
    majority = (len(found) - 1) / 2
    value = 0
    for position in range(8):
        counts = sum(times * _SPREAD[byte] for byte, times in Counter(hashes[position::8]).items())
        byte = sum((counts >> (32 * bit) & _LANE > majority) << bit for bit in range(8))
        value = value << 8 | byte
    return f"{value:016x}"


@lru_cache(maxsize=4_096)
def folded(text: str) -> tuple[str, ...]:
    """The words of a text without case, markup and punctuation around them; of one without words the text itself."""
    bare = (one.lstrip("\"'([{“‘").rstrip(".,;:!?\"')]}”’…") for one in fold(plain(text)).split())
    return tuple(filter(None, bare)) or (text,)


def nearly_equal(one: str, other: str) -> bool:
    """Return whether two texts are equal but for case and punctuation, or short and the same in other words.

    Those have the same numbers, identifiers, negations and scopes, no word in the place of another, what both say in
    the same order, and vectors of the local model that are near.
    """
    first, second = folded(one), folded(other)
    if first == second:
        return True
    if max(len(first), len(second)) >= FEWEST_WORDS or _deciding(first) != _deciding(second):
        return False
    own, its = ([term for term in terms(" ".join(each)) if term not in stop_terms()] for each in (first, second))
    if ({*own} - {*its} and {*its} - {*own}) or [t for t in own if t in its] != [t for t in its if t in own]:
        return False
    try:
        return float(sum(map(mul, *LocalEmbeddings().embed([one, other])))) >= NEAR_COSINE
    except Unavailable:
        return False


@lru_cache(maxsize=4_096)
def _deciding(folded: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in folded if word in DECIDING or not word.isalpha())


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A ranking in which each near-duplicate stands for itself or is named by the best of its kind."""

    ranking: list[tuple[RecordId, float]]
    duplicates: Mapping[RecordId, tuple[RecordId, ...]]
    """Of those in the ranking that stand for others: which, best first."""

    def stands_for(self, record: RecordId) -> RecordId | None:
        """The record under which this one was collapsed."""
        return next((best for best, others in self.duplicates.items() if record in others), None)


def fingerprints(candidates: Candidates) -> dict[RecordId, str]:
    """Those of all candidates that have one."""
    legs = (candidates.lexical, candidates.vector, candidates.named)
    return {hit.id: hit.fingerprint for leg in legs for hit in leg if hit.fingerprint}


def collapse(
    ranking: Sequence[tuple[RecordId, float]], marks: Mapping[RecordId, str], size: int, *, always_shown: float
) -> Collapsed:
    """The `size` best of a ranking without the near-duplicates of better ones.

    Duplicates are reported as far down as the last that is kept. What scores above `always_shown` is kept in any case.
    """
    kept: list[tuple[RecordId, float]] = []
    seen: list[tuple[int, RecordId]] = []
    others: dict[RecordId, list[RecordId]] = {}
    compared = _resembling(ranking, marks) if size > FEW else marks
    for record, score in ranking:
        if len(kept) == size:
            break
        mark = int(marks[record], 16) if record in marks else None
        best = (
            None
            if mark is None or record not in compared
            else next((kind for other, kind in seen if (mark ^ other).bit_count() <= NEAR), None)
        )
        if best is not None and score <= always_shown:
            others.setdefault(best, []).append(record)
            continue
        kept.append((record, score))
        if mark is not None and best is None:
            seen.append((mark, record))
    return Collapsed(kept, {record: tuple(found) for record, found in others.items()})


def _resembling(ranking: Sequence[tuple[RecordId, float]], marks: Mapping[RecordId, str]) -> set[RecordId]:
    """The records that are near any before them."""
    import numpy

    ids = [record for record, _ in ranking if record in marks]
    values = numpy.array([int(marks[record], 16) for record in ids], dtype=numpy.uint64)
    near = numpy.tril(numpy.bitwise_count(values[:, None] ^ values) <= NEAR, -1)
    return {ids[place] for place in numpy.flatnonzero(near.any(axis=1))}
