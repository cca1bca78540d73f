"""Records that wait for a model: noted where asking costs little, so that an index that sleeps is left asleep."""

import time
from collections.abc import Callable
from typing import Protocol

from commonplace.search.indexing import Enough, Report, never
from commonplace.search.operations import Operations

SETTLED_SECONDS = 60.0
"""So old a note is when everything written before it can be found in lists of the index."""


class Note(Protocol):
    """Whether records of one collection may wait for vectors."""

    def put(self) -> None:
        """Notes that some wait, as of now. Never fails its caller: `reconcile` looks without a note."""
        ...

    def read(self) -> float | None:
        """When it was noted last, in epoch seconds; None when nothing is noted. Raises Unavailable."""
        ...

    def clear(self, noted: float) -> None:
        """Takes the note of this moment away; a later one stays. Raises Unavailable."""
        ...


def complete(
    operations: Operations, note: Note, enough: Enough = never, clock: Callable[[], float] = time.time
) -> Report | None:
    """Gives vectors to the records that wait, if some are noted; None when none is, and the index was not asked.

    The note goes when none is found to wait some time after it was written. `clock` tells epoch seconds.
    """
    noted = note.read()
    if noted is None:
        return None
    report = operations.complete(enough)
    if not report.indexed and not report.incomplete and clock() - noted >= SETTLED_SECONDS:
        note.clear(noted)
    return report
