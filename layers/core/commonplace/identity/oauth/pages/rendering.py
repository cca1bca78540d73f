"""Pages with their headers. Jinja is loaded by the first page that is shown: tokens need none of it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from commonplace.identity.oauth.pages.words import day, moment, plain, span, stamp
from commonplace.identity.oauth.server.errors import NO_STORE, envelope, json_answer
from commonplace.kernel.errors import CommonplaceError

if TYPE_CHECKING:
    from jinja2 import Environment

HTML = "text/html; charset=utf-8"
WAAP_ORIGIN = "https://waap.xyz"

GUARDED = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
"""On every answer to a browser. With `no-referrer` nothing of an address reaches the place that a page leads to."""


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


def page(template: str, status: int = 200, *, icons: bool = False, waap: bool = False, **values: Any) -> Response:
    """The page, which no cache keeps and no other site frames."""
    headers = NO_STORE | GUARDED
    headers["content-security-policy"] = content_security_policy(icons=icons, waap=waap)
    # The frame of WaaP opens windows, and has to hear from them.
    headers["cross-origin-opener-policy"] = "same-origin-allow-popups" if waap else "same-origin"
    body = _templates().get_template(template).render(**values)
    return Response(body.encode("utf-8", "xmlcharrefreplace"), status, headers, HTML)


def refused(site: str, error: CommonplaceError, title: str = "This did not work") -> Response:
    """A page that says why it ends here; the browser is sent nowhere."""
    answer = page("refused.html", error.status, site=site, title=title, message=error.message, hint=error.hint or "")
    if (seconds := getattr(error, "retry_after_seconds", None)) is not None:
        answer.headers["retry-after"] = str(seconds)
    return answer


def told(values: Mapping[str, Any], status: int = 200) -> Response:
    """JSON for a script of ours."""
    return json_answer(values, status, GUARDED)


def told_error(error: CommonplaceError) -> Response:
    """The error in our envelope, for a script of ours."""
    return envelope(error, GUARDED)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"plain": plain, "day": day, "moment": moment, "stamp": stamp, "span": span}
    return found
