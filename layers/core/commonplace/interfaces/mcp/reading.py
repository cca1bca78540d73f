"""`resources/read` and `prompts/get`: what is asked for by name or address."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptRequestParams, ReadResourceRequestParams

from commonplace.errors import NotFound
from commonplace.identity.principals import Tier
from commonplace.interfaces.mcp.access import caller_of, denial
from commonplace.interfaces.mcp.addresses import match, pattern_of
from commonplace.interfaces.mcp.declaring import Call, Caller, Template, Text
from commonplace.interfaces.mcp.offer import Offer
from commonplace.interfaces.mcp.rendering import CACHED, COMPLETE, contents
from commonplace.interfaces.mcp.surface import Surface

Context = ServerRequestContext[Any, Any]

ACCESS_DENIED = 403
"""The code of a JSON-RPC error of ours: outside the range that JSON-RPC keeps for itself."""


class Reading:
    """The resources and prompts of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface
        self._patterns: list[tuple[re.Pattern[str], Template]] = [
            (pattern_of(one.uri_template), one) for one in offer.templates
        ]

    async def read(self, ctx: Context, params: ReadResourceRequestParams) -> dict[str, Any]:
        """Raises MCPError: -32602 with `data.uri` for what is not there, 403 for what this account may not read."""
        uri, caller = str(params.uri), caller_of(ctx.request)
        tier, read = self._reader(uri)
        _admit("resource", tier, caller)
        try:
            body, mime_type = await _aside(read, Call(caller, self._surface.base_url, ctx))
        except NotFound as error:
            raise _no_resource(uri, error.hint) from None
        return CACHED | {"contents": [contents(uri, mime_type, body)]}

    def _reader(self, uri: str) -> tuple[Tier, Callable[[Call], tuple[Text, str]]]:
        if (fixed := self._offer.resources.get(uri)) is not None:
            return fixed.tier, lambda call: (fixed.read(call), fixed.mime_type)
        for pattern, template in self._patterns:
            if (variables := match(pattern, uri)) is not None:
                return template.tier, partial(_read_template, template, variables)
        raise _no_resource(uri, None)

    async def prompt(self, ctx: Context, params: GetPromptRequestParams) -> dict[str, Any]:
        """Raises MCPError -32602 for an unknown prompt or a missing argument."""
        caller, prompt = caller_of(ctx.request), self._offer.prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        _admit("prompt", prompt.tier, caller)
        given = params.arguments or {}
        if missing := [one.name for one in prompt.arguments if one.required and not given.get(one.name, "").strip()]:
            raise MCPError(INVALID_PARAMS, "Missing arguments: " + ", ".join(missing))
        known = {one.name: given[one.name] for one in prompt.arguments if one.name in given}
        text = await _aside(lambda call: prompt.render(call, known), Call(caller, self._surface.base_url, ctx))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return COMPLETE | {"description": prompt.description, "messages": [message]}


def _read_template(template: Template, variables: Mapping[str, str], call: Call) -> tuple[Text, str]:
    return template.read(call, variables)


def _admit(thing: str, tier: Tier, caller: Caller) -> None:
    if not caller.principal.reaches(tier):
        raise MCPError(ACCESS_DENIED, denial(thing, tier))


def _no_resource(uri: str, hint: str | None) -> MCPError:
    told = {"uri": uri[:256]} | ({"hint": hint} if hint else {})
    return MCPError(INVALID_PARAMS, "Resource not found", told)


async def _aside(work: Callable[[Call], Any], call: Call) -> Any:
    """In a thread: stores are asked, and nobody else should wait for them."""
    return await anyio.to_thread.run_sync(work, call, abandon_on_cancel=True)
