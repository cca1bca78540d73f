"""What holds for every answer of the authorization server: never cached unless it says so, and no defect shows."""

import logging

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.identity.oauth.server.errors import NO_STORE, envelope, told
from commonplace.kernel.errors import CommonplaceError

logger = logging.getLogger(__name__)


class Surface:
    """The outermost layer. Pure ASGI."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def telling(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _complete(MutableHeaders(raw=message["headers"]))
            await send(message)

        try:
            await self._app(scope, receive, telling)
        except CommonplaceError as error:
            if started:
                raise
            await envelope(error)(scope, receive, telling)
        except Exception as error:
            logger.error("request failed", extra=told(error) | {"path": scope.get("path", "")})
            if started:
                raise
            await envelope(CommonplaceError("An unexpected error occurred."))(scope, receive, telling)


def _complete(headers: MutableHeaders) -> None:
    headers["x-content-type-options"] = "nosniff"
    if "cache-control" not in headers:
        headers.update(NO_STORE)
