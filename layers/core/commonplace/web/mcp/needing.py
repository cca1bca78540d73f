"""What a message asks for, and what that takes. From the body alone: headers that repeat it may lie."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from commonplace.identity.authorization import Need
from commonplace.web.mcp.access import exists
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.offer import Offer
from commonplace.web.mcp.uri_templates import match, pattern_of


class Needs:
    """Of the operations of one path."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer

    def of(self, message: Mapping[str, Any], caller: Caller) -> Need | None:
        """None for what is not there, what is malformed, and what everybody may: the server answers those."""
        params = message.get("params")
        if not isinstance(params, Mapping):
            return None
        match message.get("method"):
            case "tools/call":
                return self._tool(params.get("name"), caller)
            case "resources/read":
                return self._resource(params.get("uri"))
            case "prompts/get":
                return self._named("prompt", params.get("name"))
        return None

    def _tool(self, name: Any, caller: Caller) -> Need | None:
        offered = self._offer.tools.get(name) if isinstance(name, str) else None
        return offered.need if offered is not None and exists(offered, caller) else None

    def _resource(self, uri: Any) -> Need | None:
        if (fixed := self._named("resource", uri)) is not None or not isinstance(uri, str):
            return fixed
        found = (template for pattern, template in self._patterns if match(pattern, uri) is not None)
        return self._named("template", next(found, None))

    def _named(self, kind: str, name: Any) -> Need | None:
        return self._offer.needs.get((kind, name)) if isinstance(name, str) else None

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(pattern_of(one.uri_template), one.uri_template) for one in self._offer.templates]
