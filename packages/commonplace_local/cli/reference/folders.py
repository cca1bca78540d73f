"""Catalogues on this machine: a folder, or a folder at a revision of its repository."""

import os
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from commonplace.reference.source import bounds
from commonplace.reference.source.drafts import is_read
from commonplace_local.errors import CommandError
from commonplace_local.files import catalogue_name, list_files, top_of
from commonplace_local.github.git import GitError, GitRepository, git, git_text

MAX_SOURCE_BYTES = 64_000_000

_NAMED = re.compile(r"([a-z][a-z0-9-]{0,39})=(.+)", re.DOTALL)
_REVISION = re.compile(r"(?!-)[^\s:]+:[^\0]*")


class NoSuchFolder(CommandError):
    """A revision has no such folder."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a catalogue, wherever they come from."""

    shown: str
    """The text that the operator wrote."""
    name: str
    files: dict[str, bytes]
    """Path in the folder -> bytes; empty for what a catalogue does not read."""
    source: Callable[[str], bytes | None]
    """A file of the repository by its path from the folder, for what entries are generated from."""
    root: Path | None = None
    """None at a revision."""
    commit: str = "0" * 40
    """The commit of the revision."""


def opened(text: str) -> Folder:
    """`[NAME=]FOLDER` of this machine, else `REVISION:FOLDER`. Raises CommandError."""
    named = None if Path(text).exists() else _NAMED.fullmatch(text)
    name, text = (named[1], named[2]) if named else (None, text)
    path = Path(text)
    if path.is_dir():
        return _on_disk(path, text, name)
    if path.exists():
        raise CommandError(f"{text} is not a folder.", "Name the folder of a catalogue.")
    if _REVISION.fullmatch(text):
        return _at_revision(text, name)
    raise CommandError(f"There is no folder {text}.", "Name a folder, or a revision and a folder: HEAD~1:reference")


def _on_disk(root: Path, text: str, name: str | None) -> Folder:
    names = list_files(root)
    if len(names) > 10 * bounds.MAX_FILES:
        raise CommandError(f"{text} contains {len(names):,} files.", "Name the folder of the catalogue itself.")
    files = dict.fromkeys(names, b"")
    left = bounds.MAX_CATALOGUE_BYTES + 1
    for one in filter(is_read, names):
        with (root / one).open("rb") as file:
            files[one] = file.read(min(left, bounds.MAX_FILE_BYTES + 1))
        left -= len(files[one])
    top = top_of(root.resolve())

    def source(path: str) -> bytes | None:
        file = (root / path).resolve()
        if not file.is_relative_to(top) or not file.is_file() or file.stat().st_size > MAX_SOURCE_BYTES:
            return None
        return file.read_bytes()

    return Folder(text, name or catalogue_name(root.resolve()) or "catalogue", files, source, root)


def _at_revision(text: str, name: str | None) -> Folder:
    revision, _, folder = text.partition(":")
    try:
        commit = git_text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        # From here where it begins with a dot; else from the top of the repository, as Git means it.
        if folder == "." or folder.startswith("./"):
            folder = os.path.normpath(git_text("rev-parse", "--show-prefix") + folder)
        repository = GitRepository(Path(git_text("rev-parse", "--absolute-git-dir")))
    except GitError as error:
        raise CommandError(f"{revision} is not a revision of this repository.", "See: git log --oneline") from error
    prefix = f"{folder.strip('/')}/" if folder not in ("", ".") else ""
    with closing(repository):
        # Regular files; symbolic links are no content.
        listed = [one for one in repository.tree(commit, recursive=True) if one.mode.startswith("100")]
        inside = {one.path.removeprefix(prefix): one for one in listed if one.path.startswith(prefix)}
        files = dict.fromkeys(inside, b"")
        for path, one in inside.items():
            if not is_read(path):
                continue
            # What is too large to be read is as long as that and no longer.
            too_large = (one.size or 0) > bounds.MAX_FILE_BYTES
            raw = bytes(bounds.MAX_FILE_BYTES + 1) if too_large else repository.blob(one.sha)
            if raw is None:
                raise CommandError(f"{path} is not in this clone.", "Fetch it: git fetch --refetch")
            files[path] = raw
    if not files:
        raise NoSuchFolder(
            f"{revision} has no folder {folder or '.'}.", "Give its path from the top of the repository."
        )

    def source(path: str) -> bytes | None:
        found = os.path.normpath(f"{prefix}{path}")
        try:
            return None if found.startswith(("..", "/")) else git("cat-file", "blob", f"{commit}:{found}")
        except GitError:
            return None

    return Folder(text, name or catalogue_name(Path.cwd() / folder) or "catalogue", files, source, commit=commit)
