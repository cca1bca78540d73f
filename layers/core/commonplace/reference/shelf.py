"""The entries of every catalogue, each with where it comes from, and which of them stand for others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry, EntryType
from commonplace.reference.model import Asked, MatchedBy
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


@dataclass(frozen=True, slots=True)
class Match:
    """Entries that are named in one way; several, if what names them is not one's own."""

    found: Sequence[Kept]
    matched_by: MatchedBy


class Shelved:
    """Every entry, in the order of the catalogues and of their ids."""

    def __init__(self, catalogues: Sequence[Catalogue]) -> None:
        self.catalogues = tuple(catalogues)
        self.all = tuple(Kept(catalogue, placed) for catalogue in catalogues for placed in catalogue.entries)
        self._by_id = {(one.catalogue.name, one.entry.id): one for one in self.all}

    def __iter__(self) -> Iterator[Kept]:
        return iter(self.all)

    def by_id(self, catalogue: str, id: str) -> Kept | None:
        """None when there is none."""
        return self._by_id.get((catalogue, id))

    def current(self, kept: Kept) -> Kept:
        """What is to be used today: the end of the chain of replacements, the entry itself if it has none.

        A chain that leads nowhere or round in a circle ends at its last entry that exists.
        """
        seen: set[str] = set()
        while kept.entry.deprecated and kept.entry.replaced_by and kept.entry.id not in seen:
            seen.add(kept.entry.id)
            successor = self.by_id(kept.catalogue.name, kept.entry.replaced_by)
            if successor is None:
                break
            kept = successor
        return kept


@dataclass(frozen=True, slots=True)
class Conditions:
    """What an entry has to be; None is no condition."""

    type: EntryType | None = None
    category: str | None = None
    """A category or subcategory, spelt as `spelling` does; so is the module."""
    module: str | None = None

    @classmethod
    def of(cls, asked: Asked) -> "Conditions":
        return cls(asked.type, _slug(asked.category), _slug(asked.module))

    def let(self, entry: Entry) -> bool:
        return (
            (self.type is None or entry.type == self.type)
            and (self.category is None or self.category in (_slug(entry.category), _slug(entry.subcategory)))
            and (self.module is None or self.module == _slug(entry.module))
        )


@lru_cache(maxsize=1000)
def _slug(text: str | None) -> str | None:
    slug = spelling(text or "")
    return None if slug in ("", EVERY) else slug
