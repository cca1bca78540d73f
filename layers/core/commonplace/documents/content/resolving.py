"""Where links lead. Only published documents and plain files are known here, so nothing else can ever be named."""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from commonplace.repository.link import Link
from commonplace.repository.slugs import is_markdown, slug, stem, without_suffix


@dataclass(frozen=True, slots=True)
class ToDocument:
    path: str


@dataclass(frozen=True, slots=True)
class ToFile:
    path: str


@dataclass(frozen=True, slots=True)
class Broken:
    reason: Literal["missing"] = "missing"
    suggestion: str | None = None
    """Path of a published document that is probably meant."""


Resolution = ToDocument | ToFile | Broken


class LinkResolver:
    """Resolves links the way Obsidian and GitHub do, against published documents and the tree's other files.

    A path is tried as written, with `.md`, and as a folder's index page: from the root of the repository, and relative
    to the source (first, when it is a bare file name). Wiki links are also found by name: stem, title or alias, in any
    letter case; the nearest of several wins. `aliases` maps titles and aliases to paths. Paths themselves are
    case-sensitive, as in Git.
    """

    def __init__(
        self,
        documents: Iterable[str],
        files: Iterable[str],
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._documents = _by_composed_path(documents)
        self._files = _by_composed_path(files)
        self._stems = _grouped(self._documents.values(), lambda path: stem(path).casefold())
        self._file_names = _grouped(self._files.values(), lambda path: path.rpartition("/")[2].casefold())
        self._slugs = _grouped(self._documents.values(), lambda path: slug(stem(path)))
        self._aliases: dict[str, str] = {}
        for name, path in aliases.items():
            self._aliases.setdefault(_term(name), path)

    def resolve(self, source: str, link: Link) -> Resolution:
        """Where a link of the document at `source` leads. Never raises."""
        for target in _spellings(link.target):
            for path in _bases(source, target):
                if found := self._at(path):
                    return found
        if found := self._by_name(source, link):
            return found
        return Broken(suggestion=self._suggestion(link.target))

    def _at(self, path: str) -> ToDocument | ToFile | None:
        for candidate in (path, f"{path}.md", f"{path}/index.md" if path else "index.md"):
            if document := self._documents.get(candidate):
                return ToDocument(document)
        file = self._files.get(path)
        return ToFile(file) if file else None

    def _by_name(self, source: str, link: Link) -> ToDocument | ToFile | None:
        if link.kind == "link":
            return None
        target = unicodedata.normalize("NFC", link.target.strip()).strip("/")
        folder, _, name = target.rpartition("/")
        if is_markdown(name) or link.kind != "image":
            documents = _inside(folder, self._stems.get(stem(name).casefold(), ()))
            if documents:
                return ToDocument(_nearest(source, documents))
        files = _inside(folder, self._file_names.get(name.casefold(), ()))
        if files:
            return ToFile(_nearest(source, files))
        document = self._aliases.get(_term(target)) if link.kind == "wiki" else None
        return ToDocument(document) if document else None

    def _suggestion(self, target: str) -> str | None:
        """The published document whose file name is like the target's; None when several are equally like it."""
        candidates = self._slugs.get(slug(stem(target.strip().rstrip("/"))), ())
        if not candidates:
            return None
        shared = {path: _shared_folders(path, target) for path in candidates}
        best = [path for path, count in shared.items() if count == max(shared.values())]
        return best[0] if len(best) == 1 else None


def names_of(documents: Iterable[tuple[str, str, Iterable[str]]]) -> dict[str, str]:
    """Title or alias -> path, from (path, title, aliases). Titles win over aliases, earlier documents over later."""
    known = [(path, title, tuple(aliases)) for path, title, aliases in documents]
    names: dict[str, str] = {}
    for path, title, _ in known:
        names.setdefault(title, path)
    for path, _, aliases in known:
        for alias in aliases:
            names.setdefault(alias, path)
    return names


def _by_composed_path(paths: Iterable[str]) -> dict[str, str]:
    """NFC path -> path, and every path under itself: editors compose letters that some disks keep apart."""
    known = sorted(paths)
    return {unicodedata.normalize("NFC", path): path for path in known} | {path: path for path in known}


def _grouped(paths: Iterable[str], key: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for path in dict.fromkeys(paths):
        groups[key(path)].append(path)
    return {name: tuple(sharing) for name, sharing in groups.items() if name}


def _term(name: str) -> str:
    return " ".join(name.strip().lstrip("#").casefold().split())


def _spellings(target: str) -> Iterator[str]:
    """The target as written; without white space at its ends; without a query."""
    composed = unicodedata.normalize("NFC", target)
    yield from dict.fromkeys((target, composed, composed.strip(), composed.partition("?")[0].strip()))


def _bases(source: str, target: str) -> Iterator[str]:
    """Repository paths that a target can mean, most likely first. A path that leaves the repository means nothing."""
    folder = posixpath.dirname(source)
    from_root, from_source = _inside_root(target.lstrip("/")), _inside_root(f"{folder}/{target}" if folder else target)
    if target.startswith("/"):
        wanted = [from_root]
    elif target.startswith(("./", "../")) or target in (".", ".."):
        wanted = [from_source]
    elif "/" in target.rstrip("/"):
        wanted = [from_root, from_source]
    else:
        wanted = [from_source, from_root]
    yield from (path for path in dict.fromkeys(wanted) if path is not None)


def _inside_root(path: str) -> str | None:
    """The path with `.` and `..` segments worked out; None when it leaves the repository."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                return None
            segments.pop()
        elif segment not in ("", "."):
            segments.append(segment)
    return "/".join(segments)


def _inside(folder: str, paths: Iterable[str]) -> list[str]:
    """Paths whose folder is, or ends in, the given one."""
    if not folder:
        return list(paths)
    wanted = f"/{folder}/".casefold()
    return [path for path in paths if f"/{posixpath.dirname(path)}/".casefold().endswith(wanted)]


def _nearest(source: str, paths: Iterable[str]) -> str:
    """In the source's folder if there is one, else the shortest path."""
    here = posixpath.dirname(source)
    return min(paths, key=lambda path: (posixpath.dirname(path) != here, path.count("/"), len(path), path))


def _shared_folders(path: str, target: str) -> int:
    mine, theirs = path.split("/")[-2::-1], without_suffix(target).split("/")[-2::-1]
    count = 0
    for one, other in zip(mine, theirs, strict=False):
        if one.casefold() != other.casefold():
            break
        count += 1
    return count
