"""SQL queries of the one-file index: filters, names, what is shown of a hit, and spelling suggestions.

Only live records have words in the index: removing a record removes its words.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonplace.search.analysis import terms
from commonplace.search.embedded.tables import MOST_CHUNKS
from commonplace.search.filters import Filters
from commonplace.search.model import Chunk, Found, LegHit, Record, RecordId
from commonplace.search.names import grade, query_keys
from commonplace.search.query import Query
from commonplace.search.spelling import edits_allowed, suggest

if TYPE_CHECKING:
    from commonplace.search.embedded.snapshot import Snapshot


class Conditions:
    """Filters as SQL over `records`, with named parameters."""

    def __init__(self, filters: Filters) -> None:
        self.parameters: dict[str, Any] = {}
        self._parts = ["records.deleted = 0"]
        self.filters = filters
        any_of = (
            ("records.content_type IN ({})", filters.content_types),
            ("records.group_name IN ({})", filters.groups),
            ("records.release IN ({})", filters.releases),
            ("records.status IN ({})", filters.statuses),
            ("records.rowid IN (SELECT record FROM record_authors WHERE author IN ({}))", filters.authors),
            ("records.rowid IN (SELECT record FROM names WHERE kind = 'a' AND name IN ({}))", filters.aliases),
            ("records.rowid IN (SELECT record FROM record_tags WHERE tag IN ({}))", filters.tags_any),
            ("records.rowid IN (SELECT record FROM record_roles WHERE role IN ({}))", filters.roles_any),
        )
        for template, values in any_of:
            if values:
                self._add(template, values)
        if filters.organisation is not None:
            public = " OR records.public = 1" if filters.or_public else ""
            self._add(f"(records.organisation = {{}}{public})", (filters.organisation,))
        elif filters.or_public:
            self._parts.append("records.public = 1")
        for tag in filters.tags_all:
            self._add("records.rowid IN (SELECT record FROM record_tags WHERE tag = {})", (tag,))
        if filters.min_confidence is not None:
            self._add("records.confidence >= {}", (filters.min_confidence,))
        if filters.valid_at is not None:
            self._add("(records.valid_from IS NULL OR records.valid_from <= {})", (filters.valid_at,))
            self._add("(records.valid_until IS NULL OR records.valid_until > {})", (filters.valid_at,))
        ranges = (
            ("date", filters.date_from, filters.date_to),
            ("created_at", filters.created_from, filters.created_to),
        )
        for column, begin, end in ranges:
            if begin:
                self._add(f"records.{column} >= {{}}", (begin,))
            if end:
                # A day, month or year given as the end is meant whole.
                self._add(f"substr(records.{column}, 1, length({{0}})) <= {{0}}", (end,))
        if prefix := (filters.path_prefix or "").strip("/"):
            self._add("substr(records.path || '/', 1, length({0})) = {0}", (prefix + "/",))

    def sql(self) -> str:
        return " AND ".join(self._parts)

    def _add(self, template: str, values: Sequence[str | float]) -> None:
        names = [f"p{len(self.parameters) + position}" for position in range(len(values))]
        self.parameters |= dict(zip(names, values, strict=True))
        self._parts.append(template.format(", ".join(f":{name}" for name in names)))


def allowed(database: sqlite3.Connection, conditions: Conditions) -> Iterator[int]:
    """Rows of the records that match the filters."""
    query = f"SELECT rowid FROM records WHERE {conditions.sql()}"  # noqa: S608 - values are parameters
    return (row for (row,) in database.execute(query, conditions.parameters))


def outside(database: sqlite3.Connection, moment: str) -> Iterator[int]:
    """Rows of the records that do not hold yet, or any more."""
    query = "SELECT rowid FROM records WHERE valid_from > :at UNION SELECT rowid FROM records WHERE valid_until <= :at"
    return (row for (row,) in database.execute(query, {"at": moment}))


def named(database: sqlite3.Connection, query: Query, conditions: Conditions) -> list[LegHit]:
    """The records that the query names, in no order."""
    keys = {f"k{place}": key for place, key in enumerate(query_keys(query))}
    rows = database.execute(
        "SELECT records.id, records.fingerprint, names.name, names.kind"  # noqa: S608 - values are parameters
        " FROM names JOIN records ON records.rowid = names.record"
        f" WHERE names.key IN ({', '.join(f':{name}' for name in keys)}) AND {conditions.sql()}",
        keys | conditions.parameters,
    )
    found: dict[tuple[str, str | None], list[tuple[str, str]]] = {}
    for record, mark, name, kind in rows:
        found.setdefault((record, mark), []).append((kind, name))
    return [LegHit(RecordId(record), grade(query, names), None, mark) for (record, mark), names in found.items()]


def found(database: sqlite3.Connection, wanted: Mapping[RecordId, int | None]) -> dict[RecordId, Found]:
    """The live records without their bodies, each with the chunk in that row."""
    records = database.execute(
        "SELECT records.id, version, fields FROM json_each(?) JOIN records ON records.id = value WHERE deleted = 0",
        (json.dumps(list(wanted)),),
    ).fetchall()
    chunks = {
        row: Chunk(row & (MOST_CHUNKS - 1), tuple(json.loads(heading)), text)
        for row, heading, text in database.execute(
            "SELECT chunks.rowid, heading, text FROM json_each(?) JOIN chunks ON chunks.rowid = value",
            (json.dumps(list(wanted.values())),),
        )
    }
    shown: dict[RecordId, Found] = {}
    for record, version, fields in records:
        values: dict[str, Any] = json.loads(fields)
        values |= {name: tuple(values[name]) for name in ("tags", "aliases", "roles", "authors")}
        whole = Record(id=record, version=version, body="", chunks=(), **values)
        shown[RecordId(record)] = Found(whole, chunks.get(wanted[record] or 0))
    return shown


def tokens(database: sqlite3.Connection, wanted: Mapping[RecordId, Sequence[int]]) -> dict[RecordId, tuple[bytes, ...]]:
    """The token ids of the chunks in these rows; without the records of which one has none."""
    rows = json.dumps([row for rows in wanted.values() for row in rows])
    query = "SELECT chunks.rowid, tokens FROM json_each(?) JOIN chunks ON chunks.rowid = value"
    kept = dict(database.execute(query, (rows,)))
    found = {record: tuple(kept[row] for row in rows) for record, rows in wanted.items()}
    return {record: parts for record, parts in found.items() if parts and None not in parts}


class IndexedVocabulary:
    """The words of one state of the index, as `search.spelling.Vocabulary`; `conditions` say what can be found."""

    def __init__(self, database: sqlite3.Connection, snapshot: Snapshot, conditions: Conditions) -> None:
        self._database = database
        self._snapshot = snapshot
        self._conditions = conditions

    def known(self, word: str) -> bool:
        return any(self._snapshot.knows(self._database, term) for term in terms(word))

    def near(self, word: str, *, anywhere: bool = False) -> Iterator[tuple[str, int]]:
        edits = edits_allowed(word)
        for letter in ("",) if anywhere else dict.fromkeys(word[:2]):
            for found in self._snapshot.words(self._database, letter):
                if abs(len(found[0]) - len(word)) <= edits:
                    yield found

    def findable(self, word: str) -> bool:
        query = (
            "SELECT 1 FROM spellings JOIN records ON records.rowid = spellings.rowid"  # noqa: S608 - values are parameters
            f" WHERE spellings MATCH :word AND {self._conditions.sql()} LIMIT 1"
        )
        parameters = {"word": f'"{word}"', **self._conditions.parameters}
        return self._database.execute(query, parameters).fetchone() is not None


def suggestions(
    database: sqlite3.Connection, snapshot: Snapshot, query: Query, conditions: Conditions
) -> tuple[str, ...]:
    """The query with its misspelt words corrected, best first."""
    return suggest(query, IndexedVocabulary(database, snapshot, conditions))
