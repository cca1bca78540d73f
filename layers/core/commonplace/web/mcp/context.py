"""The context that the MCP function passes to each capability with a toolset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.web.mcp.settings import McpSettings


@dataclass(frozen=True, slots=True)
class ToolsetContext:
    """Settings and the store of objects; whatever else a toolset needs it makes when a call first needs it."""

    environ: Mapping[str, str]
    settings: McpSettings
    objects: ObjectStore
