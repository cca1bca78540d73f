"""Answers kept for an hour (seed 000, section 6): by query, request, and the state of what was searched."""

import time
from collections.abc import Callable

from commonplace.kernel.byte_cache import ByteCache
from commonplace.search.model import Hit, SearchRequest, SearchResults

KEPT_SECONDS = 3_600.0
KEPT_BYTES = 16_000_000

HIT_BYTES = 1_000
"""Of a hit beside its texts, more or less."""

State = tuple[str | None, ...]
"""Of the index and of what is published: another one, another answer."""


class Answers:
    """Answers of one service, without whole documents and explanations. Any thread may use it.

    An answer is given back for the very request, in the state that it was found in. `clock` is in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: ByteCache[tuple[State, SearchRequest], tuple[float, SearchResults]] = ByteCache(KEPT_BYTES, _size)

    def get(self, state: State, request: SearchRequest) -> SearchResults | None:
        found = self._held.get((state, request))
        return found[1] if found is not None and self._clock() - found[0] < KEPT_SECONDS else None

    def put(self, state: State, request: SearchRequest, found: SearchResults) -> None:
        self._held.put((state, request), (self._clock(), found))


def _size(kept: tuple[float, SearchResults]) -> int:
    return HIT_BYTES + sum(map(_hit_size, kept[1].results))


def _hit_size(hit: Hit) -> int:
    return HIT_BYTES + 2 * (len(hit.snippet) + len(hit.description or ""))
