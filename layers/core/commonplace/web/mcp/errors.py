"""Errors of the HTTP edge: JSON-RPC errors with an HTTP status, for what fails before a server is called."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.middleware import error_headers

MESSAGE = "commonplace.message"
"""Key in the ASGI scope of the parsed message, a dict with `method`; with `id` it is a request."""

RequestId = str | int | None


def rpc_error(
    status: int,
    code: int,
    message: str,
    request_id: RequestId = None,
    *,
    headers: Mapping[str, str] | None = None,
    data: Mapping[str, Any] | None = None,
) -> Response:
    """An answer of this status with a JSON-RPC error as its body."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data:
        error["data"] = dict(data)
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": error}, status, headers)


def invalid(message: str, request_id: RequestId = None, *, status: int = 400) -> Response:
    return rpc_error(status, INVALID_REQUEST, message, request_id)


def internal(request_id: RequestId) -> Response:
    """What a caller sees of a defect: nothing of it."""
    return rpc_error(500, INTERNAL_ERROR, "Internal error", request_id)


def render(scope: Scope, error: Exception) -> Response:
    """An error as JSON-RPC under the id of the message at hand; of a defect nothing is shown.

    Its HTTP status is its JSON-RPC code as well: outside the range that is reserved.
    """
    request_id: RequestId = scope.get(MESSAGE, {}).get("id")
    if isinstance(error, HTTPException):
        return invalid(error.detail, request_id, status=error.status_code)
    if not isinstance(error, CommonplaceError) or type(error) is CommonplaceError:
        return internal(request_id)
    data = {"code": error.code} | error.envelope()["error"]["details"]
    headers = error_headers(error, "Bearer")
    return rpc_error(error.status, error.status, error.message, request_id, headers=headers, data=data)


def rendering(paths: Sequence[str]) -> Callable[[Scope, Exception], Response]:
    """As `render`; where no toolset is, the paths that there are."""
    message = f"There is no toolset here. MCP is served at: {', '.join(paths)}."

    def rendered(scope: Scope, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 404:
            return rpc_error(404, 404, message, data={"paths": list(paths)})
        return render(scope, error)

    return rendered
