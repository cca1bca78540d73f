"""The ports of the reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from commonplace.reference.model import Asked, Catalogue


@dataclass(frozen=True, slots=True)
class Edition:
    """Every published catalogue of the deployment at one moment. Immutable."""

    catalogues: tuple[Catalogue, ...]
    version: str
    """Another one whenever anything else is published: what is built of an edition is built once for it."""
    missing: tuple[str, ...] = ()
    """Catalogues of the deployment that no sync has published yet."""


@dataclass(frozen=True, slots=True)
class FixedShelf:
    """A `Shelf` whose catalogues stay as they are."""

    catalogues: tuple[Catalogue, ...]

    def edition(self) -> Edition:
        return Edition(self.catalogues, "1")


class Shelf(Protocol):
    """The port to the published catalogues."""

    def edition(self) -> Edition:
        """The current one, from memory while it is fresh; one held that is stale rather than none.

        Raises Unavailable when there is none to be had at all.
        """
        ...


class Near(NamedTuple):
    """An entry that is near in meaning. A tuple, for each search makes hundreds of them."""

    catalogue: str
    id: str
    score: float
    """Cosine, or what the engine makes of it; greater is nearer."""


class Meaning(Protocol):
    """Compares a query with what entries mean. It hints: the caller checks every condition again."""

    def near(self, asked: Asked, size: int) -> Sequence[Near] | None:
        """Up to `size` entries, the nearest first. None without a model, or when the index is of another one.

        Raises Unavailable when the index does not answer.
        """
        ...
