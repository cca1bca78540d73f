"""Catalogues on this machine: a folder, or a folder at a revision of its repository."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonplace.reference.source import bounds
from commonplace.reference.source.drafts import is_read
from local.errors import CommandError
from local.files import catalogue_name, list_files, top_of

MAX_SOURCE_BYTES = 64_000_000
GIT_SECONDS = 60

_NAMED = re.compile(r"([a-z][a-z0-9-]{0,39})=(.+)", re.DOTALL)
_REVISION = re.compile(r"(?!-)[^\s:]+:[^\0]*")


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a catalogue, wherever they come from."""

    shown: str
    """As the operator wrote it."""
    name: str
    files: dict[str, bytes]
    """Path in the folder -> bytes; empty for what a catalogue does not read."""
    source: Callable[[str], bytes | None]
    """A file of the repository by its path from the folder, for what entries are generated from."""
    root: Path | None = None
    """None at a revision."""
    commit: str = "0" * 40
    """Of the revision."""


def opened(text: str) -> Folder:
    """`[NAME=]FOLDER` of this machine, else `REVISION:FOLDER`. Raises CommandError."""
    named = None if Path(text).exists() else _NAMED.fullmatch(text)
    name, text = (named[1], named[2]) if named else (None, text)
    path = Path(text)
    if path.is_dir():
        return _on_disk(path, text, name)
    if path.exists():
        raise CommandError(f"{text} is no folder.", "Name the folder of a catalogue.")
    if _REVISION.fullmatch(text):
        return _at_revision(text, name)
    raise CommandError(f"There is no folder {text}.", "Name a folder, or a revision and a folder: HEAD~1:reference")


def _on_disk(root: Path, text: str, name: str | None) -> Folder:
    names = list_files(root)
    if len(names) > 10 * bounds.MAX_FILES:
        raise CommandError(f"{text} holds {len(names):,} files.", "Name the folder of the catalogue itself.")
    files = dict.fromkeys(names, b"")
    left = bounds.MAX_CATALOGUE_BYTES + 1
    for one in filter(is_read, names):
        files[one] = _read(root / one, min(left, bounds.MAX_FILE_BYTES + 1))
        left -= len(files[one])
    top = top_of(root.resolve())

    def source(path: str) -> bytes | None:
        file = (root / path).resolve()
        if not file.is_relative_to(top) or not file.is_file() or file.stat().st_size > MAX_SOURCE_BYTES:
            return None
        return file.read_bytes()

    return Folder(text, name or catalogue_name(root.resolve()) or "catalogue", files, source, root)


def _read(file: Path, most: int) -> bytes:
    with file.open("rb") as opened_file:
        return opened_file.read(most)


def _at_revision(text: str, name: str | None) -> Folder:
    revision, _, folder = text.partition(":")
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    if not commit:
        raise CommandError(f"{revision} is no revision of this repository.", "See: git log --oneline")
    prefix = _prefix(folder)
    listed = list(_listed(commit, prefix))
    if not listed:
        hint = "Give its path from the top of the repository."
        raise CommandError(f"{revision} has no folder {folder or '.'}.", hint)
    files = dict.fromkeys((one.path for one in listed), b"") | _blobs([one for one in listed if is_read(one.path)])

    def source(path: str) -> bytes | None:
        parts = os.path.normpath(f"{prefix}{path}")
        return None if parts.startswith(("..", "/")) else _blob(commit, parts)

    return Folder(text, name or catalogue_name(Path.cwd() / folder) or "catalogue", files, source, commit=commit)


def _prefix(folder: str) -> str:
    """From the top of the repository, as Git means it; `./` is from here."""
    if folder.startswith("./") or folder == ".":
        here = _git("rev-parse", "--show-prefix").decode().strip()
        folder = f"{here}{folder.removeprefix('.').removeprefix('/')}"
    clean = folder.strip("/")
    return f"{clean}/" if clean else ""


@dataclass(frozen=True, slots=True)
class _Blob:
    path: str
    id: str
    size: int


def _listed(commit: str, prefix: str) -> Iterator[_Blob]:
    """Regular files below the prefix; symbolic links are no content."""
    command = ("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    for row in _git(*command, *(["--", prefix] if prefix else [])).split(b"\0"):
        facts, _, path = row.partition(b"\t")
        mode, _, id, size = (*facts.split(), b"", b"", b"", b"")[:4]
        if mode.startswith(b"100"):
            yield _Blob(os.fsdecode(path).removeprefix(prefix), id.decode(), int(size))


def _blobs(wanted: Sequence[_Blob]) -> dict[str, bytes]:
    """All in one call of Git. What is too large to be read is as long as that and no longer."""
    small = [one for one in wanted if one.size <= bounds.MAX_FILE_BYTES]
    found = {one.path: bytes(bounds.MAX_FILE_BYTES + 1) for one in wanted if one.size > bounds.MAX_FILE_BYTES}
    answer = memoryview(_run("cat-file", "--batch", stdin="".join(f"{one.id}\n" for one in small).encode()))
    at = 0
    for one in small:
        # `<id> blob <size>`, the bytes, a line break.
        head = f"{one.id} blob {one.size}\n".encode()
        begin = at + len(head)
        if answer[at:begin] != head:
            raise CommandError(f"{one.path} is not in this clone.", "Fetch it: git fetch --refetch")
        at = begin + one.size + 1
        found[one.path] = bytes(answer[begin : begin + one.size])
    return found


def _blob(commit: str, path: str) -> bytes | None:
    try:
        return _run("cat-file", "blob", f"{commit}:{path}")
    except subprocess.CalledProcessError:
        return None


def _git(*command: str) -> bytes:
    try:
        return _run(*command)
    except subprocess.CalledProcessError:
        return b""


def _run(*command: str, stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(["git", *command], input=stdin, capture_output=True, check=True, timeout=GIT_SECONDS)
    except FileNotFoundError as error:
        raise CommandError("Git is not installed.", "Name folders instead of revisions.") from error
    except subprocess.TimeoutExpired as error:
        raise CommandError("Git does not answer.", "Try the same with git ls-tree.") from error
    return done.stdout
