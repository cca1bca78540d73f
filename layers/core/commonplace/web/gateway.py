"""The adapter between events of API Gateway, payload 2.0 and 1.0, and an ASGI application."""

import asyncio
import base64
import re
import threading
import weakref
from collections.abc import Mapping
from typing import Any, cast

from mangum import Mangum
from mangum.types import ASGI, LambdaContext
from starlette.types import ASGIApp

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.origin import Knows, entered, refused

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
        self._adapter = Mangum(cast(ASGI, app), lifespan="off", text_mime_types=TEXT_TYPES)

    def __call__(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        if "requestContext" not in event:
            return {"ok": True}
        try:
            event = event if self._origin is None else entered(event, self._origin)
        except CommonplaceError as error:
            return refused(error)
        # Without a Host header that is none: the adapter takes it apart without looking.
        headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
        request = dict(event) | {"headers": headers}
        if "host" in headers and not _HOST.fullmatch(headers["host"]):
            own = event.get("requestContext", {}).get("domainName") or ""
            headers["host"] = own if _HOST.fullmatch(own) else "localhost"
            many = event.get("multiValueHeaders") or {}
            if others := {name: values for name, values in many.items() if name.lower() != "host"}:
                request["multiValueHeaders"] = others
        loop = self._loops.settle()
        try:
            answer = self._adapter(request, context)
        finally:
            # Tasks that a request has left behind would stand still until the next one, and then disturb it.
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=1))
        # In types that every runtime can write, and small enough for a function's answer.
        answer = answer | {"statusCode": int(answer["statusCode"])}
        body = answer.get("body") or ""
        if not answer.get("isBase64Encoded") and len(body) > MAX_TEXT_BYTES // 4:
            raw = body.encode()
            if len(raw) > MAX_TEXT_BYTES:
                return answer | {"body": base64.b64encode(raw).decode(), "isBase64Encoded": True}
        return answer


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
