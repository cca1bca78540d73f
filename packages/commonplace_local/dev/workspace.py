"""The private clone: shows a folder as a branch without writing to the user's repository, index or branches.

Objects are borrowed from the user's clone and new ones are written here; the snapshot is made with an index of our own.
"""

import logging
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from watchfiles import Change, watch

from commonplace.repository.markdown import MAX_FILE_BYTES
from commonplace_local.dev.source import Source
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import (
    WORKING_COPY,
    GitError,
    GitRepository,
    git,
    git_answer,
    git_environment,
    git_text,
    neutral_environment,
)

logger = logging.getLogger(__name__)

BASE_REF = "refs/commonplace/base"
"""The user's commit that the newest scratch commit stands on."""

AUTHOR = {
    "GIT_AUTHOR_NAME": "Commonplace",
    "GIT_AUTHOR_EMAIL": WORKING_COPY,
    "GIT_COMMITTER_NAME": "Commonplace",
    "GIT_COMMITTER_EMAIL": WORKING_COPY,
}
SAFE_SETTINGS = (
    # Each of these would write beside the index, or run something, in the user's repository.
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "advice.addEmbeddedRepo=false",
    "core.safecrlf=false",
)

QUIET_MS = 100
"""A burst of saves counts as one once nothing has changed for so long."""
LONGEST_BURST_MS = 1000
WAKE_MS = 300
"""The time until a stop is noticed."""
START_SECONDS = 30

FIRST = "repository.git"

NEVER_READ = ".*\nnode_modules/\n"
"""The `.gitignore` of a folder without Git: settings of editors, bins of deleted notes, packages."""
MAX_FILES = 100_000
"""GitHub lists as many of a repository."""
LATEST = 4e9
"""Times of files after this are mistakes."""
COPY_SECONDS = 600
"""Where most files of a folder were written within this time, they were copied."""
MAX_FOLDER_MB = 1_500
"""The bound of a folder without Git, whose files are copied; the sync takes as much of an archive."""
_FOREIGN = re.compile(r"[^A-Za-z0-9.-]")


class SnapshotFailed(Exception):
    """The folder could not be read as a whole just now; it may succeed a moment later."""


@dataclass(frozen=True, slots=True)
class Move:
    """The branch went from one commit to another; `before` is None when it is new."""

    before: str | None
    after: str


class Workspace:
    """A bare repository at `git_dir` whose one branch follows the source."""

    def __init__(self, source: Source, git_dir: Path) -> None:
        self.source = source
        self.git_dir = git_dir
        self._index = git_dir / "snapshot.index"
        self._lock = threading.Lock()
        self._copied: float | None = None
        self.large: tuple[str, ...] = ()
        """Files of a folder without Git that are left out, by their paths."""
        git("init", "--quiet", "--bare", str(git_dir), environment=neutral_environment())
        if source.git_dir is None:
            (git_dir / "info" / "exclude").write_text(NEVER_READ, encoding="utf-8")
        if source.common_dir is not None:
            borrowed = _quoted(source.common_dir / "objects")
            (git_dir / "objects" / "info" / "alternates").write_text(f"{borrowed}\n", encoding="utf-8")

    @property
    def head(self) -> str | None:
        """The commit that the branch shows now."""
        return self._ref(f"refs/heads/{self.source.branch}")

    @property
    def is_empty(self) -> bool:
        """No file at all is shown."""
        head = self.head
        return head is None or not self._private("ls-tree", "--name-only", head)

    def refresh(self) -> Move | None:
        """Makes the branch show the source as it is now; None when nothing has changed. Raises SnapshotFailed."""
        with self._lock:
            before = self.head
            try:
                after = self._wanted()
            except GitError as error:
                raise SnapshotFailed(str(error)) from error
            if after == before:
                return None
            self._private("update-ref", f"refs/heads/{self.source.branch}", after)
            return Move(before, after)

    def saved(self, path: str) -> float | None:
        """Return when a file was saved; None where its time is only that of a copy."""
        try:
            time = ((self.source.work_tree or self.source.folder) / path).lstat().st_mtime
        except OSError:
            return None
        copied = self._copied is not None and abs(time - self._copied) < COPY_SECONDS
        return None if copied or not 0 < time < LATEST else time

    def _wanted(self) -> str:
        boundary = self.source.common_dir / "shallow" if self.source.common_dir else None
        if boundary is not None and boundary.exists():  # a shallow clone's history ends where this file says
            shutil.copyfile(boundary, self.git_dir / "shallow")
        source, base = self.source, None
        if source.git_dir is not None and source.revision is not None:
            revision = f"{source.revision}^{{commit}}"
            base = git_answer(f"--git-dir={source.git_dir}", "rev-parse", "--verify", "--quiet", revision)
        if self.source.work_tree is None:
            if base is None:
                raise SnapshotFailed(f"the branch {self.source.branch} is gone from {self.source.folder}")
            return base
        tree = self._snapshot(self.source.work_tree)
        if base is not None and tree == self._private("rev-parse", f"{base}^{{tree}}"):
            return base
        # On top of the newest scratch commit while the user's head has not moved, so that each file keeps its own date.
        scratch = self.head
        parent = scratch if scratch and self._ref(BASE_REF) == base else base
        if parent is not None and tree == self._private("rev-parse", f"{parent}^{{tree}}"):
            return parent
        parents = ("-p", parent) if parent else ()
        environment = neutral_environment() | AUTHOR
        commit = git_text(
            f"--git-dir={self.git_dir}", "commit-tree", tree, *parents, "-m", "Working copy", environment=environment
        )
        if base:
            self._private("update-ref", BASE_REF, base)
        return commit

    def _snapshot(self, work_tree: Path) -> str:
        """The tree of the files on disk, as the user's own `git add --all` would see them."""
        theirs = self.source.git_dir / "index" if self.source.git_dir else None
        if theirs is not None and theirs.exists():  # times included, so that unchanged files need no reading
            shutil.copy2(theirs, self._index)
        settings = [part for setting in SAFE_SETTINGS for part in ("-c", setting)]
        usual = neutral_environment() if self.source.git_dir is None else git_environment()
        places = {
            "GIT_DIR": str(self.source.git_dir or self.git_dir),
            "GIT_WORK_TREE": str(work_tree),
            "GIT_INDEX_FILE": str(self._index),
        }
        if self.source.common_dir is not None:
            places["GIT_OBJECT_DIRECTORY"] = str(self.git_dir / "objects")
            places["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(self.source.common_dir / "objects")
        environment = usual | places
        if self.source.git_dir is not None:
            git(*settings, "add", "--all", directory=work_tree, environment=environment)
        else:
            self._add_files(work_tree, settings, environment)
        return git_text(*settings, "write-tree", environment=environment)

    def _add_files(self, work_tree: Path, settings: Sequence[str], environment: Mapping[str, str]) -> None:
        """Bring the index to a folder without Git, but for what is never served: `NEVER_READ`, large files."""
        known, new, ignored = (
            set(git("ls-files", "-z", *which, directory=work_tree, environment=environment).split(b"\0")) - {b""}
            for which in ([], ["--others", "--exclude-standard"], ["--cached", "--ignored", "--exclude-standard"])
        )
        sizes: dict[bytes, int] = {}
        times: list[float] = []
        for name in (known | new) - ignored:
            with suppress(OSError):  # it is gone
                status = (work_tree / os.fsdecode(name)).lstat()
                if not stat.S_ISDIR(status.st_mode):  # a repository inside the folder is listed as one name
                    sizes[name] = status.st_size
                    times.append(status.st_mtime)
        self._copied = copied_at(times)
        read = {name for name, size in sizes.items() if size <= MAX_FILE_BYTES}
        self.large = tuple(sorted(os.fsdecode(name) for name in sizes.keys() - read))
        megabytes = sum(sizes[name] for name in read) // 1_000_000
        if len(read) > MAX_FILES or megabytes > MAX_FOLDER_MB:
            most = f"at most {MAX_FILES:,} and {MAX_FOLDER_MB:,} MB are read"
            raise GitError(
                f"{work_tree} contains {len(read):,} files of {megabytes:,} MB, and {most}; name a folder in it"
            )
        for option, chosen in (("--force-remove", known - read), ("--add", read)):
            paths = b"\0".join(sorted(chosen))
            command = (*settings, "update-index", "--remove", option, "-z", "--stdin")
            git(*command, directory=work_tree, environment=environment, data=paths)

    def _ref(self, name: str) -> str | None:
        try:
            return self._private("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except GitError:
            return None

    def _private(self, *arguments: str) -> str:
        return git_text(f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment())


def copied_at(times: Sequence[float]) -> float | None:
    """Return the time at which most of these files were written at once; None where they were written one by one."""
    middle = median(times) if times else 0.0
    return middle if sum(abs(time - middle) < COPY_SECONDS for time in times) * 2 > len(times) else None


def _quoted(objects: Path) -> str:
    """Return the folder as Git reads it in a list of object directories; a leading quote makes it a C string."""
    text = os.fspath(objects)
    if not set(text) & set('":\\\n'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class Watcher:
    """Calls `changed` from a thread of its own, once per burst of changes."""

    def __init__(self, source: Source, changed: Callable[[], None]) -> None:
        wanted = {folder for folder in (source.work_tree, source.git_dir, source.common_dir) if folder}
        self._folders = [folder for folder in wanted if not wanted & set(folder.parents)]
        self._source = source
        self._changed = changed
        self._stopping = threading.Event()
        self._watching = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Returns when no later change can be missed."""
        self._thread.start()
        self._watching.wait(START_SECONDS)

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        bursts = watch(
            *self._folders,
            watch_filter=self._matters,
            debounce=LONGEST_BURST_MS,
            step=QUIET_MS,
            stop_event=self._stopping,
            rust_timeout=WAKE_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        try:
            for burst in bursts:
                self._watching.set()
                if burst:
                    self._changed()
        except OSError as error:
            logger.error("The folder cannot be watched: %s. Saved files are not noticed.", error)
        finally:
            self._watching.set()

    def _matters(self, _change: Change, path: str) -> bool:
        """Files of the folder, and in the repository only what moves a branch."""
        git_dir, common_dir = self._source.git_dir, self._source.common_dir
        changed = Path(path)
        for inside in (git_dir, common_dir):
            if inside is not None and changed.is_relative_to(inside):
                moved = changed.relative_to(inside).parts
                head = moved[:1] in {("HEAD",), ("packed-refs",)}
                branch = moved[:2] in {("refs", "heads"), ("refs", "remotes")}
                return (head or branch) and changed.suffix != ".lock"
        inside_folder = changed.relative_to(self._source.folder).parts if git_dir is None else ()
        hidden = any(part.startswith(".") or part == "node_modules" for part in inside_folder)
        return not hidden and ".git" not in changed.parts


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder shown as a branch, and the stand-in that serves it."""

    source: Source
    workspace: Workspace
    api: GitHubApi


def repository(source: Source, data: Path, tokens: Iterable[str], *, first: bool) -> Repository:
    """Its private clone lies in `data`; who brings one of the tokens may read it, for what is saved is not public.

    Only the knowledge base takes branches and pull requests.
    """
    folder = FIRST if first else f"repository-{_FOREIGN.sub('_', source.name)}.git"
    workspace = Workspace(source, data / folder)
    api = GitHubApi(
        GitRepository(workspace.git_dir, workspace.saved), source.name, private=True, writable=first, tokens=tokens
    )
    return Repository(source, workspace, api)
