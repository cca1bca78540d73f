"""The writing side: commits, branches and pull requests in a repository that is ours alone."""

import itertools
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from local.github.git import GitError, git, neutral_environment

NOTHING = "0" * 40
BOT = {
    "GIT_AUTHOR_NAME": "commonplace[bot]",
    "GIT_AUTHOR_EMAIL": "noreply@localhost",
    "GIT_COMMITTER_NAME": "commonplace[bot]",
    "GIT_COMMITTER_EMAIL": "noreply@localhost",
}


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
