"""Folders of a node and its user: the program (shared, read only), and beside it the state of each node.

OpenSearch refuses to run as root, so root lends it a number that no account has.
"""

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.deployment import PROJECT
from local.errors import CommandError

UID = 10900
"""A bare number: the node needs neither an account nor a group of that name."""

VERSION = "3.6.0"
PROGRAM = f"opensearch-{VERSION}"
"""The folder that the distribution unpacks to."""

HOME_VARIABLE = "COMMONPLACE_OPENSEARCH_HOME"
IN_PROJECT = PROJECT / ".tools" / "opensearch"
_AWKWARD = re.compile(r"[\s\"'\\$:*?]")
"""Its start scripts split or expand these."""


def is_root() -> bool:
    return os.geteuid() == 0


def can_enter(path: Path, uid: int | None = None) -> bool:
    """Whether the node's user gets to this file or folder: every folder above it must let others pass.

    Folders that do not exist yet are taken to be made passable.
    """
    if uid is None and not is_root():
        return True
    resolved = path.resolve()
    return all(_lets_pass(folder, UID if uid is None else uid) for folder in (resolved, *resolved.parents))


def _lets_pass(path: Path, uid: int) -> bool:
    try:
        state = path.stat()
    except OSError:
        return True
    bit = stat.S_IXUSR if state.st_uid == uid else stat.S_IXOTH
    return bool(state.st_mode & bit)


def make_passable(folder: Path) -> None:
    """Makes the folder, and those above it that are missing. Whatever the umask, the node's user gets through."""
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(exist_ok=True)
        let_pass(missing)


def let_pass(folder: Path) -> None:
    """Lets the node's user through, who may not look around. Nothing to do unless we are root."""
    if is_root():
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IXGRP | stat.S_IXOTH)


def give(folder: Path) -> None:
    """Makes the folder and all in it the node's own. Nothing to do unless we are root."""
    if not is_root():
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, UID, UID, follow_symlinks=False)


def as_node() -> dict[str, object]:
    """What `subprocess` needs to run something as the node's user."""
    return {"user": UID, "group": UID, "extra_groups": []} if is_root() else {}


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds the program, and the state of the node that `commonplace opensearch start` runs."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / PROGRAM

    @property
    def downloads(self) -> Path:
        return self.folder / "downloads"

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def node(self) -> Path:
        return self.folder / "node"

    @property
    def node_lock(self) -> Path:
        """Beside the node's state, which goes with `stop --wipe` while the lock is held."""
        return self.folder / "node.lock"


def find_home(given: Path | None = None, environ: Mapping[str, str] = os.environ) -> Home:
    """The requested folder, else the project's own, else one below the system's temporary folder.

    Raises CommandError when the requested folder cannot serve.
    """
    asked = given or (Path(environ[HOME_VARIABLE]) if environ.get(HOME_VARIABLE) else None)
    if asked is not None:
        folder = asked.expanduser().resolve()
        if complaint := unsuitable(folder):
            raise CommandError(f"OpenSearch cannot run in {folder}: {complaint}.", "Choose another with --folder.")
        return Home(folder)
    for folder in (IN_PROJECT, *_shared()):
        if unsuitable(folder) is None and (folder == IN_PROJECT or is_ours(folder)):
            return Home(folder)
    raise CommandError(
        f"OpenSearch can run neither in {IN_PROJECT} ({unsuitable(IN_PROJECT)}) nor in a temporary folder.",
        f"Name a folder with --folder or {HOME_VARIABLE}.",
    )


def unsuitable(folder: Path) -> str | None:
    """Why a node cannot live there; None when it can."""
    if _AWKWARD.search(str(folder)):
        return "its path holds a character that the start scripts do not take"
    if not can_enter(folder):
        return f"the unprivileged user (uid {UID}) that it runs as for root cannot enter it"
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        return f"nothing can be written to {nearest}"
    return None


def state_for(data: Path, home: Home) -> Path:
    """Where the node of a data folder keeps its own: in it, else, when it cannot live there, beside the program."""
    inside = data.resolve() / "opensearch"
    if unsuitable(inside) is None:
        return inside
    return home.folder / "kept" / hashlib.sha256(str(inside).encode()).hexdigest()[:12]


def temporary_state() -> Path:
    """A new folder for the state of a node that goes with its owner."""
    for base in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):  # noqa: S108  made by mkdtemp
        if base.is_dir() and unsuitable(base / "node") is None:
            folder = Path(tempfile.mkdtemp(prefix="commonplace-node-", dir=base))
            let_pass(folder)
            return folder
    raise CommandError("There is no temporary folder that OpenSearch could run in.", "Set TMPDIR to one.")


def _shared() -> list[Path]:
    """Kept over restarts first. One for each user, since what lies there is run."""
    name = f"commonplace-opensearch-{os.geteuid()}"
    return [Path("/var/tmp", name), Path(tempfile.gettempdir(), name)]  # noqa: S108  ownership is checked


def is_ours(folder: Path) -> bool:
    """Where everybody may make folders, another's, or one that others write to, could hold another's program."""
    if not folder.exists():
        return True
    state = folder.stat()
    return state.st_uid == os.geteuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
