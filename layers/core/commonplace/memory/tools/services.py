"""The services that the tools of the memory use, and the author on whose behalf a call is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.memory.model import DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE

if TYPE_CHECKING:
    from commonplace.memory.entries import Memory
    from commonplace.memory.personal_data import EntryRedaction

WORK_SECONDS = 15.0
"""How long a call works at what may take longer; the rest goes on by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryServices:
    memory: Memory
    default_limit: int = DEFAULT_LIMIT
    """Entries that a search gives which asks for no number of them."""
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    """Of a search that asks for none."""
    entry_redaction: EntryRedaction | None = None
    """What takes personal data out of entries, where a deployment wants that."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds, from any moment on."""

    def enough(self) -> Callable[[], bool]:
        """A function that says whether a call has worked for as long as it may, or would with one more batch."""
        last = self.monotonic()
        until = last + WORK_SECONDS

        def enough() -> bool:
            nonlocal last
            before, last = last, self.monotonic()
            return last + (last - before) >= until

        return enough
