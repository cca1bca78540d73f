"""The envelope of every error (seed 000, section 10): `{"error": {"code", "message", "details"}}`."""

import json
from collections.abc import Mapping
from typing import Any, cast

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from commonplace.kernel.errors import BadRequest, CommonplaceError, InvalidInput, MethodNotAllowed, NotFound, TooLarge
from commonplace.web.middleware import error_headers
from commonplace.web.representations import JSON, NO_STORE

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
"""Of all addresses together."""


def envelope(error: CommonplaceError, headers: Mapping[str, str] | None = None) -> Response:
    """The error as an answer that no cache keeps."""
    body = json.dumps(error.envelope(), ensure_ascii=False).encode("utf-8", "backslashreplace")
    told = error_headers(error, "Bearer") | NO_STORE | dict(headers or {})
    return Response(body, status_code=error.status, media_type=JSON, headers=told)


def render(scope: Scope, error: Exception) -> Response:
    """Every error of the framework and of our own, in the envelope."""
    match error:
        case RequestValidationError():
            fields = [_field(told) for told in error.errors()]
            message = "; ".join(f"{told['field']}: {told['message']}" for told in fields[:5])
            hint = "/api/v1/openapi.json describes every parameter."
            return envelope(InvalidInput(message, fields=fields, hint=hint))
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
            return envelope(BadRequest("The request cannot be read."))
    return envelope(cast(CommonplaceError, error))


def allowed(scope: Scope) -> list[str]:
    """The methods of every route that answers at this path."""
    routes = scope["app"].routes

    def takes(method: str) -> bool:
        asked = {**scope, "method": method}
        return any(route.matches(asked)[0] is Match.FULL for route in routes)

    return [method for method in METHODS if method == "OPTIONS" or takes("GET" if method == "HEAD" else method)]


def _field(told: Mapping[str, Any]) -> dict[str, Any]:
    """Where and what, never the value: it may be anything."""
    place, *path = told["loc"] or ("request",)
    message = str(told["msg"]).removeprefix("Value error, ")
    return {"in": place, "field": ".".join(map(str, path)) or str(place), "message": message}
