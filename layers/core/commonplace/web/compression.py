"""Compression of answers where nothing in front compresses: API Gateway and the laptop do not, CloudFront does."""

import re
import sys

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.web.middleware import header_map

MINIMUM_BYTES = 1_000
"""Less fits into one packet as it is."""
LEVEL = 5
"""Of zlib: higher ones take longer than what they save."""
DENSE = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream", "application/pdf")
"""Types that are compressed already, or may be."""

_WEIGHT = re.compile(r"q=([01](?:\.\d{0,3})?)")


class Compression:
    """gzip, for who takes it, by Starlette. What is compressed has a weak entity tag: its bytes are others.

    See RFC 9110, sections 8.8.3 and 12.5.3. Not for answers with a secret beside what somebody else wrote (BREACH).
    """

    def __init__(self, app: ASGIApp) -> None:
        # Threads would outlive the request, in which a function may be frozen.
        self.app = GZipMiddleware(
            app, MINIMUM_BYTES, LEVEL, thread_minimum_size=sys.maxsize, exclude_content_types=DENSE
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = header_map(scope)
        known = asked.get("if-none-match", "")

        async def tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                _tag(MutableHeaders(scope=message), known, unchanged=message["status"] == 304)
            await send(message)

        headers = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept-encoding"]
        if takes_gzip(asked.get("accept-encoding", "")) and "CloudFront" not in asked.get("via", ""):
            headers.append((b"accept-encoding", b"gzip"))
        await self.app({**scope, "headers": headers}, receive, tagged)


def takes_gzip(accept_encoding: str) -> bool:
    """Whether the header gives gzip, by name or by `*`, a weight above 0 and not below that of the plain text."""
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().split(","):
        coding, _, weight = part.partition(";")
        given = _WEIGHT.fullmatch("".join(weight.split()))
        weights.setdefault(coding.strip(), float(given[1]) if given else 1.0)
    gzip = weights.get("gzip", weights.get("*", 0.0))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _tag(headers: MutableHeaders, known: str, *, unchanged: bool) -> None:
    """304 repeats the tag in the form that the caller has."""
    tag = headers.get("etag", "")
    if unchanged:
        headers.add_vary_header("Accept-Encoding")
    weak = f"W/{tag}" in known if unchanged else headers.get("content-encoding") == "gzip"
    if tag.startswith('"') and weak:
        headers["etag"] = f"W/{tag}"
