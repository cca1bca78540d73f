"""`tools/call`: access, cost, arguments, answer, and whether the answer fits.

Functions run in threads of this process, which outlive requests so that a deadline need not wait for them. A new thread
for each request, as anyio would start, costs as much as everything else in a small call.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams

from commonplace.kernel.errors import CommonplaceError, TooLarge
from commonplace.web.mcp import rendering
from commonplace.web.mcp.access import caller_of, denial, exists
from commonplace.web.mcp.arguments import understand
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens
from commonplace.web.mcp.declaration import Answer, Call, Tool
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.replies import Reply
from commonplace.web.mcp.surface import Surface
from commonplace.web.middleware import place

logger = logging.getLogger(__name__)

T = TypeVar("T")

MAX_THREADS = 32
"""What is given up at its deadline keeps its thread until it is done; beyond this many, calls wait for a free one."""

_THREADS = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="mcp-tool")

Context = ServerRequestContext[Any, Any]


async def in_thread(run: Callable[..., T], *arguments: object) -> T:
    """What `run` gives for the arguments. Whoever is cancelled meanwhile goes at once; what it gives then is lost."""
    work = partial(copy_context().run, _run, run, arguments)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)


def _run(run: Callable[..., T], arguments: tuple[object, ...]) -> T:
    try:
        return run(*arguments)
    except StopIteration as error:  # a future cannot hold it, and would never be done
        raise RuntimeError("a function ran past the end of an iterator") from error


class Calls:
    """The tools of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface
        self._awaited = {name for name, one in offer.tools.items() if inspect.iscoroutinefunction(one.tool.run)}

    def name(self, params: CallToolRequestParams) -> str:
        return params.name if params.name in self._offer.tools else "unknown"

    async def call(self, ctx: Context, params: CallToolRequestParams) -> Reply:
        """Raises MCPError for a tool that is not there; every other failure is an answer that the model reads."""
        caller = caller_of(ctx.request)
        offered = self._offer.tools.get(params.name)
        if offered is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:64]}")
        tool = offered.tool
        try:
            # Before anything else: who may not use a tool must not try without end either.
            self._surface.spend(caller, tool.cost, offered.toolset.name)
            if not exists(offered, caller):
                raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:64]}")
            if (told := denial("tool", offered.need, caller)) is not None:
                return _failed(rendering.failure(told, {"code": "ACCESS_DENIED"}), "ACCESS_DENIED")
            arguments, notes = understand(
                params.arguments or {},
                tool.arguments,
                lenient=tool.read_only,
                clamp=tool.read_only and not tool.exact,
                max_values=tool.max_values,
            )
            answer = await self._run(params.name, tool, Call(caller, self._surface.base_url, ctx), arguments)
            return _reply(tool, answer, notes) if isinstance(answer, Answer) else Reply(answer)
        except CommonplaceError as error:
            return _failed(rendering.refusal(error), error.code)
        except MCPError:
            raise
        except Exception as error:
            # The text of a defect may repeat what was to be written, before anything was taken out of it.
            said = {} if tool.read_only else place(error)
            logger.error("a tool failed", exc_info=tool.read_only, extra={"tool": params.name} | said)
            return _failed(rendering.failure(rendering.GENERIC, {"code": "INTERNAL_ERROR"}), "INTERNAL_ERROR")

    async def _run(self, name: str, tool: Tool, call: Call, arguments: Any) -> Any:
        if name in self._awaited:
            answer: Any = tool.run(call, arguments)
        else:
            # In a thread, since stores are read; a deadline does not wait for them.
            answer = await in_thread(tool.run, call, arguments)
        return await answer if inspect.isawaitable(answer) else answer


def _reply(tool: Tool, answer: Answer, notes: tuple[str, ...]) -> Reply:
    """Raises TooLarge for what no client would take."""
    data = rendering.data_of(answer) if tool.output is not None else None
    text = answer.text
    if notes and not tool.verbatim:
        text += "\n\n" + "\n".join(f"Note: {note}" for note in notes)
        data = data | {"notes": list(notes)} if data is not None else None
    tokens = rendering.tokens_of(text, data)
    if tokens > MAX_TOKENS:
        raise TooLarge(
            f"This answer would be about {tokens} tokens, more than the {MAX_TOKENS} there are room for.",
            hint="Ask for less: a smaller limit, fewer documents, or one part of a document.",
        )
    return Reply(rendering.result(text, data, answer.links), tokens)


def _failed(body: Mapping[str, Any], outcome: str) -> Reply:
    return Reply(body, estimate_tokens(body["content"][0]["text"]), outcome)
