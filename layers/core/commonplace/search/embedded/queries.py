"""SQL queries of the one-file index: filters, words, names, hits with matched words, and spelling suggestions.

Only live records have words in the index: removing a record removes its words.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from commonplace.search.filters import Filters
from commonplace.search.model import Chunk, Found, LegHit, Position, Record, RecordId
from commonplace.search.spelling import edits_allowed, suggest
from commonplace.search.text import grade, name_key, query_terms, words
from commonplace.search.word_distance import distance

LABEL_WEIGHTS = "3.0, 3.0, 1.0, 1.0"
"""Of title, aliases, description and tags. Measured on judged queries: see the README of this folder."""

PASSAGE_WEIGHTS = "2.0, 1.0"
"""Of heading path and text."""

# A record's words count through its labels and through its best passage, like a nested query of OpenSearch.
_RANKED = f"""
WITH hits AS MATERIALIZED (
    SELECT rowid AS chunk, bm25(passages, {PASSAGE_WEIGHTS}) AS score FROM passages WHERE passages MATCH :words
), best AS MATERIALIZED (
    SELECT chunks.record AS record, chunks.ordinal AS ordinal, min(hits.score) AS score
    FROM hits JOIN chunks ON chunks.rowid = hits.chunk GROUP BY chunks.record
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

# Control characters do not occur in folded text, or at worst mark a word more.
_OPEN, _CLOSE = "\x01", "\x02"
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")

_HIGHLIGHTED = f"highlight(passages, 1, '{_OPEN}', '{_CLOSE}')"

_BEST_CHUNK = f"""
SELECT chunks.ordinal, chunks.heading, chunks.text, {_HIGHLIGHTED}
FROM passages JOIN chunks ON chunks.rowid = passages.rowid
WHERE passages MATCH ? AND chunks.record = ? ORDER BY bm25(passages, {PASSAGE_WEIGHTS}), chunks.ordinal LIMIT 1
"""  # noqa: S608 - constants of this module

_MATCHED = f"SELECT {_HIGHLIGHTED} FROM passages WHERE passages MATCH ? AND passages.rowid = ?"  # noqa: S608

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


def match_expression(text: str) -> str:
    """The query's words as an FTS5 expression: any of them, none of them syntax."""
    return " OR ".join(f'"{term}"' for term in query_terms(text))


def lexical(
    database: sqlite3.Connection, text: str, conditions: Conditions, size: int, after: Position | None = None
) -> tuple[list[LegHit], int]:
    """The best `size` records with one of the words after that position, ties by id; and how many there are in all."""
    place: dict[str, object] = {
        "size": size,
        "after": after.id if after else None,
        "below": after.score if after else None,
    }
    rows = list(_ask(database, text, conditions, _PAGE, place))
    hits = [LegHit(RecordId(record), score, chunk, mark) for record, score, chunk, mark, _ in rows]
    if rows:
        return hits, int(rows[0][4])
    return hits, next((int(total) for (total,) in _ask(database, text, conditions, _TOTAL, {})), 0)


def rank(database: sqlite3.Connection, record: RecordId, text: str, conditions: Conditions) -> tuple[int, float] | None:
    """Where the record stands among those with one of the words: rank from 1, and score."""
    found = next(_ask(database, text, conditions, _RANK, {"id": record}), None)
    return (int(found[0]), float(found[1])) if found else None


def named(database: sqlite3.Connection, text: str, conditions: Conditions) -> list[LegHit]:
    """The records that the query names, best grade first."""
    rows = database.execute(
        "SELECT records.id, records.fingerprint, names.name, names.is_title"  # noqa: S608 - values are parameters
        " FROM names JOIN records ON records.rowid = names.record"
        f" WHERE names.key = :key AND {conditions.sql()}",
        {"key": name_key(text), **conditions.parameters},
    )
    found: dict[RecordId, LegHit] = {}
    for record, mark, name, is_title in rows:
        hit = LegHit(RecordId(record), grade(text, name, is_title=bool(is_title)), fingerprint=mark)
        found[hit.id] = max(hit, found.get(hit.id, hit), key=lambda hit: hit.score)
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.id))


def _ask(
    database: sqlite3.Connection, text: str, conditions: Conditions, question: str, parameters: dict[str, object]
) -> Iterator[tuple[Any, ...]]:
    words = match_expression(text)
    if not words:
        return iter(())
    query = _RANKED.format(conditions=conditions.sql()) + question
    return database.execute(query, {"words": words, **conditions.parameters, **parameters})


def found(
    database: sqlite3.Connection,
    record: RecordId,
    ordinal: int | None,
    text: str,
    nearest: Callable[[RecordId], int | None],
) -> Found | None:
    """The record without body, and the wanted chunk: else the best for `text`, else the `nearest`, else the first."""
    row = database.execute(
        "SELECT rowid, version, fields FROM records WHERE id = ? AND deleted = 0", (record,)
    ).fetchone()
    if row is None:
        return None
    key, version, fields = row
    chunk, matched = _shown(database, key, ordinal, match_expression(text))
    if chunk is None:
        chunk, matched = _shown(database, key, nearest(record), "")
    if chunk is None:
        chunk, matched = _shown(database, key, 0, "")
    return Found(_record(record, version, json.loads(fields)), chunk, matched)


def _shown(
    database: sqlite3.Connection, row: int, ordinal: int | None, expression: str
) -> tuple[Chunk | None, tuple[str, ...]]:
    if ordinal is not None:
        stored = database.execute(
            "SELECT ordinal, heading, text, rowid FROM chunks WHERE record = ? AND ordinal = ?", (row, ordinal)
        ).fetchone()
        if stored:
            marked = database.execute(_MATCHED, (expression, stored[3])).fetchone() if expression else None
            return _chunk(*stored[:3]), _matched(marked[0]) if marked else ()
    if not expression:
        return None, ()
    best = database.execute(_BEST_CHUNK, (expression, row)).fetchone()
    return (_chunk(*best[:3]), _matched(best[3])) if best else (None, ())


def _matched(highlighted: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for marked in _MARKED.findall(highlighted) for word in words(marked)))


def _chunk(ordinal: int, heading: str, text: str) -> Chunk:
    return Chunk(ordinal, tuple(json.loads(heading)), text)


def _record(record: RecordId, version: int, fields: dict[str, Any]) -> Record:
    several = {name: tuple(fields[name]) for name in ("tags", "aliases", "roles")}
    return Record(id=record, version=version, body="", chunks=(), **(fields | several))


class IndexedVocabulary:
    """The words of one state of the index, as `search.spelling.Vocabulary`; `conditions` say what can be found."""

    def __init__(self, database: sqlite3.Connection, conditions: Conditions) -> None:
        self._database = database
        self._conditions = conditions

    def known(self, word: str) -> bool:
        return any(
            self._database.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1", (f'"{word}"',)).fetchone()  # noqa: S608
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


def suggestions(database: sqlite3.Connection, text: str, conditions: Conditions) -> tuple[str, ...]:
    """The query with its misspelt words corrected, best first."""
    return suggest(text, IndexedVocabulary(database, conditions), distance)
