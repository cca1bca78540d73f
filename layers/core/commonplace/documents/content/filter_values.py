"""The values that callers filter by, found among those that documents bear, the same for REST, MCP and the site.

Letter case, gaps and hyphens do not count, and a group answers to the title of its page too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from typing import Any

from commonplace.documents.content import facets
from commonplace.documents.content.document_index import Catalogue, per_catalogue
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.kernel.errors import InvalidInput
from commonplace.kernel.terms import key
from commonplace.search.filters import Filters

MAX_VALUES = 20
"""Values of one filter, and values named in a message."""
MAX_CHARACTERS = 200
"""Of a value to compare with."""
SHOWN_CHARACTERS = 80
NEAREST = 0.6
"""From 0 to 1: how alike two values must be for one to be suggested for the other."""

Spellings = Mapping[str, str]
"""Values that documents bear, by every spelling that is read as one of them."""


def resolved(catalogue: Catalogue, wanted: Filters) -> Filters:
    """The same conditions, each value as documents bear it; what none bears stays as it came.

    A text with commas is several values, unless documents bear it as it is. Raises InvalidInput for too many values.
    """
    told = ((field, getattr(wanted, field), spellings) for field, _, _, spellings in _FIELDS)
    changed: dict[str, Any] = {field: _values(named, spellings(catalogue)) for field, named, spellings in told if named}
    types = (ONTOLOGY.expand(name) for name in wanted.content_types)
    return replace(wanted, content_types=tuple(dict.fromkeys(chain.from_iterable(types))), **changed)


def unknown(catalogue: Catalogue, wanted: Filters) -> list[str]:
    """A sentence on each value that no document bears, with those that some do."""
    told = []
    for field, name, plural, spellings in _FIELDS:
        named: tuple[str, ...] = getattr(wanted, field)
        if not named:
            continue
        known = spellings(catalogue)
        values = list(dict.fromkeys(known.values()))
        for value in dict.fromkeys(named):
            if value not in known:
                near = nearest(value, known)
                meant = f"; did you mean `{near}`?" if near else "."
                told.append(f"No {name} is called `{shown(value)}`{meant} {_those(plural, values)}")
    return list(dict.fromkeys(told))


def nearest(value: str, spellings: Spellings) -> str | None:
    """The value that is spelt most like one that nobody bears."""
    found = get_close_matches(key(value), spellings, n=1, cutoff=NEAREST)
    return spellings[found[0]] if found else None


@per_catalogue
def groups(catalogue: Catalogue) -> Spellings:
    found = [facet for facet in facets.groups(catalogue) if facet.count]
    titles = [(facet.page.title, facet.name) for facet in found if facet.page]
    return _spellings([*((facet.name, facet.name) for facet in found), *titles])


@per_catalogue
def releases(catalogue: Catalogue) -> Spellings:
    return _spellings((facet.name, facet.name) for facet in facets.releases(catalogue) if facet.count)


@per_catalogue
def statuses(catalogue: Catalogue) -> Spellings:
    return _by_use(entry.status for entry in catalogue.entries)


@per_catalogue
def authors(catalogue: Catalogue) -> Spellings:
    return _by_use(name for entry in catalogue.entries for name in entry.author)


@per_catalogue
def aliases(catalogue: Catalogue) -> Spellings:
    return _by_use(name for entry in catalogue.entries for name in entry.aliases)


@per_catalogue
def tags(catalogue: Catalogue) -> Spellings:
    """The most used first, then those that others lie in."""
    return _spellings((facet.name, facet.name) for facet in facets.tag_branches(catalogue))


def _spellings(named: Iterable[tuple[str, str]]) -> Spellings:
    """A value as it is written answers before one that is only like it, and the first of those that are alike."""
    pairs = list(named)
    found = {value: value for _, value in pairs}
    for name, value in pairs:
        found.setdefault(key(name), value)
    return found


def _by_use(values: Iterable[str | None]) -> Spellings:
    """Of several values that are spelt alike, the one that most documents bear answers."""
    counted = Counter(value for value in values if value)
    return _spellings((value, value) for value, _ in counted.most_common())


def _values(named: Iterable[str], spellings: Spellings) -> tuple[str, ...]:
    """Values that documents bear; the texts themselves where none does."""
    found: dict[str, None] = {}
    for text in named:
        parts = [text] if _matched(text, spellings) else text.split(",")
        for part in filter(None, map(str.strip, parts)):
            found[_matched(part, spellings) or sound(part[:MAX_CHARACTERS])] = None
    if len(found) > MAX_VALUES:
        raise InvalidInput(f"A filter takes at most {MAX_VALUES} values.", hint="Ask several times, for some each.")
    return tuple(found)


def _matched(value: str, spellings: Spellings) -> str | None:
    return spellings.get(value) or spellings.get(key(value))


def _those(names: str, values: list[str]) -> str:
    if not values:
        return f"No document has any of the {names}."
    rest = len(values) - MAX_VALUES
    more = f" and {rest} more" if rest > 0 else ""
    return f"There are: {', '.join(values[:MAX_VALUES])}{more}."


def shown(text: str) -> str:
    """A caller's text, cut and printable, fit for a message."""
    return "".join(char if char.isprintable() else "?" for char in text[:SHOWN_CHARACTERS])


def sound(text: str) -> str:
    """The text without lone surrogates, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode()


_FIELDS: tuple[tuple[str, str, str, Callable[[Catalogue], Spellings]], ...] = (
    ("groups", "group", "groups", groups),
    ("releases", "release", "releases", releases),
    ("statuses", "status", "statuses", statuses),
    ("authors", "author", "authors", authors),
    ("aliases", "alias", "aliases", aliases),
    ("tags_all", "tag", "tags", tags),
    ("tags_any", "tag", "tags", tags),
)
"""Of `Filters`: a field, what one of its values is called and several are, and where they come from."""
