"""Who runs the node. OpenSearch refuses to run as root, so root lends it a number that no account has."""

import os
import stat
from pathlib import Path

UID = 10900
"""A bare number: the node needs neither an account nor a group of that name."""


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
