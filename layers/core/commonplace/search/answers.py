"""Answers kept for an hour (seed 000, section 6): by query, request, and the state of what was searched."""

import time
from collections.abc import Callable

from commonplace.kernel.byte_cache import ByteCache
from commonplace.search.model import SearchRequest, SearchResults

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

        def size(held: tuple[float, SearchResults]) -> int:
            texts = (len(hit.snippet) + len(hit.description or "") for hit in held[1].results)
            return HIT_BYTES + sum(HIT_BYTES + 2 * characters for characters in texts)

        self._held: ByteCache[tuple[State, SearchRequest], tuple[float, SearchResults]] = ByteCache(KEPT_BYTES, size)

    def get(self, state: State, request: SearchRequest) -> SearchResults | None:
        found = self._held.get((state, request))
        return found[1] if found is not None and self._clock() - found[0] < KEPT_SECONDS else None

    def put(self, state: State, request: SearchRequest, found: SearchResults) -> None:
        self._held.put((state, request), (self._clock(), found))
