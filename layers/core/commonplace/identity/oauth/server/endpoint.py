"""One address of the authorization server that programs call: methods, CORS, and OAuth's way of failing."""

import logging
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.server import telemetry
from commonplace.identity.oauth.server.errors import NO_STORE, as_oauth, oauth_answer, server_error, told
from commonplace.kernel.errors import CommonplaceError

logger = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]

EVENT = "event"
"""In a request's state: what it turned out to be about, in place of what its address is mostly for."""

CORS = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "WWW-Authenticate, Retry-After",
}
"""Any page may call; none brings cookies along, for credentials are not allowed and none are read here."""
PREFLIGHT = {
    "access-control-allow-headers": "Authorization, Content-Type, MCP-Protocol-Version",
    "access-control-max-age": "86400",
}


class Endpoint:
    """Answers everything that is sent to its address, whatever happens on the way."""

    def __init__(self, method: str, handler: Handler, *, cors: bool, event: telemetry.Event | None = None) -> None:
        """`method` is the one that it takes, beside OPTIONS, and HEAD for GET. Failures are told as `event`."""
        methods = ("GET", "HEAD") if method == "GET" else (method,)
        self._methods = (*methods, "OPTIONS") if cors else methods
        self._handler = handler
        self._cors = cors
        self._event = event

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        answer = await self._answer(request)
        if self._cors:
            answer.headers.update(CORS)
        if request.method == "HEAD":
            answer.body = b""
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        allow = {"allow": ", ".join(self._methods)}
        if request.method == "OPTIONS" and self._cors:
            methods = {"access-control-allow-methods": allow["allow"]}
            return Response(status_code=204, headers=allow | PREFLIGHT | methods | NO_STORE)
        if request.method not in self._methods:
            return oauth_answer(
                OAuthError("invalid_request", f"Use {self._methods[0]} here.", status=405, headers=allow)
            )
        try:
            return await self._handler(request)
        except OAuthError as error:
            return self._failed(request, error)
        except CommonplaceError as error:
            return self._failed(request, as_oauth(error))
        except ClientDisconnect:
            return oauth_answer(OAuthError("invalid_request", "The body did not arrive whole."))
        except Exception as error:  # noqa: BLE001 - the one boundary: nothing of a defect may leave it
            logger.error("request failed", extra=told(error) | {"path": request.url.path})
            return self._failed(request, server_error())

    def _failed(self, request: Request, error: OAuthError) -> Response:
        event: telemetry.Event | None = getattr(request.state, EVENT, self._event)
        if event is not None:
            event = "reuse" if error.reason in telemetry.REUSED else event
            telemetry.record(event, telemetry.outcome_of(error.status), error.reason)
        return oauth_answer(error)


def route(path: str, method: str, handler: Handler, *, cors: bool, event: telemetry.Event | None = None) -> Route:
    """A route that takes every method, for its endpoint to answer."""
    return Route(path, Endpoint(method, handler, cors=cors, event=event))


def cached(answer: Mapping[str, str] | None = None) -> dict[str, str]:
    """Headers of what any cache may keep for five minutes."""
    return {"cache-control": "public, max-age=300", **(answer or {})}
