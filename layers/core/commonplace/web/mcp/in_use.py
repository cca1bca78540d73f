"""Values that an argument can have at the moment, told where a list describes the argument: short names and no more.

They are operators' data, so nothing passes that is no slug, and only so many do. A store that does not answer costs
the values, never the list.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.mcp.offer import Offer

logger = logging.getLogger(__name__)

MAX_VALUES = 30
"""Of one argument."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")

InUse = tuple[tuple[str, str, tuple[str, ...]], ...]
"""`(tool, argument, values)`, the same for the same values."""


def asks(offer: Offer) -> bool:
    """Whether any tool of this path has such an argument."""
    return any(one.tool.in_use for one in offer.tools.values())


def values_in_use(offer: Offer) -> InUse:
    """Asks stores, perhaps: not for an event loop. Never raises."""
    return tuple(
        (name, argument, _told(name, values))
        for name, one in offer.tools.items()
        for argument, values in one.tool.in_use.items()
    )


def described(schema: Mapping[str, Any], name: str, in_use: InUse) -> dict[str, Any]:
    """The input schema of this tool, with the values in its descriptions."""
    properties = dict(schema["properties"])
    for tool, argument, values in in_use:
        if tool == name and values:
            told = (properties[argument].get("description", "").rstrip("."), f"In use: {', '.join(values)}")
            properties[argument] = properties[argument] | {"description": ". ".join(filter(None, told))}
    return dict(schema) | {"properties": properties}


def _told(tool: str, values: Callable[[], Sequence[str]]) -> tuple[str, ...]:
    try:
        known = dict.fromkeys(value for value in values() if _SLUG.fullmatch(value))
    except CommonplaceError as error:
        logger.warning("a list goes without values", extra={"tool": tool, "error": error.code})
        return ()
    except Exception:
        logger.exception("a list goes without values", extra={"tool": tool})
        return ()
    return tuple(known)[:MAX_VALUES]
