"""Faults on demand: the next answers of the stand-in that match fail as GitHub fails."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Fault:
    """What to answer instead, how often, and to which requests."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    matching: str = ""
    """A part of the path; empty matches every request."""
    method: str = ""
    """Empty matches every one."""
    afterwards: bool = False
    """The request is carried out, and its answer is lost on the way."""

    def meets(self, method: str, path: str) -> bool:
        return self.matching in path and self.method in ("", method)


class Faults:
    """Faults waiting to happen, oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Fault] = []

    def fail(self, times: int = 1, *, status: int = 502, matching: str = "", method: str = "") -> None:
        """The next `times` matching requests are answered with `status`."""
        self._add(Fault(status, "Server Error", times=times, matching=matching, method=method))

    def lose(self, times: int = 1, *, matching: str = "", method: str = "") -> None:
        """The next `times` matching requests are carried out, and answered with 502 all the same."""
        self._add(Fault(502, "Server Error", times=times, matching=matching, method=method, afterwards=True))

    def limit(self, times: int = 1, *, retry_after_seconds: int = 1, status: int = 403, matching: str = "") -> None:
        """A secondary rate limit: 403 (or 429) with `Retry-After`, quota left."""
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        headers = {"Retry-After": str(retry_after_seconds)}
        self._add(Fault(status, message, headers, times, matching))

    def exhaust(self, times: int = 1, *, reset_epoch_seconds: int, matching: str = "") -> None:
        """The primary rate limit: 403 with nothing remaining until the reset."""
        headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset_epoch_seconds)}
        self._add(Fault(403, "API rate limit exceeded for user ID 1.", headers, times, matching))

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, used up by one."""
        with self._lock:
            fault = next((fault for fault in self._waiting if fault.meets(method, path)), None)
            if fault is None:
                return None
            fault.times -= 1
            if fault.times <= 0:
                self._waiting.remove(fault)
            return fault

    def _add(self, fault: Fault) -> None:
        with self._lock:
            self._waiting.append(fault)
