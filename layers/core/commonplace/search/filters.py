"""Filters of lists and searches, the same for the store and for the index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filters:
    """Exact conditions; empty means no condition. Several values are alternatives, but for `tags_all`.

    Parent types are expanded before they come here.
    """

    content_types: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other names of documents, as their authors wrote them."""
    tags_all: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    path_prefix: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    created_from: str | None = None
    created_to: str | None = None
    """ISO 8601 in UTC, compared as text; a day, month or year that is the end is meant whole."""
    organisation: str | None = None
    """Whose records: of what an organisation has for itself, such as memory. None is no condition: a search for anybody
    but an operator always names one where records have one."""
    roles_any: tuple[str, ...] = ()
    """Records for one of these roles."""
    min_confidence: float | None = None
    """Records of at least this confidence; one without any confidence does not pass."""
    or_public: bool = False
    """With `organisation`: its records, and those of any other that are public; without, those that are public."""
    valid_at: str | None = None
    """ISO 8601 in UTC. Records with `valid_from` <= `valid_at` < `valid_until`; a bound they lack is none."""
