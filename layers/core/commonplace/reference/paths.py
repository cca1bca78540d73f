"""Paths of endpoints as they are written: templates, concrete paths, URLs, with a method or without."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from commonplace.reference.entries import METHODS, Method

MAX_SEGMENTS = 40
"""Of a path that is looked up; no endpoint has more."""

SLOT = "{}"
"""In a shape: one segment, or a part of one, of any value."""
REST = "{+}"
"""In a shape: any number of segments, at the end."""

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*")
_PARAMETER = re.compile(r"\{[^{}]*\}|<[^<>]*>")
_WHOLE = re.compile(r"\{([^{}]*)\}|<([^<>]*)>|:([A-Za-z_]\w*)|\[([^\[\]]*)\]")
_REST = re.compile(r"\{[^{}]*(?:\+|\*|:path)\}|<path:[^<>]*>|\*{1,2}")


@dataclass(frozen=True, slots=True)
class Request:
    """A path that is asked for, with a method or without."""

    path: str
    method: str | None = None
    """As it is written: it may be none that exists."""

    def lets(self, method: Method | None) -> bool:
        """Whether it asks for an endpoint of this method; None is one of every method."""
        return self.method is None or method is None or known_method(self.method) == method


def known_method(word: str) -> Method | None:
    """`get` and `GET:` are GET."""
    upper = word.upper().rstrip(":")
    return next((method for method in METHODS if method == upper), None)


def is_path(word: str) -> bool:
    """A path, or a URL that has one."""
    origin = _ORIGIN.match(word)
    return word[origin.end() :].startswith("/") if origin else word.startswith("/")


def segments(path: str) -> list[str]:
    """Of a path or URL, without host, query string, fragment and empty ones; at most one more than MAX_SEGMENTS."""
    bare = _ORIGIN.sub("", path, count=1).partition("?")[0].partition("#")[0]
    return [unquote(segment) for segment in bare.split("/", 2 * MAX_SEGMENTS) if segment][: MAX_SEGMENTS + 1]


def shape(path: str) -> str:
    """Equal for templates of the same paths: `/users/{id}`, `/users/:user` and `/users/<id>/` are `/users/{}`."""
    return joined([segment_shape(segment) for segment in segments(path)])


def joined(of: Sequence[str]) -> str:
    return "/" + "/".join(of)


def segment_shape(segment: str) -> str:
    if _REST.fullmatch(segment):
        return REST
    return SLOT if _WHOLE.fullmatch(segment) else _PARAMETER.sub(SLOT, segment)


def parameter(segment: str) -> str:
    """The name of what the segment stands for, if it is nothing but a parameter: `id` of `{id}`."""
    found = _WHOLE.fullmatch(segment)
    return next(filter(None, found.groups()), "") if found else ""
