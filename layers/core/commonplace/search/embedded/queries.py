"""The questions asked of the tables: words and names."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from commonplace.search.embedded.conditions import Conditions
from commonplace.search.model import LegHit, Position, RecordId
from commonplace.search.names import grade, name_key
from commonplace.search.text import query_terms

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
