"""`tools/list`, `resources/list`, `resources/templates/list`, `prompts/list` and `server/discover`.

What only a deployment changes is put together once for each view of it, and sent as it was the first time; a list of
tools also once for the values in use that it names.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from commonplace.web.mcp import listing
from commonplace.web.mcp.access import caller_of, shown, view_of
from commonplace.web.mcp.declaration import Listed, Resource
from commonplace.web.mcp.in_use import InUse, asks, values_in_use
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.paging import page
from commonplace.web.mcp.rendering import CACHED
from commonplace.web.mcp.replies import protocol_error
from commonplace.web.mcp.surface import Surface
from commonplace.web.mcp.threads import in_thread

Context = ServerRequestContext[Any, Any]
Paged = types.PaginatedRequestParams

LASTING = frozenset(("tools/list", "prompts/list", "resources/templates/list", "server/discover"))
"""Methods whose answers only a deployment changes."""
MAX_VIEWS = 300
"""Answers to send again: by method, version, and what a caller may ever use."""


class Lists:
    """The lists of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._size = surface.page_size
        self._path = ",".join(one.name for one in offer.toolsets)

    def install(self, server: Server[Any]) -> None:
        server.add_request_handler("tools/list", Paged, self.tools)
        server.add_request_handler("prompts/list", Paged, self.prompts)
        server.add_request_handler("resources/list", Paged, self.resources)
        server.add_request_handler("resources/templates/list", Paged, self.templates)

    async def tools(self, ctx: Context, params: Paged) -> dict[str, Any]:
        rows = listing.tool_rows(self._offer, caller_of(ctx.request), await values_of(self._offer))
        return self._paged(ctx, params, "tools", rows, "name")

    async def prompts(self, ctx: Context, params: Paged) -> dict[str, Any]:
        return self._paged(ctx, params, "prompts", listing.prompt_rows(self._offer, caller_of(ctx.request)), "name")

    async def templates(self, ctx: Context, params: Paged) -> dict[str, Any]:
        rows = listing.template_rows(self._offer, caller_of(ctx.request))
        return self._paged(ctx, params, "resourceTemplates", rows, "uriTemplate")

    async def resources(self, ctx: Context, params: Paged) -> dict[str, Any]:
        """Those with an address of their own, then documents. Raises MCPError when the store does not answer."""
        try:
            rows = await in_thread(self._resources, ctx)
        except Exception as error:
            raise protocol_error(error) from error
        found, onward = page(rows, params.cursor, self._question(ctx), self._size, lambda row: row.uri)
        return _answer("resources", [listing.resource_row(row) for row in found], onward)

    def _resources(self, ctx: Context) -> Sequence[Resource | Listed]:
        caller = caller_of(ctx.request)
        needs = self._offer.needs
        rows: list[Resource | Listed] = [
            one for uri, one in self._offer.resources.items() if shown(needs["resource", uri], caller)
        ]
        for toolset in self._offer.toolsets:
            if toolset.documents is not None and shown(toolset.documents_need, caller):
                rows.extend(toolset.documents())
        return rows

    def _paged(self, ctx: Context, params: Paged, name: str, rows: list[Any], key: str) -> dict[str, Any]:
        found, onward = page(rows, params.cursor, self._question(ctx), self._size, lambda row: row[key])
        return _answer(name, found, onward)

    def _question(self, ctx: Context) -> str:
        return f"{ctx.method} {self._path} {view_of(caller_of(ctx.request))}"


class Lasting:
    """Middleware: sends again what a list said the first time. Validating and dumping 40 kB costs 5 ms each time."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._told: OrderedDict[tuple[Any, ...], Mapping[str, Any]] = OrderedDict()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method not in LASTING or ctx.request_id is None or (ctx.params or {}).get("cursor") is not None:
            return await call_next(ctx)
        in_use = await self._in_use(ctx)
        asked = (ctx.method, ctx.protocol_version, view_of(caller_of(ctx.request)), in_use)
        told = self._told.get(asked)
        if told is None:
            result = await call_next(ctx)
            # Values that changed meanwhile would be remembered as those from before.
            if isinstance(result, dict) and in_use == await self._in_use(ctx):
                self._remember(asked, result)
            return result
        _validate(ctx)
        return dict(told)

    async def _in_use(self, ctx: Context) -> InUse:
        return await values_of(self._offer) if ctx.method == "tools/list" else ()

    def _remember(self, asked: tuple[Any, ...], told: Mapping[str, Any]) -> None:
        self._told[asked] = told
        if len(self._told) > MAX_VIEWS:
            self._told.popitem(last=False)


async def values_of(offer: Offer) -> InUse:
    """What arguments can be at the moment, where tools say so. Never raises."""
    return await in_thread(values_in_use, offer) if asks(offer) else ()


def discovery(server: Server[Any]) -> Any:
    """The handler of `server/discover`. It names every version that is served: the SDK's own names the newest alone."""

    async def discover(ctx: Context, params: types.RequestParams) -> types.DiscoverResult:  # noqa: ARG001
        return types.DiscoverResult(
            supported_versions=[*MODERN_PROTOCOL_VERSIONS, *reversed(HANDSHAKE_PROTOCOL_VERSIONS)],
            capabilities=server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=server.instructions,
            ttl_ms=CACHED["ttlMs"],
            cache_scope="private",
        )

    return discover


def _validate(ctx: Context) -> None:
    """As the SDK does for a request that it handles."""
    try:
        validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
    except KeyError:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method) from None


def _answer(name: str, rows: Sequence[Any], onward: str | None) -> dict[str, Any]:
    return CACHED | {name: list(rows)} | ({"nextCursor": onward} if onward is not None else {})
