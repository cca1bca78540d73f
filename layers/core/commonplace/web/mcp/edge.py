"""The HTTP edge of MCP: one bounded JSON-RPC message per POST, or one batch, one answer, within a deadline.

Nothing outlives a request, so the application runs on Lambda, where each invocation stops the event loop, as on any
other server. The SDK's own application needs a lifespan, which serves the first invocation alone.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from inspect import iscoroutinefunction
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
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.limits import Allowance
from commonplace.web.mcp.arguments import no_number
from commonplace.web.mcp.calls import VERSIONS
from commonplace.web.mcp.guard import Guard
from commonplace.web.mcp.offer import CALLER, Offer
from commonplace.web.mcp.rendering import cleaned_message, compact
from commonplace.web.middleware import error_headers, header_map, set_limit_headers

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
"""The time left of an invocation when its answer is given up."""
TIMED_OUT = "Request timed out"
MESSAGE = "commonplace.message"
"""Key in the ASGI scope of the parsed message, a dict with `method`; with `id` it is a request."""

_EVENT = re.compile(rb"(?<=data: )\{[^\r\n]*")
"""The message in an event of a stream: the SDK sends each in one piece."""
_MEMBERS = {"jsonrpc", "id", "method", "params"}
_OF_A_BODY = ("content-length", "content-type")
_CREDENTIALS = (b"authorization", b"cookie", b"proxy-authorization")
_HINTS = {406: "Accept must allow application/json and text/event-stream."}
"""Hints, by status, where the SDK gives none."""

RequestId = str | int | None


def rpc_error(
    status: int,
    code: int,
    message: str,
    request_id: RequestId = None,
    *,
    headers: Mapping[str, str] | None = None,
    data: Mapping[str, Any] | None = None,
) -> Response:
    """Return an answer of this status with a JSON-RPC error as its body."""
    error: dict[str, Any] = {"code": code, "message": message} | ({"data": dict(data)} if data else {})
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": error}, status, headers)


def invalid(message: str, request_id: RequestId = None, *, status: int = 400) -> Response:
    return rpc_error(status, INVALID_REQUEST, message, request_id)


def internal(request_id: RequestId) -> Response:
    """Return what a caller sees of a defect: nothing of it."""
    return rpc_error(500, INTERNAL_ERROR, "Internal error", request_id)


def render(scope: Scope, error: Exception) -> Response:
    """Return an error as JSON-RPC under the id of the message at hand; of a defect nothing is shown.

    Its HTTP status is its JSON-RPC code as well: outside the range that is reserved.
    """
    request_id: RequestId = scope.get(MESSAGE, {}).get("id")
    if isinstance(error, HTTPException):
        return invalid(error.detail, request_id, status=error.status_code)
    if not isinstance(error, CommonplaceError) or type(error) is CommonplaceError:
        return internal(request_id)
    data = {"code": error.code} | error.envelope()["error"]["details"]
    headers = error_headers(error, "Bearer")
    return rpc_error(error.status, error.status, error.message, request_id, headers=headers, data=data)


class Path:
    """One path: refuses what cannot be a message in JSON, and has the rest answered by a server.

    Each message of a batch is answered as a request of its own, all at once, so that one deadline holds for all. Every
    answer is sent before the function is ended, in JSON, without invisible characters; a defect cuts none off.
    """

    def __init__(self, guard: Guard, offer: Offer, server: Callable[[], Server[Any]]) -> None:
        self._guard = guard
        self._server = server
        self._verbatim = {name for name, one in offer.tools.items() if one.tool.verbatim}
        self._talking = {name for name, one in offer.tools.items() if iscoroutinefunction(one.tool.run)}
        """Tools that report progress to clients."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused: Response | None = None
        headers = scope["headers"]
        kind = next((bytes(value) for name, value in headers if name == b"content-type"), b"")
        if scope["method"] != "POST":
            hint = "MCP is spoken here, by POST. How to connect a client: /connect."
            refused = rpc_error(405, INVALID_REQUEST, hint, headers={"allow": ", ".join(METHODS)})
        elif len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
            refused = invalid("The request's headers are too large.", status=431)
        elif kind.partition(b";")[0].strip().lower() != b"application/json":
            refused = invalid("Content-Type must be application/json.")
        if refused is not None:
            await refused(scope, receive, send)
            return
        body, more = bytearray(), True
        while more and len(body) <= MAX_BODY_BYTES:
            event = await receive()
            if event["type"] == "http.disconnect":
                return
            body += event.get("body", b"")
            more = event.get("more_body", False)
        inner = {**scope, "headers": _headers(scope)}
        named = header_map(inner)
        # A client of 2025-03-26 does not send the header yet.
        version = named.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
        message, refused = understood(bytes(body))
        if isinstance(message, list) and version == DEFAULT_NEGOTIATED_VERSION:
            refused = await self._batch(inner, receive, message, named)
        elif isinstance(message, list):
            refused = invalid("One JSON-RPC message is expected. Batches are part of MCP 2025-03-26 alone.")
        elif refused is None and version not in VERSIONS:
            data = {"supported": VERSIONS, "requested": version[:MAX_METHOD_CHARACTERS]}
            hint = f"Unsupported protocol version. Supported are {', '.join(VERSIONS)}."
            refused = rpc_error(400, UNSUPPORTED_PROTOCOL_VERSION, hint, message.get("id"), data=data)
        if refused is not None:
            await refused(scope, receive, send)
        else:
            await self._answer({**inner, MESSAGE: message}, _replayed(bytes(body), receive), send, named)

    async def _batch(self, scope: Scope, receive: Receive, batch: list[Any], named: Mapping[str, str]) -> Response:
        """Return the answers to a batch (2025-03-26, Base Protocol, Batching). Notifications have none."""
        if not 0 < len(batch) <= MAX_BATCH or _deeper(batch, MAX_DEPTH + 1):
            return invalid(f"A batch has 1 to {MAX_BATCH} messages, nested at most {MAX_DEPTH} deep.")
        # Without a stream: its events could not stand in one array.
        headers = [one for one in scope["headers"] if one[0] != b"accept"] + [(b"accept", b"application/json")]

        async def answer_one(message: Any, sent: list[Message]) -> None:
            if isinstance(message, dict) and "method" not in message and message.keys() & {"result", "error"}:
                # A response to a server that sends no requests: it is counted like a notification, without effect.
                message = {"jsonrpc": "2.0", "method": "notifications/response"}
            body = json.dumps(message).encode()
            message, refused = understood(body)
            if isinstance(message, list) or message.get("method") == "initialize":
                request_id = None if isinstance(message, list) else message.get("id")
                refused = invalid("Neither a batch nor initialize is part of a batch.", request_id)

            async def gather(part: Message) -> None:
                sent.append(part)

            inner = {**scope, "headers": headers, MESSAGE: message}
            if refused is not None:
                await refused(inner, receive, gather)
            else:
                await self._answer(inner, _replayed(body, receive), gather, named)

        sent: list[list[Message]] = [[] for _ in batch]
        async with anyio.create_task_group() as group:
            for message, parts in zip(batch, sent, strict=True):
                group.start_soon(answer_one, message, parts)
        statuses = {start["status"] for start, *_ in sent}
        pairs = (pair for start, *_ in sent for pair in Headers(scope=start).items())
        bodies = [body for _, *parts in sent if (body := b"".join(part.get("body", b"") for part in parts))]
        return Response(
            b"[" + b",".join(bodies) + b"]" if bodies else b"",
            # A refusal that meets every message, such as that of a token, is the answer's own.
            statuses.pop() if len(statuses) == 1 else 200,
            dict(pair for pair in pairs if pair[0] not in _OF_A_BODY),
            media_type="application/json" if bodies else None,
        )

    async def _answer(self, scope: Scope, receive: Receive, send: Send, named: Mapping[str, str]) -> None:
        tool, context, seconds = tool_called(scope), scope.get("aws.context"), DEADLINE_SECONDS
        if context is not None:
            left = float(context.get_remaining_time_in_millis()) / 1000
            seconds = max(0.05, min(DEADLINE_SECONDS, left - MARGIN_SECONDS))
        answer = _Answer(scope, receive, send, note=tool is not None and tool not in self._verbatim)
        try:
            with anyio.move_on_after(seconds) as limit:
                caller = await self._guard.admit(scope, named, scope[MESSAGE], answer.met)
                # No tool can hand a token to anybody else (RFC 9700; the specification forbids it).
                headers = [one for one in scope["headers"] if one[0].lower() not in _CREDENTIALS]
                inner = {name: value for name, value in scope.items() if name != "aws.event"}
                await self._serve(inner | {"headers": headers, CALLER: caller}, receive, answer.send)
            if limit.cancelled_caught:
                logger.warning("an mcp request ran out of time")
                await answer.give_up()
                return
        except Exception as error:
            if not isinstance(error, CommonplaceError | HTTPException):
                logger.exception("request failed", extra={"path": scope.get("path", "")})
                error = CommonplaceError("An unexpected error occurred.")
            if not answer.begun:
                await render(scope, error)(scope, receive, answer.send)
        await answer.complete()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the server answer. Raises what is no failure in the protocol's terms.

        Plain requests of the older versions are answered directly, as the SDK answers those of the newer ones. All
        others get a session manager of the SDK's of its own: its streams and tasks cost more than a small call.
        """
        message, request = scope[MESSAGE], Request(scope, receive)
        version = request.headers.get("mcp-protocol-version")
        # The SDK takes these requests for one of the versions with a handshake.
        legacy = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        meta = (message.get("params") or {}).get("_meta")
        # Without a stream the SDK drops notifications. Clients of the older versions get a tool's progress unsolicited.
        progress = isinstance(meta, dict) and ("progressToken" in meta or "io.modelcontextprotocol/logLevel" in meta)
        accepts = any(name == b"accept" and b"text/event-stream" in value for name, value in scope["headers"])
        streams = accepts and (progress or (legacy and tool_called(scope) in self._talking))
        plain = "id" in message and message.keys() <= _MEMBERS and message["method"] != "initialize"
        if streams or not legacy or not plain or not check_accept_headers(request)[0]:
            manager = StreamableHTTPSessionManager(
                app=self._server(), stateless=True, json_response=not streams, session_idle_timeout=None
            )
            async with manager.run():
                await manager.handle_request(scope, receive, send)
            return
        content: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            content["result"] = await serve_one(
                self._server(),
                Exchange(message["id"], ServerMessageMetadata(request_context=request)),
                message["method"],
                message.get("params"),
                connection=Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None),
                lifespan_state={},
            )
        except Exception as error:
            if (data := handler_exception_to_error_data(error)) is None:
                raise
            content["error"] = data.model_dump(mode="json", by_alias=True, exclude_none=True)
        await Response(compact(content), media_type="application/json")(scope, receive, send)


def understood(body: bytes) -> tuple[Any, Response | None]:
    """Return the message, a list of what may be some, or why it is none.

    The SDK would refuse most of this too, in other words for either era."""
    if len(body) > MAX_BODY_BYTES:
        return {}, invalid(f"The request's body has more than {MAX_BODY_BYTES} bytes.", status=413)
    try:
        message = json.loads(body.decode("utf-8"), parse_constant=no_number)
    except (ValueError, RecursionError):  # deep nesting is no ValueError
        return {}, rpc_error(400, PARSE_ERROR, "The request's body is not JSON in UTF-8.")
    if isinstance(message, list):
        return message, None
    if not isinstance(message, dict):
        return {}, invalid("One JSON-RPC message is expected.")
    request_id, method, problem = message.get("id"), message.get("method"), None
    if isinstance(request_id, str):
        is_id = len(request_id) <= MAX_ID_CHARACTERS and request_id.isprintable()
    else:
        is_id = isinstance(request_id, int) and not isinstance(request_id, bool) and abs(request_id) < 2**63
    if "id" in message and not is_id:
        problem = invalid("id must be a string or a whole number, and not null.")
    elif message.get("jsonrpc") != "2.0":
        problem = invalid('jsonrpc must be "2.0".', request_id)
    elif not isinstance(method, str) or not method or len(method) > MAX_METHOD_CHARACTERS:
        problem = invalid("method must name what is asked for. Answers to a server are not expected here.", request_id)
    elif not isinstance(message.get("params", {}), dict):
        problem = rpc_error(400, INVALID_PARAMS, "params must be an object.", request_id)
    elif body.count(b"{") + body.count(b"[") > MAX_DEPTH and _deeper(message, MAX_DEPTH):
        problem = invalid(f"The request is nested more than {MAX_DEPTH} deep.", request_id)
    return message, problem


def _deeper(value: Any, depth: int) -> bool:
    """Return whether it is nested deeper: level by level, for recursion has a limit of its own."""
    level = [value]
    while level and depth:
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inner for item in items]
        depth -= 1
    return any(isinstance(item, dict | list) for item in level)


def _replayed(body: bytes, receive: Receive) -> Receive:
    queue: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return queue.pop() if queue else await receive()

    return replay


def _headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return headers as the SDK compares them: without the spaces that RFC 9110 (section 5.5) allows, one content type.

    Whoever says nothing of what it accepts, accepts anything (section 12.5.1); the SDK would answer 406.
    """
    replaced = (b"content-type", b"accept")
    headers = [(bytes(name), bytes(value).strip()) for name, value in scope["headers"]]
    accepted = [(name, value) for name, value in headers if name == b"accept" and value]
    others = [header for header in headers if header[0] not in replaced]
    return [*others, (b"content-type", b"application/json"), *(accepted or [(b"accept", ANYTHING)])]


def tool_called(scope: Scope) -> str | None:
    """Return the name in a request for a tool's work; None for every other message, and for a name that is none."""
    message = scope[MESSAGE]
    name = (message.get("params") or {}).get("name")
    return name if message["method"] == "tools/call" and "id" in message and isinstance(name, str) else None


class _Answer:
    """The answer to send, with the rate limits that the request met.

    Its start waits for its body: a tool is counted after its stream has begun. The SDK's refusals in plain text become
    JSON-RPC errors.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, note: bool) -> None:
        self.met: list[Allowance] = []
        self.begun = False
        self._parts = (scope, receive, send)
        self._id: RequestId = scope[MESSAGE].get("id")
        self._send = send
        self._note = note
        self._start: Message = {}
        self._body = bytearray()
        self._streams = self._json = self._streamed = self._complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            media_type = bytes(dict(message["headers"]).get(b"content-type", b""))
            self._json = media_type.startswith(b"application/json")
            self._streams = media_type.startswith(b"text/event-stream") and message["status"] < 400
            self._start, self.begun = message, True
            return
        if not self._streams:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish()
            return
        if not self._streamed:
            self._streamed = True
            await self._send_start()
        self._complete = not message.get("more_body")
        body = _EVENT.sub(lambda event: cleaned_message(event[0], note=self._note), message.get("body", b""))
        await self._send({**message, "body": body})

    async def give_up(self) -> None:
        """Say that time is over; within a stream that has begun, as its last event."""
        if self._streamed and not self._complete:
            error = {"jsonrpc": "2.0", "id": self._id, "error": {"code": INTERNAL_ERROR, "message": TIMED_OUT}}
            event = f"event: message\r\ndata: {json.dumps(error)}\r\n\r\n"
            await self._send({"type": "http.response.body", "body": event.encode()})
        elif not self._complete:
            await rpc_error(504, INTERNAL_ERROR, TIMED_OUT, self._id)(*self._parts)

    async def complete(self) -> None:
        """End what was left unfinished: a gateway waits for the end of every answer."""
        if self._streamed and not self._complete:
            await self._send({"type": "http.response.body", "body": b""})
        elif not self._complete:
            await internal(self._id)(*self._parts)

    async def _finish(self) -> None:
        if not self.begun:
            raise RuntimeError("the body of an answer came before its beginning")
        self._complete = True
        status, body = int(self._start["status"]), bytes(self._body)
        if status >= 400 and not self._json:
            reason = _HINTS.get(status, HTTPStatus(status).phrase)
            await invalid(reason, self._id, status=status)(*self._parts)
            return
        if self._json:
            body = cleaned_message(body, note=self._note)
        MutableHeaders(scope=self._start)["content-length"] = str(len(body))
        await self._send_start()
        await self._send({"type": "http.response.body", "body": body})

    async def _send_start(self) -> None:
        if self.met:
            set_limit_headers(MutableHeaders(scope=self._start), self.met)
        await self._send(self._start)


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
        """Send nothing: there is no stream to carry it."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send nothing, likewise."""
