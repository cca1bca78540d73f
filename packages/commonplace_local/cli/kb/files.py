"""Files of entries and learnings: read within bounds, written whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from commonplace.kernel.errors import CommonplaceError
from commonplace.memory.client.learnings import FILE_NAME, RECORD_HINT, Learnings, from_mapping
from commonplace.memory.entry_files import document, listed, write
from commonplace.memory.personal_data import without_secrets
from commonplace.memory.validation import Refused, imports
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.locks import held

T = TypeVar("T")

MAX_FILE_BYTES = 64_000_000
MAX_FILE_VALUES = 8_000_000
"""The bound of a user's own file: more than one call takes, for it is cut into calls."""
SHOWN_FIELDS = 6
"""Fields of another tool's entry that an error names."""
CHECKED = 1_000
"""Entries that are checked together."""
SEED_FOLDER = Path("seed-data")
LEFT_OUT = {"node_modules", "cdk.out", "__pycache__", "site-packages"}


def now() -> str:
    """Return the time in ISO 8601, UTC, in whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_text(file: Path) -> str:
    """Return the text of a file, within bounds; `-` is what is piped in. Raises CommandError."""
    try:
        if str(file) == "-":
            raw = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with file.open("rb") as opened_file:
                raw = opened_file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.", "Check the path.") from error
    if len(raw) > MAX_FILE_BYTES:
        raise CommandError(f"{file} is larger than {MAX_FILE_BYTES:,} bytes.", "Split it into several files.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not UTF-8.", "Save it as UTF-8.") from error


def read_document(file: Path) -> Any:
    """Return what a YAML file holds. Raises CommandError."""
    text = read_text(file)
    return in_file(file, lambda: document(text, max_bytes=MAX_FILE_BYTES, max_values=MAX_FILE_VALUES))


def in_file(file: Path, read: Callable[[], T]) -> T:
    """Return what `read` makes of a file; its errors get the file's name."""
    try:
        return read()
    except CommonplaceError as error:
        raise CommandError(f"{file}: {error.message}", error.hint or "") from error


def entries_of(file: Path) -> list[Any]:
    """Return the entries of a seed file: a list, `entries:` with one, or a LEARNINGS.yaml. Raises CommandError."""
    value = read_document(file)
    if isinstance(value, dict) and "story_id" in value:
        return in_file(file, lambda: from_mapping(value).imports(whole=True))
    other = isinstance(value, dict) and not {"entries", "content"} & value.keys()
    found = [value] if other else in_file(file, lambda: listed(value))
    if not isinstance(found, list):
        raise CommandError(f"{file} is not a list of entries.", "See docs/agents/memory.md.")
    first = found[0] if found else None
    if (
        isinstance(first, dict)
        and not {"entry_type", "roles"} & first.keys()
        and not any(isinstance(one, dict) and "content" in one for one in found)
    ):
        fields = ", ".join(f"`{str(name)[:40]}`" for name in list(first)[:SHOWN_FIELDS])
        hint = (
            f"Its entries have {fields}; entries here have `content`, `entry_type` and `roles`. See: kb import --help"
        )
        raise CommandError(f"{file} is the YAML of another tool.", hint)
    return found


def faults_of(entries: Sequence[Any]) -> dict[int, str]:
    """Return what the memory would refuse, by place: the checks are those of the server."""
    found: dict[int, str] = {}
    for begin in range(0, len(entries), CHECKED):
        some = list(entries[begin : begin + CHECKED])
        checked = enumerate(without_secrets(imports(some), some), start=begin)
        found |= {place: one.sentence for place, one in checked if isinstance(one, Refused)}
    names = {str(one.get("ref")) for one in entries if isinstance(one, dict) and one.get("ref")}
    for place, one in enumerate(entries):
        for link in ("parent_ref", "superseded_by_ref"):
            name = one.get(link) if isinstance(one, dict) else None
            if name and str(name) not in names:
                found.setdefault(place, f"`{link}` names no entry of this file.")
    return found


def read_learnings(file: Path) -> Learnings:
    """Return the learnings of a file. Raises CommandError."""
    value = read_document(file)
    try:
        return from_mapping(value)
    except CommonplaceError as error:
        hint = "`commonplace kb learn` writes one." if error.hint == RECORD_HINT else error.hint or ""
        raise CommandError(f"{file}: {error.message}", hint) from error


def write_learnings(file: Path, learnings: Learnings) -> None:
    """Write a file whole or not at all: one that is there is never half of what it was."""
    write_whole(file, write(learnings.as_mapping()))


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Keep every other `commonplace kb` from this file meanwhile. The lock lies outside of the user's folders."""
    name = sha256(str(file.resolve()).encode()).hexdigest()[:32]
    folder = Path(tempfile.gettempdir()) / f"commonplace-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with held(folder / f"{name}.lock"):
        yield


def records_below(folder: Path) -> tuple[list[tuple[Path, Learnings]], list[CommandError]]:
    """Return each LEARNINGS.yaml below a folder in order of paths, and the errors of those that cannot be read."""
    found: list[tuple[Path, Learnings]] = []
    broken: list[CommandError] = []
    for here, folders, files in os.walk(folder):
        # What tools have put there is left out.
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        if FILE_NAME not in files:
            continue
        file = Path(here) / FILE_NAME
        try:
            found.append((file, read_learnings(file)))
        except CommandError as error:
            broken.append(error)
    return found, broken


def relative(file: Path) -> str:
    """Return the path as entries name it, with `/` between its parts.

    It begins at the present folder, or at the top of its repository; for a file in neither it is its name and its
    folder's.
    """
    whole = file.resolve()
    tops = [Path.cwd(), *(one for one in whole.parents if (one / ".git").exists())]
    for top in tops:
        if whole.is_relative_to(top):
            return whole.relative_to(top).as_posix()
    return Path(*whole.parts[1:][-2:]).as_posix()


def is_hidden(path: Path) -> bool:
    """Return whether a file lies in what tools keep for themselves."""
    return any(part.startswith(".") or part in LEFT_OUT for part in path.parts)


def seed_files(named: Sequence[Path] | None) -> list[Path]:
    """Return the files to import: those that are named, else every YAML file of `seed-data/`. Raises CommandError."""
    if named:
        return list(named)
    found = sorted(one for one in SEED_FOLDER.glob("*") if one.suffix in (".yaml", ".yml"))
    if not found:
        hint = "Make one: commonplace kb parse lessons LESSONS-LEARNED.md -o seed-data/lessons-learned.yaml"
        raise CommandError(f"There is no YAML file in {SEED_FOLDER}/.", hint)
    return found
