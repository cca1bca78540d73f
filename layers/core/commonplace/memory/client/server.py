"""The HTTP client of a deployment's toolset `memory`: one POST for each call, bounded in size and time."""

import json
import logging
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx

from commonplace.kernel.environment import is_loopback
from commonplace.kernel.errors import (
    BadRequest,
    CommonplaceError,
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from commonplace.kernel.retry import retry_after
from commonplace.memory.client.client import AUTHORIZATION_HINT

PATH = "/mcp/memory"
VERSION = "2026-07-28"
"""Of MCP: every call is whole in itself."""
CALL_SECONDS = 60.0
CONNECT_SECONDS = 5.0
MAX_BYTES = 8 * 1024 * 1024
INTERNAL = -32_603
"""JSON-RPC's code for what nobody expected."""
MAX_TOLD = 2_000
"""Characters of a server's own words that are passed on."""

_REFUSALS: Mapping[str, type[CommonplaceError]] = {
    one.code: one for one in (BadRequest, Conflict, Forbidden, InvalidInput, NotFound, TooLarge, Unauthorized)
}
_ERROR = "commonplace/error"

# httpx logs every address at INFO.
logging.getLogger("httpx").setLevel(logging.WARNING)
logging.getLogger("httpcore").setLevel(logging.WARNING)


class HttpMemoryServer:
    """`memory.client.client.MemoryServer`. Neither the token nor what is sent ever stands in an error."""

    def __init__(
        self,
        base_url: str,
        token: str | None,
        *,
        seconds: float = CALL_SECONDS,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises InvalidInput for a token that would go where others can read it."""
        address = urlsplit(base_url)
        local = is_loopback(address.hostname)
        if token and not local and address.scheme != "https":
            hint = "Use the https:// address of the deployment."
            raise InvalidInput("The address is not https: a token is not sent where others could read it.", hint=hint)
        self._url = base_url.rstrip("/") + PATH
        self._token = token
        self._clock, self._monotonic = clock, monotonic
        self._seconds = seconds
        self._http = httpx.Client(
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            follow_redirects=False,
            trust_env=not local,
            transport=transport,
        )

    def close(self) -> None:
        self._http.close()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        status, headers, body = self._post(tool, _message(tool, arguments))
        if status != httpx.codes.OK:
            _refuse(status, headers, self._clock(), sent=self._token is not None)
        told = _read(headers, body)
        if isinstance(error := told.get("error"), dict):
            data = error.get("data")
            known = data if isinstance(data, dict) else {}
            _raise(str(error.get("message") or "")[:MAX_TOLD], {**known, "rpc": error.get("code")})
        result = told.get("result")
        if not isinstance(result, dict):
            raise Unavailable("The server answered with something else than MCP.", hint="Is the address right?")
        if result.get("isError"):
            meta = (result.get("_meta") or {}).get(_ERROR)
            _raise(_text(result), meta if isinstance(meta, dict) else {})
        data = result.get("structuredContent")
        return data if isinstance(data, dict) else {}

    def _post(self, tool: str, message: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": "tools/call",
            "mcp-name": tool,
            "user-agent": "commonplace",
        }
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        began = self._monotonic()
        try:
            with self._http.stream("POST", self._url, json=message, headers=headers) as response:
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if len(body) > MAX_BYTES:
                        raise TooLarge("The server's answer is too large.", hint="Ask for less at once.")
                    if self._monotonic() - began > self._seconds:
                        raise Unavailable("The server's answer does not end.", retry_after_seconds=1)
                return response.status_code, response.headers, bytes(body)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            told = f"{urlsplit(self._url).netloc} does not answer ({type(error).__name__})."
            raise Unavailable(told, retry_after_seconds=1, hint="Is it running? Try its /health.") from None


def _message(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": tool, "arguments": dict(arguments), "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _read(headers: httpx.Headers, body: bytes) -> dict[str, Any]:
    """The JSON-RPC message, which may be the last of an event stream."""
    text = body.decode("utf-8", "replace")
    if headers.get("content-type", "").startswith("text/event-stream"):
        text = next((line[5:] for line in reversed(text.splitlines()) if line.startswith("data:")), "")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise Unavailable("The server answered with something else than MCP.", hint="Is the address right?")
    return told


def _text(result: Mapping[str, Any]) -> str:
    parts = result.get("content") or []
    found = (str(part.get("text")) for part in parts if isinstance(part, dict) and part.get("type") == "text")
    return " ".join(found)[:MAX_TOLD]


def _raise(told: str, data: Mapping[str, Any]) -> NoReturn:
    """A refusal in the server's own words, without the code before them; the hint keeps its name."""
    code = str(data.get("code") or "")
    words = told.removeprefix(f"{code}: ").strip() or "The server refused the call."
    message, _, hint = words.partition(" Hint: ")
    if code in (RateLimited.code, Unavailable.code):
        kind = RateLimited if code == RateLimited.code else Unavailable
        raise kind(message, retry_after_seconds=_whole(data.get("retryAfterSeconds"), 1), hint=hint or None)
    if words.startswith("INTERNAL_ERROR") or data.get("rpc") == INTERNAL:
        raise Unavailable("The server failed.", retry_after_seconds=1, hint="Try again later.")
    if words.startswith("Access denied"):
        raise Forbidden(message, hint=hint or AUTHORIZATION_HINT)
    raise _REFUSALS.get(code, BadRequest)(message, hint=hint or None)


def _refuse(status: int, headers: httpx.Headers, now: datetime, *, sent: bool) -> NoReturn:
    """What HTTP itself says, before any tool was called."""
    asked = retry_after(headers.get("retry-after"), now)
    wait = 1 if asked is None else min(max(1, math.ceil(asked)), 86_400)
    if status == 429:
        raise RateLimited("Too many calls.", retry_after_seconds=wait)
    if status >= 500 or status == 408:
        raise Unavailable(f"The server answers {status}.", retry_after_seconds=wait)
    if status == 401:
        told = "The server does not accept this token." if sent else "The server asks for a token, and there is none."
        raise Unauthorized(told, hint=AUTHORIZATION_HINT)
    if status == 403:
        raise Forbidden("The token may not do this.", hint=AUTHORIZATION_HINT)
    if status == 404:
        raise NotFound("No memory is served at this address.", hint="Give the base URL of a deployment with one.")
    if status == 413:
        raise TooLarge("One call was too large for the server.", hint="Shorten the longest entries.")
    raise BadRequest(f"The server answers {status}.", hint="Is the address the base URL of a deployment?")


def _whole(value: Any, default: int) -> int:
    return int(value) if isinstance(value, int | float) and 0 < value <= 86_400 else default
