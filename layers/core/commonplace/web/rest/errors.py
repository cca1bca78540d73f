"""Errors of FastAPI in the envelope of every error."""

from fastapi.exceptions import RequestValidationError
from starlette.responses import Response
from starlette.types import Scope

from commonplace.kernel.errors import InvalidInput
from commonplace.web import envelopes
from commonplace.web.faults import words


def render(scope: Scope, error: Exception) -> Response:
    """Return an error of the framework or of our own in the envelope."""
    if not isinstance(error, RequestValidationError):
        return envelopes.render(scope, error)
    fields = []
    for fault in error.errors():
        # Where and what, never the value: it may be anything.
        place, *path = fault["loc"] or ("request",)
        text = words(fault)
        fields.append({"in": place, "field": ".".join(map(str, path)) or str(place), "message": text})
    message = "; ".join(f"{one['field']}: {one['message']}" for one in fields[:5])
    hint = "/api/v1/openapi.json describes every parameter."
    return envelopes.envelope(InvalidInput(message, fields=fields, hint=hint))
