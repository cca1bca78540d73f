"""What holds for every answer of the authorization server: never cached unless it says so, and no defect shows.

The authorization server as an ASGI application.
"""

import logging

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.identity.oauth.server import account, authorize, routes, sign_in
from commonplace.identity.oauth.server.endpoint import NO_STORE, envelope, told
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.kernel.errors import BadRequest, CommonplaceError, NotFound

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


FOR_PROGRAMS = (
    routes.metadata_routes,
    routes.token_routes,
    routes.register_routes,
    routes.revoke_routes,
    routes.introspect_routes,
)
FOR_PEOPLE = (authorize.routes, sign_in.routes, account.routes)


class MethodNotAllowed(CommonplaceError):
    """Something else can be done at this address."""

    code, status = "METHOD_NOT_ALLOWED", 405


def create_app(services: OAuthServices) -> Starlette:
    """The application over these services. Endpoints call them directly: one process, one request."""
    app = Starlette(
        routes=[found for routes_of in (*FOR_PROGRAMS, *FOR_PEOPLE) for found in routes_of(services)],
        middleware=[Middleware(Surface)],
        exception_handlers={HTTPException: _http},
    )
    app.router.redirect_slashes = False
    return app


async def _http(_: Request, error: Exception) -> Response:
    """What the router refuses, in our envelope."""
    headers = getattr(error, "headers", None)
    match getattr(error, "status_code", 400):
        case 404:
            return envelope(NotFound("There is nothing at this address."))
        case 405:
            return envelope(MethodNotAllowed("Use another method at this address."), headers)
        case _:
            return envelope(BadRequest("The request cannot be read."))
