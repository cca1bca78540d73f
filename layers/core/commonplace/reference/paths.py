"""Paths of endpoints: templates, and the concrete paths that they stand for."""

import re
from urllib.parse import unquote

from commonplace.reference.entries import METHODS, Method
from commonplace.reference.spelling import unwrapped

MAX_SEGMENTS = 50

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*")
_PARAMETER = re.compile(r"\{([^{}]*)\}|<([^<>]*)>")
_WHOLE_PARAMETER = re.compile(r"\{[^{}]*\}|<[^<>]*>|:[A-Za-z_]\w*|\[[^\[\]]*\]")
_REST = re.compile(r"\{[^{}]*(?:\+|\*|:path)\}|<path:[^<>]*>|\*{1,2}")
_IDENTIFIER = re.compile(r"(?:.*[a-z0-9_-])?(?:ids?|uuid|guid|number|num|no|index|key|hash|sha)", re.IGNORECASE)
_MARKED = re.compile(r"[^a-z_-]")

SLOT = "{}"
"""Of a shape: one segment of any value."""
REST = "{+}"
"""The same for any number of segments, at the end."""


def method_and_path(text: str) -> tuple[str | None, str]:
    """`GET /users?page=2` as method and path; the method as it is written, None when there is but one word."""
    first, _, rest = unwrapped(text).partition(" ")
    rest = rest.lstrip()
    return (first, rest.split(" ", 1)[0]) if rest and not _is_path(first) else (None, first)


def known_method(text: str) -> Method | None:
    upper = text.upper().rstrip(":")
    return next((method for method in METHODS if method == upper), None)


def path_of(text: str) -> str:
    """Of a URL or a path: without host, query string, fragment and trailing slashes, beginning with a slash."""
    path = _ORIGIN.sub("", text, count=1).partition("?")[0].partition("#")[0]
    return "/" + "/".join(segments(path))


def segments(path: str) -> list[str]:
    return [unquote(segment) for segment in path.split("/") if segment]


def shape(path: str) -> str:
    """Equal for templates that stand for the same paths: `/users/{id}` and `/users/:user` are `/users/{}`."""
    return "/" + "/".join(_segment_shape(segment) for segment in segments(path))


def _segment_shape(segment: str) -> str:
    if _REST.fullmatch(segment):
        return REST
    return SLOT if _WHOLE_PARAMETER.fullmatch(segment) else _PARAMETER.sub(SLOT, segment)


def _is_path(word: str) -> bool:
    return word.startswith("/") or _ORIGIN.match(word) is not None
