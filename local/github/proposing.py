"""The endpoints of a proposal, each in GitHub's own shape: references, trees, commits, pull requests."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from werkzeug.wrappers import Request, Response

from local.github.answers import Refused, json_body, json_response, not_found
from local.github.git import GitError
from local.github.repository import SHA, GitRepository
from local.github.writing import GitWriter, NewEntry, PullRequest, PullRequests

FILE_MODES = frozenset({"100644", "100755", "120000"})
NEVER_IN_A_PATH = frozenset({"", ".", "..", ".git"})
HEADS = "refs/heads/"
PAGE = 30
LARGEST_PAGE = 100

Made = TypeVar("Made")


class ProposalEndpoints:
    """One repository, `owner/name`. Without a writer, whoever asks may only read."""

    def __init__(self, repository: GitRepository, name: str, writer: GitWriter | None) -> None:
        self._repository, self._name, self._writer = repository, name, writer
        self.pull_requests = PullRequests()

    def ref(self, request: Request, branch: str) -> Response:
        sha = self._repository.branch_head(branch)
        if sha is None:
            raise not_found()
        return json_response(self._ref(request, HEADS + branch, sha))

    def create_ref(self, request: Request) -> Response:
        writer, body = self._writing(), json_body(request)
        name, sha = _text(body, "ref"), _text(body, "sha")
        if not name.startswith("refs/") or name.count("/") < 2:
            raise Refused(422, "Reference name must start with 'refs/' and have at least two slashes.")
        if not SHA.fullmatch(sha) or self._repository.commit(sha) is None:
            raise Refused(422, "Object does not exist")
        if not writer.create_ref(name, sha):
            raise Refused(422, "Reference already exists")
        return json_response(self._ref(request, name, sha), 201)

    def git_commit(self, request: Request, sha: str) -> Response:
        found = self._repository.commit(sha) if SHA.fullmatch(sha) else None
        if found is None:
            raise not_found()
        return json_response(self._commit(request, found.sha, found.body))

    def create_commit(self, request: Request) -> Response:
        writer, body = self._writing(), json_body(request)
        tree, parents = _text(body, "tree"), body.get("parents") or []
        if not SHA.fullmatch(tree) or self._repository.tree_sha(tree) is None:
            raise Refused(422, "Tree SHA does not exist")
        if not all(isinstance(sha, str) and self._repository.commit(sha) for sha in parents):
            raise Refused(422, "Parent SHA does not exist or is not a commit object")
        sha = _made(lambda: writer.commit(tree, parents, _text(body, "message")))
        made = self._repository.commit(sha)
        return json_response(self._commit(request, sha, made.body if made else b""), 201)

    def create_tree(self, request: Request) -> Response:
        writer, body = self._writing(), json_body(request)
        base = body.get("base_tree")
        if base is not None and (not isinstance(base, str) or self._repository.tree_sha(base) is None):
            raise Refused(422, "base_tree is not a valid tree oid")
        entries = body.get("tree")
        if not isinstance(entries, list) or not entries:
            raise Refused(422, "Invalid tree info")
        sha = _made(lambda: writer.tree(base, [_entry(entry) for entry in entries]))
        listed = [
            {"path": each.path, "mode": each.mode, "type": each.kind, "sha": each.sha}
            for each in self._repository.tree(sha, recursive=False)
        ]
        return json_response({"sha": sha, "tree": listed, "truncated": False}, 201)

    def pulls(self, request: Request) -> Response:
        """Newest first. `head` counts only as `owner:branch`, as on GitHub."""
        state, head, base = request.args.get("state", "open"), request.args.get("head", ""), request.args.get("base")
        owner = self._name.partition("/")[0]
        chosen = [
            one
            for one in self.pull_requests.all()
            if state in ("all", one.state)
            and base in (None, one.base)
            and (":" not in head or head.lower() == f"{owner}:{one.head}".lower())
        ]
        size = min(request.args.get("per_page", PAGE, int), LARGEST_PAGE)
        start = size * (request.args.get("page", 1, int) - 1)
        return json_response([self._pull(request, one) for one in chosen[start : start + size]])

    def pull(self, request: Request, number: int) -> Response:
        found = self.pull_requests.get(number)
        if found is None:
            raise not_found()
        return json_response(self._pull(request, found))

    def create_pull(self, request: Request) -> Response:
        self._writing()
        body = json_body(request)
        title, head, base = _text(body, "title"), _text(body, "head").rpartition(":")[2], _text(body, "base")
        sha = self._repository.branch_head(head)
        for name, branch in (("head", sha), ("base", self._repository.branch_head(base))):
            if branch is None:
                raise _invalid({"resource": "PullRequest", "field": name, "code": "invalid"})
        if sha is None or not title:
            raise _invalid({"resource": "PullRequest", "field": "title", "code": "missing_field"})
        made = self.pull_requests.open(title, str(body.get("body") or ""), head, base, sha)
        if made is None:
            owner = self._name.partition("/")[0]
            message = f"A pull request already exists for {owner}:{head}."
            raise _invalid({"resource": "PullRequest", "code": "custom", "message": message})
        return json_response(self._pull(request, made), 201)

    def _writing(self) -> GitWriter:
        if self._writer is None:
            raise Refused(403, "Resource not accessible by personal access token")
        return self._writer

    def _ref(self, request: Request, name: str, sha: str) -> dict[str, Any]:
        facts = {"type": "commit", "sha": sha, "url": self._url(request, f"git/commits/{sha}")}
        return {"ref": name, "url": self._url(request, f"git/{name}"), "object": facts}

    def _commit(self, request: Request, sha: str, body: bytes) -> dict[str, Any]:
        """From Git's own form: headers, an empty line, the message."""
        head, _, message = body.decode(errors="replace").partition("\n\n")
        headers = [line.partition(" ") for line in head.split("\n")]
        trees = [value for name, _, value in headers if name == "tree"]
        parents = [{"sha": value} for name, _, value in headers if name == "parent"]
        facts = {"sha": sha, "url": self._url(request, f"git/commits/{sha}"), "message": message.rstrip("\n")}
        return facts | {"tree": {"sha": trees[0] if trees else ""}, "parents": parents}

    def _pull(self, request: Request, one: PullRequest) -> dict[str, Any]:
        """`html_url` leads to this answer: there is no page to show."""
        owner = self._name.partition("/")[0]
        here = {"full_name": self._name}
        address = self._url(request, f"pulls/{one.number}")
        merged = f"{one.merged_at:%Y-%m-%dT%H:%M:%SZ}" if one.merged_at else None
        return {
            "number": one.number,
            "state": one.state,
            "title": one.title,
            "body": one.body,
            "draft": False,
            "url": address,
            "html_url": address,
            "created_at": f"{one.created_at:%Y-%m-%dT%H:%M:%SZ}",
            "merged_at": merged,
            "head": {"label": f"{owner}:{one.head}", "ref": one.head, "sha": one.head_sha, "repo": here},
            "base": {"label": f"{owner}:{one.base}", "ref": one.base, "repo": here},
        }

    def _url(self, request: Request, rest: str) -> str:
        return f"{request.host_url}repos/{quote(self._name)}/{quote(rest)}"


def _entry(entry: Any) -> NewEntry:
    if not isinstance(entry, dict):
        raise Refused(422, "Invalid tree info")
    path, mode, content, sha = (entry.get(name) for name in ("path", "mode", "content", "sha"))
    written = isinstance(content, str) != isinstance(sha, str)
    if not isinstance(path, str) or mode not in FILE_MODES or not written or entry.get("type", "blob") != "blob":
        raise Refused(422, "Must supply a valid path, mode, and either sha or content")
    if "\0" in path or any(part.lower() in NEVER_IN_A_PATH for part in path.split("/")):
        raise Refused(422, "tree.path contains a malformed path component")
    return NewEntry(path, mode, content, sha)


def _made(make: Callable[[], Made]) -> Made:
    try:
        return make()
    except (GitError, UnicodeEncodeError):
        raise Refused(422, "GitRPC::BadObjectState") from None


def _invalid(error: dict[str, str]) -> Refused:
    return Refused(422, "Validation Failed", errors=[error])


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""
