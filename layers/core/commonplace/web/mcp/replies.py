"""The wrapper of every method: failures in the protocol's terms, and one record of each call."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from commonplace.kernel.errors import BadRequest, CommonplaceError, InvalidInput, NotFound
from commonplace.web.mcp.access import caller_of
from commonplace.web.mcp.rendering import cut_bytes, sentence
from commonplace.web.mcp.surface import CallRecord, Surface

logger = logging.getLogger(__name__)

ACCESS_DENIED = 403
"""The code of a JSON-RPC error of ours: outside the range that JSON-RPC keeps for itself."""
MAX_MESSAGE_BYTES = 1_024
MAX_CLIENT_CHARACTERS = 64

Context = ServerRequestContext[Any, Any]

Served = Callable[[Context, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Reply:
    """A result, and what the record says of it."""

    body: Any
    tokens: int = 0
    outcome: str = "ok"


Handler = Callable[[Context, Any], Awaitable[Reply]]


def recorded(surface: Surface, name_of: Callable[[Any], str], handler: Handler) -> Served:
    """The handler as the SDK wants it. `name_of` gives a declared name for the parameters: never the caller's words."""

    async def served(ctx: Context, params: Any) -> Any:
        started = perf_counter()
        reply = Reply(None, outcome="CANCELLED")
        try:
            reply = await handler(ctx, params)
            return reply.body
        except MCPError as error:
            reply = Reply(None, outcome="ACCESS_DENIED" if error.code == ACCESS_DENIED else str(error.code))
            raise
        except Exception as error:
            reply = Reply(None, outcome=error.code if isinstance(error, CommonplaceError) else "INTERNAL_ERROR")
            raise protocol_error(error) from error
        finally:
            _record(surface, ctx, name_of(params), reply, (perf_counter() - started) * 1_000)

    return served


def protocol_error(error: Exception) -> MCPError:
    """A failure outside of tools, where no model reads it: nothing of what is inside gets out."""
    if isinstance(error, NotFound | InvalidInput | BadRequest):
        return MCPError(INVALID_PARAMS, _message(error), {"code": error.code})
    if isinstance(error, CommonplaceError):
        wait = error.details.get("retryAfterSeconds")
        data = {"code": error.code} | ({"retryAfterSeconds": wait} if wait is not None else {})
        return MCPError(error.status, _message(error), data)
    logger.error("a request failed", exc_info=error)
    return MCPError(INTERNAL_ERROR, "Internal error")


def _message(error: CommonplaceError) -> str:
    return cut_bytes(sentence(error), MAX_MESSAGE_BYTES)


def _record(surface: Surface, ctx: Context, name: str, reply: Reply, milliseconds: float) -> None:
    client = ctx.session.client_params
    try:
        surface.record(
            CallRecord(
                method=ctx.method,
                name=name,
                outcome=reply.outcome,
                milliseconds=milliseconds,
                answer_tokens=reply.tokens,
                era="modern" if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy",
                tier=caller_of(ctx.request).principal.tier,
                client=client.client_info.name[:MAX_CLIENT_CHARACTERS] if client else "",
            )
        )
    except Exception:
        # An answer is worth more than its record.
        logger.exception("a call could not be recorded")
