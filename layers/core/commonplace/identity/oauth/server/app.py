"""The authorization server as an ASGI application: never cached unless an answer says so, no details of defects."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.types import Scope

from commonplace.identity.oauth.server import account, authorize, routes, sign_in
from commonplace.identity.oauth.server.composition import OAuthServices
from commonplace.identity.oauth.server.endpoint import NO_STORE, envelope
from commonplace.kernel.errors import BadRequest, CommonplaceError, MethodNotAllowed, NotFound
from commonplace.web.middleware import Errors, HeadAsGet, SecurityHeaders, exception_handlers

FOR_PROGRAMS = (
    routes.metadata_routes,
    routes.token_routes,
    routes.register_routes,
    routes.revoke_routes,
    routes.introspect_routes,
)
FOR_PEOPLE = (authorize.routes, sign_in.routes, account.routes)


def render(_: Scope, error: Exception) -> Response:
    """Our envelope (seed 000, section 10), where no endpoint has words of its own."""
    match error:
        case HTTPException(status_code=404):
            return envelope(NotFound("There is nothing at this address."))
        case HTTPException(status_code=405):
            return envelope(MethodNotAllowed("Use another method at this address."), error.headers)
        case CommonplaceError():
            return envelope(error)
    return envelope(BadRequest("The request is malformed."))


LAYERS = (
    Middleware(HeadAsGet),
    Middleware(SecurityHeaders, headers={"x-content-type-options": "nosniff"}, uncached=NO_STORE),
    Middleware(Errors, render=render),
)


def create_app(services: OAuthServices) -> Starlette:
    """The application over these services. Endpoints call them directly: one process, one request."""
    app = Starlette(
        routes=[found for routes_of in (*FOR_PROGRAMS, *FOR_PEOPLE) for found in routes_of(services)],
        middleware=LAYERS,
        exception_handlers=exception_handlers(render),
    )
    app.router.redirect_slashes = False
    return app
