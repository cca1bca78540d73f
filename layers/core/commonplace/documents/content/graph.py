"""Link resolution and the graph of published documents: who links to whom, and which links are broken.

Only published documents and plain files are known here, so no link can resolve to, or suggest, anything else.
"""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from commonplace.documents.content.document import DocumentRef, Summary
from commonplace.kernel.stored import Stored
from commonplace.repository.link import Link, LinkKind
from commonplace.repository.slugs import front_pages, is_markdown, slug, stem, without_suffix


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

    A path is tried as written, with `.md`, and as a folder's front page (`index.md`, else `README.md`): from the root
    of the repository, and relative to the source (first, when it is a bare file name). Wiki links are also found by
    name: stem, title or alias, in any letter case; the nearest of several wins. `aliases` maps titles and aliases to
    paths. Paths themselves are case-sensitive, as in Git.
    """

    def __init__(
        self,
        documents: Iterable[str],
        files: Iterable[str],
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._documents = _by_composed_path(documents)
        self._files = _by_composed_path(files)
        self._fronts = front_pages(self._documents)
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
        for candidate in (path, f"{path}.md", self._fronts.get(path, "")):
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


class GraphNode(Stored):
    """A published document, as far as a drawing of the graph needs it."""

    ref: DocumentRef
    id: str
    content_type: str
    title: str
    path: str
    tags: list[str] = Field(default_factory=list)


class GraphEdge(Stored):
    """The source links to the target, once or often."""

    source: DocumentRef
    target: DocumentRef


class BrokenLink(Stored):
    """A link that leads to nothing published."""

    source: DocumentRef
    target: str
    """As authored."""
    line: int
    suggestion: DocumentRef | None = None


class AuthoredLink(Stored):
    """A link as it stands in its file, and where it leads: later publications resolve it anew without reading the file,
    and whoever renders the file needs no resolver."""

    target: str
    fragment: str | None = None
    kind: LinkKind
    text: str
    line: int
    field: str | None = None
    """Of the frontmatter, when it stands there."""
    written: str = ""
    """Letter by letter, as far as it names the target."""
    path: str | None = None
    """Where it leads: a published document, or another file. None when it is broken."""

    @classmethod
    def of(cls, link: Link, resolution: Resolution) -> "AuthoredLink":
        path = None if isinstance(resolution, Broken) else resolution.path
        return cls(**asdict(link), path=path)

    def link(self) -> Link:
        return Link(self.target, self.fragment, self.kind, self.text, self.line, self.field, self.written)


class Neighbourhood(Stored):
    """Documents within some steps of one, and the edges among them."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


class Graph(Stored):
    """Every published document and the links between them, in a deterministic order."""

    nodes: list[GraphNode] = Field(default_factory=list)
    edges: list[GraphEdge] = Field(default_factory=list)
    """Unique, and none from a document to itself."""
    broken: list[BrokenLink] = Field(default_factory=list)
    authored: dict[str, list[AuthoredLink]] = Field(default_factory=dict)
    """Path -> links as authored, those of the frontmatter first."""

    @cached_property
    def by_ref(self) -> dict[DocumentRef, GraphNode]:
        return {node.ref: node for node in self.nodes}

    @cached_property
    def _out(self) -> dict[DocumentRef, list[DocumentRef]]:
        return _adjacency((edge.source, edge.target) for edge in self.edges)

    @cached_property
    def _back(self) -> dict[DocumentRef, list[DocumentRef]]:
        return _adjacency((edge.target, edge.source) for edge in self.edges)

    @cached_property
    def _broken(self) -> dict[DocumentRef, list[BrokenLink]]:
        found: dict[DocumentRef, list[BrokenLink]] = defaultdict(list)
        for link in self.broken:
            found[link.source].append(link)
        return found

    def out(self, ref: DocumentRef) -> list[GraphNode]:
        """Documents that this one links to."""
        return [self.by_ref[other] for other in self._out.get(ref, ())]

    def back(self, ref: DocumentRef) -> list[GraphNode]:
        """Documents that link to this one."""
        return [self.by_ref[other] for other in self._back.get(ref, ())]

    def broken_of(self, ref: DocumentRef) -> list[BrokenLink]:
        """This document's links that lead nowhere."""
        return list(self._broken.get(ref, ()))

    def neighbourhood(self, ref: DocumentRef, steps: int = 1) -> Neighbourhood:
        """The documents within `steps` links of this one, in either direction. Empty when the document is unknown."""
        reached = {ref} & self.by_ref.keys()
        for _ in range(steps):
            reached |= {near for at in reached for near in (*self._out.get(at, ()), *self._back.get(at, ()))}
        return Neighbourhood(
            nodes=[node for node in self.nodes if node.ref in reached],
            edges=[edge for edge in self.edges if edge.source in reached and edge.target in reached],
        )


def build_graph(
    entries: Iterable[Summary], authored: Mapping[str, Sequence[Link]], files: Iterable[str]
) -> tuple[Graph, dict[str, set[str]]]:
    """The graph of the entries, and path of each attachment in use -> paths of the documents that use it.

    `authored` maps document paths to their links, `files` are all other non-Markdown paths of the tree. Equal input in
    any order gives an equal graph.
    """
    published = sorted(entries, key=lambda entry: entry.path)
    by_path = {entry.path: entry for entry in published}
    names = names_of((entry.path, entry.title, entry.aliases) for entry in published)
    resolver = LinkResolver(by_path, files, names)
    edges: dict[tuple[DocumentRef, DocumentRef], None] = {}
    broken: list[BrokenLink] = []
    uses: dict[str, set[str]] = defaultdict(set)
    resolved: dict[str, list[AuthoredLink]] = defaultdict(list)
    for entry in published:
        for link in authored.get(entry.path, ()):
            resolution = resolver.resolve(entry.path, link)
            resolved[entry.path].append(AuthoredLink.of(link, resolution))
            match resolution:
                case ToDocument(path):
                    if path != entry.path:
                        edges[entry.ref, by_path[path].ref] = None
                case ToFile(path):
                    uses[path].add(entry.path)
                case Broken(suggestion=suggestion):
                    near = by_path[suggestion].ref if suggestion else None
                    broken.append(BrokenLink(source=entry.ref, target=link.target, line=link.line, suggestion=near))
    graph = Graph(
        nodes=[_node(entry) for entry in published],
        edges=[GraphEdge(source=source, target=target) for source, target in edges],
        broken=broken,
        authored=dict(resolved),
    )
    return graph, dict(uses)


def _node(entry: Summary) -> GraphNode:
    return GraphNode(
        ref=entry.ref,
        id=entry.id,
        content_type=entry.content_type,
        title=entry.title,
        path=entry.path,
        tags=entry.tags,
    )


def _adjacency(pairs: Iterable[tuple[DocumentRef, DocumentRef]]) -> dict[DocumentRef, list[DocumentRef]]:
    found: dict[DocumentRef, list[DocumentRef]] = defaultdict(list)
    for one, other in pairs:
        found[one].append(other)
    return dict(found)
