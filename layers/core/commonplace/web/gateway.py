"""The adapter between events of API Gateway, payload 2.0 and 1.0, and an ASGI application."""

from __future__ import annotations

import asyncio
import base64
import re
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mangum import Mangum
from mangum.types import ASGI, LambdaContext
from starlette.types import ASGIApp, Message

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.origin import Knows, entered, refused

if TYPE_CHECKING:
    from commonplace.web.stream_runtime import Answer

TEXT_TYPES = [
    *("text/", "application/json", "application/feed+json", "application/atom+xml", "application/schema+json"),
    *("application/javascript", "application/xml", "image/svg+xml"),
]
"""Bodies of these types travel as text, all others as base64."""

MAX_TEXT_BYTES = 2_900_000
"""Escaping can double a text inside the function's answer, which may have 6 MiB; base64 adds a third, always."""

_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?")


class Gateway:
    """A Lambda handler round an application. One event at a time in each thread, no lifespan.

    An event without a request, as schedules send to keep a function warm, is answered and goes no further.
    Behind a front door `origin` knows its value, and what went round it is refused.
    """

    def __init__(self, app: ASGIApp, *, origin: Knows | None = None) -> None:
        self._origin = origin
        self._loops = _Loops()
        self._loops.settle()
        self._app = app
        self._adapter = Mangum(cast(ASGI, app), lifespan="off", text_mime_types=TEXT_TYPES)

    def __call__(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        if "requestContext" not in event:
            return {"ok": True}
        try:
            request = self._entered(event)
        except CommonplaceError as error:
            return refused(error)
        loop = self._loops.settle()
        try:
            answer = self._adapter(request, context)
        finally:
            self._clear(loop)
        # In types that every runtime can write, and small enough for a function's answer.
        answer = answer | {"statusCode": int(answer["statusCode"])}
        body = answer.get("body") or ""
        if not answer.get("isBase64Encoded") and len(body) > MAX_TEXT_BYTES // 4:
            raw = body.encode()
            if len(raw) > MAX_TEXT_BYTES:
                return answer | {"body": base64.b64encode(raw).decode(), "isBase64Encoded": True}
        return answer

    def _entered(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the event as the adapter takes it. Raises what `origin.entered` does."""
        event = event if self._origin is None else entered(event, self._origin)
        # Without a Host header that is none: the adapter takes it apart without looking.
        headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
        request = dict(event) | {"headers": headers}
        if "host" in headers and not _HOST.fullmatch(headers["host"]):
            own = event.get("requestContext", {}).get("domainName") or ""
            headers["host"] = own if _HOST.fullmatch(own) else "localhost"
            many = event.get("multiValueHeaders") or {}
            if others := {name: values for name, values in many.items() if name.lower() != "host"}:
                request["multiValueHeaders"] = others
        return request

    @staticmethod
    def _clear(loop: asyncio.AbstractEventLoop) -> None:
        """End tasks that a request has left behind: they would stand still until the next one, and then disturb it."""
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=1))


class StreamingGateway(Gateway):
    """A handler of `web.stream_runtime`: what comes by a REST API is answered as it comes, all else whole."""

    def __call__(
        self, event: Mapping[str, Any], context: LambdaContext, answer: Answer | None = None
    ) -> dict[str, Any]:
        if answer is None:
            return super().__call__(event, context)
        try:
            request = self._entered(event)
        except CommonplaceError as error:
            said = refused(error)
            answer.start(said["statusCode"], said["headers"])
            answer.write(said["body"].encode())
            return {}
        loop = self._loops.settle()
        try:
            loop.run_until_complete(self._stream(request, context, answer))
        finally:
            self._clear(loop)
        return {}

    async def _stream(self, request: dict[str, Any], context: LambdaContext, answer: Answer) -> None:
        handler = self._adapter.infer(request, context)
        bodies = [handler.body]

        async def receive() -> Message:
            if bodies:
                return {"type": "http.request", "body": bodies.pop(), "more_body": False}
            # No caller's leaving is ever announced.
            never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
            return await never

        async def send(message: Message) -> None:
            # In a thread: a slow caller must not hold up what works for the answer.
            if message["type"] == "http.response.start":
                headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
                plain = {name: value for name, value in headers if name.lower() != "set-cookie"}
                cookies = [value for name, value in headers if name.lower() == "set-cookie"]
                await asyncio.to_thread(answer.start, message["status"], plain, cookies)
            else:
                await asyncio.to_thread(answer.write, message.get("body", b""))

        await self._app(handler.scope, receive, send)


class _Loops(threading.local):
    """The event loop of each thread that handles events: for life, as the adapter takes whichever is current.

    To get one from asyncio is an error or a deprecated favour, depending on thread and Python. Each is closed when its
    thread has ended, or the gateway is gone.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._held = _Held()
        weakref.finalize(self._held, self._loop.close)

    def settle(self) -> asyncio.AbstractEventLoop:
        """Make this thread's loop the current one."""
        asyncio.set_event_loop(self._loop)
        return self._loop


class _Held:
    """Lives as long as what holds it."""
