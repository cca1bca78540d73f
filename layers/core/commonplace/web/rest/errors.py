"""One envelope for every error (seed 000, section 10): `{"error": {"code", "message", "details"}}`."""

import json
from collections.abc import Mapping
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from commonplace.kernel.errors import BadRequest, CommonplaceError, InvalidInput, NotFound, TooLarge, Unauthorized
from commonplace.web.rest.pages import JSON, NO_STORE

ALLOWED_METHODS = "GET, HEAD, OPTIONS"


class MethodNotAllowed(CommonplaceError):
    """This address is for reading."""

    code, status = "METHOD_NOT_ALLOWED", 405


def envelope(error: CommonplaceError, headers: Mapping[str, str] | None = None) -> Response:
    """The error as an answer that no cache keeps."""
    more = dict(headers or {}) | NO_STORE
    if (seconds := getattr(error, "retry_after_seconds", None)) is not None:
        more["retry-after"] = str(seconds)
    challenge = getattr(error, "challenge", None) or ("Bearer" if isinstance(error, Unauthorized) else None)
    if challenge is not None:
        more["www-authenticate"] = challenge
    body = json.dumps(error.envelope(), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(body, status_code=error.status, media_type=JSON, headers=more)


def internal_error() -> Response:
    """What a caller sees of a defect: nothing of it."""
    return envelope(CommonplaceError("An unexpected error occurred."))


def install(app: FastAPI) -> None:
    """Makes every error of the framework and of our own leave in the envelope."""
    app.add_exception_handler(CommonplaceError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _ours(_: Request, error: Exception) -> Response:
    return envelope(cast(CommonplaceError, error))


async def _invalid(_: Request, error: Exception) -> Response:
    fields = [_field(told) for told in cast(RequestValidationError, error).errors()]
    message = "; ".join(f"{told['field']}: {told['message']}" for told in fields[:5])
    return envelope(InvalidInput(message, fields=fields, hint="/api/v1/openapi.json describes every parameter."))


async def _http(request: Request, error: Exception) -> Response:
    status = cast(HTTPException, error).status_code
    if status == 405:
        message = f"{request.method} is not possible here. This interface is for reading."
        return envelope(MethodNotAllowed(message, allowed=ALLOWED_METHODS.split(", ")), {"allow": ALLOWED_METHODS})
    if status == 404:
        hint = "/api/v1/openapi.json lists every address, /docs shows them to people."
        return envelope(NotFound("There is nothing at this address.", hint=hint))
    if status == 413:
        return envelope(TooLarge("The request is too large."))
    return envelope(BadRequest("The request cannot be read."))


def _field(told: Mapping[str, Any]) -> dict[str, Any]:
    """Where and what, never the value: it may be anything."""
    place, *path = told["loc"] or ("request",)
    message = str(told["msg"]).removeprefix("Value error, ")
    return {"in": place, "field": ".".join(map(str, path)) or str(place), "message": message}
