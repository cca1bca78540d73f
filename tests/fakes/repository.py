"""A branch on GitHub, in memory."""

import hashlib
import io
import tarfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Literal

from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.ports import BlobNotFound, Head, TreeFile

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class FakeRepository:
    """Commits are whole trees; `push` makes one the head. `failures` are raised by the next calls, one each."""

    name = "example/knowledge"
    branch = "main"
    web_url: str | None = "https://github.com/example/knowledge"
    working_copy = False

    def __init__(self) -> None:
        self.trees: dict[str, dict[str, bytes]] = {}
        self.order: list[str] = []
        self.blobs: dict[str, bytes] = {}
        self.lost_blobs: set[str] = set()
        self.statuses: list[tuple[str, str, str]] = []
        self.failures: list[Exception] = []
        self.log: list[str] = []

    @property
    def calls(self) -> int:
        return len(self.log)

    def push(self, tree: dict[str, bytes]) -> str:
        commit = hashlib.sha1(f"{len(self.order)}".encode(), usedforsecurity=False).hexdigest()
        self.trees[commit] = dict(tree)
        self.order.append(commit)
        self.blobs |= {git_blob_sha(raw): raw for raw in tree.values()}
        return commit

    def head(self, etag: str | None = None) -> Head | None:
        self._call("head")
        commit = self.order[-1]
        return None if etag == f'"{commit}"' else Head(commit, f'"{commit}"', working_copy=self.working_copy)

    def tree(self, commit_sha: str) -> list[TreeFile]:
        self._call("tree")
        return [TreeFile(path, git_blob_sha(raw), len(raw)) for path, raw in sorted(self.trees[commit_sha].items())]

    def blob(self, blob_sha: BlobSha) -> bytes:
        self._call("blob")
        if blob_sha in self.lost_blobs or blob_sha not in self.blobs:
            raise BlobNotFound(blob_sha)
        return self.blobs[blob_sha]

    def archive(self, commit_sha: str, into: BinaryIO) -> None:
        self._call("archive")
        with tarfile.open(fileobj=into, mode="w:gz") as tar:
            for path, raw in sorted(self.trees[commit_sha].items()):
                if git_blob_sha(raw) in self.lost_blobs:
                    continue
                info = tarfile.TarInfo(f"example-knowledge-{commit_sha[:7]}/{path}")
                info.size = len(raw)
                tar.addfile(info, io.BytesIO(raw))

    def last_changed(self, commit_sha: str, paths: Sequence[str]) -> dict[str, datetime]:
        self._call("last_changed")
        history = [self.trees[commit] for commit in self.order[: self.order.index(commit_sha) + 1]]
        dates = {}
        for path in paths:
            touched = [
                at for at, tree in enumerate(history) if tree.get(path) != (history[at - 1].get(path) if at else None)
            ]
            if touched:
                dates[path] = EPOCH + timedelta(minutes=touched[-1])
        return dates

    def set_status(self, commit_sha: str, state: Literal["success", "failure", "pending"], description: str) -> None:
        self._call("set_status")
        self.statuses.append((commit_sha, state, description))

    def _call(self, name: str) -> None:
        self.log.append(name)
        if self.failures:
            raise self.failures.pop(0)
