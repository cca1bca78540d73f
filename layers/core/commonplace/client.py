"""The client of a deployment over HTTP: its operations over REST, and tools over MCP. Bounded in size and time.

`Client(url, token).hive.list_knowledge(status="pending")` calls an operation: methods are made from the declarations
that the server itself is made from. Whatever is refused or fails becomes an error of `kernel.errors`, in the server's
own words.
"""

from __future__ import annotations

import inspect
import json
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar
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

if TYPE_CHECKING:
    from commonplace.web.operations import Operation

R = TypeVar("R")

VERSION = "2026-07-28"
"""The version of MCP: every call is whole in itself."""
CALL_SECONDS, CONNECT_SECONDS = 60.0, 5.0
MAX_BYTES = 8 * 1024 * 1024
INTERNAL = -32_603
"""JSON-RPC's code for what nobody expected."""
MAX_TOLD = 2_000
"""Characters of a server's own words that are passed on."""
LIMITED_SECONDS = 300.0
"""The wait of one call for its turn. A class of calls has a new window every minute."""
FIRST_PAUSE = 1.0
"""Seconds before the second attempt; twice as many before each further one."""

_REFUSALS: Mapping[str, type[CommonplaceError]] = {
    one.code: one for one in (BadRequest, Conflict, Forbidden, InvalidInput, NotFound, TooLarge, Unauthorized)
}
_BY_STATUS = {one.status: one for one in _REFUSALS.values()}
_ERROR = "commonplace/error"
_NO_DETAILS = ("code", "rpc", "hint", "retryAfterSeconds")
"""Fields beside the details of an error, which the error has as attributes."""

# httpx logs every address at INFO.
logging.getLogger("httpx").setLevel(logging.WARNING)
logging.getLogger("httpcore").setLevel(logging.WARNING)


class Server:
    """One deployment. Neither the token nor what is sent ever stands in an error."""

    def __init__(
        self,
        base_url: str,
        token: str | None,
        toolset: str = "",
        *,
        hint: str = "",
        seconds: float = CALL_SECONDS,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`toolset` is whose tools `call` calls; `hint` says which token it takes.

        Raises InvalidInput for a token that would go where others can read it.
        """
        address = urlsplit(base_url)
        local = is_loopback(address.hostname)
        if token and not local and address.scheme != "https":
            message = "The address is not https: a token is not sent where others could read it."
            raise InvalidInput(message, hint="Use the https:// address of the deployment.")
        self._url, self._toolset, self._hint = base_url.rstrip("/"), toolset, hint
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
        """Return the structured answer of a tool."""
        meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"name": tool, "arguments": dict(arguments), "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        status, received, body = self._sent("POST", f"/mcp/{self._toolset}", headers, json=message)
        if status != httpx.codes.OK:
            self._refuse(status, received)
        text = body.decode("utf-8", "replace")
        if received.get("content-type", "").startswith("text/event-stream"):
            # The message may be the last of an event stream.
            text = next((line[5:] for line in reversed(text.splitlines()) if line.startswith("data:")), "")
        answer = _object(text)
        if isinstance(error := answer.get("error"), dict):
            data = error.get("data")
            known = data if isinstance(data, dict) else {}
            self._raise(str(error.get("message") or "")[:MAX_TOLD], {**known, "rpc": error.get("code")})
        result = answer.get("result")
        if not isinstance(result, dict):
            raise Unavailable("The server answered with something else than MCP.", hint="Is the address right?")
        if result.get("isError"):
            details = (result.get("_meta") or {}).get(_ERROR)
            parts = result.get("content") or []
            texts = (str(one.get("text")) for one in parts if isinstance(one, dict) and one.get("type") == "text")
            self._raise(" ".join(texts)[:MAX_TOLD], details if isinstance(details, dict) else {})
        data = result.get("structuredContent")
        return data if isinstance(data, dict) else {}

    def rest(self, method: str, path: str, *, body: Any = None, **query: Any) -> dict[str, Any]:
        """Return the answer of an address below `/api/v1`. Parameters that are None are left out."""
        given = {name: one for name, one in query.items() if one is not None}
        sent: dict[str, Any] = {"params": given} | ({} if body is None else {"json": body})
        status, received, content = self._sent(method, f"/api/v1{path}", {}, **sent)
        text = content.decode("utf-8", "replace")
        if 200 <= status < 300:
            return _object(text)
        try:
            error = json.loads(text)["error"]
            message, details = str(error["message"])[:MAX_TOLD], dict(error.get("details") or {})
            hint = str(details.get("hint") or "")
            words = f"{message} Hint: {hint}" if hint else message
            self._raise(words, {"code": error["code"], **details}, status)
        except (ValueError, LookupError, TypeError):
            # A gateway in front has bodies of its own.
            self._refuse(status, received)

    def _sent(self, method: str, path: str, more: Mapping[str, str], **sent: Any) -> tuple[int, httpx.Headers, bytes]:
        headers = {**more, "user-agent": "commonplace"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        began = self._monotonic()
        try:
            with self._http.stream(method, self._url + path, headers=headers, **sent) as response:
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if len(body) > MAX_BYTES:
                        raise TooLarge("The server's answer is too large.", hint="Ask for less at once.")
                    if self._monotonic() - began > self._seconds:
                        raise Unavailable("The server's answer does not end.", retry_after_seconds=1)
                return response.status_code, response.headers, bytes(body)
        except UnicodeEncodeError:
            raise InvalidInput("This contains a lone surrogate.", hint="Send whole Unicode characters.") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            message = f"{urlsplit(self._url).netloc} does not answer ({type(error).__name__})."
            raise Unavailable(message, retry_after_seconds=1, hint="Is it running? Try its /health.") from None

    def _raise(self, text: str, data: Mapping[str, Any], status: int = BadRequest.status) -> NoReturn:
        """Raise a refusal in the server's own words, without the code before them, with all of its details.

        A code of which `kernel.errors` has no class is that of its status, with the code.
        """
        code = str(data.get("code") or "")
        words = text.removeprefix(f"{code}: ").strip() or "The server refused the call."
        message, _, hint = words.partition(" Hint: ")
        details = {name: value for name, value in data.items() if name not in _NO_DETAILS}
        if code in (RateLimited.code, Unavailable.code):
            kind = RateLimited if code == RateLimited.code else Unavailable
            given = data.get("retryAfterSeconds")
            wait = int(given) if isinstance(given, int | float) and 0 < given <= 86_400 else 1
            raise _detailed(kind(message, retry_after_seconds=wait, hint=hint or None), details)
        if words.startswith("INTERNAL_ERROR") or data.get("rpc") == INTERNAL:
            raise Unavailable("The server failed.", retry_after_seconds=1, hint="Try again later.")
        if words.startswith("Access denied"):
            raise _detailed(Forbidden(message, hint=hint or self._hint), details)
        refusal = _REFUSALS.get(code) or _BY_STATUS.get(status, BadRequest)
        if code not in ("", refusal.code):
            refusal = type(refusal.__name__, (refusal,), {"code": code})
        own_hint = self._hint if refusal is Unauthorized else ""
        raise _detailed(refusal(message, hint=own_hint or hint or None), details)

    def _refuse(self, status: int, headers: httpx.Headers) -> NoReturn:
        """Raise what HTTP itself says, before anything was called."""
        given = retry_after(headers.get("retry-after"), self._clock())
        wait = 1 if given is None else min(max(1, math.ceil(given)), 86_400)
        if status == 429:
            raise RateLimited("Too many calls.", retry_after_seconds=wait)
        if status >= 500 or status == 408:
            raise Unavailable(f"The server answers {status}.", retry_after_seconds=wait)
        if status == 401:
            refused = "The server does not accept this token."
            message = refused if self._token is not None else "The server requires a token, and none is set."
            raise Unauthorized(message, hint=self._hint)
        if status == 403:
            raise Forbidden("The token may not do this.", hint=self._hint)
        if status == 404:
            served = f"No {self._toolset} is" if self._toolset else "Nothing of this kind is"
            raise NotFound(f"{served} served at this address.", hint="Give the base URL of a deployment with one.")
        if status == 413:
            raise TooLarge("One call was too large for the server.", hint="Shorten the longest entries.")
        raise BadRequest(f"The server answers {status}.", hint="Is the address the base URL of a deployment?")


class Patient:
    """A server whose calls wait and are repeated. Every call through it may be repeated without harm."""

    def __init__(
        self,
        server: Any,
        *,
        outage_seconds: float,
        limited_seconds: float = LIMITED_SECONDS,
        sleep: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        waiting: Callable[[float, str], object] = lambda seconds, why: None,  # noqa: ARG005 - says nothing
    ) -> None:
        """`server` is a Server, or what has the same calls. `waiting` is called before each wait.

        `outage_seconds` are those of one outage, the time that a silent server takes included.
        """
        self._server = server
        self._outage, self._limited = outage_seconds, limited_seconds
        self._sleep, self._monotonic = sleep, monotonic
        self._waiting = waiting

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer of `Server.call`."""
        return self._repeated(lambda: dict(self._server.call(tool, arguments)))

    def rest(self, method: str, path: str, *, body: Any = None, **query: Any) -> dict[str, Any]:
        """Return the answer of `Server.rest`."""
        return self._repeated(lambda: dict(self._server.rest(method, path, body=body, **query)))

    def _repeated(self, call: Callable[[], R]) -> R:
        outage, limited, pause = self._outage, self._limited, FIRST_PAUSE
        while True:
            began = self._monotonic()
            try:
                return call()
            except RateLimited as error:
                limited = self._wait(error, FIRST_PAUSE, limited, "it takes so many calls only")
            except Unavailable as error:
                outage = self._wait(error, pause, outage - (self._monotonic() - began), "it does not answer")
                pause *= 2

    def _wait(self, error: RateLimited | Unavailable, least: float, left: float, why: str) -> float:
        """Wait as long as the server says, and return what is left. Raises the error when that is too little."""
        seconds = max(least, float(error.retry_after_seconds))
        if seconds > left:
            raise error
        self._waiting(seconds, why)
        self._sleep(seconds)
        return left - seconds


class Toolset:
    """The operations of one toolset that have an address, each a method with its arguments.

    What an operation requires may be given by position. A listing returns an iterator over the rows of all its pages,
    which are read when they are needed; any other operation returns its answer as the REST API has it.
    """

    def __init__(self, server: Any, operations: Iterable[Operation]) -> None:
        """`server` is a Server, or what has the same calls."""
        self._server = server
        self._operations = {one.name: one for one in operations if one.rest}

    def __dir__(self) -> list[str]:
        return [*self._operations]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._operations:
            raise AttributeError(f"There is no operation {name}. There are: {', '.join(self._operations)}.")
        one = self._operations[name]

        def call(*values: Any, **named: Any) -> Any:
            given = signature.bind(*values, **named).arguments
            return self._rows(one, given) if hasattr(one, "of") else self.answer(name, **given)

        signature = _signature(one)
        call.__name__, call.__doc__ = name, one.description
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    def answer(self, name: str, /, **given: Any) -> dict[str, Any]:
        """Return the answer of one call: one page of a listing, where `limit` and `cursor` say which."""
        method, path, query, body = self._operations[name].request(given)
        answer: dict[str, Any] = self._server.rest(method, path, body=body, **query)
        return answer

    def _rows(self, one: Any, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        cursor = given.get("cursor")
        while True:
            page = self.answer(one.name, **{**given, "cursor": cursor})
            yield from page[one.of]
            cursor = page.get("nextCursor")
            if not cursor:
                return


class Client:
    """A deployment over REST: `client.hive` and `client.memory` are the operations of its capabilities.

    As a context manager it closes its connections.
    """

    def __init__(self, base_url: str, token: str | None = None, **options: Any) -> None:
        """`options` are those of Server: `seconds`, `transport`."""
        self._server = Server(base_url, token, **options)

    def __getattr__(self, capability: str) -> Toolset:
        try:
            return Toolset(self._server, import_module(f"commonplace.{capability}.operations").OPERATIONS)
        except (ModuleNotFoundError, AttributeError):
            raise AttributeError(f"There is no capability {capability} with operations.") from None

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _signature(one: Operation) -> inspect.Signature:
    """Return the arguments of an operation: what it requires in order, then what is given by name."""
    fields = [(name, info, info.is_required()) for name, info in one.input.model_fields.items()]
    either, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            *(inspect.Parameter(name, either, annotation=info.annotation) for name, info, needed in fields if needed),
            *(
                inspect.Parameter(
                    name, named, annotation=info.annotation, default=info.get_default(call_default_factory=True)
                )
                for name, info, needed in fields
                if not needed
            ),
        ]
    )


def _detailed(error: CommonplaceError, details: Mapping[str, Any]) -> CommonplaceError:
    """Return the error with the details of the server beside its own."""
    error.details = {**details, **error.details}
    return error


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unavailable("The server answered with something else than MCP.", hint="Is the address right?")
    return value
