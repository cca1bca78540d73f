"""SQL queries of the one-file index: filters, words, names, hits with matched words, and spelling suggestions.

Only live records have words in the index: removing a record removes its words.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from commonplace.search.analysis import terms
from commonplace.search.embedded.tables import CHUNK_BITS, MOST_CHUNKS, chunk_row, chunk_rows
from commonplace.search.filters import Filters
from commonplace.search.model import Chunk, Found, LegHit, Position, Record, RecordId
from commonplace.search.query import Query
from commonplace.search.spelling import edits_allowed, suggest
from commonplace.search.text import grade, name_key
from commonplace.search.word_distance import distance

LABEL_WEIGHTS = "3.0, 3.0, 1.0, 1.0, 1.0, 1.0"
"""Of title, aliases, description, tags, authors and content type. Measured on judged queries."""

PASSAGE_WEIGHTS = "2.0, 1.0"
"""Of heading path and text."""

# A record's words count through its labels and through its best passage, like a nested query of OpenSearch.
_RANKED = f"""
WITH hits AS MATERIALIZED (
    SELECT rowid AS chunk, bm25(passages, {PASSAGE_WEIGHTS}) AS score FROM passages WHERE passages MATCH :words
), best AS MATERIALIZED (
    SELECT chunk >> {CHUNK_BITS} AS record, chunk & {MOST_CHUNKS - 1} AS ordinal, min(score) AS score
    FROM hits GROUP BY 1
), labelled AS MATERIALIZED (
    SELECT rowid AS record, bm25(labels, {LABEL_WEIGHTS}) AS score FROM labels WHERE labels MATCH :words
), ranked AS MATERIALIZED (
    SELECT records.id AS id, -coalesce(best.score, 0) - coalesce(labelled.score, 0) AS score, best.ordinal AS ordinal,
        records.fingerprint AS fingerprint
    FROM records LEFT JOIN best ON best.record = records.rowid LEFT JOIN labelled ON labelled.record = records.rowid
    WHERE (best.score IS NOT NULL OR labelled.score IS NOT NULL) AND {{conditions}}
)
"""  # noqa: S608 - constants of this module

_PAGE = """
SELECT id, score, ordinal, fingerprint, (SELECT count(*) FROM ranked) FROM ranked
WHERE :after IS NULL OR score < :below OR (score = :below AND id > :after)
ORDER BY score DESC, id LIMIT :size
"""
_TOTAL = "SELECT count(*) FROM ranked"
_RANK = """
SELECT 1 + (SELECT count(*) FROM ranked AS better
            WHERE better.score > this.score OR (better.score = this.score AND better.id < this.id)), this.score
FROM ranked AS this WHERE this.id = :id
"""

_BEST_CHUNK = f"""
SELECT rowid FROM passages WHERE passages MATCH ? AND rowid BETWEEN ? AND ?
ORDER BY bm25(passages, {PASSAGE_WEIGHTS}), rowid LIMIT 1
"""  # noqa: S608 - constants of this module

LAST = "\U0010ffff"

_BETWEEN = """
SELECT term, doc FROM vocabulary WHERE term >= ? AND term <= ? AND length(term) BETWEEN ? AND ?
"""


class Conditions:
    """Filters as SQL over `records`, with named parameters."""

    def __init__(self, filters: Filters) -> None:
        self.parameters: dict[str, Any] = {}
        self._parts = ["records.deleted = 0"]
        self.restricting = filters != Filters()
        exact = (
            ("content_type", filters.content_types),
            ("group_name", filters.groups),
            ("release", filters.releases),
            ("status", filters.statuses),
        )
        for column, values in exact:
            if values:
                self._add(f"records.{column} IN ({{}})", values)
        if filters.authors:
            self._add("records.rowid IN (SELECT record FROM record_authors WHERE author IN ({}))", filters.authors)
        if filters.aliases:
            self._add(
                "records.rowid IN (SELECT record FROM names WHERE NOT is_title AND name IN ({}))", filters.aliases
            )
        if filters.organisation is not None:
            self._add("records.organisation = {}", (filters.organisation,))
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


def match_expression(terms: Sequence[str]) -> str:
    """An FTS5 expression: any of the terms, none of them syntax."""
    return " OR ".join(f'"{term}"' for term in terms)


def lexical(
    database: sqlite3.Connection, query: Query, conditions: Conditions, size: int, after: Position | None = None
) -> tuple[list[LegHit], int]:
    """The best `size` records with one of the words after that position, ties by id; and how many there are in all."""
    place: dict[str, object] = {
        "size": size,
        "after": after.id if after else None,
        "below": after.score if after else None,
    }
    rows = list(_ask(database, query, conditions, _PAGE, place))
    hits = [LegHit(RecordId(record), score, chunk, mark) for record, score, chunk, mark, _ in rows]
    if rows:
        return hits, int(rows[0][4])
    return hits, next((int(total) for (total,) in _ask(database, query, conditions, _TOTAL, {})), 0)


def rank(
    database: sqlite3.Connection, record: RecordId, query: Query, conditions: Conditions
) -> tuple[int, float] | None:
    """Where the record stands among those with one of the words: rank from 1, and score."""
    found = next(_ask(database, query, conditions, _RANK, {"id": record}), None)
    return (int(found[0]), float(found[1])) if found else None


def named(database: sqlite3.Connection, query: Query, conditions: Conditions) -> list[LegHit]:
    """The records that the query names, best grade first."""
    rows = database.execute(
        "SELECT records.id, records.fingerprint, names.name, names.is_title"  # noqa: S608 - values are parameters
        " FROM names JOIN records ON records.rowid = names.record"
        f" WHERE names.key = :key AND {conditions.sql()}",
        {"key": name_key(query.text), **conditions.parameters},
    )
    found: dict[RecordId, LegHit] = {}
    for record, mark, name, is_title in rows:
        hit = LegHit(RecordId(record), grade(query.text, name, is_title=bool(is_title)), fingerprint=mark)
        found[hit.id] = max(hit, found.get(hit.id, hit), key=lambda hit: hit.score)
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.id))


def _ask(
    database: sqlite3.Connection, query: Query, conditions: Conditions, question: str, parameters: dict[str, object]
) -> Iterator[tuple[Any, ...]]:
    if not query.terms:
        return iter(())
    sql = _RANKED.format(conditions=conditions.sql()) + question
    return database.execute(sql, {"words": match_expression(query.terms), **conditions.parameters, **parameters})


def found(
    database: sqlite3.Connection,
    record: RecordId,
    ordinal: int | None,
    query: Query,
    nearest: Callable[[RecordId], int | None],
) -> Found | None:
    """The record without body, and the wanted chunk, else the best for the words, the `nearest`, the first."""
    row = database.execute(
        "SELECT rowid, version, fields FROM records WHERE id = ? AND deleted = 0", (record,)
    ).fetchone()
    if row is None:
        return None
    key, version, fields = row
    chunk = _shown(database, key, _best(database, key, query) if ordinal is None else ordinal)
    chunk = chunk or _shown(database, key, nearest(record)) or _shown(database, key, 0)
    return Found(_record(record, version, json.loads(fields)), chunk)


def tokens(database: sqlite3.Connection, record: RecordId) -> tuple[bytes, ...]:
    """The token ids of the record's chunks; none where it is gone or one of them has none."""
    row = database.execute("SELECT rowid FROM records WHERE id = ? AND deleted = 0", (record,)).fetchone()
    if row is None:
        return ()
    query = "SELECT tokens FROM chunks WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    found = [kept for (kept,) in database.execute(query, chunk_rows(row[0]))]
    return () if None in found else tuple(found)


def _best(database: sqlite3.Connection, row: int, query: Query) -> int | None:
    if not query.terms:
        return None
    best = database.execute(_BEST_CHUNK, (match_expression(query.terms), *chunk_rows(row))).fetchone()
    return int(best[0]) & (MOST_CHUNKS - 1) if best else None


def _shown(database: sqlite3.Connection, row: int, ordinal: int | None) -> Chunk | None:
    if ordinal is None:
        return None
    kept = database.execute("SELECT heading, text FROM chunks WHERE rowid = ?", (chunk_row(row, ordinal),)).fetchone()
    return _chunk(ordinal, *kept) if kept else None


def _chunk(ordinal: int, heading: str, text: str) -> Chunk:
    return Chunk(ordinal, tuple(json.loads(heading)), text)


def _record(record: RecordId, version: int, fields: dict[str, Any]) -> Record:
    several = {name: tuple(fields[name]) for name in ("tags", "aliases", "roles", "authors")}
    return Record(id=record, version=version, body="", chunks=(), **(fields | several))


class IndexedVocabulary:
    """The words of one state of the index, as `search.spelling.Vocabulary`; `conditions` say what can be found."""

    def __init__(self, database: sqlite3.Connection, conditions: Conditions) -> None:
        self._database = database
        self._conditions = conditions

    def known(self, word: str) -> bool:
        found = match_expression(terms(word))
        return any(
            self._database.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1", (found,)).fetchone()  # noqa: S608
            for table in ("passages", "labels")
        )

    def near(self, word: str, *, anywhere: bool = False) -> Iterator[tuple[str, int]]:
        edits = edits_allowed(word)
        for letter in ("",) if anywhere else dict.fromkeys(word[:2]):
            yield from self._database.execute(_BETWEEN, (letter, letter + LAST, len(word) - edits, len(word) + edits))

    def findable(self, word: str) -> bool:
        query = (
            "SELECT 1 FROM spellings JOIN records ON records.rowid = spellings.rowid"  # noqa: S608 - values are parameters
            f" WHERE spellings MATCH :word AND {self._conditions.sql()} LIMIT 1"
        )
        parameters = {"word": f'"{word}"', **self._conditions.parameters}
        return self._database.execute(query, parameters).fetchone() is not None


def suggestions(database: sqlite3.Connection, query: Query, conditions: Conditions) -> tuple[str, ...]:
    """The query with its misspelt words corrected, best first."""
    return suggest(query, IndexedVocabulary(database, conditions), distance)
