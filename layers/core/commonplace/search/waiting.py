"""Records that wait for a model: noted where asking costs little, so that an index that sleeps is left asleep."""

import time
from collections.abc import Callable
from typing import Protocol

from commonplace.search.indexer import Enough, Report, never

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
    look: Callable[[Enough], Report], note: Note, enough: Enough = never, clock: Callable[[], float] = time.time
) -> Report | None:
    """Does for the records that wait what `look` does, if some are noted; None when none is, and nobody was asked.

    The note goes when none is found to wait some time after it was written. `clock` tells epoch seconds.
    """
    noted = note.read()
    if noted is None:
        return None
    report = look(enough)
    waiting = report.indexed or report.incomplete or report.remaining
    if not waiting and clock() - noted >= SETTLED_SECONDS:
        note.clear(noted)
    return report
