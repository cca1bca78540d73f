"""The graph of published documents: who links to whom, and which links lead nowhere."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from pydantic import Field

from commonplace.documents.content.document import DocumentRef, Summary
from commonplace.documents.content.resolving import Broken, LinkResolver, ToDocument, ToFile, names_of
from commonplace.kernel.stored import Stored
from commonplace.repository.link import Link, LinkKind


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
    """A link as it stands in its file, kept so that later publications resolve it without reading the file again."""

    target: str
    fragment: str | None = None
    kind: LinkKind
    text: str
    line: int

    @classmethod
    def of(cls, link: Link) -> "AuthoredLink":
        return cls(target=link.target, fragment=link.fragment, kind=link.kind, text=link.text, line=link.line)

    def link(self) -> Link:
        return Link(self.target, self.fragment, self.kind, self.text, self.line)


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
    """Path -> links as authored. For the next publication; never served."""

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
    names = names_of((entry.path, entry.title, getattr(entry, "aliases", ())) for entry in published)
    resolver = LinkResolver(by_path, files, names)
    edges: dict[tuple[DocumentRef, DocumentRef], None] = {}
    broken: list[BrokenLink] = []
    uses: dict[str, set[str]] = defaultdict(set)
    for entry in published:
        for link in authored.get(entry.path, ()):
            match resolver.resolve(entry.path, link):
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
        authored={path: [AuthoredLink.of(link) for link in authored[path]] for path in by_path if authored.get(path)},
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
