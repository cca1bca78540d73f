"""Errors of the HTTP edge: JSON-RPC errors with an HTTP status, for whatever goes wrong before a server is asked."""

from collections.abc import Mapping
from typing import Any

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import JSONResponse, Response

from commonplace.kernel.errors import CommonplaceError

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


def refusal(error: CommonplaceError, request_id: RequestId, headers: Mapping[str, str] | None = None) -> Response:
    """An error of ours. Its HTTP status is its JSON-RPC code as well: outside the range that is reserved."""
    more = dict(headers or {})
    if (seconds := getattr(error, "retry_after_seconds", None)) is not None:
        more["retry-after"] = str(seconds)
    told = error.envelope()["error"]
    return rpc_error(
        error.status, error.status, error.message, request_id, headers=more, data={"code": error.code} | told["details"]
    )
