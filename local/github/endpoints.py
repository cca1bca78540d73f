"""The endpoints the sync calls, each in GitHub's own shape."""

import base64
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from local.github import graphql
from local.github.answers import Refused, json_body, json_response, not_found, raw_response, wants
from local.github.repository import SHA, GitRepository, TreeEntry

STATES = frozenset({"error", "failure", "pending", "success"})
STATUS_CHARACTERS = 140
BASE64_LINE = re.compile(".{1,60}")


@dataclass(frozen=True, slots=True)
class CommitStatus:
    sha: str
    state: str
    description: str
    context: str
    created_at: datetime

    def body(self) -> dict[str, str]:
        facts = {"state": self.state, "description": self.description, "context": self.context}
        return facts | {"created_at": f"{self.created_at:%Y-%m-%dT%H:%M:%SZ}"}


class Endpoints:
    """One repository, `owner/name`; a recursive tree above `tree_limit` entries is truncated (GitHub: 100,000)."""

    def __init__(self, repository: GitRepository, name: str, tree_limit: int) -> None:
        self.repository, self.name, self.tree_limit = repository, name, tree_limit
        self._lock = threading.Lock()
        self._given: list[CommitStatus] = []

    @property
    def given(self) -> tuple[CommitStatus, ...]:
        with self._lock:
            return tuple(self._given)

    def about(self, _request: Request) -> Response:
        owner, _, name = self.name.partition("/")
        facts = {"id": 1, "name": name, "full_name": self.name, "owner": {"login": owner}, "private": False}
        return json_response(facts)

    def commit(self, request: Request, ref: str) -> Response:
        sha = self._commit_sha(ref)
        if wants(request, "sha"):
            return raw_response(sha.encode(), "application/vnd.github.sha", tag=sha)
        return json_response({"sha": sha, "url": self._url(request, f"commits/{sha}")}, tag=sha)

    def tree(self, request: Request, ref: str) -> Response:
        """Any value of `recursive` means recursive, "0" and "false" too, as GitHub documents."""
        sha = self.repository.tree_sha(ref)
        if sha is None:
            raise not_found()
        recursive = "recursive" in request.args
        entries = self.repository.tree(sha, recursive=recursive)
        shown = entries[: self.tree_limit] if recursive else entries
        items = [self._tree_item(request, entry) for entry in shown]
        body = {"sha": sha, "url": self._url(request, f"git/trees/{sha}"), "tree": items}
        return json_response(body | {"truncated": len(shown) < len(entries)}, tag=f"{sha} {recursive}")

    def blob(self, request: Request, sha: str) -> Response:
        if not SHA.fullmatch(sha):
            raise Refused(422, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
        body = self.repository.blob(sha)
        if body is None:
            raise not_found()
        if wants(request, "raw"):
            return raw_response(body, "application/vnd.github.raw", tag=sha)
        lines = "".join(f"{line}\n" for line in BASE64_LINE.findall(base64.b64encode(body).decode()))
        facts = {"sha": sha, "size": len(body), "url": self._url(request, f"git/blobs/{sha}")}
        return json_response(facts | {"content": lines, "encoding": "base64"}, tag=sha)

    def tarball(self, request: Request, ref: str) -> Response:
        """302 to a short-lived link, as on GitHub; here it leads back to this server."""
        sha = self._commit_sha(ref)
        return redirect(f"{request.host_url}codeload/{self.name}/legacy.tar.gz/{sha}", 302)

    def archive(self, _request: Request, sha: str) -> Response:
        commit = self._commit_sha(sha)
        blocks = self.repository.archive(commit, f"{self.name.replace('/', '-')}-{commit[:7]}")
        return Response(blocks, content_type="application/x-gzip", direct_passthrough=True)

    def statuses(self, _request: Request, ref: str) -> Response:
        sha = self._commit_sha(ref)
        return json_response([status.body() for status in reversed(self.given) if status.sha == sha])

    def set_status(self, request: Request, sha: str) -> Response:
        body = json_body(request)
        state, description = body.get("state"), body.get("description") or ""
        if state not in STATES or not isinstance(description, str) or len(description) > STATUS_CHARACTERS:
            raise Refused(422, "Validation Failed", errors=[{"resource": "Status", "code": "custom"}])
        if not SHA.fullmatch(sha) or self.repository.commit(sha) is None:
            raise Refused(422, f"No commit found for SHA: {sha}")
        status = CommitStatus(sha, str(state), description, str(body.get("context") or "default"), datetime.now(UTC))
        with self._lock:
            self._given.append(status)
        return json_response(status.body(), 201)

    def graphql(self, request: Request) -> Response:
        return json_response(graphql.answer(json_body(request), self.name, self._last_changed))

    def _last_changed(self, oid: str) -> dict[str, str] | None:
        known = SHA.fullmatch(oid) and self.repository.commit(oid)
        return self.repository.last_changed(oid) if known else None

    def _commit_sha(self, ref: str) -> str:
        commit = self.repository.commit(ref)
        if commit is None:
            raise Refused(422, f"No commit found for SHA: {ref}")
        return commit.sha

    def _tree_item(self, request: Request, entry: TreeEntry) -> dict[str, Any]:
        item: dict[str, Any] = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
        if entry.kind == "commit":
            return item
        kind = "blobs" if entry.kind == "blob" else "trees"
        size = {} if entry.size is None else {"size": entry.size}
        return item | size | {"url": self._url(request, f"git/{kind}/{entry.sha}")}

    def _url(self, request: Request, rest: str) -> str:
        return f"{request.host_url}repos/{quote(self.name)}/{rest}"
