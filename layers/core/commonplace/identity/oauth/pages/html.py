"""HTML pages with their headers and assets, and texts of others made safe to show. Escaping is the templates'.

Jinja is loaded by the first page that is shown: the token endpoint needs none of it.
"""

import unicodedata
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.capabilities import CAPABILITIES
from commonplace.identity.redirects import is_loopback_redirect
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.settings import Appearance
from commonplace.web.browsers import GUARDED as HEADERS
from commonplace.web.middleware import SecurityHeaders, error_headers
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import Frame, frame_of
from commonplace.web.representations import HTML

Destination = Literal["site", "loopback", "app"]
"""Where a browser is sent: a web site, a program that listens on this computer, or whatever opens a link of its own."""

MAX_CHARACTERS = 80

WAAP_ORIGIN = "https://waap.xyz"

GUARDED = Middleware(SecurityHeaders, headers=HEADERS)

FOLDER = Path(__file__).with_name("assets")
TYPES = {".js": "text/javascript; charset=utf-8"}


def plain(text: object, limit: int = MAX_CHARACTERS) -> str:
    """One line of visible characters, cut. What reorders or hides text (category C of Unicode) is left out."""
    raw = str(text)[: limit * 8]
    spaced = "".join(" " if one.isspace() else one for one in raw)
    seen = "".join(one for one in spaced if not unicodedata.category(one).startswith("C"))
    # Without piles of combining marks, which would paint over the lines around.
    kept: list[str] = []
    marks = 0
    for one in seen:
        marks = marks + 1 if unicodedata.combining(one) else 0
        if marks <= 2:
            kept.append(one)
    line = " ".join("".join(kept).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def destination(redirect_uri: str) -> tuple[Destination, str]:
    """Return what kind of place a redirect URI is, and how to name it: a host, or the scheme of an app's links."""
    parts = urlsplit(redirect_uri)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https"):
        return "app", f"{parts.scheme}:"
    if is_loopback_redirect(redirect_uri):
        return "loopback", host
    return "site", parts.netloc.lower()


def span(seconds: int) -> str:
    """`1 hour`, `30 days`."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return _counted(seconds // size, name)
    return _counted(seconds, "second")


def listed(words: list[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def content_security_policy(*, icons: bool = False, waap: bool = False) -> str:
    """Nothing from elsewhere. `icons` lets wallets show theirs (data URIs, EIP-6963), `waap` its frame in."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src 'self'{' data:' if icons else ''}",
            "connect-src 'self'",
            *((f"frame-src {WAAP_ORIGIN}",) if waap else ()),
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def frame(settings: Appearance, base_url: str) -> Frame:
    """The frame of every page we serve, with the templates of this room."""
    made = frame_of(settings, CAPABILITIES, base_url)
    filters: dict[str, Callable[..., str]] = {"plain": plain, "span": span}
    made.declared.append(Pages(routes=(), templates=Path(__file__).with_name("templates"), filters=filters))
    return made


def page(
    frame: Frame,
    request: Request,
    template: str,
    status: int = 200,
    *,
    icons: bool = False,
    waap: bool = False,
    **values: Any,
) -> Response:
    """The page, which no cache keeps and no other site frames."""
    headers = {
        "content-security-policy": content_security_policy(icons=icons, waap=waap),
        # The frame of WaaP opens windows, and has to hear from them.
        "cross-origin-opener-policy": "same-origin-allow-popups" if waap else "same-origin",
    }
    return Response(frame.render(request, template, site=frame.name, **values), status, headers, HTML)


def refused(frame: Frame, request: Request, error: CommonplaceError, title: str = "This did not work") -> Response:
    """A page that says why it ends here; the browser is sent nowhere."""
    values: dict[str, Any] = {"title": title, "message": error.message, "hint": error.hint or ""}
    answer = page(frame, request, "refused.html", error.status, **values)
    answer.headers.update(error_headers(error))
    return answer


async def asset(request: Request) -> Response:
    """A file of the folder, by its name; no other is served."""
    name = request.path_params["name"]
    found = _assets().get(name)
    if found is None:
        return Response("There is nothing at this address.\n", 404, {"cache-control": "no-store"}, "text/plain")
    body, tag = found
    # Revalidated each time: pages and scripts of two versions must not meet.
    headers = {"etag": tag, "cache-control": "no-cache", "cross-origin-resource-policy": "same-origin"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, TYPES[Path(name).suffix])


def routes() -> list[Route]:
    return [Route("/auth/assets/{name}", asset, methods=["GET"], middleware=[GUARDED])]


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    """The files of the folder with their entity tags, by name."""
    bodies = {file.name: file.read_bytes() for file in FOLDER.iterdir() if file.suffix in TYPES}
    return {name: (body, f'"{blake2b(body, digest_size=12).hexdigest()}"') for name, body in bodies.items()}
