"""What a hit shows: the record as stored, its chunk, and which of the chunk's words were found."""

import json
import re
import sqlite3
from collections.abc import Callable
from typing import Any

from commonplace.search.embedded.queries import PASSAGE_WEIGHTS, match_expression
from commonplace.search.model import Chunk, Found, Record, RecordId
from commonplace.search.text import words

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
