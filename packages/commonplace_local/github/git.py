"""Git repositories as the stand-in reads them, and calls of `git`: no prompts, no optional locks, no `GIT_*`."""

import os
import queue
import re
import subprocess
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

NAME = re.compile(r"[^\x00-\x1f\x7f]+")

SHA = re.compile(r"[0-9a-f]{40}")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of the tree without entries, which every repository knows."""

ARCHIVE_BLOCK_BYTES = 1 << 20
GZIP = 31
"""The window size of zlib: the largest one, in a gzip file."""
DATES_KEPT = 8
WORKING_COPY = "working-copy@localhost"
"""The address of the committer of a laptop's own commits, of files that their user has not committed."""
ABSENT = b"BAD"
"""The text that `git ls-tree -l` prints for the size of an object that a partial clone does not hold."""


class GitError(Exception):
    """`git` answered with an error; the text is what it wrote."""


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a `git` process: a hook's or a shell's `GIT_DIR` must not redirect it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"} | dict(extra or {})


def neutral_environment() -> dict[str, str]:
    """Return `git_environment` without the user's settings: for repositories that are ours alone."""
    return git_environment({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull})


def git(
    *arguments: str,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    data: bytes = b"",
) -> bytes:
    """Runs `git` and returns what it wrote. Raises GitError when it fails or is not installed."""
    command = ["git", *(("-C", str(directory)) if directory else ()), *arguments]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, env=dict(environment or git_environment()), check=False
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed") from error
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace").strip() or f"git {arguments[0]} failed")
    return done.stdout


def git_text(*arguments: str, directory: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The one line that `git` wrote."""
    return os.fsdecode(git(*arguments, directory=directory, environment=environment)).strip()


def git_answer(*arguments: str, directory: Path | None = None) -> str | None:
    """The one line that `git` wrote; None where it refuses."""
    try:
        return git_text(*arguments, directory=directory)
    except GitError:
        return None


@dataclass(frozen=True, slots=True)
class GitObject:
    sha: str
    kind: str
    body: bytes


class ObjectReader:
    """Reads objects by id or by any other name that Git resolves. Safe to use from many threads."""

    def __init__(self, git_dir: Path, processes: int = 4) -> None:
        self._git_dir = git_dir
        self._idle: queue.LifoQueue[subprocess.Popen[bytes] | None] = queue.LifoQueue()
        self._count = processes
        for _ in range(processes):
            self._idle.put(None)

    def read(self, name: str) -> GitObject | None:
        """The object, or None when nothing has that name."""
        if not NAME.fullmatch(name):
            return None
        process = self._idle.get()
        try:
            process = process or subprocess.Popen(
                ["git", f"--git-dir={self._git_dir}", "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=neutral_environment(),
                start_new_session=True,
            )
            found = _ask(process, name)
        except (OSError, ValueError) as error:
            if process is not None:
                _end(process)
            process = None
            raise GitError("git cat-file ended") from error
        finally:
            self._idle.put(process)
        return found

    def close(self) -> None:
        """Ends every process; waits for reads that are under way."""
        for _ in range(self._count):
            if (process := self._idle.get()) is not None:
                _end(process)
        for _ in range(self._count):
            self._idle.put(None)


def _ask(process: subprocess.Popen[bytes], name: str) -> GitObject | None:
    request, answer = process.stdin, process.stdout
    if request is None or answer is None:
        raise ValueError("no pipes")
    request.write(name.encode("utf-8", "surrogateescape") + b"\n")
    request.flush()
    header = answer.readline()
    if not header:
        raise ValueError("no answer")
    if header.endswith((b" missing\n", b" ambiguous\n")):
        return None
    sha, kind, size = header.decode().split()
    body = answer.read(int(size))
    answer.read(1)
    return GitObject(sha, kind, body)


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()


@dataclass(frozen=True, slots=True)
class TreeEntry:
    path: str
    mode: str
    kind: str
    sha: str
    size: int | None
    """Bytes of a blob; trees and submodules have none."""


class GitRepository:
    """Reads one repository; never writes. `saved` returns when a file of a working copy was saved, or None."""

    def __init__(self, git_dir: Path, saved: Callable[[str], float | None] = lambda _: None) -> None:
        self.git_dir = git_dir
        self._saved = saved
        self._objects = ObjectReader(git_dir)
        self._dates: OrderedDict[str, dict[str, str | None]] = OrderedDict()
        self._dates_lock = threading.Lock()

    def close(self) -> None:
        self._objects.close()

    def branch_head(self, branch: str) -> str | None:
        found = self._objects.read(f"refs/heads/{branch}^{{commit}}")
        return found.sha if found else None

    def commit(self, name: str) -> GitObject | None:
        """The commit that a branch name or an id stands for."""
        if found := self._objects.read(f"refs/heads/{name}^{{commit}}"):
            return found
        return self._objects.read(f"{name}^{{commit}}") if SHA.fullmatch(name) else None

    def is_working_copy(self, commit: GitObject) -> bool:
        return f" <{WORKING_COPY}> ".encode() in commit.body.partition(b"\n\n")[0]

    def blob(self, sha: str) -> bytes | None:
        found = self._objects.read(sha) if SHA.fullmatch(sha) else None
        return found.body if found and found.kind == "blob" else None

    def tree_sha(self, name: str) -> str | None:
        """The id of the tree that a tree id, a commit id or a branch name stands for."""
        commit = self.commit(name)
        found = self._objects.read(f"{commit.sha if commit else name}^{{tree}}")
        return found.sha if found else None

    def tree(self, sha: str, *, recursive: bool) -> list[TreeEntry]:
        """Its entries in Git's order; `-z`, because names may hold anything but NUL."""
        flags = ["-r", "-t"] if recursive else []
        listing = self._git("ls-tree", *flags, "-l", "-z", "--full-tree", sha)
        known = {b"-": None, ABSENT: 0}
        entries = []
        for line in filter(None, listing.split(b"\0")):
            facts, path = line.split(b"\t", 1)
            mode, kind, id, size = facts.split()
            length = known[size] if size in known else int(size)
            entries.append(TreeEntry(_text(path), mode.decode(), kind.decode(), id.decode(), length))
        return entries

    def archive(self, commit: str, folder: str) -> Iterator[bytes]:
        """A gzipped tar of the commit, everything under one top folder, in blocks; without what this clone lacks."""
        listing = self._git("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        files = (line.split(b"\t", 1) for line in listing.split(b"\0") if line)
        absent = [_text(path) for facts, path in files if facts.endswith(ABSENT)]
        chosen = [".", *(f":(exclude,literal){path}" for path in absent)]
        command = ["archive", "--format=tar", f"--prefix={folder}/", commit, "--", *chosen]
        process = subprocess.Popen(
            ["git", f"--git-dir={self.git_dir}", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=neutral_environment(),
            start_new_session=True,
        )
        stream = process.stdout
        if stream is None:
            raise GitError("git archive has no output")
        with stream:
            packed = zlib.compressobj(0, wbits=GZIP)  # it stays on this machine: to compress takes longer than to send
            while block := stream.read(ARCHIVE_BLOCK_BYTES):
                yield packed.compress(block)
            yield packed.flush()
        if process.wait():
            raise GitError("git archive failed")

    def last_changed(self, commit: str) -> dict[str, str | None]:
        """Path -> committer time (ISO 8601, UTC) of the last commit that touched it, from one walk over the history."""
        with self._dates_lock:
            if commit not in self._dates:
                self._dates[commit] = self._walk(commit)
                while len(self._dates) > DATES_KEPT:
                    self._dates.popitem(last=False)
            self._dates.move_to_end(commit)
            return self._dates[commit]

    def changed_paths(self, before: str | None, after: str) -> dict[str, list[str]]:
        """`added`, `removed` and `modified` between two commits, as a push event lists them."""
        changes: dict[str, list[str]] = {"added": [], "removed": [], "modified": []}
        names = {"A": "added", "D": "removed"}
        listing = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-status", before or EMPTY_TREE, after)
        fields = listing.split(b"\0")
        for status, path in zip(fields[0::2], fields[1::2], strict=False):
            changes[names.get(status.decode(), "modified")].append(_text(path))
        return changes

    def is_ancestor(self, older: str, newer: str) -> bool:
        try:
            self._git("merge-base", "--is-ancestor", older, newer)
        except GitError:
            return False
        return True

    def _walk(self, commit: str) -> dict[str, str | None]:
        """A commit on top of a known one costs only itself."""
        known = next((sha for sha in reversed(self._dates) if self.is_ancestor(sha, commit)), None)
        revisions = [commit, f"^{known}"] if known else [commit]
        log = self._git("log", "-z", "--format=%x01%x02%ct %ce", "--name-only", "--no-renames", "-c", *revisions)
        dates: dict[str, str | None] = {}
        when, committer = 0.0, ""
        for field in log.split(b"\0"):
            if field.startswith(b"\x01\x02"):
                seconds, _, committer = _text(field[2:]).partition(" ")
                when = float(seconds)
            elif field and (path := _text(field.removeprefix(b"\n"))) not in dates:
                time = self._saved(path) if committer == WORKING_COPY else when
                dates[path] = None if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}"
        return (self._dates[known] | dates) if known else dates

    def _git(self, *arguments: str) -> bytes:
        return git(f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment())


def _text(path: bytes) -> str:
    """GitHub shows names that are not UTF-8 with replacement characters, and so does this."""
    return path.decode(errors="replace")
