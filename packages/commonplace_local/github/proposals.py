"""The GitHub API behind proposals: references, trees, commits, pull requests, in a repository of the stand-in's own."""

import itertools
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from werkzeug.wrappers import Request, Response

from commonplace_local.github.endpoints import Endpoints, Refused, json_body, json_response, not_found
from commonplace_local.github.git import SHA, GitError, GitRepository, git, neutral_environment

NOTHING = "0" * 40
BOT = {
    "GIT_AUTHOR_NAME": "commonplace[bot]",
    "GIT_AUTHOR_EMAIL": "noreply@localhost",
    "GIT_COMMITTER_NAME": "commonplace[bot]",
    "GIT_COMMITTER_EMAIL": "noreply@localhost",
}

FILE_MODES = frozenset({"100644", "100755", "120000"})
NEVER_IN_A_PATH = frozenset({"", ".", "..", ".git"})
HEADS = "refs/heads/"
PAGE = 30
LARGEST_PAGE = 100


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A file of a tree to be made: its text, or the id of a blob that is there."""

    path: str
    mode: str
    content: str | None
    sha: str | None


class GitWriter:
    """Adds objects and branches to one bare repository; never moves or removes a branch."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir

    def blob(self, body: bytes) -> str:
        return self._run("hash-object", "-w", "--stdin", data=body)

    def tree(self, base: str | None, entries: Iterable[NewEntry]) -> str:
        """The tree `base` with these files added or replaced. Git passes over paths that it does not take."""
        lines = [
            f"{entry.mode} {entry.sha or self.blob((entry.content or '').encode())}\t{entry.path}" for entry in entries
        ]
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._run("read-tree", base or "--empty", environment=index)
            listing = "".join(f"{line}\0" for line in lines).encode()
            self._run("update-index", "-z", "--index-info", environment=index, data=listing)
            return self._run("write-tree", environment=index)

    def commit(self, tree: str, parents: Iterable[str], message: str) -> str:
        onto = itertools.chain.from_iterable(("-p", parent) for parent in parents)
        return self._run("commit-tree", tree, *onto, "-F", "-", environment=BOT, data=message.encode())

    def create_ref(self, name: str, sha: str) -> bool:
        """False when there is a reference of that name, or none can be."""
        try:
            self._run("check-ref-format", name)
            self._run("update-ref", name, sha, NOTHING)
        except GitError:
            return False
        return True

    def _run(self, *arguments: str, environment: dict[str, str] | None = None, data: bytes = b"") -> str:
        surroundings = neutral_environment() | (environment or {})
        written = git(f"--git-dir={self._git_dir}", *arguments, environment=surroundings, data=data)
        return os.fsdecode(written).strip()


@dataclass(frozen=True, slots=True)
class PullRequest:
    number: int
    title: str
    body: str
    head: str
    """A branch of the same repository."""
    base: str
    head_sha: str
    state: str = "open"
    merged_at: datetime | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))


class PullRequests:
    """In memory: they end with the stand-in, their branches stay."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[int, PullRequest] = {}

    def all(self) -> tuple[PullRequest, ...]:
        """Newest first, as GitHub lists them."""
        with self._lock:
            return tuple(reversed(self._made.values()))

    def get(self, number: int) -> PullRequest | None:
        with self._lock:
            return self._made.get(number)

    def open(self, title: str, body: str, head: str, base: str, head_sha: str) -> PullRequest | None:
        """None when one is open already between these branches."""
        with self._lock:
            if any((one.head, one.base, one.state) == (head, base, "open") for one in self._made.values()):
                return None
            made = PullRequest(len(self._made) + 1, title, body, head, base, head_sha)
            self._made[made.number] = made
            return made

    def close(self, number: int, *, merged: bool = False) -> None:
        """What a reviewer does; the branch stays as it is."""
        self._change(number, lambda one: replace(one, state="closed", merged_at=datetime.now(UTC) if merged else None))

    def edit(self, number: int, body: str) -> None:
        self._change(number, lambda one: replace(one, body=body))

    def _change(self, number: int, change: Callable[[PullRequest], PullRequest]) -> None:
        with self._lock:
            self._made[number] = change(self._made[number])


class ProposalEndpoints(Endpoints):
    """All endpoints of a repository. Without a writer, whoever asks may only read."""

    def __init__(self, repository: GitRepository, name: str, tree_limit: int, writer: GitWriter | None) -> None:
        super().__init__(repository, name, tree_limit)
        self._writer = writer
        self.pull_requests = PullRequests()
        self.arrived: Callable[[PullRequest], None] = lambda _: None
        """Called with each new pull request."""
        self.front: Callable[[], str] | None = None
        """Returns the address of the server that shows `page`, without a slash at its end."""

    def ref(self, request: Request, branch: str) -> Response:
        sha = self.repository.branch_head(branch)
        if sha is None:
            raise not_found()
        return json_response(self._ref(request, HEADS + branch, sha))

    def create_ref(self, request: Request) -> Response:
        writer, body = self._writing(), json_body(request)
        name, sha = _text(body, "ref"), _text(body, "sha")
        if not name.startswith("refs/") or name.count("/") < 2:
            raise Refused(422, "Reference name must start with 'refs/' and have at least two slashes.")
        if not SHA.fullmatch(sha) or self.repository.commit(sha) is None:
            raise Refused(422, "Object does not exist")
        if not writer.create_ref(name, sha):
            raise Refused(422, "Reference already exists")
        return json_response(self._ref(request, name, sha), 201)

    def git_commit(self, request: Request, sha: str) -> Response:
        found = self.repository.commit(sha) if SHA.fullmatch(sha) else None
        if found is None:
            raise not_found()
        return json_response(self._commit(request, found.sha, found.body))

    def create_commit(self, request: Request) -> Response:
        writer, body = self._writing(), json_body(request)
        tree, parents = _text(body, "tree"), body.get("parents") or []
        if not SHA.fullmatch(tree) or self.repository.tree_sha(tree) is None:
            raise Refused(422, "Tree SHA does not exist")
        if not all(isinstance(sha, str) and self.repository.commit(sha) for sha in parents):
            raise Refused(422, "Parent SHA does not exist or is not a commit object")
        with _refusing_what_git_refuses():
            sha = writer.commit(tree, parents, _text(body, "message"))
        made = self.repository.commit(sha)
        return json_response(self._commit(request, sha, made.body if made else b""), 201)

    def create_tree(self, request: Request) -> Response:
        writer, body = self._writing(), json_body(request)
        base = body.get("base_tree")
        if base is not None and (not isinstance(base, str) or self.repository.tree_sha(base) is None):
            raise Refused(422, "base_tree is not a valid tree oid")
        entries = body.get("tree")
        if not isinstance(entries, list) or not entries:
            raise Refused(422, "Invalid tree info")
        with _refusing_what_git_refuses():
            sha = writer.tree(base, [_entry(entry) for entry in entries])
        listed = [
            {"path": each.path, "mode": each.mode, "type": each.kind, "sha": each.sha}
            for each in self.repository.tree(sha, recursive=False)
        ]
        return json_response({"sha": sha, "tree": listed, "truncated": False}, 201)

    def pulls(self, request: Request) -> Response:
        """Newest first. `head` counts only as `owner:branch`, as on GitHub."""
        state, head, base = request.args.get("state", "open"), request.args.get("head", ""), request.args.get("base")
        owner = self.name.partition("/")[0]
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

    def page(self, number: int) -> str | None:
        """Return a pull request, with the files of its commit, as HTML for a browser; None where there is none."""
        from jinja2 import Environment, FileSystemLoader

        one = self.pull_requests.get(number)
        if one is None:
            return None
        changed = self.repository.changed_paths(f"{one.head_sha}^", one.head_sha)
        tree = self.repository.tree(one.head_sha, recursive=True)
        files = [entry for entry in tree if entry.path in changed["added"] + changed["modified"]]
        pages = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
        return pages.get_template("proposal.html").render(
            pull=one, files=files, repository=self.repository, name=self.name
        )

    def create_pull(self, request: Request) -> Response:
        self._writing()
        body = json_body(request)
        title, head, base = _text(body, "title"), _text(body, "head").rpartition(":")[2], _text(body, "base")
        sha = self.repository.branch_head(head)
        for name, branch in (("head", sha), ("base", self.repository.branch_head(base))):
            if branch is None:
                raise _invalid(field=name, code="invalid")
        if sha is None or not title:
            raise _invalid(field="title", code="missing_field")
        made = self.pull_requests.open(title, str(body.get("body") or ""), head, base, sha)
        if made is None:
            message = f"A pull request already exists for {self.name.partition('/')[0]}:{head}."
            raise _invalid(code="custom", message=message)
        self.arrived(made)
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
        """`html_url` leads to the page of a front, or to this answer where there is none."""
        owner = self.name.partition("/")[0]
        here = {"full_name": self.name}
        address = self._url(request, f"pulls/{one.number}")
        merged = f"{one.merged_at:%Y-%m-%dT%H:%M:%SZ}" if one.merged_at else None
        return {
            "number": one.number,
            "state": one.state,
            "title": one.title,
            "body": one.body,
            "draft": False,
            "url": address,
            "html_url": f"{self.front()}/{quote(self.name)}/pull/{one.number}" if self.front else address,
            "created_at": f"{one.created_at:%Y-%m-%dT%H:%M:%SZ}",
            "merged_at": merged,
            "head": {"label": f"{owner}:{one.head}", "ref": one.head, "sha": one.head_sha, "repo": here},
            "base": {"label": f"{owner}:{one.base}", "ref": one.base, "repo": here},
        }


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


@contextmanager
def _refusing_what_git_refuses() -> Iterator[None]:
    try:
        yield
    except (GitError, UnicodeEncodeError):
        raise Refused(422, "GitRPC::BadObjectState") from None


def _invalid(**error: str) -> Refused:
    return Refused(422, "Validation Failed", errors=[{"resource": "PullRequest", **error}])


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""
