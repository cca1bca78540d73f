"""What the map shows: documents as shapes at their places, links as lines, a legend, and the same as a list.

Texts are plain here; the template escapes them. This module is imported with the first map, and numpy with it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from commonplace.documents.content.document import DocumentRef, Summary
from commonplace.documents.content.graph import GraphEdge
from commonplace.documents.content.ontology import ONTOLOGY, ROOT_TYPE, Ontology

Numbers = NDArray[np.float64]

GAP = 28
"""Pixels between two centres at least: a link that is touched must be 24 wide and high (WCAG 2.2, 2.5.8)."""
MARGIN = (150, 44)  # Pixels around them, horizontally and vertically, for half a name
STEPS = 200
SETTLING_STEPS = 60
ATTRACTION = 4.0
GRAVITY = 1.2


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each document is, in pixels from the upper left corner of a box of this size."""

    points: Sequence[tuple[int, int]]
    width: int
    height: int


def lay_out(edges: Sequence[tuple[int, int]], radii: Sequence[float]) -> Layout:
    """Return a place for each radius; the same for the same graph. Edges name two by position.

    Forces are those of ForceAtlas2 (Jacomy et al. 2014, doi:10.1371/journal.pone.0098679): documents repel one another
    by the number of their links, links attract, and a document with many links is pulled less by each of them. Time and
    memory grow with the square of the number of documents.
    """
    if len(radii) < 2:
        return Layout([MARGIN] * len(radii), 2 * MARGIN[0], 2 * MARGIN[1])
    points = _settled(_fitted(_attracted(len(radii), edges)), np.asarray(radii, dtype=float))
    points -= points.min(axis=0) - np.asarray(MARGIN)
    width, height = points.max(axis=0) + np.asarray(MARGIN)
    return Layout([(round(x), round(y)) for x, y in points.tolist()], round(width), round(height))


def _attracted(count: int, edges: Sequence[tuple[int, int]]) -> Numbers:
    links = np.zeros((count, count))
    for source, target in edges:
        if source != target:
            links[source, target] = links[target, source] = 1.0
    degree = links.sum(axis=1)
    mass = np.sqrt(degree + 1)
    masses = np.outer(mass, mass)
    pull = links / masses * ATTRACTION
    reach = np.sqrt(count)
    # A sunflower with the most linked in its middle: a start without chance, near where the forces lead.
    turn = np.argsort(np.argsort(-degree, kind="stable"), kind="stable")
    points: Numbers = np.sqrt(turn + 0.5)[:, None] * np.stack(
        [np.cos(turn * 2.399963), np.sin(turn * 2.399963)], axis=1
    )
    for step in range(STEPS):
        strength = masses / (_distances(points) ** 2 + 0.01) - pull
        force = _pushed(points, strength) - GRAVITY / reach * points * mass[:, None]
        length = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        points = points + force / length * np.minimum(length, reach * 0.15 * (1 - step / STEPS) + 0.01)
    return points


def _fitted(points: Numbers) -> Numbers:
    """Wider than high, few documents far out, and as large as so many names need."""
    count = len(points)
    centred = points - points.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    distance = np.sqrt((turned**2).sum(axis=1)) + 1e-9
    rim = np.quantile(distance, 0.9)
    turned *= (np.where(distance > rim, rim + (distance - rim) * 0.35, distance) / distance)[:, None]
    cell = 60 + 300 / np.sqrt(count)
    spread: float = np.sqrt((turned.std(axis=0) + 1e-6).prod())
    fitted: Numbers = turned / spread * cell * np.sqrt(count) / 3.6
    return fitted


def _settled(points: Numbers, radii: Numbers) -> Numbers:
    """Moved apart until none covers another."""
    wanted = np.maximum(np.add.outer(radii, radii) + 8, GAP)
    np.fill_diagonal(wanted, 0)
    for _ in range(SETTLING_STEPS):
        distance = _distances(points) + 1e-6
        missing = np.maximum(wanted - distance, 0)
        if not missing.any():
            break
        points = points + _pushed(points, missing / distance) * 0.45
    return points


def _distances(points: Numbers) -> Numbers:
    x, y = points.T
    distances: Numbers = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    return distances


def _pushed(points: Numbers, strength: Numbers) -> Numbers:
    """For each point the sum of its differences from the others, each times the strength between the two."""
    pushed: Numbers = points * strength.sum(axis=1, keepdims=True) - strength @ points
    return pushed


MAX_DOCUMENTS = 300
MAX_LINKS = 2_500
MAX_LISTED_LINKS = 8
MAX_LABEL = 30
LABEL_LINE = 14
LETTER = 6.2  # Pixels of height and, on average, width of a letter in a label
PROMINENT = 0.05  # What part of all, the most linked, may have names that cover smaller shapes
ZOOM_LEVELS = (0.6, 1.0, 1.6, 2.6)
"""From which magnification on a name has room; the module of the page goes by their number. Names stay as large."""

OUTLINES = {
    "circle": "M-10 0a10 10 0 1 0 20 0a10 10 0 1 0-20 0z",
    "square": "M-9-9H9V9H-9z",
    "diamond": "M0-12.5 12.5 0 0 12.5-12.5 0z",
    "triangle": "M0-13 11.5 8H-11.5z",
    "hexagon": "M-5.5-9.5H5.5L11 0 5.5 9.5H-5.5L-11 0z",
    "cross": "M-4-11H4V-4H11V4H4V11H-4V4H-11V-4H-4z",
    "star": "M0-13 3.2-4.4 12.4-4 5.2 1.7 7.6 10.5 0 5.5-7.6 10.5-5.2 1.7-12.4-4-3.2-4.4z",
    "wedge": "M0 13 11.5-8H-11.5z",
}
"""Path data of each shape around the origin, about as large as a circle whose radius is 10."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How documents of a type look. The colour is that of its family, the shape its own within it."""

    content_type: str
    family: str
    shape: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A document at its place."""

    document: Summary
    kind: Kind
    x: int
    y: int
    scale: float  # Of its outline
    back: int  # How many published documents link to it, those that the map leaves out among them
    label: str
    level: int  # Of `ZOOM_LEVELS`, from 1: where the label has room; past the last it shows on demand alone
    above: bool  # Where the label is; else it is below
    links: Sequence[Summary]  # The most linked of the documents that it links to and the map shows
    more_links: int


@dataclass(frozen=True, slots=True)
class Map:
    """The whole drawing."""

    nodes: Sequence[Node]
    lines: str  # Path data of all links: `M{x} {y}L{x} {y}` for each, from centre to centre
    links: int
    legend: Sequence[Kind]
    width: int
    height: int
    left_out: int  # Documents that would be shown too, were there fewer

    def of_type(self, content_type: str) -> list[Node]:
        """By title, as the list shows them."""
        found = [node for node in self.nodes if node.document.content_type == content_type]
        return sorted(found, key=lambda node: (node.document.title.casefold(), node.document.ref))


def draw(documents: Iterable[Summary], edges: Iterable[GraphEdge], ontology: Ontology = ONTOLOGY) -> Map:
    """Return the map of these documents and the links among them; of many, those that most others link to.

    Equal input in any order gives an equal map. `edges` are those of all that is published.
    """
    given = {document.ref: document for document in documents}
    known = [(edge.source, edge.target) for edge in edges]
    back = Counter(target for _, target in known)
    degree = back + Counter(source for source, _ in known)
    ordered = sorted(given.values(), key=lambda document: (-back[document.ref], -degree[document.ref], document.ref))
    shown = ordered[:MAX_DOCUMENTS]
    place = {document.ref: position for position, document in enumerate(shown)}
    pairs = sorted((place[source], place[target]) for source, target in known if source in place and target in place)
    kinds = kinds_of(shown, ontology)
    radii = [round(min(5 + 1.15 * sqrt(back[document.ref]), 22), 1) for document in shown]
    lines = sorted({(min(pair), max(pair)) for pair in pairs}, key=sum)[:MAX_LINKS]
    layout = lay_out(lines, radii)
    labels = [shortened(document.title) for document in shown]
    names = placed_labels(layout, radii, labels)
    targets: list[list[Summary]] = [[] for _ in shown]
    for source, target in pairs:
        targets[source].append(shown[target])
    nodes = [
        Node(
            document=document,
            kind=kinds[document.content_type],
            x=layout.points[position][0],
            y=layout.points[position][1],
            scale=radii[position] / 10,
            back=back[document.ref],
            label=labels[position],
            level=names[position][0],
            above=names[position][1],
            links=targets[position][:MAX_LISTED_LINKS],
            more_links=max(0, len(targets[position]) - MAX_LISTED_LINKS),
        )
        for position, document in enumerate(shown)
    ]
    return Map(
        nodes=nodes,
        lines="".join("M{} {}L{} {}".format(*layout.points[one], *layout.points[other]) for one, other in lines),
        links=len(pairs),
        legend=sorted(kinds.values(), key=lambda kind: (kind.family, kind.content_type)),
        width=layout.width,
        height=layout.height,
        left_out=len(ordered) - len(shown),
    )


def around(ref: DocumentRef, documents: Iterable[Summary], edges: Iterable[GraphEdge]) -> list[Summary]:
    """Return the document and those that it links to or that link to it."""
    near = {ref}
    for edge in edges:
        if edge.source == ref:
            near.add(edge.target)
        elif edge.target == ref:
            near.add(edge.source)
    return [document for document in documents if document.ref in near]


def kinds_of(documents: Collection[Summary], ontology: Ontology = ONTOLOGY) -> dict[str, Kind]:
    """Return how each of their types looks: the same whichever other types there are."""
    members: dict[str, list[str]] = {}
    for spec in sorted(ontology.types.values(), key=lambda spec: spec.abstract):
        members.setdefault(_family(spec.name, ontology), []).append(spec.name)
    counts = Counter(document.content_type for document in documents)
    found = {}
    for name, count in counts.items():
        family = _family(name, ontology) if name in ontology.types else ROOT_TYPE
        among = members[family].index(name) if name in members.get(family, ()) else 0
        found[name] = Kind(name, family, list(OUTLINES)[among % len(OUTLINES)], count)
    return found


def _family(name: str, ontology: Ontology) -> str:
    """Return the ancestor just below the root."""
    return ([*ontology.lineage(name)[:-1]] or [name])[-1]


def shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= MAX_LABEL else line[: MAX_LABEL - 1].rstrip() + "…"


def placed_labels(layout: Layout, radii: Sequence[float], labels: Sequence[str]) -> list[tuple[int, bool]]:
    """For each name the first of `ZOOM_LEVELS`, from 1, at which it has room, and whether that is above the shape.

    Names of larger shapes come first; one that is shown stays where it is at every higher level.
    """
    count = len(labels)
    found: dict[int, tuple[int, bool]] = {}
    order = sorted(range(count), key=lambda position: (-radii[position], position))
    prominent = frozenset(order[: round(count * PROMINENT)])
    taken = np.empty((2 * count, 4))  # left, top, right, bottom
    for position, ((x, y), radius) in enumerate(zip(layout.points, radii, strict=True)):
        taken[position] = x - radius, y - radius, x + radius, y + radius
    for level, zoom in enumerate(ZOOM_LEVELS, 1):
        end = count
        for position in sorted(order, key=lambda position: position not in found):
            x, y = layout.points[position]
            half, high = len(labels[position]) * LETTER / 2 / zoom, LABEL_LINE / zoom
            known = found.get(position)
            for above in (False, True) if known is None else (known[1],):
                top = y - radii[position] - 1 - high if above else y + radii[position] + 1
                left, right, bottom = x - half, x + half, top + high
                lefts, tops, rights, bottoms = taken[count if position in prominent else 0 : end].T
                if known or not ((left < rights) & (lefts < right) & (top < bottoms) & (tops < bottom)).any():
                    found.setdefault(position, (level, above))
                    taken[end] = left, top, right, bottom
                    end += 1
                    break
    return [found.get(position, (len(ZOOM_LEVELS) + 1, False)) for position in range(count)]
