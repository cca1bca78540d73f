"""Reading a request: POST only, everything bounded, one JSON-RPC message, parsed once for every layer inside."""

import json
from typing import Any, NoReturn

from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.web.mcp.cors import METHODS
from commonplace.web.mcp.refusing import RequestId, invalid, rpc_error

MESSAGE = "commonplace.message"
"""Key in the ASGI scope of the parsed message, a dict with `method`; with `id` it is a request."""

MAX_BODY_BYTES = 1 << 20
MAX_HEADERS = 100
MAX_HEADER_BYTES = 16_384
MAX_DEPTH = 64
MAX_ID_CHARACTERS = 1_024
MAX_METHOD_CHARACTERS = 256

ANYTHING = b"application/json, text/event-stream"


class Reception:
    """Refuses what cannot be a message in JSON, and hands on the rest with headers as they were meant."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (refused := _unfit(scope)) is not None:
            await refused(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            return
        message, refused = understood(body)
        if refused is not None:
            await refused(scope, receive, send)
            return
        inner = {**scope, "headers": _headers(scope), MESSAGE: message}
        await self._app(inner, _replayed(body, receive), send)


def _unfit(scope: Scope) -> Response | None:
    if scope["method"] != "POST":
        told = "MCP is spoken here, by POST. How to connect a client: /connect."
        return rpc_error(405, INVALID_REQUEST, told, headers={"allow": METHODS})
    headers = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        return invalid("The request's headers are too large.", status=431)
    kind = next((bytes(value) for name, value in headers if name == b"content-type"), b"")
    if kind.partition(b";")[0].strip().lower() != b"application/json":
        return invalid("Content-Type must be application/json.")
    return None


def understood(body: bytes) -> tuple[dict[str, Any], Response | None]:
    """The message, or why it is none. The SDK would refuse most of this too, in other words for either era."""
    if len(body) > MAX_BODY_BYTES:
        return {}, invalid(f"The request's body has more than {MAX_BODY_BYTES} bytes.", status=413)
    try:
        message = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):  # deep nesting is no ValueError
        return {}, rpc_error(400, PARSE_ERROR, "The request's body is not JSON in UTF-8.")
    if not isinstance(message, dict):
        return {}, invalid("One JSON-RPC message is expected. Batches are no part of MCP.")
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
