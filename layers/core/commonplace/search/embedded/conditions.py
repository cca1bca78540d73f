"""Filters as SQL."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from commonplace.search.filters import Filters


class Conditions:
    """Filters as SQL over `records`, with named parameters."""

    def __init__(self, filters: Filters) -> None:
        self.parameters: dict[str, Any] = {}
        self._parts = ["records.deleted = 0"]
        self.restricting = filters != Filters()
        if filters.content_types:
            self._add("records.content_type IN ({})", filters.content_types)
        exact = (("group_name", filters.group), ("release", filters.release), ("status", filters.status))
        for column, value in (*exact, ("organisation", filters.organisation)):
            if value is not None:
                self._add(f"records.{column} = {{}}", (value,))
        for tag in filters.tags_all:
            self._add("records.rowid IN (SELECT record FROM record_tags WHERE tag = {})", (tag,))
        if filters.tags_any:
            self._add("records.rowid IN (SELECT record FROM record_tags WHERE tag IN ({}))", filters.tags_any)
        if filters.roles_any:
            self._add("records.rowid IN (SELECT record FROM record_roles WHERE role IN ({}))", filters.roles_any)
        if filters.min_confidence is not None:
            self._add("records.confidence >= {}", (filters.min_confidence,))
        self._add_dates(filters)
        if prefix := (filters.path_prefix or "").strip("/"):
            self._add("substr(records.path || '/', 1, length({0})) = {0}", (prefix + "/",))

    def sql(self) -> str:
        return " AND ".join(self._parts)

    def _add_dates(self, filters: Filters) -> None:
        if filters.date_from:
            self._add("records.date >= {}", (filters.date_from,))
        if filters.date_to:
            # A day, month or year given as the end is meant whole.
            self._add("substr(records.date, 1, length({0})) <= {0}", (filters.date_to,))

    def _add(self, template: str, values: Sequence[str | float]) -> None:
        names = [f"p{len(self.parameters) + position}" for position in range(len(values))]
        self.parameters |= dict(zip(names, values, strict=True))
        self._parts.append(template.format(", ".join(f":{name}" for name in names)))


def allowed(database: sqlite3.Connection, conditions: Conditions) -> set[int] | None:
    """Rows that match the filters; None when there is nothing to match."""
    if not conditions.restricting:
        return None
    query = f"SELECT rowid FROM records WHERE {conditions.sql()}"  # noqa: S608 - values are parameters
    return {row for (row,) in database.execute(query, conditions.parameters)}


def admitted(database: sqlite3.Connection, record: str, conditions: Conditions) -> bool:
    """Whether this one record matches the filters."""
    query = f"SELECT 1 FROM records WHERE id = :id AND {conditions.sql()}"  # noqa: S608 - values are parameters
    return database.execute(query, {"id": record, **conditions.parameters}).fetchone() is not None
