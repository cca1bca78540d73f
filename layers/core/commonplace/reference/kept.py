"""The entries of every catalogue, each with where it comes from, and which of them stand for others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry
from commonplace.reference.results import Asked
from commonplace.reference.spelling import spelling

EVERY = "all"
"""As a category or module: no condition."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """An entry in its catalogue; one object for each, compared by identity."""

    catalogue: Catalogue
    placed: Placed

    @property
    def entry(self) -> Entry:
        return self.placed.entry


class Shelved:
    """Every entry, in the order of the catalogues and of their ids."""

    def __init__(self, catalogues: Sequence[Catalogue]) -> None:
        self.all = tuple(Kept(catalogue, placed) for catalogue in catalogues for placed in catalogue.entries)
        self._by_id = {(one.catalogue.name, one.entry.id): one for one in self.all}

    def __iter__(self) -> Iterator[Kept]:
        return iter(self.all)

    def current(self, kept: Kept) -> Kept:
        """What is to be used today: the end of the chain of replacements, the entry itself if it has none.

        A chain that leads nowhere or round in a circle ends at its last entry that exists.
        """
        seen: set[str] = set()
        while kept.entry.deprecated and kept.entry.replaced_by and kept.entry.id not in seen:
            seen.add(kept.entry.id)
            successor = self._by_id.get((kept.catalogue.name, kept.entry.replaced_by))
            if successor is None:
                break
            kept = successor
        return kept


def matching(asked: Asked) -> Callable[[Entry], bool]:
    """Whether an entry passes the conditions of a search."""
    category, module = _slug(asked.category), _slug(asked.module)

    def passes(entry: Entry) -> bool:
        return (
            (asked.type is None or entry.type == asked.type)
            and (category is None or category in (_slug(entry.category), _slug(entry.subcategory)))
            and (module is None or module == _slug(entry.module))
        )

    return passes


@lru_cache(maxsize=1000)
def _slug(text: str | None) -> str | None:
    slug = spelling(text or "")
    return None if slug in ("", EVERY) else slug
