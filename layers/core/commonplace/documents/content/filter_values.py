"""The values that callers filter by, found among those that documents bear, the same for REST, MCP and the site.

Letter case, gaps and hyphens do not count, and a group answers to the title of its page too.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from commonplace.documents.content import facets
from commonplace.documents.content.document_index import Catalogue
from commonplace.kernel.terms import key
from commonplace.search.filters import Filters

MAX_VALUES = 20
"""Values named in a message."""
MAX_CHARACTERS = 200
"""Of a value to compare with."""
SHOWN_CHARACTERS = 80
NEAREST = 0.6
"""From 0 to 1: how alike two values must be for one to be suggested for the other."""

Spellings = Mapping[str, str]
"""Values that documents bear, by every spelling that is read as one of them."""


def resolved(catalogue: Catalogue, wanted: Filters) -> Filters:
    """The same conditions, each value as documents bear it; what none bears stays as it came."""
    tags_all, tags_any = (
        tuple(dict.fromkeys(found for tag in named if (found := _matched(tag, tags(catalogue)))))
        for named in (wanted.tags_all, wanted.tags_any)
    )
    return replace(
        wanted,
        group=_matched(wanted.group, groups(catalogue)),
        release=_matched(wanted.release, releases(catalogue)),
        status=_matched(wanted.status, statuses(catalogue)),
        tags_all=tags_all,
        tags_any=tags_any,
    )


def unknown(catalogue: Catalogue, wanted: Filters) -> list[str]:
    """A sentence on each value that no document bears, with those that some do."""
    told = []
    named: tuple[tuple[str, str, str | None, Callable[[Catalogue], Spellings]], ...] = (
        ("group", "groups", wanted.group, groups),
        ("release", "releases", wanted.release, releases),
        ("status", "statuses", wanted.status, statuses),
        *(("tag", "tags", tag, tags) for tag in (*wanted.tags_all, *wanted.tags_any)),
    )
    for name, plural, value, spellings in named:
        known = spellings(catalogue)
        values = list(dict.fromkeys(known.values()))
        if value is not None and value not in values:
            near = nearest(value, known)
            meant = f"; did you mean `{near}`?" if near else "."
            told.append(f"No {name} is called `{shown(value)}`{meant} {_those(plural, values)}")
    return list(dict.fromkeys(told))


def nearest(value: str, spellings: Spellings) -> str | None:
    """The value that is spelt most like one that nobody bears."""
    found = get_close_matches(key(value), spellings, n=1, cutoff=NEAREST)
    return spellings[found[0]] if found else None


def groups(catalogue: Catalogue) -> Spellings:
    return catalogue.once(_groups)


def _groups(catalogue: Catalogue) -> Spellings:
    found = [facet for facet in facets.groups(catalogue) if facet.count]
    titles = [(facet.page.title, facet.name) for facet in found if facet.page]
    return _spellings([*titles, *((facet.name, facet.name) for facet in found)])


def releases(catalogue: Catalogue) -> Spellings:
    return catalogue.once(_releases)


def _releases(catalogue: Catalogue) -> Spellings:
    return _spellings((facet.name, facet.name) for facet in facets.releases(catalogue) if facet.count)


def statuses(catalogue: Catalogue) -> Spellings:
    return catalogue.once(_statuses)


def _statuses(catalogue: Catalogue) -> Spellings:
    return _spellings((status, status) for status in sorted({one.status for one in catalogue.entries if one.status}))


def tags(catalogue: Catalogue) -> Spellings:
    """The most used first."""
    return catalogue.once(_tags)


def _tags(catalogue: Catalogue) -> Spellings:
    return _spellings((facet.name, facet.name) for facet in reversed(facets.tags(catalogue)))


def _spellings(named: Iterable[tuple[str, str]]) -> Spellings:
    """A value as it is written answers before one that is only like it."""
    pairs = list(named)
    return {key(name): value for name, value in pairs} | {value: value for _, value in pairs}


def _matched(value: str | None, spellings: Spellings) -> str | None:
    """The value that documents bear; the text itself when none does, None for no text at all."""
    if value is None or not value.strip():
        return None
    return spellings.get(value) or spellings.get(key(value)) or sound(value.strip()[:MAX_CHARACTERS])


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
