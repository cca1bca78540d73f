"""Retries on a schedule, a retry budget, and a circuit breaker."""

import logging
import math
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import TypeVar

from commonplace.kernel.errors import Unavailable

logger = logging.getLogger(__name__)

RETRY_DELAYS = (1.0, 2.0, 4.0)
"""Three retries of a model provider, then without it (seed 001, decision 8)."""

T = TypeVar("T")


LONGEST_PAUSE_SECONDS = 300.0
"""A dependency that asks to be left alone for longer is tried after this time all the same."""


class Transient(Unavailable):
    """Throttled, overloaded or out of reach: the same call may succeed a moment later.

    `wait_seconds` is what the other side asks for (RFC 9110, Retry-After); None when it says nothing.
    """

    def __init__(self, message: str, *, wait_seconds: float | None = None, hint: str | None = None) -> None:
        if wait_seconds is None:
            super().__init__(message, hint=hint)
        else:
            super().__init__(message, hint=hint, retry_after_seconds=max(1, math.ceil(wait_seconds)))
        self.wait_seconds = wait_seconds


def retry_after(header: str | None, now: datetime) -> float | None:
    """Seconds that `Retry-After` asks to wait, not below 0: a number, or a date (RFC 9110, section 10.2.3).

    Decimals, which services send, are understood. None for anything else.
    """
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", text):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds())


def is_transient(error: Exception) -> bool:
    return isinstance(error, Transient)


def retrying(
    call: Callable[[], T],
    *,
    delays: Sequence[float] = RETRY_DELAYS,
    retryable: Callable[[Exception], bool] = is_transient,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """What `call` answers, after at most `len(delays)` more tries. Raises the last error, or the first not retryable.

    Delays are in seconds. Where the other side asks for a longer one it gets it, out of the same sum, and is not asked
    again when that does not suffice: the longest it can take is the sum and `len(delays) + 1` times the call's own
    timeout.
    """
    left = sum(delays)
    for delay in delays:
        try:
            return call()
        except Exception as error:
            wait = max(min(delay, left), (error.wait_seconds or 0) if isinstance(error, Transient) else 0)
            if not retryable(error) or wait > left:
                raise
            logger.info("trying again", extra={"after_seconds": wait, "reason": str(error)})
        left -= wait
        sleep(wait)
    return call()


class CircuitBreaker:
    """Stops calling what does not answer: `failures` in a row open it, then one trial call passes per `open_seconds`.

    Safe for threads. A trial that never reports back delays the next one by `open_seconds`, and no more.
    """

    def __init__(
        self, name: str, *, failures: int = 3, open_seconds: float = 30, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._threshold = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._trips = 0

    @property
    def trips(self) -> int:
        """Return how often it has opened: whoever waits to try again sees by it that another has given up meanwhile."""
        return self._trips

    @property
    def is_open(self) -> bool:
        """Return whether calls are turned away at the moment."""
        with self._lock:
            return self._open_until is not None and self._clock() < self._open_until

    def check(self) -> bool:
        """Raises Unavailable with the time to wait while open. True means that this call is the trial."""
        with self._lock:
            if self._open_until is None:
                return False
            left = self._open_until - self._clock()
            if left <= 0:
                self._open_until = self._clock() + self._open_seconds
                return True
        raise self.refusal(left)

    def refusal(self, seconds: float | None = None) -> Unavailable:
        """Return what a caller gets that is not let through."""
        wait = max(1, math.ceil(self._open_seconds if seconds is None else seconds))
        return Unavailable(f"{self._name} does not answer and is left alone for now.", retry_after_seconds=wait)

    def succeeded(self) -> None:
        with self._lock:
            reopened = self._open_until is not None
            self._failures, self._open_until = 0, None
        if reopened:
            logger.info("a dependency answers again", extra={"dependency": self._name})

    def failed(self, wait_seconds: float | None = None) -> None:
        """`wait_seconds`: how long the dependency asks to be left alone, if that is longer than we would."""
        seconds = max(self._open_seconds, min(wait_seconds or 0, LONGEST_PAUSE_SECONDS))
        with self._lock:
            self._failures += 1
            opens = self._failures >= self._threshold
            if opens:
                self._open_until = self._clock() + seconds
                self._trips += 1
        if opens:
            logger.warning(
                "a dependency does not answer and is left alone",
                extra={"dependency": self._name, "seconds": seconds},
            )


class RetryBudget:
    """Retries as a share of calls, so that an overloaded service does not get a multiple of its load.

    Every call earns `ratio` of a retry; at most `burst` are saved up, which is also what there is at first.
    """

    def __init__(self, ratio: float = 0.2, burst: int = 10) -> None:
        self._ratio = ratio
        self._burst = float(burst)
        self._left = float(burst)
        self._lock = Lock()

    def earn(self) -> None:
        with self._lock:
            self._left = min(self._burst, self._left + self._ratio)

    def spend(self) -> bool:
        """Return whether one more retry may be made."""
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            return True
