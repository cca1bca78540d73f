"""The envelope of every error (seed 000, section 10): `{"error": {"code", "message", "details"}}`."""

import json
from collections.abc import Mapping
from typing import cast

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from commonplace.kernel.errors import BadRequest, CommonplaceError, MethodNotAllowed, NotFound, TooLarge
from commonplace.web.middleware import error_headers
from commonplace.web.representations import JSON, NO_STORE

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
"""The methods of all addresses together."""


def envelope(error: CommonplaceError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the error as an answer that no cache stores."""
    body = json.dumps(error.envelope(), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(body, error.status, error_headers(error, "Bearer") | NO_STORE | dict(headers or {}), JSON)


def render(scope: Scope, error: Exception) -> Response:
    """Return an error of the framework or of our own in the envelope."""
    match error:
        case HTTPException(status_code=405):
            methods = allowed(scope)
            message = f"{scope['method']} is not possible at this address, {', '.join(methods)} is."
            return envelope(MethodNotAllowed(message, allowed=methods), {"allow": ", ".join(methods)})
        case HTTPException(status_code=404):
            hint = "/api/v1/openapi.json lists every address, /docs shows them to people."
            return envelope(NotFound("There is nothing at this address.", hint=hint))
        case HTTPException(status_code=413):
            return envelope(TooLarge("The request is too large."))
        case HTTPException():
            return envelope(BadRequest("The request is malformed."))
    return envelope(cast(CommonplaceError, error))


def allowed(scope: Scope) -> list[str]:
    """Return the methods of every route that answers at this path."""
    routes = scope["app"].routes

    def takes(method: str) -> bool:
        request = {**scope, "method": method}
        return any(route.matches(request)[0] is Match.FULL for route in routes)

    return [method for method in METHODS if method == "OPTIONS" or takes("GET" if method == "HEAD" else method)]
