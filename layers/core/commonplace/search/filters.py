"""Filters of lists and searches, the same for the store and for the index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filters:
    """Exact conditions; empty means no condition. Several content types, and `tags_any`, are alternatives.

    Parent types are expanded before they come here.
    """

    content_types: tuple[str, ...] = ()
    group: str | None = None
    release: str | None = None
    status: str | None = None
    author: str | None = None
    alias: str | None = None
    tags_all: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    path_prefix: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    organisation: str | None = None
    """Whose records: of what an organisation has for itself, such as memory. None is no condition: a search for anybody
    but an operator always names one where records have one."""
    roles_any: tuple[str, ...] = ()
    """Records for one of these roles."""
    min_confidence: float | None = None
    """Records of at least this confidence; one without any confidence does not pass."""
