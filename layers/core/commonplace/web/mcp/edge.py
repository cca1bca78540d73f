"""One POST, one answer: a deadline, a barrier against defects, and the SDK's server for exactly one request.

Nothing outlives a request, so the application runs on Lambda, where each invocation brings a loop to a standstill, as
well as on any other server. The SDK's own application wants a lifespan, which serves the first invocation alone.
"""

import json
import logging
from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.web.mcp.reception import MESSAGE, request_id, tool_called
from commonplace.web.mcp.refusing import internal, invalid, rpc_error

logger = logging.getLogger(__name__)

DEADLINE_SECONDS = 28.0
"""Where nobody says how much time is left: a second below the function's timeout, two below the gateway's."""

MARGIN_SECONDS = 1.0
"""What is left of an invocation when its answer is given up."""

TIMED_OUT = "Request timed out"

_HINTS = {406: "Accept must allow application/json and text/event-stream."}
"""Where the SDK says nothing."""


class Shield:
    """Answers before the function is ended, answers a defect without its details, and answers in JSON."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(scope, receive, send)
        try:
            with anyio.move_on_after(_seconds_left(scope)) as limit:
                await self._app(scope, receive, answer.send)
            if limit.cancelled_caught:
                logger.warning("an mcp request ran out of time")
                await answer.give_up()
            else:
                await answer.complete()
        except Exception:
            logger.exception("an mcp request failed")
            await answer.complete()


class _Answer:
    """What is sent, with the SDK's refusals in plain text turned into JSON-RPC errors."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._parts = (scope, receive, send)
        self._id = request_id(scope)
        self._send = send
        self._status: int | None = None
        self._media_type = b""
        self._refused = False
        self._complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = int(message["status"])
            self._media_type = dict(message["headers"]).get(b"content-type", b"")
            self._refused = self._status >= 400 and not self._media_type.startswith(b"application/json")
            if self._refused:
                return
        elif not message.get("more_body"):
            self._complete = True
            if self._refused:
                await self._refuse()
                return
        await self._send(message)

    async def give_up(self) -> None:
        """Says that time is over; within a stream that has begun, as its last event."""
        if self._status is None:
            await rpc_error(504, INTERNAL_ERROR, TIMED_OUT, self._id)(*self._parts)
        elif not self._complete and self._media_type.startswith(b"text/event-stream"):
            error = {"jsonrpc": "2.0", "id": self._id, "error": {"code": INTERNAL_ERROR, "message": TIMED_OUT}}
            event = f"event: message\r\ndata: {json.dumps(error)}\r\n\r\n"
            await self._send({"type": "http.response.body", "body": event.encode()})
        else:
            await self.complete()

    async def complete(self) -> None:
        """Ends what was left unfinished: a gateway waits for the end of every answer."""
        if self._complete:
            return
        if self._status is None:
            await internal(self._id)(*self._parts)
        elif self._refused:
            await self._refuse()
        else:
            await self._send({"type": "http.response.body", "body": b""})

    async def _refuse(self) -> None:
        status = self._status or 500
        await invalid(_HINTS.get(status, HTTPStatus(status).phrase), self._id, status=status)(*self._parts)


class Endpoint:
    """The server of one path, built at its first request, and a session manager of its own for each request."""

    def __init__(self, build: Callable[[], Server[Any]], talking: Collection[str] = ()) -> None:
        """`talking` are tools that tell clients about their work before they are done."""
        self._build = build
        self._talking = talking

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = StreamableHTTPSessionManager(
            app=self._build(), stateless=True, json_response=not self._streams(scope), session_idle_timeout=None
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
        # Clients of the older versions are told of a tool's work without having asked.
        return tool_called(scope) in self._talking and is_legacy(scope)


def is_legacy(scope: Scope) -> bool:
    """Whether the SDK will take the request for one of the versions with a handshake."""
    version = next((value for name, value in scope["headers"] if name == b"mcp-protocol-version"), None)
    return version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS


def _seconds_left(scope: Scope) -> float:
    context = scope.get("aws.context")
    if context is None:
        return DEADLINE_SECONDS
    left = float(context.get_remaining_time_in_millis()) / 1000
    return max(0.05, min(DEADLINE_SECONDS, left - MARGIN_SECONDS))
