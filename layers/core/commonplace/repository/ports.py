"""The ports of the sync: the repository, the run state, the workflow engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Literal, Protocol

from commonplace.repository.blobs import BlobSha


class RepositoryUnavailable(Exception):
    """GitHub does not answer, or answers 5xx: worth a retry by the workflow's schedule."""


class RepositoryRateLimited(Exception):
    """GitHub said to wait (429, or 403 with a limit's headers), until `until` (UTC)."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"GitHub asks to wait until {until:%Y-%m-%dT%H:%M:%SZ}")
        self.until = until


class RepositoryRefused(Exception):
    """GitHub refuses this, however often it is called: credentials, a missing branch or repository."""


class BlobNotFound(Exception):
    """There is no such blob: final, never retried (seed 000, section 5.2)."""


class UntrustedTree(Exception):
    """A tree that must not be acted on: not found, empty, or truncated beyond repair. Never means "remove all"."""


@dataclass(frozen=True, slots=True)
class Head:
    commit_sha: str
    etag: str | None
    working_copy: bool = False
    """The commit is a laptop's own, of files that nobody has committed."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A regular file (mode 100644 or 100755) of the tree; symlinks and submodules are left out."""

    path: str
    blob_sha: BlobSha
    size: int


class Repository(Protocol):
    """A branch on GitHub. Every call may raise RepositoryUnavailable, RepositoryRateLimited or RepositoryRefused."""

    @property
    def name(self) -> str:
        """`owner/name`."""

    @property
    def branch(self) -> str: ...

    @property
    def web_url(self) -> str | None:
        """Return where people see it, without a slash at its end; None for a stand-in, which nobody sees."""

    @property
    def calls(self) -> int:
        """HTTP requests made so far, for the report."""

    def head(self, etag: str | None = None) -> Head | None:
        """Return the branch's commit; None when it is still the one `etag` was given for (304)."""

    def tree(self, commit_sha: str) -> list[TreeFile]:
        """Every regular file at that commit, whole; walks subtrees when GitHub truncates. Raises UntrustedTree."""

    def blob(self, blob_sha: BlobSha) -> bytes:
        """Return the bytes, checked against the sha. Raises BlobNotFound."""

    def archive(self, commit_sha: str, into: BinaryIO) -> None:
        """Streams the tree as a gzipped tar into the file (one download)."""

    def last_changed(self, commit_sha: str, paths: Sequence[str]) -> dict[str, datetime]:
        """Committer time of the last commit that touched each path; paths without one are left out."""

    def set_status(self, commit_sha: str, state: Literal["success", "failure", "pending"], description: str) -> None:
        """A commit status (at most 140 characters)."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The one item that coordinates runs of a branch."""

    pokes: int  # Hints received so far; a run that has seen fewer is out of date
    done: int  # Hints covered by a finished run
    running: str | None  # Execution name of the run that holds the claim
    running_since: datetime | None
    generation: int


class LeaseHeld(Exception):
    """Another run is publishing."""


class SyncState(Protocol):
    """Claims, hints, lease and generation (DynamoDB, table `activity`). Every write is conditional."""

    def read(self) -> RunState: ...

    def poke(self, delivery: str | None = None) -> int:
        """Counts a hint and returns its number; remembers which number a delivery id has (for 30 days)."""

    def delivery(self, delivery: str) -> int | None:
        """Return the number of the hint that this delivery became, or None when it is new."""

    def next_attempt(self) -> int:
        """Return a number no execution name has used."""

    def claim(self, run: str, *, replacing: str | None = None) -> bool:
        """Makes `run` the running one if none is, or if `replacing` is; False when another holds the claim."""

    def finish(self, run: str, seen: int) -> bool:
        """Marks hints up to `seen` as done. Gives the claim up and returns True if no more have come; else keeps the
        claim and returns False: run again. Also True when the claim has gone to another run."""

    def release(self, run: str) -> None:
        """Gives up the claim of a failed run; its hints stay open."""

    def lease(self, run: str, seconds: int) -> int:
        """Take the right to publish; return a generation greater than all before. Raises LeaseHeld."""

    def end_lease(self, run: str) -> None: ...


class Workflow(Protocol):
    """The workflow engine (Step Functions)."""

    def start(self, name: str, run_input: dict[str, object]) -> None:
        """Starts an execution; the same name again while it runs is no error."""

    def is_running(self, name: str) -> bool:
        """False when it ended or never existed."""
