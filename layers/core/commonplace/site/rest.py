"""The page `/docs`: the OpenAPI document of the REST API for people. The function of REST serves it, which knows it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import Frame
from commonplace.web.rest.app import described
from commonplace.web.rest.declaration import RestContext, Routes

FOLDER = Path(__file__).parent
_FACTS = {"minimum": "from {}", "maximum": "to {}", "maxLength": "at most {} characters", "default": "default {}"}


def routes(context: RestContext) -> Routes:
    """As the capability declares them."""
    return page_routes(context.frame)


def page_routes(frame: Frame) -> Routes:
    """Return the route of the page in this frame."""
    filters: dict[str, Callable[..., str]] = {"prose": prose, "bounds": bounds, "pretty": pretty}
    frame.declared.append(Pages(routes=(), templates=FOLDER / "templates", assets=FOLDER / "assets", filters=filters))

    async def get_docs(request: Request) -> Response:
        return frame.page(request, "docs.html", api=described(request.app)[0]).answer(request)

    return Routes(services=None, routers=(), pages=(Route("/docs", get_docs),))


def prose(text: str | None) -> str:
    """Return Markdown of our own code as HTML; HTML in it is text."""
    from markdown_it import MarkdownIt  # for this page alone

    found: str = MarkdownIt("commonmark", {"html": False}).render(text or "")
    return found


def pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def bounds(schema: dict[str, Any]) -> str:
    """Return the type of a parameter and what bounds it, in words."""
    merged = {name: value for one in schema.get("anyOf", ()) for name, value in one.items()} | schema
    kind = merged.get("format") or merged.get("type", "")
    facts = [f"repeatable {merged.get('items', {}).get('type', '')}".strip() if kind == "array" else kind]
    facts += [words.format(merged[name]) for name, words in _FACTS.items() if merged.get(name) not in (None, "", [])]
    return ", ".join(filter(None, facts))
