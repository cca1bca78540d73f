"""How many may hold something open at once, each and together, counted by every process in one place.

A slot is a lease: whoever crashes with one loses it when its time is over. Whatever goes wrong, nobody gets a slot:
each holds a function open, which is paid for by the second and missing to whoever else calls.
"""

import hashlib
import hmac
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

logger = logging.getLogger(__name__)

ATTEMPTS = 4
"""So often a change is tried anew that another process has got ahead of."""

MARGIN_SECONDS = 5.0
"""A lease outlives what it is for by this: clocks of two machines differ."""


@dataclass(frozen=True, slots=True)
class Slot:
    """`until` is in epoch seconds. The holder's name tells nothing of it."""

    name: str
    holder: str
    until: float


class SlotStore(Protocol):
    """All slots that are taken, in one place that changes as a whole. Both raise whatever the store's client does."""

    def read(self) -> tuple[Sequence[Slot], str]:
        """The slots as of now, those that are over included, and the mark of this state."""
        ...

    def replace(self, slots: Sequence[Slot], mark: str) -> bool:
        """Puts these in place of all, unless something has changed since `mark`: then nothing is done, and False."""
        ...


class Slots:
    """At most `each` for one holder and `together` for all; 0 of either are none at all. Any thread may call."""

    def __init__(
        self,
        store: SlotStore,
        clock: Callable[[], float],
        *,
        each: int,
        together: int,
        secret: bytes = b"commonplace",
    ) -> None:
        """`clock` gives epoch seconds. Holders are hashed with the secret before they are stored."""
        self._store = store
        self._clock = clock
        self._each = each
        self._together = together
        self._secret = secret

    def take(self, holder: str, seconds: float) -> str | None:
        """The name of a slot for so long; None where none is free, or the store does not answer. Never raises."""
        if min(self._each, self._together) <= 0:
            return None
        now = self._clock()
        hashed = hmac.new(self._secret, holder.encode(), hashlib.sha256).hexdigest()[:32]
        slot = Slot(uuid4().hex, hashed, now + seconds + MARGIN_SECONDS)

        def with_one_more(slots: Sequence[Slot]) -> Sequence[Slot] | None:
            live = [one for one in slots if one.until > now]
            mine = sum(one.holder == hashed for one in live)
            return [*live, slot] if len(live) < self._together and mine < self._each else None

        return slot.name if self._change(with_one_more) else None

    def release(self, name: str) -> None:
        """Gives a slot back; one that cannot be given back now comes free when its time is over. Never raises."""

        def without(slots: Sequence[Slot]) -> Sequence[Slot] | None:
            left = [one for one in slots if one.name != name]
            return left if len(left) < len(slots) else None

        self._change(without)

    def _change(self, change: Callable[[Sequence[Slot]], Sequence[Slot] | None]) -> bool:
        """Whether it was made; `change` gives None for nothing to do."""
        try:
            for _ in range(ATTEMPTS):
                slots, mark = self._store.read()
                changed = change(slots)
                if changed is None:
                    return False
                if self._store.replace(changed, mark):
                    return True
        except Exception as error:  # noqa: BLE001 - whatever a store's client raises, nothing is held open
            logger.warning("slots cannot be counted, and none is given", extra={"error": type(error).__name__})
        return False
