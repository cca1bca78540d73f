"""Answers as bytes: entity tags, conditional requests, and a cache of encoded pages until something changes.

Pages for people are static, with a content security policy that admits no other host.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from commonplace.kernel.byte_cache import ByteCache

T = TypeVar("T")

API = "/api/v1"
JSON = "application/json"
MARKDOWN = "text/markdown; charset=utf-8"
NO_STORE = {"cache-control": "no-store"}

MAX_ANSWER_BYTES = 4_600_000
"""Every answer is under 5 MB, and as base64 under the 6 MiB that a Lambda function may answer."""
PAGE_BYTES = 4_000_000
"""The size at which lists are cut, with a notice; the rest is on the next page."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HTML = "text/html; charset=utf-8"
_TYPES = {
    ".html": HTML,
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
}
PROTECTED: Mapping[str, str] = {"content-security-policy": CONTENT_SECURITY_POLICY, "referrer-policy": "no-referrer"}


@dataclass(frozen=True, slots=True)
class Page:
    """An encoded answer. `etag` is the strong entity tag, without quotes."""

    body: bytes
    etag: str
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, body: bytes, media_type: str = JSON, headers: Mapping[str, str] | None = None) -> "Page":
        return cls(body, blake2b(body, digest_size=16).hexdigest(), media_type, headers or {})

    def answer(self, request: Request) -> Response:
        """Return the page, or 304 when the caller has it already (RFC 9110, section 13)."""
        headers = {"etag": f'"{self.etag}"', **self.headers}
        if unchanged(request, self.etag):
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


@cache
def asset(path: Path) -> Page:
    """Return a file of the code."""
    return Page.of(path.read_bytes(), _TYPES[path.suffix], PROTECTED)


def html(text: str) -> Page:
    """Return a page that was made for this deployment."""
    return Page.of(text.encode("utf-8", "xmlcharrefreplace"), HTML, PROTECTED)


class PageCache:
    """Encoded pages of one version of what they show. A new version empties it."""

    def __init__(self, max_bytes: int = 32_000_000) -> None:
        self._version: str | None = None
        self._pages: ByteCache[tuple[str, ...], Page] = ByteCache(max_bytes, lambda page: len(page.body) + 500)

    def page(self, version: str | None, key: tuple[str, ...], build: Callable[[], Page]) -> Page:
        """Return the page under this key, built at most once per version."""
        if version != self._version:
            self._pages.clear()
            self._version = version
        if (known := self._pages.get(key)) is None:
            known = build()
            self._pages.put(key, known)
        return known


def unchanged(request: Request, etag: str) -> bool:
    """Return whether If-None-Match names this entity tag. Comparison is weak, as caches that compress weaken tags."""
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or f'"{etag}"' in {tag.strip().removeprefix("W/") for tag in given.split(",")}


def encode(value: Any) -> bytes:
    """Return compact UTF-8 JSON. Lone surrogates, which UTF-8 cannot carry, are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def fitting(items: Iterable[T], size: Callable[[T], int], budget: int = PAGE_BYTES) -> list[T]:
    """Return as many leading items as stay within the budget of bytes; at least one, so that paging moves on."""
    taken: list[T] = []
    for item in items:
        budget -= size(item) + 1
        if budget < 0 and taken:
            break
        taken.append(item)
    return taken
