"""One MCP server for the toolsets of a path: stateless, at module level, for both protocol eras."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server

from commonplace.kernel.limits import Slots
from commonplace.search.source import ChangeFeed
from commonplace.web.mcp.completion import Completions
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.lists import Lasting, Lists, discovery, input_schema
from commonplace.web.mcp.offer import Offer, offer_of
from commonplace.web.mcp.replies import Handler, recorded
from commonplace.web.mcp.resources import Reading
from commonplace.web.mcp.skills import install_skills
from commonplace.web.mcp.subscriptions import install_subscriptions
from commonplace.web.mcp.surface import Surface
from commonplace.web.mcp.tools import Calls


def build_server(
    toolsets: Sequence[Toolset],
    surface: Surface,
    feed: ChangeFeed | None = None,
    slots: Slots | None = None,
    *,
    prefix_shared: bool = False,
) -> Server[Any]:
    """Subscriptions are served where a feed and slots are there, skills where a toolset has some.

    `prefix_shared` puts the toolset before every name that two of them share. Raises ValueError when two tools,
    prompts or resources would answer to one name, or a skill is malformed.
    """
    offer = offer_of(toolsets, prefix_shared=prefix_shared)
    server: Server[Any] = Server(
        surface.name,
        version=surface.version,
        title=surface.title,
        instructions=offer.instructions(),
        website_url=surface.website_url,
        icons=[types.Icon(src=url) for url in surface.icon_urls()] or None,
        get_tool_input_schema=_header_parameters(offer),
    )
    # In place of the SDK's spans, which no exporter here takes: calls are counted by `surface.record`.
    server.middleware[:] = [Lasting(offer)]
    _install_handlers(server, offer, surface)
    install_skills(server, [skill for one in toolsets for skill in one.skills])
    if feed is not None and slots is not None:
        install_subscriptions(server, toolsets, feed, slots)
    return server


def _install_handlers(server: Server[Any], offer: Offer, surface: Surface) -> None:
    calls, reading, completions = Calls(offer, surface), Reading(offer, surface), Completions(offer)
    served: list[tuple[str, type[types.RequestParams], Callable[[Any], str], Handler]] = [
        ("tools/call", types.CallToolRequestParams, calls.name, calls.call),
        ("resources/read", types.ReadResourceRequestParams, reading.resource_name, reading.read),
        ("prompts/get", types.GetPromptRequestParams, reading.prompt_name, reading.prompt),
        ("completion/complete", types.CompleteRequestParams, completions.name, completions.complete),
    ]
    for method, params, name_of, handler in served:
        server.add_request_handler(method, params, recorded(surface, name_of, handler))
    Lists(offer, surface).install(server)
    server.add_request_handler("server/discover", types.RequestParams, discovery(server))


def _header_parameters(offer: Offer) -> Callable[[str], Mapping[str, Any] | None]:
    """By name, the schema of a tool whose parameters travel as headers too. Without it, each call would list all tools.

    A schema costs a millisecond to make, so it is made when its tool is called.
    """

    @cache
    def of_declared(name: str) -> Mapping[str, Any] | None:
        schema = input_schema(offer.tools[name].tool)
        return schema if "x-mcp-header" in json.dumps(schema) else None

    return lambda name: of_declared(name) if name in offer.tools else None
