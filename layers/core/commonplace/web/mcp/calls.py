"""The calls of one path: `tools/call`, and what every method shares: failures in the protocol's terms, and a record.

Functions run in threads of this process, which outlive requests so that a deadline need not wait for them. A new thread
for each request, as anyio would start, costs as much as everything else in a small call.

A log line says what was called, how it ended and how long it took; nothing of arguments or answers. The function's
metrics are counted from these lines. `logging` reserves `name`, so the called tool or resource is `target`.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Literal, TypeVar

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolRequestParams
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from commonplace import __version__
from commonplace.identity.principals import Tier
from commonplace.kernel.errors import BadRequest, CommonplaceError, InvalidInput, NotFound
from commonplace.kernel.telemetry import count
from commonplace.web.mcp import rendering
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Answer, Call, Caller, Cost
from commonplace.web.mcp.invocation import AccessDenied, UnknownTool, admit
from commonplace.web.mcp.offer import CALLER, NOBODY, Offer
from commonplace.web.middleware import place

logger = logging.getLogger(__name__)

T = TypeVar("T")

MAX_THREADS = 32
"""A call that is given up at its deadline holds its thread until it is done; beyond this many, calls wait."""

THREADS = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="mcp-tool")

ACCESS_DENIED = 403
"""The code of a JSON-RPC error of ours: outside the range that JSON-RPC keeps for itself."""
MAX_MESSAGE_BYTES = 1_024
MAX_CLIENT_CHARACTERS = 64

UNEXPECTED = ("INTERNAL_ERROR", str(INTERNAL_ERROR))
"""Outcomes that nobody expected: the first of tools, the second, JSON-RPC's, of everything else."""

VERSIONS = [*MODERN_PROTOCOL_VERSIONS, *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]
"""All versions of the protocol that are served, the newest first."""

Context = ServerRequestContext[Any, Any]


async def in_thread(run: Callable[..., T], *arguments: object) -> T:
    """Return what `run` gives. Whoever is cancelled meanwhile goes at once; what it gives then is lost."""

    def work() -> T:
        try:
            return run(*arguments)
        except StopIteration as error:  # a future cannot hold it, and would never be done
            raise RuntimeError("a function ran past the end of an iterator") from error

    return await asyncio.get_running_loop().run_in_executor(THREADS, partial(copy_context().run, work))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """The outcome of one call, without arguments, answers or the caller's name."""

    method: str
    name: str
    """The tool or prompt, the resource's URI or template; or "unknown". Never the caller's words."""
    outcome: str
    """`ok`, or the code of an error: `NOT_FOUND`, `ACCESS_DENIED`, `CANCELLED`, `INTERNAL_ERROR`, a JSON-RPC code."""
    milliseconds: float
    answer_tokens: int
    era: Literal["modern", "legacy"]
    """The era of the protocol: without a handshake (2026-07-28 and later), or with one."""
    tier: Tier
    client: str
    """The client's name for itself, at most 64 characters. For telemetry, never for a decision."""


def record(call: CallRecord) -> None:
    """Log and count the call.

    Every value of a dimension makes a metric that is paid for, so no caller may add to them: tools are those that are
    declared, and the names of resources, which are as many as documents, are no dimension.
    """
    count("McpCalls", Method=call.method, Outcome=call.outcome)
    if call.method == "tools/call":
        count("McpToolCalls", Tool=call.name, Outcome=call.outcome)
        count("McpToolMilliseconds", round(call.milliseconds, 1), "Milliseconds", Tool=call.name)
    if call.outcome in UNEXPECTED:
        count("McpFailures")
    logger.info(
        "mcp call",
        extra={
            "method": call.method,
            "target": call.name,
            "outcome": call.outcome,
            "milliseconds": round(call.milliseconds, 1),
            "answerTokens": call.answer_tokens,
            "era": call.era,
            "tier": call.tier,
            "client": call.client,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One deployment, as its MCP servers present it."""

    name: str = "commonplace"
    title: str = "Commonplace"
    version: str = __version__
    base_url: str = ""
    """The public origin, without a slash at its end."""
    website_url: str | None = None
    icons: tuple[str, ...] = ()
    """URLs, or paths of this deployment. Only https ones are shown: clients refuse the others."""
    spend: Callable[[Caller, Cost, str], None] = lambda *_: None
    """Counts one `tools/call` of a toolset; raises RateLimited. Other methods are the guard's to count."""
    record: Callable[[CallRecord], None] = lambda _: None
    """Called for every tools/call, resources/read, prompts/get and completion/complete."""
    page_size: int = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """A result, and what the record says of it."""

    body: Any
    tokens: int = 0
    outcome: str = "ok"


Handler = Callable[[Context, Any], Awaitable[Reply]]


def recorded(
    surface: Surface, name_of: Callable[[Any], str], handler: Handler
) -> Callable[[Context, Any], Awaitable[Any]]:
    """Return the handler as the SDK wants it. `name_of` gives a declared name for the parameters, no caller's words."""

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
            milliseconds, client = (perf_counter() - started) * 1_000, ctx.session.client_params
            caller = ctx.request.scope.get(CALLER, NOBODY) if ctx.request is not None else NOBODY
            try:
                surface.record(
                    CallRecord(
                        method=ctx.method,
                        name=name_of(params),
                        outcome=reply.outcome,
                        milliseconds=milliseconds,
                        answer_tokens=reply.tokens,
                        era="modern" if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy",
                        tier=caller.principal.tier,
                        client=client.client_info.name[:MAX_CLIENT_CHARACTERS] if client else "",
                    )
                )
            except Exception:
                # An answer is worth more than its record.
                logger.exception("a call could not be recorded")

    return served


def only(methods: Set[str], middleware: ServerMiddleware[Any]) -> ServerMiddleware[Any]:
    """Return the middleware for requests of these methods; all others pass by."""

    async def served(ctx: Context, call_next: CallNext) -> HandlerResult:
        return await (middleware(ctx, call_next) if ctx.method in methods else call_next(ctx))

    return served


def protocol_error(error: Exception) -> MCPError:
    """Return a failure outside of tools, where no model reads it: nothing of what is inside gets out."""
    if not isinstance(error, CommonplaceError):
        logger.error("a request failed", exc_info=error)
        return MCPError(INTERNAL_ERROR, "Internal error")
    message = rendering.cut_bytes(rendering.sentence(error), MAX_MESSAGE_BYTES)
    if isinstance(error, NotFound | InvalidInput | BadRequest):
        return MCPError(INVALID_PARAMS, message, {"code": error.code})
    wait = error.details.get("retryAfterSeconds")
    data = {"code": error.code} | ({"retryAfterSeconds": wait} if wait is not None else {})
    return MCPError(error.status, message, data)


class Calls:
    """The tools of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface
        self._awaited = {name for name, one in offer.tools.items() if inspect.iscoroutinefunction(one.tool.run)}

    def name(self, params: CallToolRequestParams) -> str:
        further = self._offer.further
        return params.name if params.name in self._offer.tools else further.name if further else "unknown"

    async def call(self, ctx: Context, params: CallToolRequestParams) -> Reply:
        """Raises MCPError for a tool that is not there; every other failure is an answer that the model reads."""
        caller: Caller = ctx.request.scope.get(CALLER, NOBODY) if ctx.request is not None else NOBODY
        offered = self._offer.tools.get(params.name)
        read_only = offered is None or offered.tool.read_only
        try:
            admitted = admit(self._offer, caller, params.name, params.arguments or {}, self._surface.spend)
            tool, arguments, notes = admitted.offered.tool, admitted.arguments, admitted.notes
            call = Call(caller, self._surface.base_url, ctx)
            # In a thread, since stores are read; a deadline does not wait for them.
            awaited = params.name in self._awaited
            answer: Any = tool.run(call, arguments) if awaited else await in_thread(tool.run, call, arguments)
            answer = await answer if inspect.isawaitable(answer) else answer
            if not isinstance(answer, Answer):
                return Reply(answer)
            noted = () if tool.verbatim else notes
            return Reply(*rendering.answered(answer, noted, structured=tool.output is not None))
        except UnknownTool as error:
            raise MCPError(INVALID_PARAMS, error.message) from None
        except AccessDenied as error:
            return _failed(rendering.failure(error.message, {"code": error.code}), error.code)
        except CommonplaceError as error:
            return _failed(rendering.refusal(error), error.code)
        except MCPError:
            raise
        except Exception as error:
            # The text of a defect may repeat what was to be written, before anything was taken out of it.
            where = {} if read_only else place(error)
            logger.error("a tool failed", exc_info=read_only, extra={"tool": params.name} | where)
            return _failed(rendering.failure(rendering.GENERIC, {"code": "INTERNAL_ERROR"}), "INTERNAL_ERROR")


def _failed(body: Mapping[str, Any], outcome: str) -> Reply:
    return Reply(body, estimate_tokens(body["content"][0]["text"]), outcome)
