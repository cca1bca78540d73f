"""The methods `resources/read` and `prompts/get`."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptRequestParams, ReadResourceRequestParams

from commonplace.identity.authorization import Need
from commonplace.kernel.errors import NotFound, TooLarge
from commonplace.web.mcp.access import caller_of, denial
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Call, Caller, Template, Text
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.rendering import CACHED, COMPLETE, contents
from commonplace.web.mcp.replies import ACCESS_DENIED, Reply
from commonplace.web.mcp.surface import Surface
from commonplace.web.mcp.tools import in_thread
from commonplace.web.mcp.uri_templates import match, pattern_of

Context = ServerRequestContext[Any, Any]
Read = Callable[[Call], tuple[Text, str]]

MAX_RESOURCE_BYTES = 3_500_000
"""A function's response holds 6 MB, and base64 makes a third more of a file."""


class Reading:
    """The resources and prompts of one path."""

    def __init__(self, offer: Offer, surface: Surface) -> None:
        self._offer = offer
        self._surface = surface
        self._patterns: list[tuple[re.Pattern[str], Template]] = [
            (pattern_of(one.uri_template), one) for one in offer.templates
        ]

    def resource_name(self, params: ReadResourceRequestParams) -> str:
        """The address of a fixed resource, or the template that fits."""
        uri = str(params.uri)
        if uri in self._offer.resources:
            return uri
        return next((one.uri_template for pattern, one in self._patterns if match(pattern, uri) is not None), "unknown")

    def prompt_name(self, params: GetPromptRequestParams) -> str:
        return params.name if params.name in self._offer.prompts else "unknown"

    async def read(self, ctx: Context, params: ReadResourceRequestParams) -> Reply:
        """Raises MCPError: -32602 with `data.uri` for what is not there, 403 for what this account may not read."""
        uri, caller = str(params.uri), caller_of(ctx.request)
        need, read = self._reader(uri)
        _admit("resource", need, caller)
        try:
            body, mime_type = await _aside(read, Call(caller, self._surface.base_url, ctx))
        except NotFound as error:
            raise _no_resource(uri, error.hint) from None
        size = len(body) if isinstance(body, bytes) else len(body.encode("utf-8", "replace"))
        if size > MAX_RESOURCE_BYTES:
            raise TooLarge("This resource is too large to be read here.", sizeBytes=size)
        tokens = size // 2 if isinstance(body, bytes) else estimate_tokens(body)
        return Reply(CACHED | {"contents": [contents(uri, mime_type, body)]}, tokens)

    async def prompt(self, ctx: Context, params: GetPromptRequestParams) -> Reply:
        """Raises MCPError -32602 for an unknown prompt or a missing argument."""
        caller, prompt = caller_of(ctx.request), self._offer.prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        _admit("prompt", self._offer.needs["prompt", params.name], caller)
        given = {name: value for name, value in (params.arguments or {}).items() if value.strip()}
        if missing := [one.name for one in prompt.arguments if one.required and one.name not in given]:
            raise MCPError(INVALID_PARAMS, "Missing arguments: " + ", ".join(missing))
        known = {one.name: given[one.name] for one in prompt.arguments if one.name in given}
        text = await _aside(lambda call: prompt.render(call, known), Call(caller, self._surface.base_url, ctx))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return Reply(COMPLETE | {"description": prompt.description, "messages": [message]}, estimate_tokens(text))

    def _reader(self, uri: str) -> tuple[Need, Read]:
        if (fixed := self._offer.resources.get(uri)) is not None:
            return self._offer.needs["resource", uri], lambda call: (fixed.read(call), fixed.mime_type)
        for pattern, template in self._patterns:
            if (variables := match(pattern, uri)) is not None:
                need = self._offer.needs["template", template.uri_template]
                return need, partial(_read_template, template, variables)
        raise _no_resource(uri, None)


def _read_template(template: Template, variables: Any, call: Call) -> tuple[Text, str]:
    return template.read(call, variables)


def _admit(thing: str, need: Need, caller: Caller) -> None:
    if (told := denial(thing, need, caller)) is not None:
        raise MCPError(ACCESS_DENIED, told)


def _no_resource(uri: str, hint: str | None) -> MCPError:
    return MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri[:256]} | ({"hint": hint} if hint else {}))


async def _aside(work: Callable[[Call], Any], call: Call) -> Any:
    """In a thread, since reading a store would block other requests."""
    return await in_thread(work, call)
