"""What is kept of a passage for ranking it: ids of its distinct tokens, and hashes of its distinct terms.

By the tokens it is compared in late interaction over the token vectors of the local model: for each token of a query
the nearest of the passage. By the terms it is known how much of the query it has. Neither needs a model call, or the
text.
"""

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

from commonplace.search.models.local import model, token_ids

if TYPE_CHECKING:
    import numpy

TOKENS_VERSION = "wordllama-l2-supercat@0.4-folded, 3"
"""Of what is packed. Stored with the index: another value means that it is built anew."""

LISTING_SHARE = 0.6
"""What a passage that only lists links counts for."""

CHOICE_COVERAGE = 0.5
"""How much the terms say, beside the tokens, of which passage of a document is shown."""

_HEAD = struct.Struct("<HHHH")
_MOST = 0xFFFF


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage as it is compared: its text, its terms with those of its document's labels, those of the title, and
    those of title, aliases, tags, authors and headings."""

    text: str
    terms: frozenset[str]
    title: frozenset[str]
    is_listing: bool = False
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near a document is to a query."""

    tokens: float = 0.0
    """By the best of its passages, from 0 to 1."""
    coverage: float = 0.0
    """The share of the query's terms that one passage has, with the labels of its document."""
    titled: bool = False
    """Whether the title has all terms of the query, or the query all of the title."""
    labelled: bool = False
    """Whether the names of one passage have all terms of the query."""
    best: int | None = None
    """The passage to show."""


def pack(passages: Sequence[PassageText]) -> list[bytes]:
    """What is kept of each. Numbers are little-endian: four of 16 bits (how many tokens, terms of the title, and
    terms of names, and whether it is a listing), ids of tokens of 16 bits, hashes of terms of 32 bits, in that order.

    Raises Unavailable when the files of the model are missing.
    """
    return [_packed(passage, token_ids(passage.text, None)) for passage in passages]


def compare(text: str, terms: Iterable[str], documents: Sequence[Sequence[bytes]]) -> list[Likeness]:
    """How near each document is, known by its packed passages. Each token of the query counts by the length of its
    vector, which is how much it tells, and each term alike. Raises Unavailable.
    """
    import numpy

    _, weights = model(None)
    asked = sorted(set(token_ids(text, None)))
    wanted = {_hash(term) for term in terms}
    ids: list[bytes] = []
    hashes: list[bytes] = []
    places: list[tuple[int, int]] = []
    shares: list[float] = []
    titled, labelled = set(), set()
    for document, passages in enumerate(documents):
        for ordinal, packed in enumerate(passages):
            count, named, labels, is_listing = _HEAD.unpack_from(packed)
            end = _HEAD.size + 2 * count
            if not count or len(packed) == end:
                continue
            ids.append(packed[_HEAD.size : end])
            hashes.append(packed[end:])
            places.append((document, ordinal))
            shares.append(LISTING_SHARE if is_listing else 1.0)
            if not ordinal and named:
                title = set(struct.unpack_from(f"<{named}I", packed, end))
                if title <= wanted or (wanted and wanted <= title):
                    titled.add(document)
            if wanted and wanted.issubset(struct.unpack_from(f"<{labels}I", packed, end)):
                labelled.add(document)
    found = [Likeness()] * len(documents)
    if not places or not asked:
        return found
    share = numpy.asarray(shares)
    near = _nearness(asked, ids, weights) * share
    covered = _coverage(wanted, hashes) * share
    order = numpy.asarray([document for document, _ in places])
    firsts = numpy.flatnonzero(numpy.diff(order, prepend=-1))
    choice = near + CHOICE_COVERAGE * covered
    best_near, best_covered = numpy.maximum.reduceat(near, firsts), numpy.maximum.reduceat(covered, firsts)
    for at, first in enumerate(firsts.tolist()):
        last = firsts[at + 1] if at + 1 < len(firsts) else len(places)
        document, ordinal = places[first + int(choice[first:last].argmax())]
        found[document] = Likeness(
            max(0.0, float(best_near[at])), float(best_covered[at]), document in titled, document in labelled, ordinal
        )
    return found


def _nearness(asked: Sequence[int], ids: Sequence[bytes], weights: Any) -> "numpy.ndarray[Any, Any]":
    import numpy

    together = numpy.frombuffer(b"".join(ids), dtype="<u2")
    present = numpy.zeros(len(weights), dtype=bool)
    present[together] = True
    distinct = numpy.flatnonzero(present)
    places = numpy.zeros(len(weights), dtype=numpy.int32)
    places[distinct] = numpy.arange(len(distinct))
    directions = _directions()
    lengths = numpy.linalg.norm(weights[asked].astype(numpy.float32), axis=1)
    near = (directions.of(distinct) @ directions.of(asked).T).take(places.take(together), axis=0)
    best: numpy.ndarray[Any, Any] = numpy.maximum.reduceat(near, _starts(ids, 2), axis=0) @ (lengths / lengths.sum())
    return best


def _coverage(wanted: Iterable[int], hashes: Sequence[bytes]) -> "numpy.ndarray[Any, Any]":
    import numpy

    together = numpy.frombuffer(b"".join(hashes), dtype="<u4")
    starts = _starts(hashes, 4)
    has = [numpy.logical_or.reduceat(together == term, starts) for term in wanted]
    covered: numpy.ndarray[Any, Any] = numpy.mean(has, axis=0) if has else numpy.zeros(len(hashes))
    return covered


def _starts(parts: Sequence[bytes], size: int) -> "numpy.ndarray[Any, Any]":
    import numpy

    lengths = numpy.fromiter(map(len, parts), numpy.int64, len(parts)) // size
    starts: numpy.ndarray[Any, Any] = numpy.cumsum(lengths) - lengths
    return starts


def _packed(passage: PassageText, ids: Iterable[int]) -> bytes:
    tokens = array("H", sorted(set(ids)))
    title = sorted(map(_hash, passage.title))[:_MOST]
    names = [*title, *sorted({*map(_hash, passage.names)} - {*title})][:_MOST]
    others = sorted({*map(_hash, passage.terms)} - {*names})
    head = _HEAD.pack(len(tokens), len(title), len(names), passage.is_listing)
    return head + tokens.tobytes() + struct.pack(f"<{len(names) + len(others)}I", *names, *others)


def _hash(term: str) -> int:
    return crc32(term.encode("utf-8", "replace"))


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
