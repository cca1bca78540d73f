"""The data of a passage that rank it: ids of its distinct tokens, and hashes of its distinct terms.

By the tokens it is compared in late interaction over the token vectors of the local model: for each token of a query
the nearest of the passage. By the terms it is known how much of the query it has. Neither needs a model call, or the
text.
"""

import struct
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
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

DIRECTION_NUMBERS = 128
"""The first numbers of a token's vector that are compared. The model is trained so that they say most of what all 256
say: on judged queries both rank alike, at half the memory traffic, which is what the comparison spends its time on."""

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
    """The likeness of a document to a query."""

    tokens: float = 0.0
    """By the best of its passages, from 0 to 1."""
    coverage: float = 0.0
    """The share of the query's terms that one passage has, with the labels of its document."""
    titled: bool = False
    """True if the title has all terms of the query, or the query all of the title."""
    labelled: bool = False
    """The names of one passage have all terms of the query."""
    best: int | None = None
    """The passage to show."""


def pack(passages: Sequence[PassageText]) -> list[bytes]:
    """Return what is kept of each. Numbers are little-endian: four of 16 bits (how many tokens, terms of the title, and
    terms of names, and whether it is a listing), ids of tokens of 16 bits, hashes of terms of 32 bits, in that order.

    Raises Unavailable when the files of the model are missing.
    """
    packed: list[bytes] = []
    for passage in passages:
        tokens = array("H", sorted(set(token_ids(passage.text, None))))
        title = sorted(map(_hash, passage.title))[:_MOST]
        names = [*title, *sorted({*map(_hash, passage.names)} - {*title})][:_MOST]
        others = sorted({*map(_hash, passage.terms)} - {*names})
        head = _HEAD.pack(len(tokens), len(title), len(names), passage.is_listing)
        packed.append(head + tokens.tobytes() + struct.pack(f"<{len(names) + len(others)}I", *names, *others))
    return packed


class _Document(NamedTuple):
    """The passages of a document that have tokens and terms: what is compared, side by side."""

    ordinals: Sequence[int]
    shares: Sequence[float]
    ids: bytes
    counts: Sequence[int]
    hashes: bytes
    terms: Sequence[int]
    """How many each passage has."""
    title: frozenset[int]
    names: Sequence[frozenset[int]]


@lru_cache(maxsize=1_000)
def _document(passages: tuple[bytes, ...]) -> _Document:
    kept = []
    names: list[frozenset[int]] = []
    title: frozenset[int] = frozenset()
    for ordinal, packed in enumerate(passages):
        count, titled, named, is_listing = _HEAD.unpack_from(packed)
        end = _HEAD.size + 2 * count
        if not count or len(packed) == end:
            continue
        kept.append((ordinal, LISTING_SHARE if is_listing else 1.0, packed[_HEAD.size : end], packed[end:]))
        names.append(frozenset(struct.unpack_from(f"<{named}I", packed, end)))
        if not ordinal:
            title = frozenset(struct.unpack_from(f"<{titled}I", packed, end))
    return _Document(
        [ordinal for ordinal, *_ in kept],
        [share for _, share, *_ in kept],
        b"".join(ids for *_, ids, _ in kept),
        [len(ids) // 2 for *_, ids, _ in kept],
        b"".join(hashes for *_, hashes in kept),
        [len(hashes) // 4 for *_, hashes in kept],
        title,
        names,
    )


def compare(text: str, terms: Iterable[str], documents: Sequence[Sequence[bytes]]) -> list[Likeness]:
    """Return how near each document is, known by its packed passages. Each token of the query counts by the length of
    its vector, which is how much it tells, and each term alike. Raises Unavailable.
    """
    import numpy

    _, weights = model(None)
    query = sorted(set(token_ids(text, None)))
    wanted = {_hash(term) for term in terms}
    found = [Likeness()] * len(documents)
    every = [(place, read) for place, each in enumerate(documents) if (read := _document(tuple(each))).ordinals]
    if not every or not query:
        return found
    share = numpy.concatenate([read.shares for _, read in every])
    near = _nearness(query, b"".join(read.ids for _, read in every), _starts(read.counts for _, read in every), weights)
    covered = _coverage(wanted, b"".join(read.hashes for _, read in every), _starts(read.terms for _, read in every))
    near, covered = near * share, covered * share
    choice, start = near + CHOICE_COVERAGE * covered, 0
    for place, (ordinals, *_, title, names) in every:
        part = slice(start, start := start + len(ordinals))
        titled = bool(title) and (title <= wanted or (bool(wanted) and wanted <= title))
        labelled = bool(wanted) and any(wanted <= each for each in names)
        best = ordinals[int(choice[part].argmax())]
        found[place] = Likeness(max(0.0, float(near[part].max())), float(covered[part].max()), titled, labelled, best)
    return found


def _nearness(query: Sequence[int], ids: bytes, starts: Any, weights: Any) -> "numpy.ndarray[Any, Any]":
    import numpy

    together = numpy.frombuffer(ids, dtype="<u2")
    present = numpy.zeros(len(weights), dtype=bool)
    present[together] = True
    distinct = numpy.flatnonzero(present)
    places = numpy.zeros(len(weights), dtype=numpy.int32)
    places[distinct] = numpy.arange(len(distinct))
    directions = _directions()
    lengths = numpy.linalg.norm(weights[query].astype(numpy.float32), axis=1)
    # A row for each token of the query: what is reduced lies side by side in memory.
    near = (directions.of(query) @ directions.of(distinct).T).take(places.take(together), axis=1)
    best: numpy.ndarray[Any, Any] = (lengths / lengths.sum()) @ numpy.maximum.reduceat(near, starts, axis=1)
    return best


def _coverage(wanted: Collection[int], hashes: bytes, starts: Any) -> "numpy.ndarray[Any, Any]":
    import numpy

    together, covered = numpy.frombuffer(hashes, dtype="<u4"), numpy.zeros(len(starts))
    for term in wanted:
        # The hashes of a passage are distinct, so a passage has the term once or not at all.
        covered[numpy.searchsorted(starts, numpy.flatnonzero(together == term), side="right") - 1] += 1
    return covered / max(1, len(wanted))


def _starts(lengths: Iterable[Sequence[int]]) -> "numpy.ndarray[Any, Any]":
    import numpy

    every = numpy.fromiter(chain.from_iterable(lengths), numpy.int64)
    starts: numpy.ndarray[Any, Any] = numpy.cumsum(every) - every
    return starts


def _hash(term: str) -> int:
    return crc32(term.encode("utf-8", "replace"))


class _Directions:
    """The vectors of tokens at length 1, each made when it is first needed: most of a search would be spent on them."""

    def __init__(self, weights: "numpy.ndarray[Any, Any]") -> None:
        import numpy

        self._weights = weights[:, :DIRECTION_NUMBERS]
        self._made = numpy.zeros(self._weights.shape, dtype=numpy.float32)
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
