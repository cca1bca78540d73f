"""The HTTP edge of MCP: one bounded JSON-RPC message per POST, or one batch, one answer, within a deadline.

Nothing outlives a request, so the application runs on Lambda, where each invocation stops the event loop, as on any
other server. The SDK's own application needs a lifespan, which serves the first invocation alone.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NoReturn

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_one
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.web.mcp.errors import MESSAGE, RequestId, internal, invalid, rpc_error
from commonplace.web.mcp.invisible import cleaned_message
from commonplace.web.mcp.rendering import compact
from commonplace.web.middleware import header_map

logger = logging.getLogger(__name__)

METHODS = ("POST", "OPTIONS")
MAX_BODY_BYTES = 1 << 20
MAX_HEADERS = 100
MAX_HEADER_BYTES = 16_384
MAX_DEPTH = 64
MAX_ID_CHARACTERS = 1_024
MAX_METHOD_CHARACTERS = 256
MAX_BATCH = 20
"""Messages of a batch, which run at once: fewer than there are threads for tools."""

ANYTHING = b"application/json, text/event-stream"

DEADLINE_SECONDS = 28.0
"""Where nobody says how much time is left: a second below the function's timeout, two below the gateway's."""

MARGIN_SECONDS = 1.0
"""What is left of an invocation when its answer is given up."""

TIMED_OUT = "Request timed out"

_EVENT = re.compile(rb"(?<=data: )\{[^\r\n]*")
"""The message in an event of a stream: the SDK sends each in one piece."""

_MEMBERS = {"jsonrpc", "id", "method", "params"}

VERSIONS = [*MODERN_PROTOCOL_VERSIONS, *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]
"""All that are served, the newest first."""

_OF_A_BODY = ("content-length", "content-type")

_HINTS = {406: "Accept must allow application/json and text/event-stream."}
"""Where the SDK says nothing."""


class RequestFilter:
    """Refuses what cannot be a message in JSON, and hands on the rest with headers as they were meant.

    Each message of a batch goes on as a request of its own, all at once, so that one deadline holds for all of them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (refused := _unfit(scope)) is not None:
            await refused(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            return
        # A client of 2025-03-26 does not send the header yet.
        version = header_map(scope).get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION).strip()
        message, refused = understood(body)
        if isinstance(message, list) and version == DEFAULT_NEGOTIATED_VERSION:
            refused = await self._answered(scope, receive, message)
        elif isinstance(message, list):
            refused = invalid("One JSON-RPC message is expected. Batches are part of MCP 2025-03-26 alone.")
        elif refused is None and version not in VERSIONS:
            data = {"supported": VERSIONS, "requested": version[:MAX_METHOD_CHARACTERS]}
            told = f"Unsupported protocol version. Supported are {', '.join(VERSIONS)}."
            refused = rpc_error(400, UNSUPPORTED_PROTOCOL_VERSION, told, message.get("id"), data=data)
        if refused is not None:
            await refused(scope, receive, send)
            return
        inner = {**scope, "headers": _headers(scope), MESSAGE: message}
        await self._app(inner, _replayed(body, receive), send)

    async def _answered(self, scope: Scope, receive: Receive, batch: list[Any]) -> Response:
        """The answers to a batch (2025-03-26, Base Protocol, Batching). Notifications and responses have none."""
        if not 0 < len(batch) <= MAX_BATCH or _deeper(batch, MAX_DEPTH + 1):
            return invalid(f"A batch has 1 to {MAX_BATCH} messages, nested at most {MAX_DEPTH} deep.")
        sent: list[list[Message]] = [[] for _ in batch]
        async with anyio.create_task_group() as group:
            for message, parts in zip(batch, sent, strict=True):
                group.start_soon(self._answer_one, scope, receive, message, parts)
        statuses = {start["status"] for start, *_ in sent}
        headers = dict(pair for start, *_ in sent for pair in Headers(scope=start).items() if pair[0] not in _OF_A_BODY)
        said = [body for _, *parts in sent if (body := b"".join(part.get("body", b"") for part in parts))]
        # A refusal that meets every message, such as that of a token, is the answer's own.
        status = statuses.pop() if len(statuses) == 1 else 200
        content = b"[" + b",".join(said) + b"]" if said else b""
        return Response(content, status, headers, media_type="application/json" if said else None)

    async def _answer_one(self, scope: Scope, receive: Receive, message: Any, sent: list[Message]) -> None:
        if isinstance(message, dict) and "method" not in message and message.keys() & {"result", "error"}:
            # A response to a server that asks nothing: it is counted like a notification, and has no effect.
            message = {"jsonrpc": "2.0", "method": "notifications/response"}
        body = json.dumps(message).encode()
        message, refused = understood(body)
        if isinstance(message, list) or message.get("method") == "initialize":
            refused = invalid(
                "Neither a batch nor initialize is part of a batch.",
                None if isinstance(message, list) else message.get("id"),
            )
        # Without a stream: its events could not stand in one array.
        headers = [one for one in _headers(scope) if one[0] != b"accept"] + [(b"accept", b"application/json")]

        async def keep(part: Message) -> None:
            sent.append(part)

        inner = {**scope, "headers": headers, MESSAGE: message}
        await (refused or self._app)(inner, _replayed(body, receive), keep)


def _unfit(scope: Scope) -> Response | None:
    if scope["method"] != "POST":
        told = "MCP is spoken here, by POST. How to connect a client: /connect."
        return rpc_error(405, INVALID_REQUEST, told, headers={"allow": ", ".join(METHODS)})
    headers = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        return invalid("The request's headers are too large.", status=431)
    kind = next((bytes(value) for name, value in headers if name == b"content-type"), b"")
    if kind.partition(b";")[0].strip().lower() != b"application/json":
        return invalid("Content-Type must be application/json.")
    return None


def understood(body: bytes) -> tuple[Any, Response | None]:
    """The message, a list of what may be some, or why it is none.

    The SDK would refuse most of this too, in other words for either era."""
    if len(body) > MAX_BODY_BYTES:
        return {}, invalid(f"The request's body has more than {MAX_BODY_BYTES} bytes.", status=413)
    try:
        message = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):  # deep nesting is no ValueError
        return {}, rpc_error(400, PARSE_ERROR, "The request's body is not JSON in UTF-8.")
    if isinstance(message, list):
        return message, None
    if not isinstance(message, dict):
        return {}, invalid("One JSON-RPC message is expected.")
    return message, _problem(message, body)


def _problem(message: dict[str, Any], body: bytes) -> Response | None:
    request_id = message.get("id")
    if "id" in message and not _is_id(request_id):
        return invalid("id must be a string or a whole number, and not null.")
    if message.get("jsonrpc") != "2.0":
        return invalid('jsonrpc must be "2.0".', request_id)
    method = message.get("method")
    if not isinstance(method, str) or not method or len(method) > MAX_METHOD_CHARACTERS:
        return invalid("method must name what is asked for. Answers to a server are not expected here.", request_id)
    if not isinstance(message.get("params", {}), dict):
        return rpc_error(400, INVALID_PARAMS, "params must be an object.", request_id)
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and _deeper(message, MAX_DEPTH):
        return invalid(f"The request is nested more than {MAX_DEPTH} deep.", request_id)
    return None


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARACTERS and value.isprintable()
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _deeper(value: Any, depth: int) -> bool:
    """Level by level, for recursion has a limit of its own."""
    level = [value]
    while level and depth:
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inner for item in items]
        depth -= 1
    return any(isinstance(item, dict | list) for item in level)


def _no_number(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


async def _body(receive: Receive) -> bytes | None:
    """As far as it is worth reading; None when the client has gone."""
    body, more = bytearray(), True
    while more and len(body) <= MAX_BODY_BYTES:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        body += event.get("body", b"")
        more = event.get("more_body", False)
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    queue: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return queue.pop() if queue else await receive()

    return replay


def _headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """As the SDK compares them: without the spaces round values that RFC 9110 (section 5.5) allows, one content type.

    Whoever says nothing of what it accepts, accepts anything (section 12.5.1); the SDK would answer 406.
    """
    replaced = (b"content-type", b"accept")
    headers = [(bytes(name), bytes(value).strip()) for name, value in scope["headers"]]
    accepted = [(name, value) for name, value in headers if name == b"accept" and value]
    kept = [header for header in headers if header[0] not in replaced]
    return [*kept, (b"content-type", b"application/json"), *(accepted or [(b"accept", ANYTHING)])]


def request_id(scope: Scope) -> RequestId:
    """Of the message at hand; None for a notification."""
    found: RequestId = scope[MESSAGE].get("id")
    return found


def tool_called(scope: Scope) -> str | None:
    """The name in a request for a tool's work; None for every other message, and for a name that is none."""
    message = scope[MESSAGE]
    name = (message.get("params") or {}).get("name")
    return name if message["method"] == "tools/call" and "id" in message and isinstance(name, str) else None


class Shield:
    """Answers before the function is ended, in JSON, without invisible characters; a defect cuts no answer off.

    Every answer passes it, whole or as the events of a stream: results, lists, errors and notifications.
    """

    def __init__(self, app: ASGIApp, verbatim: Collection[str] = ()) -> None:
        """`verbatim` are tools to whose texts nothing may be added."""
        self._app = app
        self._verbatim = verbatim

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tool = tool_called(scope)
        answer = _Answer(scope, receive, send, note=tool is not None and tool not in self._verbatim)
        try:
            with anyio.move_on_after(_seconds_left(scope)) as limit:
                await self._app(scope, receive, answer.send)
            if limit.cancelled_caught:
                logger.warning("an mcp request ran out of time")
                await answer.give_up()
            else:
                await answer.complete()
        except Exception:  # noqa: BLE001 - `Errors` has logged it, and could not answer: the answer had begun
            await answer.complete()


class _Answer:
    """The answer to send; the SDK's refusals in plain text become JSON-RPC errors."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, note: bool) -> None:
        self._parts = (scope, receive, send)
        self._id = request_id(scope)
        self._send = send
        self._note = note
        self._start: Message | None = None
        """Held until the body is whole."""
        self._body = bytearray()
        self._streams = self._json = False
        self._complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            media_type = bytes(dict(message["headers"]).get(b"content-type", b""))
            self._json = media_type.startswith(b"application/json")
            self._streams = media_type.startswith(b"text/event-stream") and message["status"] < 400
            self._start = message
            if self._streams:
                await self._send(message)
        elif self._streams:
            self._complete = not message.get("more_body")
            body = _EVENT.sub(lambda event: cleaned_message(event[0], note=self._note), message.get("body", b""))
            await self._send({**message, "body": body})
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish()

    async def give_up(self) -> None:
        """Says that time is over; within a stream that has begun, as its last event."""
        if self._streams and not self._complete:
            error = {"jsonrpc": "2.0", "id": self._id, "error": {"code": INTERNAL_ERROR, "message": TIMED_OUT}}
            event = f"event: message\r\ndata: {json.dumps(error)}\r\n\r\n"
            await self._send({"type": "http.response.body", "body": event.encode()})
        elif not self._complete:
            await rpc_error(504, INTERNAL_ERROR, TIMED_OUT, self._id)(*self._parts)

    async def complete(self) -> None:
        """Ends what was left unfinished: a gateway waits for the end of every answer."""
        if self._streams and not self._complete:
            await self._send({"type": "http.response.body", "body": b""})
        elif not self._complete:
            await internal(self._id)(*self._parts)

    async def _finish(self) -> None:
        start, body = self._start, bytes(self._body)
        if start is None:
            raise RuntimeError("the body of an answer came before its beginning")
        self._complete = True
        if start["status"] >= 400 and not self._json:
            status = int(start["status"])
            told = _HINTS.get(status, HTTPStatus(status).phrase)
            await invalid(told, self._id, status=status)(*self._parts)
            return
        if self._json:
            body = cleaned_message(body, note=self._note)
        MutableHeaders(scope=start)["content-length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


@dataclass(slots=True)
class Exchange:
    """A request that gets one answer and nothing else, as the SDK's dispatch context: it carries nothing back."""

    request_id: RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> NoReturn:  # noqa: ARG002
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        """Nothing: there is no stream to carry it."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nothing, likewise."""


class Endpoint:
    """The server of one path, built at its first request.

    Plain requests of the older versions are answered directly, as the SDK answers those of the newer ones. Everything
    else gets a session manager of the SDK's of its own: its streams and tasks cost more than a small call.
    """

    def __init__(self, build: Callable[[], Server[Any]], talking: Collection[str] = ()) -> None:
        """`talking` are tools that report progress to clients."""
        self._build = build
        self._talking = talking

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server, streams = self._build(), self._streams(scope)
        if not streams and is_legacy(scope) and _is_plain(scope):
            await (await _answered(server, Request(scope, receive)))(scope, receive, send)
            return
        manager = StreamableHTTPSessionManager(
            app=server, stateless=True, json_response=not streams, session_idle_timeout=None
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _streams(self, scope: Scope) -> bool:
        """Whether there may be notifications to carry: without a stream the SDK drops them."""
        if not any(name == b"accept" and b"text/event-stream" in value for name, value in scope["headers"]):
            return False
        meta = (scope[MESSAGE].get("params") or {}).get("_meta")
        if isinstance(meta, dict) and ("progressToken" in meta or "io.modelcontextprotocol/logLevel" in meta):
            return True
        # Clients of the older versions get a tool's progress unsolicited.
        return tool_called(scope) in self._talking and is_legacy(scope)


def is_legacy(scope: Scope) -> bool:
    """Whether the SDK will take the request for one of the versions with a handshake."""
    version = next((value for name, value in scope["headers"] if name == b"mcp-protocol-version"), None)
    return version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS


def _is_plain(scope: Scope) -> bool:
    """Whether it is a request in JSON-RPC's own members, of a client that takes JSON, and no handshake."""
    message = scope[MESSAGE]
    return (
        message.keys() <= _MEMBERS
        and "id" in message
        and message["method"] != "initialize"
        and check_accept_headers(Request(scope))[0]
    )


async def _answered(server: Server[Any], request: Request) -> Response:
    """The answer to a plain request of an older version. Raises what is no failure in the protocol's terms."""
    message = request.scope[MESSAGE]
    version = request.headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
    told: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        told["result"] = await serve_one(
            server,
            Exchange(message["id"], ServerMessageMetadata(request_context=request)),
            message["method"],
            message.get("params"),
            connection=Connection.from_envelope(version, None, None),
            lifespan_state={},
        )
    except Exception as error:
        if (data := handler_exception_to_error_data(error)) is None:
            raise
        told["error"] = data.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Response(compact(told), media_type="application/json")


def _seconds_left(scope: Scope) -> float:
    context = scope.get("aws.context")
    if context is None:
        return DEADLINE_SECONDS
    left = float(context.get_remaining_time_in_millis()) / 1000
    return max(0.05, min(DEADLINE_SECONDS, left - MARGIN_SECONDS))
