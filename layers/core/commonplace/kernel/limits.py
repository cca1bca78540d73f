"""Rate limits and concurrency slots, counted together by every process.

Rate limits use fixed windows. A process leases a block of calls from the shared counter and spends it without reading
it again, so a busy client costs a handful of counter writes a minute. The first block is small and each further one is
twice as large: what a process leaves unspent when the window ends is never more than it has spent, or one first block.

A slot is a lease, which expires when its holder crashes. On any failure nobody gets a slot: each holds a function open,
which is paid for by the second and unavailable to other callers.
"""

import hashlib
import hmac
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from ipaddress import IPv6Address
from threading import Lock
from typing import Protocol
from uuid import uuid4

from commonplace.kernel.errors import RateLimited

logger = logging.getLogger(__name__)

MAX_LEASES = 20_000
"""Clients remembered by one process; beyond it the one not seen for longest is forgotten and leases anew."""

STORE_PAUSE_SECONDS = 10.0
"""A counter store that failed is left alone for so long, so that its timeout is not added to every answer."""

ATTEMPTS = 4
"""A change that another process got ahead of is tried so often."""

MARGIN_SECONDS = 5.0
"""A lease outlives what it is for by this: clocks of two machines differ."""


class CounterStore(Protocol):
    """Counters that expire, shared by every process."""

    def add(self, key: str, amount: int, expires_at: int) -> int:
        """Adds and returns the new total. `expires_at` is in epoch seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Quota:
    """The number of calls in each window. `calls` 0 switches the limit off."""

    name: str
    calls: int
    window_seconds: int = 60


@dataclass(frozen=True, slots=True)
class Allowance:
    """The outcome of counting one call: whether it may proceed, and what this process knows is left."""

    quota: Quota
    allowed: bool
    remaining: int
    reset_seconds: int


@dataclass(slots=True)
class _Lease:
    window: int
    granted: int = 0
    used: int = 0
    next_block: int = 1
    total: int = 0
    """The calls that all processes together have leased, as of the last read of the counter."""

    def wanted(self, quota: Quota) -> int:
        """Return how many calls to lease before one can be spent; 0 when there is one, or none to be had."""
        spent = self.used >= self.granted and self.total < quota.calls
        return min(self.next_block, quota.calls) if spent else 0

    def extend(self, quota: Quota, block: int, total: int | None) -> None:
        """Takes what the counter leaves of the block; None is a counter that does not answer."""
        if total is None:
            # Readers are worth more than an exact count: this process counts alone until the store is back.
            total = self.total + block
        before = max(0, total - block)
        self.granted += max(0, min(block, quota.calls - before))
        self.total = max(self.total, min(total, quota.calls))
        self.next_block = min(block * 2, max(1, quota.calls // 6))

    def spend(self) -> bool:
        """Return whether one call was left."""
        allowed = self.used < self.granted
        self.used += allowed
        return allowed

    def left(self, quota: Quota) -> int:
        """Return what the window still holds, as far as this process knows."""
        return max(0, self.granted - self.used + quota.calls - self.total)


class Limiter:
    """Counts calls by client. Who a client is never reaches the store: keys are keyed hashes that differ by window.

    Any thread may take: the lock is held while a lease changes, never while the store is called.
    """

    def __init__(self, counters: CounterStore, clock: Callable[[], float], *, secret: bytes = b"commonplace") -> None:
        self._counters = counters
        self._clock = clock
        self._secret = secret
        self._leases: OrderedDict[tuple[str, str], _Lease] = OrderedDict()
        self._lock = Lock()
        self._store_paused_until = 0.0

    def take(self, quota: Quota, client: str) -> Allowance | None:
        """Spends one call of whoever `client` names; None when the quota is switched off.

        An address is named by `network`, so that a subscriber with many addresses is one client.
        """
        if quota.calls <= 0:
            return None
        now = self._clock()
        window = int(now // quota.window_seconds)
        allowed, remaining = self._spend(quota, client, window, now)
        reset = max(1, -int((now - (window + 1) * quota.window_seconds) // 1))
        return Allowance(quota, allowed, remaining if allowed else 0, reset)

    def spend(self, quota: Quota, client: str, message: str, *, hint: str | None = None) -> None:
        """Spend one call as `take` does. Raises RateLimited in the words of `message` when none is left."""
        allowance = self.take(quota, client)
        if allowance is not None and not allowance.allowed:
            raise RateLimited(message, retry_after_seconds=allowance.reset_seconds, hint=hint)

    def _spend(self, quota: Quota, client: str, window: int, now: float) -> tuple[bool, int]:
        while True:
            with self._lock:
                name = (quota.name, client)
                lease = self._leases.get(name)
                if lease is None or lease.window < window:
                    lease = self._leases[name] = _Lease(window, next_block=max(1, quota.calls // 60))
                self._leases.move_to_end(name)
                if len(self._leases) > MAX_LEASES:
                    self._leases.popitem(last=False)
                block = lease.wanted(quota)
                if not block:
                    return lease.spend(), lease.left(quota)
            told = hmac.new(self._secret, f"{quota.name}|{window}|{client}".encode(), hashlib.sha256)
            key = f"{quota.name}#{window}#{told.hexdigest()[:32]}"
            if now < self._store_paused_until:
                total = None
            else:
                try:
                    # One window longer than needed: clocks of two machines differ.
                    total = self._counters.add(key, block, (window + 2) * quota.window_seconds)
                except Exception as error:  # noqa: BLE001 - whatever a store's client raises, reading goes on
                    self._store_paused_until = now + STORE_PAUSE_SECONDS
                    logger.warning(
                        "rate limits are counted by this process alone", extra={"error": type(error).__name__}
                    )
                    total = None
            with self._lock:
                lease.extend(quota, block, total)


def network(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 that an IPv6 subscriber owns."""
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"


@dataclass(frozen=True, slots=True)
class Slot:
    """`until` is in epoch seconds. The holder's name is a pseudonym."""

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Slots:
    """At most `each` for one holder and `together` for all; 0 of either are none at all. Any thread may call.

    Holders are hashed with the secret before they are stored.
    """

    store: SlotStore
    clock: Callable[[], float]
    _: KW_ONLY
    each: int
    together: int
    secret: bytes = b"commonplace"

    def take(self, holder: str, seconds: float) -> str | None:
        """The name of a slot for so long; None where none is free, or the store does not answer. Never raises."""
        if min(self.each, self.together) <= 0:
            return None
        now = self.clock()
        hashed = hmac.new(self.secret, holder.encode(), hashlib.sha256).hexdigest()[:32]
        slot = Slot(uuid4().hex, hashed, now + seconds + MARGIN_SECONDS)

        def with_one_more(slots: Sequence[Slot]) -> Sequence[Slot] | None:
            live = [one for one in slots if one.until > now]
            mine = sum(one.holder == hashed for one in live)
            return [*live, slot] if len(live) < self.together and mine < self.each else None

        return slot.name if self._change(with_one_more) else None

    def release(self, name: str) -> None:
        """Gives a slot back; one that cannot be given back now comes free when its time is over. Never raises."""

        def without(slots: Sequence[Slot]) -> Sequence[Slot] | None:
            left = [one for one in slots if one.name != name]
            return left if len(left) < len(slots) else None

        self._change(without)

    def _change(self, change: Callable[[Sequence[Slot]], Sequence[Slot] | None]) -> bool:
        """Return whether it was made; `change` gives None for nothing to do."""
        try:
            for _ in range(ATTEMPTS):
                slots, mark = self.store.read()
                changed = change(slots)
                if changed is None:
                    return False
                if self.store.replace(changed, mark):
                    return True
        except Exception as error:  # noqa: BLE001 - whatever a store's client raises, nothing is held open
            logger.warning("slots cannot be counted, and none is given", extra={"error": type(error).__name__})
        return False
