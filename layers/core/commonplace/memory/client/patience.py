"""A memory server that is asked again as it says: after `Retry-After`, and through a short outage."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from commonplace.kernel.errors import RateLimited, Unavailable

LIMITED_SECONDS = 300.0
"""How long one call may wait for its turn. A class of calls has a new window every minute."""

FIRST_PAUSE = 1.0
"""Seconds before the second attempt; twice as many before each further one."""


class MemoryServer(Protocol):
    """The tools of the toolset `memory`, wherever they are."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured answer. Raises CommonplaceError: Unavailable when nobody answers, RateLimited, Unauthorized
        and Forbidden for the token, and what the tool refuses."""
        ...


class Patient:
    """`MemoryServer` over another one. Every call that goes through it may be repeated without harm."""

    def __init__(
        self,
        server: MemoryServer,
        *,
        outage_seconds: float,
        limited_seconds: float = LIMITED_SECONDS,
        sleep: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        waiting: Callable[[float, str], object] = lambda seconds, why: None,  # noqa: ARG005 - says nothing
    ) -> None:
        """`outage_seconds` are those of one outage, the time that a silent server takes included.

        `waiting` is told of each wait before it begins.
        """
        self._server = server
        self._outage, self._limited = outage_seconds, limited_seconds
        self._sleep, self._monotonic = sleep, monotonic
        self._waiting = waiting

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        outage, limited, pause = self._outage, self._limited, FIRST_PAUSE
        while True:
            began = self._monotonic()
            try:
                return self._server.call(tool, arguments)
            except RateLimited as error:
                limited = self._wait(error, FIRST_PAUSE, limited, "it takes so many calls only")
            except Unavailable as error:
                outage = self._wait(error, pause, outage - (self._monotonic() - began), "it does not answer")
                pause *= 2

    def _wait(self, error: RateLimited | Unavailable, least: float, left: float, why: str) -> float:
        """Waits as long as the server says, and returns what is left. Raises the error when that is too little."""
        seconds = max(least, float(error.retry_after_seconds))
        if seconds > left:
            raise error
        self._waiting(seconds, why)
        self._sleep(seconds)
        return left - seconds
