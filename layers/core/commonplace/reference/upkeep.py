"""What the index function does for the reference: what is published of the catalogues into the index."""

import logging
import time
from collections.abc import Callable, Sequence

from commonplace.kernel.events import keys_of
from commonplace.reference.keys import REFERENCE_PREFIX
from commonplace.search.indexer import Enough, Message, Report, never
from commonplace.search.operations import Operations
from commonplace.search.waiting import Note, complete

logger = logging.getLogger(__name__)


def is_of_catalogues(body: str) -> bool:
    """Whether a message tells of the part of the store that catalogues are in.

    Such a message names no records: it asks to compare with all that is published. False for what cannot be read.
    """
    try:
        return any(key.startswith(REFERENCE_PREFIX) for key in keys_of(body))
    except ValueError:
        return False


class Upkeep:
    """Compares the index with all that is published, whenever a manifest may have changed.

    A catalogue may have more entries than one call has time for. Then a note is left, and the schedule goes on where
    the call ended, long before the queue would hand a message out again. Without notes the messages come again.
    """

    def __init__(self, operations: Operations, note: Note | None, clock: Callable[[], float] = time.time) -> None:
        """`clock` tells epoch seconds."""
        self.operations = operations
        self._note = note
        self._clock = clock

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """One comparison for all the messages; answers the ids of those that are to come again."""
        try:
            report = self.operations.reconcile(enough)
        except Exception:
            logger.exception("catalogues were not compared with their index")
            return [message.id for message in messages]
        if not report.remaining:
            return []
        logger.info("catalogues are indexed later", extra={"remaining": report.remaining})
        if self._note is None:
            return [message.id for message in messages]
        self._note.put()
        return []

    def finish(self, enough: Enough = never) -> Report | None:
        """Goes on with what is left and gives vectors to what lacks them; None when nothing is noted."""
        if self._note is None:
            return None
        return complete(self.operations.reconcile, self._note, enough, self._clock)
