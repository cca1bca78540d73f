"""Places for the documents of a map: a force-directed layout, the same for the same graph.

Forces are those of ForceAtlas2 (Jacomy et al. 2014, doi:10.1371/journal.pone.0098679): documents repel one another by
the number of their links, links attract, and a document with many links is pulled less by each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Numbers = NDArray[float64]

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
    """A place for each radius. Edges name two by position; time and memory grow with the square of their number."""
    if len(radii) < 2:
        return Layout([MARGIN] * len(radii), 2 * MARGIN[0], 2 * MARGIN[1])
    import numpy as np

    points = _settled(_fitted(_attracted(len(radii), edges)), np.asarray(radii, dtype=float))
    points -= points.min(axis=0) - np.asarray(MARGIN)
    width, height = points.max(axis=0) + np.asarray(MARGIN)
    return Layout([(round(x), round(y)) for x, y in points.tolist()], round(width), round(height))


def _attracted(count: int, edges: Sequence[tuple[int, int]]) -> "Numbers":
    import numpy as np

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


def _fitted(points: "Numbers") -> "Numbers":
    """Wider than high, few documents far out, and as large as so many names need."""
    import numpy as np

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


def _settled(points: "Numbers", radii: "Numbers") -> "Numbers":
    """Moved apart until none covers another."""
    import numpy as np

    wanted = np.maximum(np.add.outer(radii, radii) + 8, GAP)
    np.fill_diagonal(wanted, 0)
    for _ in range(SETTLING_STEPS):
        distance = _distances(points) + 1e-6
        missing = np.maximum(wanted - distance, 0)
        if not missing.any():
            break
        points = points + _pushed(points, missing / distance) * 0.45
    return points


def _distances(points: "Numbers") -> "Numbers":
    import numpy as np

    x, y = points.T
    distances: Numbers = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    return distances


def _pushed(points: "Numbers", strength: "Numbers") -> "Numbers":
    """For each point the sum of its differences from the others, each times the strength between the two."""
    pushed: Numbers = points * strength.sum(axis=1, keepdims=True) - strength @ points
    return pushed
