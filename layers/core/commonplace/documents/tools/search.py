"""Conditions of a search as models give them: in their own spelling, made exact here."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import lru_cache

from pydantic import Field

from commonplace.documents.content import facets
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.terms import key
from commonplace.documents.findings import MAX_HITS
from commonplace.documents.tools.names import leaf_types, shown, sound
from commonplace.kernel.errors import InvalidInput
from commonplace.search.filters import Filters
from commonplace.web.mcp.declaration import Arguments

MAX_VALUES = 20
"""Values named in a message, and tags that are asked for at once."""

MAX_CHARACTERS = 200
"""Of a value to compare with."""

_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ].*)?)?)?")


class Narrowing(Arguments):
    content_type: str | None = Field(
        None, description="pattern, tag, article ...; resource, story, reference and data include their kinds"
    )
    group: str | None = Field(None, description="Group or cell, as in list_groups")
    release: str | None = None
    tags: list[str] = Field([], description="Documents with all of these")
    date_from: str | None = Field(None, description="YYYY-MM-DD")
    date_to: str | None = None
    limit: int = Field(5, ge=1, le=MAX_HITS)


def filters(catalogue: Catalogue, asked: Narrowing) -> Filters:
    """The exact conditions. Raises InvalidInput for a type or a day that cannot be."""
    tags = [tag for tag in asked.tags if tag.strip()][:MAX_VALUES]
    return Filters(
        content_types=_types(asked.content_type),
        group=_exact(asked.group, groups(catalogue)),
        release=_exact(asked.release, releases(catalogue)),
        tags_all=tuple(known for tag in tags if (known := _exact(tag, _tags(catalogue)))),
        date_from=_day("dateFrom", asked.date_from, last=False),
        date_to=_day("dateTo", asked.date_to, last=True),
    )


def unknown(catalogue: Catalogue, wanted: Filters) -> list[str]:
    """Sentences on conditions that no document meets, naming those that some do."""
    told = []
    named: tuple[tuple[str, str | None, Callable[[Catalogue], Mapping[str, str]]], ...] = (
        ("group", wanted.group, groups),
        ("release", wanted.release, releases),
        *(("tag", tag, _tags) for tag in wanted.tags_all),
    )
    for name, value, spellings in named:
        values = list(dict.fromkeys(spellings(catalogue).values()))
        if value is not None and value not in values:
            told.append(f"No {name} is called `{shown(value)}`. {_those(f'{name}s', values)}")
    return told


@lru_cache(maxsize=2)
def groups(catalogue: Catalogue) -> Mapping[str, str]:
    """Values of `group`, by every spelling of the value and of the title of its page."""
    found = [facet for facet in facets.groups(catalogue) if facet.count]
    titles = [(facet.page.title, facet.name) for facet in found if facet.page]
    return _spellings([*titles, *((facet.name, facet.name) for facet in found)])


@lru_cache(maxsize=2)
def releases(catalogue: Catalogue) -> Mapping[str, str]:
    """Values of `release`, by every spelling."""
    return _spellings((facet.name, facet.name) for facet in facets.releases(catalogue) if facet.count)


@lru_cache(maxsize=2)
def _tags(catalogue: Catalogue) -> Mapping[str, str]:
    """By spelling, the most used first."""
    return _spellings((facet.name, facet.name) for facet in reversed(facets.tags(catalogue)))


def _spellings(named: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """A value as it is written answers before one that is only like it."""
    pairs = list(named)
    return {key(name): value for name, value in pairs} | {value: value for _, value in pairs}


def _exact(value: str | None, spellings: Mapping[str, str]) -> str | None:
    """The value that documents bear; the text itself when none does."""
    if value is None or not value.strip():
        return None
    return spellings.get(value) or spellings.get(key(value)) or sound(value.strip()[:MAX_CHARACTERS])


def _types(text: str | None) -> tuple[str, ...]:
    named = [name for name in (text or "").split(",") if name.strip()]
    return tuple(dict.fromkeys(leaf for name in named for leaf in leaf_types(name)))


def _day(field: str, text: str | None, *, last: bool) -> str | None:
    """A whole day; of a month or a year, the first or the last one."""
    if text is None or not text.strip():
        return None
    found = _DAY.fullmatch(text.strip())
    if found is None:
        raise _no_day(field)
    year, month, day = (int(part) if part else None for part in found.groups())
    month = month or (12 if last else 1)
    try:
        return date(year or 0, month, day or (monthrange(year or 0, month)[1] if last else 1)).isoformat()
    except ValueError:
        raise _no_day(field) from None


def _no_day(field: str) -> InvalidInput:
    return InvalidInput(f"{field} is not a day.", hint="Write it as YYYY-MM-DD, for example 2025-03-21.")


def _those(names: str, values: list[str]) -> str:
    if not values:
        return f"No document has any of the {names}."
    rest = len(values) - MAX_VALUES
    more = f" and {rest} more" if rest > 0 else ""
    return f"There are: {', '.join(values[:MAX_VALUES])}{more}."
