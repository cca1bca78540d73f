"""The stand-in of GitHub as a server, and the push event as GitHub sends it: body, signature, delivery."""

import hashlib
import hmac
import io
import json
import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

import httpx

from commonplace_local.cloud.servers import Loopback, LoopbackHandler
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


_NAMED = re.compile(r"/(?:repos|codeload)/(?P<name>[^/]+/[^/]+)(?:/|\Z)")
MAX_QUERY_BYTES = 4 * 1024 * 1024

ZEROS = "0" * 40
LISTED_FILES = 3000
"""GitHub reports at most so many changed files per commit; the sync must not depend on the list."""

ANSWER_SECONDS = 10
"""GitHub gives a receiver ten seconds."""


class GitHubServer:
    """Serves repositories on 127.0.0.1; port 0 means any free one. `api` is the first repository's.

    Each request goes to the repository that it names; the first answers what names none, or one that is not here.
    """

    def __init__(self, api: GitHubApi, *others: GitHubApi, port: int = 0) -> None:
        self.api = api
        self._by_name = {one.name.lower(): one for one in (api, *others)}
        self._server = Loopback(LoopbackHandler, port, app=self._answer)

    @property
    def url(self) -> str:
        """Without trailing slash: what `GITHUB_API_URL` is set to."""
        return self._server.url

    def start(self) -> Self:
        self._server.start()
        return self

    def stop(self) -> None:
        """Closes the port and ends the `git` processes."""
        self._server.stop()
        for api in self._by_name.values():
            api.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _answer(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        named = _NAMED.match(path)
        name = unquote(named["name"]) if named else _queried(environ) if path == "/graphql" else ""
        return self._by_name.get(name.lower(), self.api)(environ, start_response)


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


def push_event(repository: GitRepository, name: str, branch: str, before: str | None, after: str) -> dict[str, Any]:
    """The body of the push that moved `branch` from `before` (None: it is new) to `after`."""
    owner, _, short = name.partition("/")
    files = repository.changed_paths(before, after)
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    person = {"name": "Commonplace", "email": "noreply@localhost", "username": "commonplace"}
    commit = {
        "id": after,
        "tree_id": repository.tree_sha(after),
        "distinct": True,
        "message": "Working copy",
        "timestamp": now,
        "author": person,
        "committer": person,
        **{kind: paths[:LISTED_FILES] for kind, paths in files.items()},
    }
    return {
        "ref": f"refs/heads/{branch}",
        "before": before or ZEROS,
        "after": after,
        "created": before is None,
        "deleted": False,
        "forced": before is not None and not repository.is_ancestor(before, after),
        "base_ref": None,
        "compare": f"https://github.com/{name}/compare/{(before or ZEROS)[:12]}...{after[:12]}",
        "repository": {
            "id": 1,
            "name": short,
            "full_name": name,
            "private": False,
            "html_url": f"https://github.com/{name}",
            "default_branch": branch,
            "owner": {"name": owner, "login": owner},
        },
        "pusher": {"name": "commonplace", "email": "noreply@localhost"},
        "sender": {"login": "commonplace", "id": 1, "type": "User"},
        "commits": [commit],
        "head_commit": commit,
    }


def sign(secret: str, body: bytes) -> str:
    """`X-Hub-Signature-256`: HMAC-SHA256 over the raw body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def delivery_headers(secret: str, body: bytes, *, event: str = "push", delivery: str | None = None) -> dict[str, str]:
    """The headers of one delivery; a redelivery keeps its id."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/commonplace",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
        "X-Hub-Signature-256": sign(secret, body),
    }


def deliver(
    url: str, secret: str, event_body: dict[str, Any], *, event: str = "push", delivery: str | None = None
) -> dict[str, Any]:
    """Posts the event and returns the answer. Raises httpx.HTTPError when it is refused or unanswered."""
    body = json.dumps(event_body).encode()
    headers = delivery_headers(secret, body, event=event, delivery=delivery)
    response = httpx.post(url, content=body, headers=headers, timeout=ANSWER_SECONDS, trust_env=False)
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer
