"""`tools/call`: who may, what it costs, what was meant, what it says, and how much of that fits."""

import inspect
import logging
from functools import partial
from typing import Any

import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams
from pydantic import ValidationError

from commonplace.errors import CommonplaceError
from commonplace.interfaces.mcp import rendering
from commonplace.interfaces.mcp.access import caller_of, denial, exists
from commonplace.interfaces.mcp.declaring import Answer, Call, Caller
from commonplace.interfaces.mcp.offer import Offer, Offered
from commonplace.interfaces.mcp.surface import Surface

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]


class Calls:
    """The tools of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface

    async def call(self, ctx: Context, params: CallToolRequestParams) -> Any:
        """Raises MCPError for a tool that is not there; everything else is an answer the model reads."""
        caller = caller_of(ctx.request)
        offered = self._offer.tools.get(params.name)
        if offered is None or not exists(offered, caller):
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:64]}")
        if not caller.principal.reaches(offered.tool.tier):
            return rendering.failure(denial("tool", offered.tool.tier), {"code": "ACCESS_DENIED"})
        try:
            self._surface.spend(caller, offered.tool.cost)
            return await self._run(offered, caller, params.arguments or {}, ctx)
        except CommonplaceError as error:
            return rendering.refusal(error)
        except MCPError:
            raise
        except Exception:
            logger.exception("a tool failed", extra={"tool": offered.name})
            return rendering.failure(rendering.GENERIC, {"code": "INTERNAL_ERROR"})

    async def _run(self, offered: Offered, caller: Caller, raw: dict[str, Any], ctx: Context) -> Any:
        tool = offered.tool
        try:
            arguments = tool.arguments.model_validate(raw)
        except ValidationError as error:
            return rendering.failure(f"INVALID_INPUT: {error.error_count()} arguments are wrong.")
        call = Call(caller, self._surface.base_url, ctx)
        if inspect.iscoroutinefunction(tool.run):
            answer = await tool.run(call, arguments)
        else:
            answer = await anyio.to_thread.run_sync(partial(tool.run, call, arguments), abandon_on_cancel=True)
        if not isinstance(answer, Answer):
            return answer
        return rendering.result(answer.text, rendering.data_of(answer), answer.links)
