"""A user's files: those of a folder as Git lists them, and atomic writes."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from commonplace.repository.slugs import slug
from commonplace_local.errors import CommandError
from commonplace_local.github.git import GitError, git, git_answer


def list_files(root: Path) -> list[str]:
    """Paths below the folder, `/` between segments, exactly as Git (or the disk) spells them.

    In a Git work tree: tracked files and new ones that are not ignored. Symbolic links are no content.
    """
    try:
        which = ("--cached", "--others", "--exclude-standard", "--deduplicate")
        listed = git("ls-files", "-z", *which, directory=root)
    except GitError:
        listed = b""
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    if not names:  # an ignored folder inside a work tree lists nothing; it is still there to be read
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name != ".git")
            names += [(Path(folder) / name).relative_to(root).as_posix() for name in sorted(files)]
    return [name for name in names if (root / name).is_file() and not (root / name).is_symlink()]


def workspace_prefix(root: Path) -> str:
    """Path of the folder inside its repository: GitHub wants annotations to name files from there."""
    return git_answer("rev-parse", "--show-prefix", directory=root) or ""


def top_of(folder: Path) -> Path:
    """Return the top folder of the repository; outside of one the folder itself."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


GENERIC = ("reference", "docs", "doc", "catalogue", "catalog", "")
"""Folders that are not called as their product is."""


def product_of(folder: Path) -> str:
    """The name of the folder, or of what has it as its `docs/reference`."""
    home = folder.resolve()
    return next((one.name for one in (home, *home.parents) if one.name.lower() not in GENERIC), home.name)


def catalogue_name(folder: Path) -> str | None:
    """A name that a deployment could give the catalogue of a folder; None where nothing of its name is one."""
    name = slug(product_of(folder))[:40].strip("-")
    return name if re.match("[a-z]", name) else None


def write_whole(file: Path, text: str) -> None:
    """Raises CommandError."""
    with whole(file) as opened_file:
        opened_file.write(text)


@contextmanager
def whole(file: Path) -> Iterator[TextIO]:
    """A text file that is there when all of it was written, and not before. Raises CommandError.

    One that is there keeps its mode, and stays where a symbolic link has it; a link to nothing is replaced.
    """
    try:
        there = file.is_file()
        file = Path(os.path.realpath(file)) if there else file
        mode = file.stat().st_mode & 0o777 if there else None
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened_file:
                yield opened_file
                opened_file.flush()
                os.fsync(opened_file.fileno())
            os.umask(mask := os.umask(0))
            draft.chmod(0o666 & ~mask if mode is None else mode)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.", "The file is unchanged.") from error
