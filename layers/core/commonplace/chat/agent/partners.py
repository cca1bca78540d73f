"""Partners in a run: what they are called, where they are, and which tools of theirs the model is shown."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.invocation import invoke
from commonplace.web.mcp.offer import Offer, Offered
from commonplace.web.mcp.rendering import data_of, whole

logger = logging.getLogger(__name__)

MAX_TOOLS, MAX_TOOL_BYTES = 20, 24 * 1024
"""The most tools of partners that a model is shown, and the most that their texts and schemas may be together."""


@dataclass(frozen=True, slots=True)
class Partners:
    """What a person has of partners in one run."""

    sources: Mapping[str, Mapping[str, Any]]
    """As `list_sources` has them, by name; our own knowledge base, which is among them, has no address."""
    tools: Sequence[Offered]

    @property
    def titles(self) -> list[str]:
        return [whole(one["title"]) for one in self.sources.values()]

    def source(self, name: str, title: str = "", url: str = "") -> tuple[str, str]:
        """Return title and address under which something of a source is cited: that of the partner where it has none
        of its own."""
        listed = self.sources.get(name, {"title": name})
        if not listed.get("url"):
            return whole(title), url
        parts, named = urlsplit(listed["url"]), whole(listed["title"])
        return f"{whole(title)} ({named})" if title else named, url or f"{parts.scheme}://{parts.netloc}"


def partners_of(commons: Offer, caller: Caller) -> Partners | None:
    """Return the partners of a caller; None where there are none, or their list cannot be read: the chat goes on."""
    try:
        answer = invoke(commons, caller, "list_sources", {}, spend=lambda *_: None)
        tools = list(_shown(commons.further_tools(caller, asking=True)))
    except CommonplaceError as error:
        logger.warning("a chat goes on without partners", extra={"error": type(error).__name__})
        return None
    listed, having = data_of(answer)["sources"], {one.name.partition("__")[0] for one in tools}
    sources = {one["name"]: one for one in listed if one["status"] != "unapproved" or one["name"] in having}
    return Partners(sources, tools) if any(one.get("url") for one in sources.values()) else None


def _shown(offered: Iterator[Offered]) -> Iterator[Offered]:
    """Yield the first tools, as many as there is room for. One whose schema no service would take is left out: with it
    a model would answer nothing at all."""
    count = size = 0
    for one in offered:
        schema: Any = one.tool.input_schema
        try:
            InlineDefsJsonSchemaTransformer(schema).walk()
        except Exception as error:  # noqa: BLE001 - the schema is a partner's, and may be anything
            logger.warning("a tool of a partner is not shown", extra={"tool": one.name, "error": type(error).__name__})
            continue
        count, size = count + 1, size + len(json.dumps([one.tool.description, schema]).encode())
        if count > MAX_TOOLS or size > MAX_TOOL_BYTES:
            return
        yield one
