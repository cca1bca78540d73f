"""The entries of every catalogue with their origin, which of them replace others, and categories and modules in use."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from commonplace.reference.model import (
    EVERYWHERE,
    Asked,
    Catalogue,
    Category,
    Entry,
    EntryType,
    MatchedBy,
    Placed,
    UnknownOption,
    Within,
)
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
    unknown: Mapping[Kept, tuple[UnknownOption, ...]] = field(default_factory=dict)
    """Options that a line has and they have not."""
    unlisted: Mapping[Kept, tuple[UnknownOption, ...]] = field(default_factory=dict)
    """Words and options that they do not list, of lists that need not be all."""


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
        """Return what is to be used today: the end of the chain of replacements, the entry itself if it has none.

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
    """Conditions on entries; None is no condition."""

    type: EntryType | None = None
    category: str | None = None
    """A category or subcategory, spelt as `spelling` does; so is the module."""
    module: str | None = None
    within: Within = EVERYWHERE

    @classmethod
    def of(cls, asked: Asked) -> "Conditions":
        return cls(asked.type, _slug(asked.category), _slug(asked.module), asked.within)

    def let(self, kept: Kept) -> bool:
        entry = kept.entry
        return (
            self.within.admits(kept.catalogue)
            and (self.type is None or entry.type == self.type)
            and (self.category is None or self.category in (_slug(entry.category), _slug(entry.subcategory)))
            and (self.module is None or self.module == _slug(entry.module))
        )


@lru_cache(maxsize=1000)
def _slug(text: str | None) -> str | None:
    slug = spelling(text or "")
    return None if slug in ("", EVERY) else slug


def categories_of(entries: Iterable[Kept]) -> tuple[Category, ...]:
    """Categories and subcategories, in order of their slugs; an entry counts once in each that it has."""
    used, commands, titles = Counter[str](), Counter[str](), dict[str, str]()
    for kept in entries:
        for slug in filter(None, {kept.entry.category, kept.entry.subcategory}):
            used[slug] += 1
            commands[slug] += kept.entry.type == "command"
            if title := kept.catalogue.categories.get(slug):
                titles.setdefault(slug, title)
    return tuple(Category(slug, titles.get(slug), used[slug], commands[slug]) for slug in sorted(used))


def modules_of(entries: Iterable[Kept]) -> tuple[str, ...]:
    """Those with most entries first."""
    counted = Counter(kept.entry.module for kept in entries if kept.entry.module)
    return tuple(slug for slug, _ in sorted(counted.items(), key=lambda one: (-one[1], one[0])))
