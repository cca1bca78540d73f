"""Several repositories behind one address, as on GitHub: each request goes to the repository that it names."""

import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from local.github.api import GitHubApi

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_NAMED = re.compile(r"/(?:repos|codeload)/(?P<name>[^/]+/[^/]+)(?:/|\Z)")
MAX_QUERY_BYTES = 4 * 1024 * 1024


class GitHubSite:
    """The first answers what names no repository, or one that is not here."""

    def __init__(self, apis: Sequence[GitHubApi]) -> None:
        self.apis = tuple(apis)
        self._by_name = {api.name.lower(): api for api in self.apis}

    def close(self) -> None:
        """Ends the `git` processes."""
        for api in self.apis:
            api.close()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        named = _NAMED.match(path)
        name = unquote(named["name"]) if named else _queried(environ) if path == "/graphql" else ""
        return self._by_name.get(name.lower(), self.apis[0])(environ, start_response)


def _queried(environ: "WSGIEnvironment") -> str:
    """The repository of a GraphQL query: its variables say it. The body stays to be read."""
    try:
        length = min(int(environ.get("CONTENT_LENGTH") or 0), MAX_QUERY_BYTES)
        raw = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(raw)
        variables = json.loads(raw)["variables"]
        return f"{variables['owner']}/{variables['name']}"
    except (ValueError, KeyError, TypeError):
        return ""
