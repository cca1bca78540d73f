"""One endpoint of an Ethereum node: JSON-RPC over HTTP, bounded in time and size, never redirected, never repeated."""

import json
import re
import time
from typing import Any

from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

CONNECT_SECONDS, READ_SECONDS = 2.0, 3.0
"""Of each socket operation."""
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
"""How nodes word that the contract itself failed: each has its own way."""


class NoAnswer(Exception):
    """There was no clear answer. `reason` is a stable code; it names no URL, which holds a key of its provider."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EvmRefused(Exception):
    """The node is well, and the contract reverted, ran out of gas, or is no code."""


class Endpoint:
    """Asks for the chain's id before anything else, once."""

    def __init__(self, url: str, chain_id: int, http: PoolManager) -> None:
        self.aside_until = 0.0
        """Until then the others are asked first."""
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
    """Whether a JSON-RPC error says that the contract failed, rather than the node."""
    if not isinstance(error, dict) or error.get("code") == _LIMIT_EXCEEDED:
        return False
    return error.get("code") == _REVERTED or _EVM_WORDS.search(str(error.get("message", ""))[:500]) is not None
