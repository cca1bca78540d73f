"""One MCP server for the toolsets of a path: stateless, at module level, for both protocol eras."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server

from commonplace.kernel.limits import Slots
from commonplace.search.source import ChangeFeed
from commonplace.web.mcp.calls import Calls, Surface, recorded
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.lists import Lists, input_schema
from commonplace.web.mcp.offer import Offer, offer_of
from commonplace.web.mcp.resources import Reading
from commonplace.web.mcp.skills import install_skills
from commonplace.web.mcp.subscriptions import install_subscriptions


def build_server(
    toolsets: Sequence[Toolset] | Offer,
    surface: Surface,
    feed: ChangeFeed | None = None,
    slots: Slots | None = None,
    *,
    prefix_shared: bool = False,
) -> Server[Any]:
    """Return the server. Subscriptions are served where a feed and slots are there, skills where a toolset has some.

    `prefix_shared` puts the toolset before every name that two of them share. Raises ValueError when two tools,
    prompts or resources would answer to one name, or a skill is malformed.
    """
    offer = toolsets if isinstance(toolsets, Offer) else offer_of(toolsets, prefix_shared=prefix_shared)
    icons = (f"{surface.base_url}{icon}" if icon.startswith("/") else icon for icon in surface.icons)

    @cache
    def header_parameters(name: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool whose parameters travel as headers too. Else each call would list all tools.

        A schema costs a millisecond to make, so it is made when its tool is called.
        """
        schema = input_schema(offer.tools[name].tool)
        return schema if "x-mcp-header" in json.dumps(schema) else None

    server: Server[Any] = Server(
        surface.name,
        version=surface.version,
        title=surface.title,
        instructions=offer.instructions(),
        website_url=surface.website_url,
        icons=[types.Icon(src=icon) for icon in icons if icon.startswith("https://")] or None,
        get_tool_input_schema=lambda name: header_parameters(name) if name in offer.tools else None,
    )
    calls, reading = Calls(offer, surface), Reading(offer, surface)
    for method, params, name_of, handler in (
        ("tools/call", types.CallToolRequestParams, calls.name, calls.call),
        ("resources/read", types.ReadResourceRequestParams, reading.resource_name, reading.read),
        ("prompts/get", types.GetPromptRequestParams, reading.prompt_name, reading.prompt),
        ("completion/complete", types.CompleteRequestParams, reading.completed_name, reading.complete),
    ):
        server.add_request_handler(method, params, recorded(surface, name_of, handler))
    Lists(offer, surface).install(server)
    install_skills(server, [skill for one in offer.toolsets for skill in one.skills])
    if feed is not None and slots is not None:
        install_subscriptions(server, offer.toolsets, feed, slots)
    return server
