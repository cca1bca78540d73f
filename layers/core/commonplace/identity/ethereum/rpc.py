"""JSON-RPC over HTTP to Ethereum nodes: bounded in time and size, never redirected, with fall-back endpoints.

Only a clear answer counts. Everything else is Unavailable, so that an outage never looks like "no". URLs of endpoints
hold keys of their providers: no error and no log record names one.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

from commonplace.identity.telemetry import record
from commonplace.kernel.errors import Reasoned, Unavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_SECONDS, READ_SECONDS = 2.0, 3.0
"""The bound of each socket operation."""
MAX_ANSWER_BYTES = 8 * 1_024 * 1_024
"""Far more than any answer that is used. A wallet may revert with 1.6 MB for its gas, which a node may write twice in
hex: that must still be read as a refusal, and not as an outage."""

_ENDPOINT = re.compile(r"https://[^/@]+(?:/|$)|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/|$)")
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,16}")
_HEADERS = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}

_LIMIT_EXCEEDED = -32_005
_REVERTED = 3
_EVM_WORDS = re.compile(
    r"revert|\bE?VM (?:execution )?(?:error|exception)|out ?of ?gas|invalid ?(?:fe ?)?opcode|opcode ?not ?found"
    r"|stack ?(?:under|over)flow|invalid ?jump",
    re.IGNORECASE,
)
"""The words of nodes for that the contract itself failed: each has its own way."""

QUESTION_SECONDS = 4.0
"""The bound of one question to one endpoint, however it is answered."""
ASIDE_SECONDS = 30.0
"""An endpoint that failed is tried last for so long."""
IDLE_SECONDS = 20.0
"""A connection that was idle for longer is not trusted: the function may have been frozen meanwhile."""
PAUSE_SECONDS = 5.0
"""When every endpoint has failed twice running, none is called for so long: callers would wait for nothing."""

CHAINS = {1: "mainnet", 10: "optimism"}


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` gives. Raises TimeoutError when it takes longer; it then goes on, unheard, until it ends by
    itself.

    Timeouts of sockets bound each read alone: who sends a byte now and then is never too late for them.
    """
    told: SimpleQueue[tuple[list[T], BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            told.put(([work()], None))
        except BaseException as error:  # noqa: BLE001 - raised where somebody waits for it
            told.put(([], error))

    Thread(target=run, name="ethereum", daemon=True).start()
    try:
        values, error = told.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return values[0]


class NoAnswer(Reasoned):
    """There was no clear answer. `reason` is a stable code; it names no URL, which holds a key of its provider."""


class EvmRefused(Exception):
    """The node is well, and the contract reverted, ran out of gas, or is no code."""


class Endpoint:
    """Asks for the chain's id before anything else, once."""

    def __init__(self, url: str, chain_id: int, http: PoolManager) -> None:
        self.aside_until = 0.0
        """Until then the others are tried first."""
        self._url = url
        self._chain_id = chain_id
        self._http = http
        self._proven = False

    def ask(self, method: str, params: list[Any], seconds: float) -> bytes:
        """Raises NoAnswer, EvmRefused. `seconds` bound the body; who calls bounds the whole."""
        if not _ENDPOINT.match(self._url):
            raise NoAnswer("not_https")
        if not self._proven:
            if int(self._result("eth_chainId", [], _QUANTITY, seconds), 16) != self._chain_id:
                raise NoAnswer("other_chain")
            self._proven = True
        return bytes.fromhex(self._result(method, params, _BYTES, seconds)[2:])

    def _result(self, method: str, params: list[Any], form: re.Pattern[str], seconds: float) -> str:
        question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._post(json.dumps(question).encode(), seconds)
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

    def _post(self, body: bytes, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        try:
            answer = self._http.request(
                "POST",
                self._url,
                body=body,
                headers=_HEADERS,
                redirect=False,
                preload_content=False,
                timeout=Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
            )
            try:
                told = _read(answer, deadline)
            except BaseException:
                answer.close()
                raise
            answer.release_conn()
            return json.loads(told)
        except HTTPError:
            raise NoAnswer("transport") from None
        except (ValueError, RecursionError):
            raise NoAnswer("no_json") from None


def _read(answer: BaseHTTPResponse, deadline: float) -> bytes:
    if answer.status != 200:
        raise NoAnswer(f"http_{answer.status}")
    told = bytearray()
    while part := answer.read1(65_536):
        told += part
        if len(told) > MAX_ANSWER_BYTES:
            raise NoAnswer("too_much")
        if time.monotonic() > deadline:
            raise NoAnswer("too_slow")
    return bytes(told)


def _is_evm(error: Any) -> bool:
    """Return whether a JSON-RPC error says that the contract failed, rather than the node."""
    if not isinstance(error, dict) or error.get("code") == _LIMIT_EXCEEDED:
        return False
    return error.get("code") == _REVERTED or _EVM_WORDS.search(str(error.get("message", ""))[:500]) is not None


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
        """Return whether there is anybody to ask. Raises Unavailable."""
        return bool(self._endpoints())

    def call(self, data: bytes, *, to: str | None = None, gas: int | None = None) -> bytes | None:
        """Return what a contract answers to `data` (eth_call); None when the EVM refused. Without `to`, `data` is run
        itself.

        Raises Unavailable.
        """
        asked = {"data": "0x" + data.hex()} | ({"to": to} if to else {}) | ({"gas": hex(gas)} if gas else {})
        try:
            return self._ask("eth_call", [asked, "latest"])
        except EvmRefused:
            return None

    def has_code(self, address: str) -> bool:
        """Return whether a contract stands at the address. Raises Unavailable."""
        return self._ask("eth_getCode", [address, "latest"]) != b""

    def _ask(self, method: str, params: list[Any]) -> bytes:
        """Raises EvmRefused, which is an answer too, and Unavailable. Each endpoint sees the question once at most."""
        now = self._monotonic()
        if now < self._paused_until:
            raise _unavailable()
        # By the wall's clock, which alone goes on while a function is frozen.
        wall = self._clock()
        if abs(wall - self._used_at) > IDLE_SECONDS:
            self._http.clear()
        self._used_at = wall
        urls = enumerate(self._endpoints())
        known = [
            (number, self._known.setdefault(url, Endpoint(url, self.chain_id, self._http))) for number, url in urls
        ]
        for number, endpoint in sorted(known, key=lambda one: one[1].aside_until > now):
            try:
                answer = within(self._seconds, partial(endpoint.ask, method, params, self._seconds))
            except EvmRefused:
                self._failures = 0
                raise
            except (NoAnswer, TimeoutError) as error:
                endpoint.aside_until = self._monotonic() + ASIDE_SECONDS
                # Names an endpoint by its place in the list: its URL is half a secret.
                reason = error.reason if isinstance(error, NoAnswer) else "too_slow"
                told = {"chain": self.chain_id, "endpoint": number, "reason": reason}
                logger.warning("an endpoint of a chain did not answer", extra=told)
            else:
                self._failures = 0
                endpoint.aside_until = 0.0
                return answer
        self._failures += 1
        if self._failures > 1:
            self._paused_until = self._monotonic() + PAUSE_SECONDS
        if self._vital:
            chain = CHAINS.get(self.chain_id, f"chain_{self.chain_id}")
            record("rpc", "failed", chain)
        raise _unavailable()


def _unavailable() -> Unavailable:
    return Unavailable("The chain cannot be read just now.", retry_after_seconds=int(PAUSE_SECONDS))
