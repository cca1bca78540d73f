"""Questions to an Ethereum node: JSON-RPC over HTTP, bounded, with a second endpoint for when the first is away.

Only a clear answer is an answer. Whatever else happens is Unavailable, so that an outage never looks like "no". URLs of
endpoints hold keys of their providers: no error and no log record names one.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

from commonplace.adapters.ethereum.within import within
from commonplace.errors import Unavailable

logger = logging.getLogger(__name__)

CONNECT_SECONDS, READ_SECONDS = 2.0, 3.0
"""Of each socket operation."""
QUESTION_SECONDS = 4.0
"""Of one question to one endpoint, however it is answered."""
MAX_ANSWER_BYTES = 256 * 1_024
ASIDE_SECONDS = 30.0
"""An endpoint that failed is asked after the others for so long."""
IDLE_SECONDS = 20.0
"""A connection that was idle for longer is not trusted: the function may have been frozen meanwhile."""
PAUSE_SECONDS = 5.0
"""When every endpoint has failed twice running, none is asked for so long: callers are not made to wait for nothing."""

CHAINS = {1: "mainnet", 10: "optimism"}

_ENDPOINT = re.compile(r"https://[^/@]+(?:/|$)|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/|$)")
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,16}")
_HEADERS = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}

_LIMIT_EXCEEDED = -32_005
_REVERTED = 3
_EVM_WORDS = re.compile(
    r"revert|out ?of ?gas|invalid ?(?:fe ?)?opcode|opcode ?not ?found|stack ?(?:under|over)flow|invalid ?jump",
    re.IGNORECASE,
)
"""How nodes word that the contract itself failed: each has its own way."""


class NoAnswer(Exception):
    """An endpoint did not answer clearly. `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EvmRefused(Exception):
    """The node is well, and the contract reverted, ran out of gas, or is no code."""


@dataclass(slots=True)
class _Endpoint:
    url: str
    proven: bool = False
    """It has said that it serves the right chain."""
    aside_until: float = 0.0


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
        self._known: dict[str, _Endpoint] = {}
        self._failures = 0
        self._paused_until = 0.0
        self._used_at = 0.0
        self._http = PoolManager(num_pools=4, maxsize=4, retries=False)

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
        try:
            return self._ask("eth_getCode", [address, "latest"]) != b""
        except EvmRefused:
            raise self._unavailable() from None

    def _ask(self, method: str, params: list[Any]) -> bytes:
        """Raises EvmRefused, which is an answer too, and Unavailable. Each endpoint sees the question once at most."""
        now = self._monotonic()
        if now < self._paused_until:
            raise self._unavailable()
        self._forget_idle()
        for number, endpoint in self._ordered(now):
            try:
                answer = within(self._seconds, lambda asked=endpoint: self._answer(asked, method, params))  # type: ignore[misc]
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
        raise self._unavailable()

    def _failed(self) -> None:
        """No endpoint has answered, or there is none."""
        self._failures += 1
        if self._failures > 1:
            self._paused_until = self._monotonic() + PAUSE_SECONDS
        if self._vital:
            chain = CHAINS.get(self.chain_id, f"chain_{self.chain_id}")
            logger.warning("auth event", extra={"event": "rpc", "outcome": "failed", "reason": chain})

    def _ordered(self, now: float) -> list[tuple[int, _Endpoint]]:
        urls = list(self._endpoints())
        known = [(number, self._known.setdefault(url, _Endpoint(url))) for number, url in enumerate(urls)]
        return sorted(known, key=lambda one: one[1].aside_until > now)

    def _forget_idle(self) -> None:
        """By the wall's clock, which alone goes on while a function is frozen."""
        now = self._clock()
        if abs(now - self._used_at) > IDLE_SECONDS:
            self._http.clear()
        self._used_at = now

    def _answer(self, endpoint: _Endpoint, method: str, params: list[Any]) -> bytes:
        if not _ENDPOINT.match(endpoint.url):
            raise NoAnswer("not_https")
        if not endpoint.proven:
            told = self._result(endpoint, "eth_chainId", [], _QUANTITY)
            if int(told, 16) != self.chain_id:
                raise NoAnswer("other_chain")
            endpoint.proven = True
        return bytes.fromhex(self._result(endpoint, method, params, _BYTES)[2:])

    def _result(self, endpoint: _Endpoint, method: str, params: list[Any], form: re.Pattern[str]) -> str:
        question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._post(endpoint.url, json.dumps(question).encode())
        if not isinstance(answer, dict) or answer.get("id") != 1:
            raise NoAnswer("no_json_rpc")
        if answer.get("error") is not None:
            if method == "eth_call" and _is_evm(answer["error"]):
                raise EvmRefused
            raise NoAnswer("rpc_error")
        result = answer.get("result")
        if not isinstance(result, str) or not form.fullmatch(result):
            raise NoAnswer("no_result")
        return result

    def _post(self, url: str, body: bytes) -> Any:
        deadline = self._monotonic() + self._seconds
        try:
            answer = self._http.request(
                "POST",
                url,
                body=body,
                headers=_HEADERS,
                redirect=False,
                preload_content=False,
                timeout=Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
            )
            try:
                told = self._read(answer, deadline)
            except BaseException:
                answer.close()
                raise
            answer.release_conn()
            return json.loads(told)
        except HTTPError:
            raise NoAnswer("transport") from None
        except (ValueError, RecursionError):
            raise NoAnswer("no_json") from None

    def _read(self, answer: BaseHTTPResponse, deadline: float) -> bytes:
        if answer.status != 200:
            raise NoAnswer(f"http_{answer.status}")
        told = bytearray()
        while part := answer.read1(65_536):
            told += part
            if len(told) > MAX_ANSWER_BYTES:
                raise NoAnswer("too_much")
            if self._monotonic() > deadline:
                raise NoAnswer("too_slow")
        return bytes(told)

    def _tell(self, number: int, error: Exception) -> None:
        """Names an endpoint by its place in the list: its URL is half a secret."""
        reason = error.reason if isinstance(error, NoAnswer) else "too_slow"
        told = {"chain": self.chain_id, "endpoint": number, "reason": reason}
        logger.warning("an endpoint of a chain did not answer", extra=told)

    def _unavailable(self) -> Unavailable:
        return Unavailable("The chain cannot be read just now.", retry_after_seconds=int(PAUSE_SECONDS))


def _is_evm(error: Any) -> bool:
    """Whether a JSON-RPC error says that the contract failed, rather than the node."""
    if not isinstance(error, dict) or error.get("code") == _LIMIT_EXCEEDED:
        return False
    return error.get("code") == _REVERTED or _EVM_WORDS.search(str(error.get("message", ""))[:500]) is not None
