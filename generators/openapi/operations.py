"""The operations of a document: every path and method, in one order, whatever the order of the keys."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from commonplace.kernel.errors import TooLarge
from commonplace.reference.endpoints import shape
from commonplace.reference.model import METHODS, Method
from generators.generated import Unread
from generators.openapi.operation_reader import BUNDLE, listed, mappings
from generators.openapi.options import Options
from generators.openapi.pointers import Pointers

MAX_OPERATIONS = 20_000
MAX_PATH = 500

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_BAD = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Operation:
    """`item` is the path's, with what its operations share."""

    method: Method
    path: str
    """As the document has it."""
    template: str
    """With the server's path before it."""
    server: str
    """Scheme and host, or `https://<host>` where the document does not say."""
    item: Mapping[str, Any]
    body: Mapping[str, Any]

    @property
    def where(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def shape(self) -> str:
        """The same for two paths that differ in the names of their parameters only."""
        return shape(self.template)


def operations(root: Mapping[str, Any], pointers: Pointers, options: Options) -> tuple[list[Operation], list[Unread]]:
    """By path, then method. Of two that answer to the same calls the first is kept. Raises TooLarge."""
    found: dict[tuple[str, str], Operation] = {}
    unread: list[Unread] = []
    for one in _all(root, pointers, options, unread):
        key = (one.method, one.shape)
        if key in found:
            told = f"It answers to the same calls as {found[key].where}, which is kept."
            unread.append(Unread(one.where, told, "Make their paths differ in more than the names of parameters."))
            continue
        found[key] = one
        if len(found) > MAX_OPERATIONS:
            raise TooLarge(f"The document has more than {MAX_OPERATIONS:,} operations.", hint="Take some `tags` only.")
    return sorted(found.values(), key=lambda one: (one.template, METHODS.index(one.method))), unread


def _all(root: Mapping[str, Any], pointers: Pointers, options: Options, unread: list[Unread]) -> Iterator[Operation]:
    for path, given in mappings(root.get("paths")):
        if path.startswith("x-"):
            continue
        item = _item(path, given, pointers, unread)
        if _BAD.search(path) or len(path) > MAX_PATH:
            unread.append(Unread(repr(path[:100]), "It is no path, or too long a one."))
            continue
        yield from _of_path(path, item, root, options, unread)


def _item(path: str, given: Any, pointers: Pointers, unread: list[Unread]) -> dict[str, Any]:
    """A path's object: what a reference leads to, with what stands beside it."""
    followed = pointers.follow(given)
    if followed.problem or not isinstance(followed.value, dict):
        hint = BUNDLE if followed.problem else None
        unread.append(Unread(path[:MAX_PATH], followed.problem or "The path has no object with methods.", hint))
    beside = {key: value for key, value in given.items() if key != "$ref"} if isinstance(given, dict) else {}
    item = {**followed.value, **beside} if isinstance(followed.value, dict) else beside
    for name in sorted(item.keys() & {"query", "additionalOperations"}):
        unread.append(Unread(path[:MAX_PATH], f"Operations under `{name}` have no method that an entry can have."))
    return item


def _of_path(
    path: str, item: Mapping[str, Any], root: Mapping[str, Any], options: Options, unread: list[Unread]
) -> Iterator[Operation]:
    for method in METHODS:
        body = item.get(method.lower())
        if body is None and method.lower() not in item:
            continue
        if not isinstance(body, dict):
            unread.append(Unread(f"{method} {path}", "The operation is no object."))
            continue
        if options.tags and not options.tags & {one for one in listed(body.get("tags")) if isinstance(one, str)}:
            continue
        host, base = server(body.get("servers") or item.get("servers") or root.get("servers"), options)
        template = f"{base}/{re.split('[?#]', path)[0].lstrip('/')}"
        if len(template) > MAX_PATH:
            unread.append(Unread(f"{method} {path[:100]}…", "Its path is too long."))
            continue
        yield Operation(method, path, template, host, item, body)


def server(given: Any, options: Options) -> tuple[str, str]:
    """Scheme and host, and the path without a slash at its end, of the first server."""
    first = next((one for one in listed(given) if isinstance(one, dict)), {})
    url = options.server or _filled(first)
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "https://<host>", options.base_path or ""
    base = parts.path.rstrip("/") if options.base_path is None else options.base_path
    if base and (not base.startswith("/") or _BAD.search(base) or len(base) > MAX_PATH):
        base = ""
    known = host and not _BAD.search(host) and len(host) <= 200
    return f"{parts.scheme or 'https'}://{host}" if known else "https://<host>", base


def _filled(server_object: Mapping[str, Any]) -> str:
    """The URL with the defaults of its variables."""
    url, variables = server_object.get("url"), server_object.get("variables")

    def default(found: re.Match[str]) -> str:
        one = variables.get(found[1]) if isinstance(variables, dict) else None
        value = one.get("default") if isinstance(one, dict) else None
        return str(value) if isinstance(value, str | int) else found[0]

    return _VARIABLE.sub(default, url) if isinstance(url, str) and len(url) <= 2_000 else ""
