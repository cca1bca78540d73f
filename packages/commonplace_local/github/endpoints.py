"""The endpoints the sync calls, each in GitHub's own shape: media types, errors, entity tags."""

import hashlib
import json
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from commonplace.repository.github import WORKING_COPY
from commonplace_local.github.git import SHA, GitObject, GitRepository

DOCUMENTATION = "https://docs.github.com/rest"

HISTORY = re.compile(r"(\w+)\s*:\s*history\s*\(\s*first\s*:\s*1\s*,\s*path\s*:\s*\$(\w+)\s*\)")
OBJECT = re.compile(
    r"repository\s*\(\s*owner\s*:\s*\$\w+\s*,\s*name\s*:\s*\$\w+\s*\)\s*\{\s*object\s*\(\s*oid\s*:\s*\$\w+"
)
MOST_ALIASES = 500
"""GitHub counts the nodes a query may touch; this stands for that bound."""

STATES = frozenset({"error", "failure", "pending", "success"})
STATUS_CHARACTERS = 140


class Refused(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"message": message, **more, "documentation_url": DOCUMENTATION, "status": str(status)}

    def response(self) -> Response:
        return json_response(self.body, self.status)


def not_found() -> Refused:
    """Return GitHub's answer to anything absent, and to anything the caller may not see."""
    return Refused(404, "Not Found")


def json_body(request: Request) -> dict[str, Any]:
    """Return the body. Raises Refused 400 unless it is a JSON object."""
    body = request.get_json(force=True, silent=True)
    if not isinstance(body, dict):
        raise Refused(400, "Problems parsing JSON")
    return body


def json_response(body: Any, status: int = 200, *, tag: str | None = None) -> Response:
    """A JSON answer; `tag` is what its entity tag is made from, by default the body."""
    raw = json.dumps(body, separators=(",", ":")).encode()
    response = Response(raw, status, content_type="application/json; charset=utf-8")
    if status == 200:
        response.set_etag(hashlib.sha256(tag.encode() if tag else raw).hexdigest(), weak=True)
    return response


def raw_response(body: bytes, media_type: str, *, tag: str) -> Response:
    response = Response(body, content_type=f"{media_type}; charset=utf-8")
    response.set_etag(hashlib.sha256(f"{media_type} {tag}".encode()).hexdigest())
    return response


def wants(request: Request, kind: str) -> bool:
    """Return True when `Accept` names a media type of GitHub's own, with or without `+json` and an old `v3`."""
    accept = request.headers.get("Accept", "").replace("application/vnd.github.v3.", "application/vnd.github.")
    return any(
        part.split(";")[0].strip().removesuffix("+json") == f"application/vnd.github.{kind}"
        for part in accept.split(",")
    )


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
        self.repository, self.name, self._tree_limit = repository, name, tree_limit
        self._lock = threading.Lock()
        self._given: list[CommitStatus] = []

    @property
    def given(self) -> tuple[CommitStatus, ...]:
        with self._lock:
            return tuple(self._given)

    def commit(self, request: Request, ref: str) -> Response:
        found = self._named(ref)
        sha = found.sha
        if wants(request, "sha"):
            answer = raw_response(sha.encode(), "application/vnd.github.sha", tag=sha)
            answer.headers |= {WORKING_COPY: "true"} if self.repository.is_working_copy(found) else {}
            return answer
        return json_response({"sha": sha, "url": self._url(request, f"commits/{sha}")}, tag=sha)

    def tree(self, request: Request, ref: str) -> Response:
        """Any value of `recursive` means recursive, "0" and "false" too, as GitHub documents."""
        sha = self.repository.tree_sha(ref)
        if sha is None:
            raise not_found()
        recursive = "recursive" in request.args
        entries = self.repository.tree(sha, recursive=recursive)
        shown = entries[: self._tree_limit] if recursive else entries
        items = []
        for entry in shown:
            item: dict[str, Any] = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
            if entry.kind != "commit":
                item |= {} if entry.size is None else {"size": entry.size}
                kind = "blobs" if entry.kind == "blob" else "trees"
                item["url"] = self._url(request, f"git/{kind}/{entry.sha}")
            items.append(item)
        body = {"sha": sha, "url": self._url(request, f"git/trees/{sha}"), "tree": items}
        return json_response(body | {"truncated": len(shown) < len(entries)}, tag=f"{sha} {recursive}")

    def blob(self, _request: Request, sha: str) -> Response:
        """Return the bytes, which is the one form of a blob that is asked for."""
        if not SHA.fullmatch(sha):
            raise Refused(422, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
        body = self.repository.blob(sha)
        if body is None:
            raise not_found()
        return raw_response(body, "application/vnd.github.raw", tag=sha)

    def tarball(self, request: Request, ref: str) -> Response:
        """302 to a short-lived link, as on GitHub; here it leads back to this server."""
        sha = self._commit_sha(ref)
        return redirect(f"{request.host_url}codeload/{self.name}/legacy.tar.gz/{sha}", 302)

    def archive(self, _request: Request, sha: str) -> Response:
        commit = self._commit_sha(sha)
        blocks = self.repository.archive(commit, f"{self.name.replace('/', '-')}-{commit[:7]}")
        return Response(blocks, content_type="application/x-gzip", direct_passthrough=True)

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
        """Return when paths last changed, as of a commit: `data` in the query's shape, or GitHub's `errors`."""
        body = json_body(request)
        query, variables = body.get("query"), body.get("variables")
        query, variables = query if isinstance(query, str) else "", variables if isinstance(variables, dict) else {}
        asked = HISTORY.findall(query)
        if not OBJECT.search(query) or not asked:
            return _graphql_error("Parse error on this query: only the last-changed query is served here")
        if len(asked) > MOST_ALIASES:
            to = f"requesting up to {len(asked)} nodes"
            return _graphql_error(f"By the time this query traverses to the history connection, it is {to}")
        if missing := [path for _, path in asked if not isinstance(variables.get(path), str)]:
            return _graphql_error(f"Variable ${missing[0]} of type String! was provided invalid value")
        if f"{variables.get('owner')}/{variables.get('name')}".lower() != self.name.lower():
            return _graphql_error("Could not resolve to a Repository", data={"repository": None})
        oid = str(variables.get("oid"))
        if not SHA.fullmatch(oid) or not self.repository.commit(oid):
            return json_response({"data": {"repository": {"object": None}}})
        changed = self.repository.last_changed(oid)
        dates = {alias: changed.get(variables[path]) for alias, path in asked}
        found = {alias: {"nodes": [{"committedDate": when}] if when else []} for alias, when in dates.items()}
        return json_response({"data": {"repository": {"object": found}}})

    def _commit_sha(self, ref: str) -> str:
        return self._named(ref).sha

    def _named(self, ref: str) -> GitObject:
        commit = self.repository.commit(ref)
        if commit is None:
            raise Refused(422, f"No commit found for SHA: {ref}")
        return commit

    def _url(self, request: Request, rest: str) -> str:
        return f"{request.host_url}repos/{quote(self.name)}/{quote(rest)}"


def _graphql_error(message: str, **more: Any) -> Response:
    return json_response({**more, "errors": [{"message": message}]})
