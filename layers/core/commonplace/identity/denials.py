"""What accounts were refused, for the records: every reason once in a while, however often somebody tries."""

import logging
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from commonplace.kernel.audit import NOWHERE, AuditRecord
from commonplace.kernel.errors import Unavailable

logger = logging.getLogger(__name__)

AGAIN_SECONDS = 600
"""A client that tries in a loop would fill the records with what the first of them says."""
REMEMBERED = 1_000

EVENT = "denied"

Write = Callable[[AuditRecord], None]
"""Keeps one record. Raises Unavailable."""


class Denials:
    """Of one process. Safe for threads; nothing is told to a caller, and nothing waits for more than one write."""

    def __init__(self, write: Write, clock: Callable[[], float], *, organisation: str = NOWHERE) -> None:
        """`organisation` is where records go of accounts that have none; `clock` gives epoch seconds."""
        self._write = write
        self._clock = clock
        self._organisation = organisation
        self._told: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._lock = Lock()

    def record(
        self,
        *,
        grant: str,
        subject: str,
        client: str,
        organisation: str | None,
        reason: str,
        wanted: str = "",
        network: str = "",
    ) -> None:
        """`subject` is the account's name in records; `wanted` the scope of what was refused."""
        now = self._clock()
        if not self._due((grant, reason, wanted), now):
            return
        told = AuditRecord(
            event=EVENT,
            outcome="denied",
            at=now,
            organisation=organisation or self._organisation,
            subject=subject,
            client=client,
            grant=grant,
            reason=reason,
            network=network,
            details={"scope": wanted} if wanted else {},
        )
        try:
            self._write(told)
        except Unavailable:
            logger.warning("a refusal could not be recorded", extra={"reason": reason})

    def _due(self, what: tuple[str, str, str], now: float) -> bool:
        with self._lock:
            last = self._told.get(what)
            if last is not None and now - last < AGAIN_SECONDS:
                return False
            self._told[what] = now
            self._told.move_to_end(what)
            if len(self._told) > REMEMBERED:
                self._told.popitem(last=False)
            return True
