"""The folders of the repository as readers walk them: what lies in each, and the way to a document."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, per_catalogue

MOST_SHOWN = 40
"""Folders, and documents, of one folder that the tree beside a document shows; the page of the folder has them all."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that has published documents, or folders with them."""

    path: str
    folders: Sequence[str]
    entries: Sequence[Entry]
    """Its front page first, then by the names of the files."""
    front: Entry | None
    count: int
    """The documents in it and in all that is below it."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


T = TypeVar("T", Entry, Folder)


@dataclass(frozen=True, slots=True)
class Level:
    """The part of a folder that the tree shows: what is near the way to the document."""

    folder: Folder
    folders: Sequence[Folder]
    entries: Sequence[Entry]
    left_out: int


@per_catalogue
def folders(catalogue: Catalogue) -> Mapping[str, Folder]:
    """Return every folder by its path; the top of the repository is `""`."""
    inside: dict[str, set[str]] = defaultdict(set)
    entries: dict[str, list[Entry]] = defaultdict(list, {"": []})
    counts: Counter[str] = Counter()
    for entry in catalogue.entries:
        folder = entry.path.rpartition("/")[0]
        entries[folder].append(entry)
        for path in ancestors(folder):
            counts[path] += 1
            if path:
                inside[path.rpartition("/")[0]].add(path)
    found: dict[str, Folder] = {}
    for path in ["", *counts]:
        front = catalogue.manifest.by_path.get(catalogue.fronts.get(path, ""))
        rest = sorted((one for one in entries[path] if one is not front), key=lambda one: _order(one.path))
        shown = [front, *rest] if front else rest
        found[path] = Folder(path, sorted(inside[path], key=_order), shown, front, counts[path])
    return found


def ancestors(folder: str) -> list[str]:
    """Return the paths from the top of the repository to this folder, both included."""
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:end]) for end in range(len(parts) + 1)]


def way(catalogue: Catalogue, entry: Entry) -> list[Level]:
    """Return the levels from the top to the folder of a document."""
    known, path = folders(catalogue), ancestors(entry.path.rpartition("/")[0])
    levels: list[Level] = []
    for at, below in zip(path, [*path[1:], entry.path], strict=True):
        if (folder := known.get(at)) is None:
            break  # removed while this page was made
        # The front page of a folder is what its name leads to.
        entries = [one for one in folder.entries if not at or not folder.front or one.path != folder.front.path]
        inside = _near([known[each] for each in folder.folders], below)
        shown = _near(entries, below)
        left_out = len(folder.folders) + len(entries) - len(inside) - len(shown)
        levels.append(Level(folder, inside, shown, left_out))
    return levels


def neighbours(catalogue: Catalogue, entry: Entry) -> tuple[Entry | None, Entry | None]:
    """Return the documents before and after this one in its folder."""
    folder = folders(catalogue).get(entry.path.rpartition("/")[0])
    entries = folder.entries if folder else ()
    at = next((at for at, each in enumerate(entries) if each.path == entry.path), len(entries))
    return (entries[at - 1] if 0 < at < len(entries) else None), (entries[at + 1] if at + 1 < len(entries) else None)


def _near(items: Sequence[T], path: str) -> Sequence[T]:
    """Return a part of the items that has the one with this path."""
    at = next((at for at, each in enumerate(items) if each.path == path), 0)
    start = max(0, min(at - MOST_SHOWN // 2, len(items) - MOST_SHOWN))
    return items[start : start + MOST_SHOWN]


def _order(path: str) -> list[tuple[int, str]]:
    """Return what sorts `2 b` before `10 a`."""
    parts = re.split(r"(\d+)", path.casefold())
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]
