"""Questions to a chain, with a second endpoint for when the first is away.

Only a clear answer is an answer. Whatever else happens is Unavailable, so that an outage never looks like "no". URLs of
endpoints hold keys of their providers: no error and no log record names one.
"""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from urllib3 import PoolManager

from commonplace.identity.ethereum.endpoint import Endpoint, EvmRefused, NoAnswer
from commonplace.identity.ethereum.within import within
from commonplace.kernel.errors import Unavailable

logger = logging.getLogger(__name__)

QUESTION_SECONDS = 4.0
"""Of one question to one endpoint, however it is answered."""
ASIDE_SECONDS = 30.0
"""An endpoint that failed is asked after the others for so long."""
IDLE_SECONDS = 20.0
"""A connection that was idle for longer is not trusted: the function may have been frozen meanwhile."""
PAUSE_SECONDS = 5.0
"""When every endpoint has failed twice running, none is asked for so long: callers are not made to wait for nothing."""

CHAINS = {1: "mainnet", 10: "optimism"}


class Rpc:
    """Asks one chain. Safe for threads; keeps connections alive."""

    def __init__(
        self,
        endpoints: Callable[[], Sequence[str]],
        chain_id: int,
        *,
        vital: bool = True,
        question_seconds: float = QUESTION_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`endpoints` gives URLs, the preferred first; it may raise Unavailable. `clock` gives epoch seconds.

        Of a `vital` chain it is counted when no endpoint answers: somebody is woken by it.
        """
        self.chain_id = chain_id
        self._endpoints = endpoints
        self._vital = vital
        self._seconds = question_seconds
        self._monotonic = monotonic
        self._clock = clock
        self._http = PoolManager(num_pools=4, maxsize=4, retries=False)
        self._known: dict[str, Endpoint] = {}
        self._failures = 0
        self._paused_until = 0.0
        self._used_at = 0.0

    def has_endpoints(self) -> bool:
        """Whether there is anybody to ask. Raises Unavailable."""
        return bool(self._endpoints())

    def call(self, data: bytes, *, to: str | None = None, gas: int | None = None) -> bytes | None:
        """What a contract answers to `data` (eth_call); None when the EVM refused. Without `to`, `data` is run itself.

        Raises Unavailable.
        """
        asked = {"data": "0x" + data.hex()} | ({"to": to} if to else {}) | ({"gas": hex(gas)} if gas else {})
        try:
            return self._ask("eth_call", [asked, "latest"])
        except EvmRefused:
            return None

    def has_code(self, address: str) -> bool:
        """Whether a contract stands at the address. Raises Unavailable."""
        return self._ask("eth_getCode", [address, "latest"]) != b""

    def _ask(self, method: str, params: list[Any]) -> bytes:
        """Raises EvmRefused, which is an answer too, and Unavailable. Each endpoint sees the question once at most."""
        now = self._monotonic()
        if now < self._paused_until:
            raise _unavailable()
        self._forget_idle()
        for number, endpoint in self._ordered(now):
            try:
                answer = within(self._seconds, partial(endpoint.ask, method, params, self._seconds))
            except EvmRefused:
                self._failures = 0
                raise
            except (NoAnswer, TimeoutError) as error:
                endpoint.aside_until = self._monotonic() + ASIDE_SECONDS
                self._tell(number, error)
            else:
                self._failures = 0
                endpoint.aside_until = 0.0
                return answer
        self._failed()
        raise _unavailable()

    def _ordered(self, now: float) -> list[tuple[int, Endpoint]]:
        urls = enumerate(self._endpoints())
        known = [
            (number, self._known.setdefault(url, Endpoint(url, self.chain_id, self._http))) for number, url in urls
        ]
        return sorted(known, key=lambda one: one[1].aside_until > now)

    def _forget_idle(self) -> None:
        """By the wall's clock, which alone goes on while a function is frozen."""
        now = self._clock()
        if abs(now - self._used_at) > IDLE_SECONDS:
            self._http.clear()
        self._used_at = now

    def _failed(self) -> None:
        """No endpoint has answered, or there is none."""
        self._failures += 1
        if self._failures > 1:
            self._paused_until = self._monotonic() + PAUSE_SECONDS
        if self._vital:
            chain = CHAINS.get(self.chain_id, f"chain_{self.chain_id}")
            logger.warning("auth event", extra={"event": "rpc", "outcome": "failed", "reason": chain})

    def _tell(self, number: int, error: Exception) -> None:
        """Names an endpoint by its place in the list: its URL is half a secret."""
        reason = error.reason if isinstance(error, NoAnswer) else "too_slow"
        told = {"chain": self.chain_id, "endpoint": number, "reason": reason}
        logger.warning("an endpoint of a chain did not answer", extra=told)


def _unavailable() -> Unavailable:
    return Unavailable("The chain cannot be read just now.", retry_after_seconds=int(PAUSE_SECONDS))
