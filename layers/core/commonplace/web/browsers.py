"""Requests of browsers that bring a session: where they come from, their bounded forms, and cookies."""

from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from commonplace.kernel.errors import BadRequest, TooLarge

FORM = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 16 * 1024
MAX_PAGE_BYTES = 256 * 1024
"""The largest form of a page of the console: long texts, percent-encoded; as much as REST takes."""
MAX_FIELDS = 60
MAX_COOKIE_CHARACTERS = 100

GUARDED: Mapping[str, str] = {
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
"""On every answer to a browser that may be signed in. With `no-referrer` nothing of an address reaches the place that a
page leads to."""


def from_elsewhere(request: Request, origin: str) -> bool:
    """Return whether another site than `origin` had the browser send this. Browsers say so, other clients nothing.

    A form of ours comes with `Origin: null`, because of its page's Referrer-Policy; Sec-Fetch-Site distinguishes it.
    """
    site, sender = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in (None, "same-origin", "none"):  # none: typed into the address bar
        return True
    return sender is not None and sender != origin and not (sender == "null" and site == "same-origin")


async def read_body(request: Request, max_bytes: int) -> bytes | None:
    """Return the body, or None for one that is larger; what is beyond the bound is dropped."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and len(announced) < 16 and int(announced) > max_bytes:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            return None
        parts.append(part)
    return b"".join(parts)


def media_type(request: Request) -> str:
    """Return it in lower case and without parameters; empty when there is none, or more than one."""
    values = request.headers.getlist("content-type")
    return values[0].partition(";")[0].strip().lower() if len(values) == 1 else ""


async def read_fields(request: Request, max_bytes: int = MAX_FORM_BYTES) -> Mapping[str, list[str]]:
    """Read a form whose fields may come several times, as ticked boxes do. Raises BadRequest, TooLarge."""
    if media_type(request) != FORM:
        raise BadRequest(f"The body must be a form: Content-Type {FORM}.")
    body = await read_body(request, max_bytes)
    if body is None:
        raise TooLarge(f"The body must not be larger than {max_bytes} bytes.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise BadRequest("The form cannot be read.") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def one(fields: Mapping[str, Sequence[str]], name: str) -> str:
    """Return a field that may come once; empty when it is absent. Raises BadRequest."""
    values = fields.get(name, [""])
    if len(values) > 1:
        raise BadRequest(f"The field {name} came more than once.")
    return values[0]


def cookie_of(request: Request, name: str) -> str:
    """Return the cookie's value; empty when there is none that could be ours."""
    value = request.cookies.get(name, "")
    return value if len(value) <= MAX_COOKIE_CHARACTERS else ""


def set_cookie(answer: Response, name: str, value: str, seconds: int, *, strict: bool = False) -> None:
    """Set a cookie that no script reads, and that goes over TLS alone. With 0 seconds the browser forgets it."""
    same_site: Literal["strict", "lax"] = "strict" if strict else "lax"
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite=same_site)


SIGN_IN = "/account"
"""A page of the authorization server; takes `next`, and leads there whoever is signed in."""


def to_sign_in(request: Request) -> Response:
    """Lead to sign-in and back to the page; a form that was sent is lost, and nothing of it is done."""
    query = f"?{request.url.query}" if request.method == "GET" and request.url.query else ""
    return seen(f"{SIGN_IN}?{urlencode({'next': quote(request.url.path) + query})}")


def seen(url: str, status: int = 303) -> Response:
    """Send the browser on."""
    return Response(status_code=status, headers={"location": url})
