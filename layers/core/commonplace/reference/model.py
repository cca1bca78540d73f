"""What is asked of the reference, and what it answers."""

from dataclasses import dataclass
from typing import Literal

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry, EntryType, Method

DEFAULT_LIMIT = 5
MAX_LIMIT = 20
SUGGESTIONS = 3
MAX_QUERY_CHARACTERS = 500

MatchedBy = Literal["name", "alias", "spelling", "arguments", "prefix", "words"]
"""How an entry was found: by its exact name, an alias, the same name spelt otherwise, its name with arguments after it,
what its name begins with, or by words and meaning."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A search. The conditions are exact; None is no condition."""

    query: str
    type: EntryType | None = None
    category: str | None = None
    """Category or subcategory, letter case ignored."""
    module: str | None = None
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that answers."""

    catalogue: Catalogue
    placed: Placed
    matched_by: MatchedBy
    score: float
    """From 0 to 1; 1 for an exact name."""
    instead_of: Entry | None = None
    """The deprecated entry that was asked for, which this one replaces."""

    @property
    def entry(self) -> Entry:
        return self.placed.entry


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The best first. `suggestions` are names that exist (`Entry.called`), for when there is no hit."""

    hits: tuple[Hit, ...]
    suggestions: tuple[str, ...] = ()
    shaped: bool = False
    """Whether the query is shaped like a command or an endpoint: it is answered by its name or not at all."""
    fallback: bool = False
    """Whether only words were compared, because no vector could be had."""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """One command, or what may have been meant."""

    hit: Hit | None
    beginning: tuple[Hit, ...] = ()
    """Commands that begin with what was asked, when there are several: a group, not a command."""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """The endpoints of a path: the one of the method, or all of them."""

    hits: tuple[Hit, ...]
    methods: tuple[Method, ...] = ()
    """Those that the path has, when the one that was asked for is not among them."""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Category:
    """A category or subcategory in use."""

    slug: str
    title: str | None
    entries: int
    commands: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A query that found nothing, as maintainers see it."""

    query: str
    count: int
    first_at: str
    last_at: str
    """ISO 8601."""
    type: EntryType | None = None
    note: str | None = None
    """What the last reporter added."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What was kept of a query that found nothing."""

    query: str
    """Masked and cut."""
    count: int | None
    """How often it has been reported, this time included; None when it was not kept."""
