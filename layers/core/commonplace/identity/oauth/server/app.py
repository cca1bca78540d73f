"""The authorization server as an ASGI application."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from commonplace.identity.oauth.server import account, authorize, introspect, register, revoke, routes, sign_in, token
from commonplace.identity.oauth.server.errors import envelope
from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.oauth.server.surface import Surface
from commonplace.kernel.errors import BadRequest, CommonplaceError, NotFound

FOR_PROGRAMS = (routes, token, register, revoke, introspect)
FOR_PEOPLE = (authorize, sign_in, account)


class MethodNotAllowed(CommonplaceError):
    """Something else can be done at this address."""

    code, status = "METHOD_NOT_ALLOWED", 405


def create_app(services: OAuthServices) -> Starlette:
    """The application over these services. Endpoints call them directly: one process, one request."""
    app = Starlette(
        routes=[found for module in (*FOR_PROGRAMS, *FOR_PEOPLE) for found in module.routes(services)],
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
