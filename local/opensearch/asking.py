"""Asks a node over HTTP, past any proxy."""

import json
import urllib.error
import urllib.request
from typing import Any

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NoAnswer(Exception):
    """The node does not answer, or not with success; `status` is None when nothing came back."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def ask(url: str, path: str, body: Any = None, *, method: str | None = None, seconds: float = 5) -> Any:
    """The parsed answer. A list is sent as one JSON object a line. Raises NoAnswer."""
    lines = "".join(json.dumps(line) + "\n" for line in (body if isinstance(body, list) else [body]))
    kind = "application/x-ndjson" if isinstance(body, list) else "application/json"
    data = None if body is None else lines.encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": kind}, method=method)  # noqa: S310  loopback
    try:
        with _DIRECT.open(request, timeout=seconds) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(2000).decode(errors="replace")
        raise NoAnswer(f"{error.code}: {said}", error.code) from error
    except (OSError, ValueError) as error:
        raise NoAnswer(str(error)) from error


def cluster_at(url: str, seconds: float = 5) -> str | None:
    """The name of the cluster that answers there; None when none does."""
    try:
        return str(ask(url, "/", seconds=seconds)["cluster_name"])
    except (NoAnswer, KeyError, TypeError):
        return None
