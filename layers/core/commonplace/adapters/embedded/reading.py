"""The questions asked of the tables: words, names, filters, and what a hit shows."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from commonplace.content.filters import Filters
from commonplace.search.model import Chunk, Found, LegHit, Record, RecordId
from commonplace.search.names import grade, name_key
from commonplace.search.text import query_terms

LABEL_WEIGHTS = "3.0, 3.0, 1.0, 1.0"
"""Of title, aliases, description and tags. Measured on judged queries: see the README of this folder."""

PASSAGE_WEIGHTS = "2.0, 1.0"
"""Of heading path and text."""

# A record's words count through its labels and through its best passage, like a nested query of OpenSearch.
_LEXICAL = f"""
WITH hits AS MATERIALIZED (
    SELECT rowid AS chunk, bm25(passages, {PASSAGE_WEIGHTS}) AS score FROM passages WHERE passages MATCH :words
), best AS MATERIALIZED (
    SELECT chunks.record AS record, chunks.ordinal AS ordinal, min(hits.score) AS score
    FROM hits JOIN chunks ON chunks.rowid = hits.chunk GROUP BY chunks.record
), labelled AS MATERIALIZED (
    SELECT rowid AS record, bm25(labels, {LABEL_WEIGHTS}) AS score FROM labels WHERE labels MATCH :words
)
SELECT records.id, -coalesce(best.score, 0) - coalesce(labelled.score, 0) AS score, best.ordinal
FROM records LEFT JOIN best ON best.record = records.rowid LEFT JOIN labelled ON labelled.record = records.rowid
WHERE (best.score IS NOT NULL OR labelled.score IS NOT NULL) AND {{conditions}}
ORDER BY score DESC, records.id
"""  # noqa: S608 - constants of this module

_BEST_CHUNK = f"""
SELECT chunks.ordinal FROM passages JOIN chunks ON chunks.rowid = passages.rowid
WHERE passages MATCH ? AND chunks.record = ? ORDER BY bm25(passages, {PASSAGE_WEIGHTS}), chunks.ordinal LIMIT 1
"""  # noqa: S608 - constants of this module


class Conditions:
    """Filters as SQL over `records`, with named parameters."""

    def __init__(self, filters: Filters) -> None:
        self.parameters: dict[str, Any] = {}
        self._parts = ["records.deleted = 0"]
        self.restricting = filters != Filters()
        if filters.content_types:
            self._add("records.content_type IN ({})", filters.content_types)
        for column, value in (("group_name", filters.group), ("release", filters.release), ("status", filters.status)):
            if value is not None:
                self._add(f"records.{column} = {{}}", (value,))
        for tag in filters.tags_all:
            self._add("records.rowid IN (SELECT record FROM record_tags WHERE tag = {})", (tag,))
        if filters.tags_any:
            self._add("records.rowid IN (SELECT record FROM record_tags WHERE tag IN ({}))", filters.tags_any)
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

    def _add(self, template: str, values: Sequence[str]) -> None:
        names = [f"p{len(self.parameters) + position}" for position in range(len(values))]
        self.parameters |= dict(zip(names, values, strict=True))
        self._parts.append(template.format(", ".join(f":{name}" for name in names)))


def match_expression(text: str) -> str:
    """The query's words as an FTS5 expression: any of them, none of them syntax."""
    return " OR ".join(f'"{term}"' for term in query_terms(text))


def lexical(database: sqlite3.Connection, text: str, conditions: Conditions) -> list[LegHit]:
    """Every record with one of the words, best first."""
    words = match_expression(text)
    if not words:
        return []
    rows = database.execute(_LEXICAL.format(conditions=conditions.sql()), {"words": words, **conditions.parameters})
    return [LegHit(RecordId(record), score, chunk) for record, score, chunk in rows]


def named(database: sqlite3.Connection, text: str, conditions: Conditions) -> list[LegHit]:
    """The records that the query names, best grade first."""
    rows = database.execute(
        "SELECT records.id, names.name, names.is_title FROM names JOIN records ON records.rowid = names.record"  # noqa: S608 - values are parameters
        f" WHERE names.key = :key AND {conditions.sql()}",
        {"key": name_key(text), **conditions.parameters},
    )
    grades: dict[RecordId, float] = {}
    for record, name, is_title in rows:
        grades[record] = max(grades.get(record, 0.0), grade(text, name, is_title=bool(is_title)))
    return [LegHit(record, score) for record, score in sorted(grades.items(), key=lambda hit: (-hit[1], hit[0]))]


def allowed(database: sqlite3.Connection, conditions: Conditions) -> set[int] | None:
    """Rows that match the filters; None when there are none to match."""
    if not conditions.restricting:
        return None
    query = f"SELECT rowid FROM records WHERE {conditions.sql()}"  # noqa: S608 - values are parameters
    return {row for (row,) in database.execute(query, conditions.parameters)}


def found(database: sqlite3.Connection, record: RecordId, ordinal: int | None, text: str) -> Found | None:
    """The record as stored, without body, and the wanted chunk: else the best for `text`, else the first."""
    row = database.execute(
        "SELECT rowid, version, fields FROM records WHERE id = ? AND deleted = 0", (record,)
    ).fetchone()
    if row is None:
        return None
    key, version, fields = row
    chunk = _chunk(database, key, ordinal) if ordinal is not None else None
    if chunk is None and (words := match_expression(text)):
        best = database.execute(_BEST_CHUNK, (words, key)).fetchone()
        chunk = _chunk(database, key, best[0]) if best else None
    return Found(_record(record, version, json.loads(fields)), chunk or _chunk(database, key, 0))


def _chunk(database: sqlite3.Connection, row: int, ordinal: int) -> Chunk | None:
    stored = database.execute(
        "SELECT ordinal, heading, text FROM chunks WHERE record = ? AND ordinal = ?", (row, ordinal)
    ).fetchone()
    return Chunk(stored[0], tuple(json.loads(stored[1])), stored[2]) if stored else None


def _record(record: RecordId, version: int, fields: dict[str, Any]) -> Record:
    tags, aliases = tuple(fields.pop("tags")), tuple(fields.pop("aliases"))
    return Record(id=record, version=version, tags=tags, aliases=aliases, body="", chunks=(), **fields)
