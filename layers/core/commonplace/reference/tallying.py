"""Which categories and modules are in use."""

from collections import Counter
from collections.abc import Iterable

from commonplace.reference.model import Category
from commonplace.reference.shelf import Kept


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
