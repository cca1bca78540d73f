"""One MCP server for the toolsets of a path: stateless, at module level, for both protocol eras."""

from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from commonplace.interfaces.mcp import listing
from commonplace.interfaces.mcp.access import caller_of
from commonplace.interfaces.mcp.calling import Calls
from commonplace.interfaces.mcp.completing import Completions
from commonplace.interfaces.mcp.declaring import Toolset
from commonplace.interfaces.mcp.offer import Offer, cost_of, offer_of
from commonplace.interfaces.mcp.reading import Reading
from commonplace.interfaces.mcp.rendering import CACHED
from commonplace.interfaces.mcp.skills import install_skills
from commonplace.interfaces.mcp.subscriptions import install_subscriptions
from commonplace.interfaces.mcp.surface import CALLER, Surface
from commonplace.search.changes import ChangeFeed

__all__ = ["CALLER", "build_server", "cost_of"]

Context = ServerRequestContext[Any, Any]


def build_server(
    toolsets: Sequence[Toolset], surface: Surface, feed: ChangeFeed | None = None, *, prefix_shared: bool = False
) -> Server[Any]:
    """Raises ValueError when two tools, prompts or resources would answer to one name."""
    offer = offer_of(toolsets, prefix_shared=prefix_shared)
    server: Server[Any] = Server(
        surface.name,
        version=surface.version,
        title=surface.title,
        instructions=offer.instructions(),
        website_url=surface.website_url,
        icons=[types.Icon(src=url) for url in surface.icon_urls()] or None,
    )
    _Lists(offer, surface).install(server)
    calls, reading, completions = Calls(offer, surface), Reading(offer, surface), Completions(offer)
    server.add_request_handler("tools/call", types.CallToolRequestParams, calls.call)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, reading.read)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, reading.prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, completions.complete)
    install_skills(server, [skill for toolset in toolsets for skill in toolset.skills])
    if feed is not None:
        install_subscriptions(server, toolsets, feed)
    return server


class _Lists:
    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface

    def install(self, server: Server[Any]) -> None:
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.tools)
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.prompts)
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self.resources)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)

    async def tools(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        return CACHED | {"tools": listing.tool_rows(self._offer, caller_of(ctx.request), [])}

    async def prompts(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        return CACHED | {"prompts": listing.prompt_rows(self._offer, caller_of(ctx.request))}

    async def resources(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        return CACHED | {"resources": listing.resource_rows(self._offer, caller_of(ctx.request))}

    async def templates(self, ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        return CACHED | {"resourceTemplates": listing.template_rows(self._offer, caller_of(ctx.request))}
