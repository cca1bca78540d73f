"""Diagrams of Mermaid, drawn by its own script in a frame with an origin of its own, which can load nothing else.

Without scripts, and where the text is no diagram, the page shows the block of code that it is.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.web.pages.frame import ASSETS_PATH, Frame
from commonplace.web.representations import CONTENT_SECURITY_POLICY, HTML, Page

ADDRESS = f"{ASSETS_PATH}/diagram"
"""Below what is shown to everybody: the frame sends no cookies for what it loads, and holds nothing of a document."""
FRAMING = {"content-security-policy": f"{CONTENT_SECURITY_POLICY}; frame-src 'self'", "referrer-policy": "no-referrer"}
SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; script-src 'self' {origin}; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_BLOCK = '<code class="language-mermaid">'


def script() -> Path | None:
    """Return the script of Mermaid as its release has it; None where the package that carries it has another form."""
    # Nothing of the package is imported: it would draw by itself.
    spec = find_spec("mermaidx")
    file = Path(spec.origin).parent / "assets" / "mermaid.js" if spec and spec.origin else None
    return file if file and file.is_file() else None


MERMAID = script()


def routes(frame: Frame) -> list[Route]:
    policy = SANDBOX.format(origin=frame.base_url).replace(" ;", ";")
    headers = {**FRAMING, "content-security-policy": policy}

    async def get_diagram(request: Request) -> Response:
        return Page.of(frame.render(request, "diagram.html"), HTML, headers).answer(request)

    return [Route(ADDRESS, get_diagram)] if MERMAID else []


def framing(page: Page, html: str) -> Page:
    """Return the page of a document, which may have the frame if there is a diagram in it."""
    return replace(page, headers=FRAMING) if shown(html) else page


def shown(html: str) -> bool:
    return MERMAID is not None and _BLOCK in html
