"""Pages for people: served as they are, with a policy that lets nothing in from elsewhere."""

from functools import cache
from pathlib import Path

from commonplace.web.rest.pages import Page

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HTML = "text/html; charset=utf-8"
_TYPES = {
    ".html": HTML,
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
}
_PROTECTED = {"content-security-policy": CONTENT_SECURITY_POLICY, "referrer-policy": "no-referrer"}


@cache
def asset(path: Path) -> Page:
    """A file of the code."""
    return Page.of(path.read_bytes(), _TYPES[path.suffix], _PROTECTED)


def html(text: str) -> Page:
    """A page that was made for this deployment."""
    return Page.of(text.encode("utf-8", "xmlcharrefreplace"), HTML, _PROTECTED)
