"""Tables of the one-file index, the facts it was built under, and versioned writes.

Which of two writes of a record stays depends on the writes alone, not on their order.
"""

import json
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from commonplace.search.analysis import ANALYSIS_VERSION, terms
from commonplace.search.chunks import CHUNKER_VERSION
from commonplace.search.embeddings import embedding_text, vector_key
from commonplace.search.model import IndexedRecord, IndexMismatch, RecordId, Tombstone, Vector
from commonplace.search.models.tokens import TOKENS_VERSION
from commonplace.search.names import name_keys, names_of
from commonplace.search.text import plain, words

SCHEMA_VERSION = "10"

TERMS = f"{ANALYSIS_VERSION}, {TOKENS_VERSION}"
"""The version of the terms and of the token ids of an index."""

LEXICAL_ONLY = "none"
"""The name of the model in an index without vectors."""

# Texts come as terms or as folded words (`search.analysis`), with spaces between: nothing is left to this tokenizer.
_TOKENIZER = "ascii"

CHUNK_BITS = 16
"""The row of a chunk is that of its record, and its ordinal in the last bits: no table is needed to go from one to the
other."""

MOST_CHUNKS = 1 << CHUNK_BITS
"""The most chunks of a record; the rest of a longer one is not indexed."""

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, deleted INTEGER NOT NULL,
    embedded INTEGER NOT NULL, content_type TEXT, group_name TEXT, release TEXT, status TEXT, date TEXT,
    created_at TEXT, path TEXT,
    fingerprint TEXT, organisation TEXT, public INTEGER, valid_from TEXT, valid_until TEXT, confidence REAL,
    buried REAL, written INTEGER NOT NULL, fields TEXT NOT NULL
);
CREATE INDEX live_records ON records (id, fingerprint) WHERE deleted = 0;
CREATE INDEX records_by_write ON records (written);
CREATE INDEX records_by_beginning ON records (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX records_by_end ON records (valid_until) WHERE valid_until IS NOT NULL;
CREATE TABLE writes (number INTEGER PRIMARY KEY, token TEXT NOT NULL);
CREATE TABLE record_tags (tag TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (tag, record)) WITHOUT ROWID;
CREATE INDEX record_tags_by_record ON record_tags (record);
CREATE TABLE record_roles (role TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (role, record)) WITHOUT ROWID;
CREATE INDEX record_roles_by_record ON record_roles (record);
CREATE TABLE record_authors (author TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (author, record)) WITHOUT ROWID;
CREATE INDEX record_authors_by_record ON record_authors (record);
CREATE TABLE names (record INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL);
CREATE INDEX names_by_key ON names (key);
CREATE INDEX names_by_record ON names (record);
CREATE TABLE chunks (
    rowid INTEGER PRIMARY KEY, vector INTEGER, tokens BLOB, heading TEXT NOT NULL, text TEXT NOT NULL,
    headings TEXT NOT NULL, words TEXT NOT NULL
);
CREATE INDEX chunks_by_vector ON chunks (vector);
CREATE TABLE vectors (rowid INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE labels USING fts5 (
    title, aliases, description, tags, authors, kind, tokenize = '{_TOKENIZER}'
);
CREATE VIRTUAL TABLE passages USING fts5 (
    headings, words, content = 'chunks', content_rowid = 'rowid', tokenize = '{_TOKENIZER}'
);
CREATE VIRTUAL TABLE spellings USING fts5 (
    words, content = '', tokenize = '{_TOKENIZER}', detail = none, columnsize = 0
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (spellings, row);
"""

_OWN = (
    *("meta", "records", "record_tags", "record_roles", "record_authors", "names", "chunks", "vectors", "writes"),
    *("labels", "passages", "vocabulary", "spellings"),
)

_COLUMNS = {
    name if name != "group" else "group_name": name
    for name in (
        *("content_type", "group", "release", "status", "date", "created_at", "path", "fingerprint", "organisation"),
        *("public", "valid_from", "valid_until", "confidence"),
    )
}
"""The columns of `records` that filters look at, and the fields of `Record` that they hold."""

REBUILD = 'Invoke the index function with {"source": "commonplace.operator", "rebuild": true}.'

SPARE_VECTORS = 1_000
"""Vectors that no chunk uses any more and that are kept, for text that comes back."""


REMEMBERED_WRITES = 1_000

State = tuple[int, str]
"""The number of the last write and its token, which no other write has."""

_NEXT_WRITE = "(SELECT 1 + coalesce(max(number), 0) FROM writes)"


def create(database: sqlite3.Connection, model: str) -> None:
    """Makes the tables, in the transaction that is open."""
    for statement in TABLES.split(";"):
        if statement.strip():
            database.execute(statement)
    facts = {"schema": SCHEMA_VERSION, "chunker": CHUNKER_VERSION, "terms": TERMS, "model": model}
    database.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
    _count_write(database)


def _count_write(database: sqlite3.Connection) -> None:
    (number,) = database.execute(
        f"INSERT INTO writes VALUES ({_NEXT_WRITE}, hex(randomblob(8))) RETURNING number"  # noqa: S608 - a constant
    ).fetchone()
    database.execute("DELETE FROM writes WHERE number <= ?", (number - REMEMBERED_WRITES,))


def state(database: sqlite3.Connection) -> State:
    """Return what changes with every write."""
    number, token = database.execute("SELECT number, token FROM writes ORDER BY number DESC LIMIT 1").fetchone()
    return int(number), str(token)


def drop(database: sqlite3.Connection) -> None:
    """Removes every table of any version of this schema."""
    for name in _OWN:
        database.execute(f"DROP TABLE IF EXISTS {name}")


def facts(database: sqlite3.Connection) -> dict[str, str]:
    """Return what the file says of itself; nothing when it is new."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return {}
    return dict(database.execute("SELECT name, value FROM meta"))


def check_readable(found: dict[str, str]) -> None:
    """Raises IndexMismatch when this version cannot read the tables."""
    if found.get("schema") != SCHEMA_VERSION:
        raise IndexMismatch("The search index was built by another version of Commonplace.", hint=REBUILD)


def check_writable(found: dict[str, str], model: str) -> None:
    """Raises IndexMismatch when what would be written does not go with what is there."""
    check_readable(found)
    if found["chunker"] != CHUNKER_VERSION or found["terms"] != TERMS:
        raise IndexMismatch("The search index was built by another version of Commonplace.", hint=REBUILD)
    if found["model"] != model:
        raise IndexMismatch(
            f"The search index was built with the embedding model {found['model']}, not with {model}.", hint=REBUILD
        )


def apply(
    database: sqlite3.Connection,
    upserts: Sequence[IndexedRecord],
    tombstones: Sequence[Tombstone],
    model: str,
    now: float,
) -> bool:
    """Applies what is newer than what is there, in the open transaction. Says whether anything changed.

    `now`, in seconds since 1970, is when tombstones are buried.
    """
    ids = [indexed.record.id for indexed in upserts] + [gone.id for gone in tombstones]
    query = "SELECT 1 FROM records WHERE deleted = 0 AND id = ?"
    taken_out = any(database.execute(query, (record,)).fetchone() for record in ids)
    changed = [_put(database, indexed, model) for indexed in upserts]
    for gone in tombstones:
        row = _claim(database, gone.id, (gone.version, False, False))
        changed.append(row is not None)
        if row is not None:
            database.execute("UPDATE records SET buried = ? WHERE rowid = ?", (now, row))
    if any(changed):
        (kept,) = database.execute("SELECT count(*) FROM vectors").fetchone()
        (used,) = database.execute("SELECT count(DISTINCT vector) FROM chunks").fetchone()
        if kept - used > SPARE_VECTORS + used:
            database.execute(
                "DELETE FROM vectors WHERE rowid NOT IN (SELECT vector FROM chunks WHERE vector IS NOT NULL)"
            )
        if taken_out:
            # Until the word lists are merged they still hold the words of what was taken out.
            for table in ("labels", "passages", "spellings"):
                database.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608
        _count_write(database)
    return any(changed)


def sweep(database: sqlite3.Connection, before: float) -> int:
    """Forgets the tombstones that were buried before then, in the open transaction; says how many."""
    return database.execute("DELETE FROM records WHERE deleted = 1 AND buried < ?", (before,)).rowcount


def _put(database: sqlite3.Connection, indexed: IndexedRecord, model: str) -> bool:
    record = indexed.record
    vectors = indexed.vectors if model != LEXICAL_ONLY else ()
    if vectors and len(vectors) != len(record.chunks):
        raise ValueError(f"{len(vectors)} vectors for {len(record.chunks)} chunks")
    embedded = model != LEXICAL_ONLY and len(vectors) == len(record.chunks)
    row = _claim(database, record.id, (record.version, True, embedded))
    if row is None:
        return False
    shown = asdict(record)
    for name in ("body", "chunks", "version", "id", "identifiers", "tag_parents"):
        del shown[name]
    columns = ", ".join(f"{column} = ?" for column in _COLUMNS)
    database.execute(
        f"UPDATE records SET {columns}, buried = NULL, fields = ? WHERE rowid = ?",  # noqa: S608 - constants
        (*(getattr(record, name) for name in _COLUMNS.values()), json.dumps(shown, ensure_ascii=False), row),
    )
    filtered = {
        "record_tags": (*record.tags, *record.tag_parents),
        "record_roles": record.roles,
        "record_authors": record.authors,
    }
    for table, values in filtered.items():
        rows = [(value, row) for value in dict.fromkeys(values)]
        database.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)  # noqa: S608 - constants
    database.executemany(
        "INSERT INTO names VALUES (?, ?, ?, ?)",
        [(row, key, name, kind) for kind, name in names_of(record) for key in name_keys(name, kind)],
    )
    aliases, tags, authors = ("\n".join(values) for values in (record.aliases, record.tags, record.authors))
    labels = (record.title, aliases, record.description or "", tags, authors, record.content_type)
    database.execute(
        "INSERT INTO labels (rowid, title, aliases, description, tags, authors, kind) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (row, *(" ".join(terms(label)) for label in labels)),
    )
    _put_chunks(database, row, indexed, vectors, model)
    database.execute("INSERT INTO spellings (rowid, words) VALUES (?, ?)", (row, _all_words(database, row)))
    return True


def _put_chunks(
    database: sqlite3.Connection, row: int, indexed: IndexedRecord, vectors: Sequence[Vector], model: str
) -> None:
    record, tokens = indexed.record, indexed.tokens
    # What belongs to an organisation shares no row with what does not: `known` answers for documents alone.
    space = model if record.organisation is None else f"{record.organisation}\0{model}"
    keys = [vector_key(space, embedding_text(record, chunk)) for chunk in record.chunks] if vectors else []
    # Records that share a vector change with it.
    database.executemany(
        f"UPDATE records SET written = {_NEXT_WRITE} WHERE rowid IN (SELECT chunks.rowid >> {CHUNK_BITS}"  # noqa: S608
        " FROM vectors JOIN chunks ON chunks.vector = vectors.rowid WHERE vectors.key = ?)",
        [(key,) for key in keys],
    )
    database.executemany(
        "INSERT INTO vectors (key, vector) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET vector = excluded.vector WHERE vector <> excluded.vector",
        [(key, array("f", vector).tobytes()) for key, vector in zip(keys, vectors, strict=True)],
    )
    for position, chunk in enumerate(record.chunks[:MOST_CHUNKS]):
        path = json.dumps(chunk.heading_path, ensure_ascii=False)
        analysed = (" ".join(terms("\n".join(chunk.heading_path))), " ".join(terms(plain(chunk.text))))
        kept = (keys[position] if keys else None, tokens[position] if tokens else None)
        database.execute(
            "INSERT INTO chunks (rowid, heading, text, headings, words, vector, tokens)"
            " VALUES (?, ?, ?, ?, ?, (SELECT rowid FROM vectors WHERE key = ?), ?)",
            (chunk_row(row, chunk.ordinal), path, chunk.text, *analysed, *kept),
        )
    database.execute(
        "INSERT INTO passages (rowid, headings, words)"
        " SELECT rowid, headings, words FROM chunks WHERE rowid BETWEEN ? AND ?",
        chunk_rows(row),
    )


def chunk_row(record: int, ordinal: int) -> int:
    return (record << CHUNK_BITS) + ordinal


def chunk_rows(record: int) -> tuple[int, int]:
    """The first and the last row that a record's chunks can have."""
    return chunk_row(record, 0), chunk_row(record, MOST_CHUNKS - 1)


def _claim(database: sqlite3.Connection, record: RecordId, rank: tuple[int, bool, bool]) -> int | None:
    """Empties the record's row for a write of this rank, or answers None when what is there stands as high."""
    version, live, embedded = rank
    held = database.execute("SELECT rowid, version, deleted, embedded FROM records WHERE id = ?", (record,)).fetchone()
    if held is None:
        return database.execute(
            "INSERT INTO records (id, version, deleted, embedded, written, fields)"  # noqa: S608 - a constant
            f" VALUES (?, ?, ?, ?, {_NEXT_WRITE}, '{{}}')",
            (record, version, not live, embedded),
        ).lastrowid
    row, held_version, deleted, held_embedded = held
    if rank <= (held_version, not deleted, bool(held_embedded)):
        return None
    if database.execute("SELECT 1 FROM labels WHERE rowid = ?", (row,)).fetchone():
        # The table keeps no text: a removal has to name the words.
        database.execute(
            "INSERT INTO spellings (spellings, rowid, words) VALUES ('delete', ?, ?)", (row, _all_words(database, row))
        )
    database.execute(
        "INSERT INTO passages (passages, rowid, headings, words)"
        " SELECT 'delete', rowid, headings, words FROM chunks WHERE rowid BETWEEN ? AND ?",
        chunk_rows(row),
    )
    database.execute("DELETE FROM chunks WHERE rowid BETWEEN ? AND ?", chunk_rows(row))
    for statement in (
        "DELETE FROM labels WHERE rowid = ?",
        "DELETE FROM names WHERE record = ?",
        "DELETE FROM record_tags WHERE record = ?",
        "DELETE FROM record_roles WHERE record = ?",
        "DELETE FROM record_authors WHERE record = ?",
    ):
        database.execute(statement, (row,))
    emptied = ", ".join(f"{column} = NULL" for column in _COLUMNS)
    database.execute(
        f"UPDATE records SET written = {_NEXT_WRITE}, version = ?, deleted = ?, embedded = ?,"  # noqa: S608 - constants
        f" {emptied}, fields = '{{}}' WHERE rowid = ?",
        (version, not live, embedded, row),
    )
    return int(row)


def _all_words(database: sqlite3.Connection, row: int) -> str:
    """Every word by which the record can be found, folded."""
    (fields,) = database.execute("SELECT fields FROM records WHERE rowid = ?", (row,)).fetchone()
    query = "SELECT heading, text FROM chunks WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
    told = json.loads(fields)
    texts = [*told["aliases"], *told["tags"], *told["authors"], told["title"], told["description"] or ""]
    for heading, text in database.execute(query, chunk_rows(row)):
        texts += [*json.loads(heading), plain(text)]
    return " ".join(dict.fromkeys(word for text in texts for word in words(text)))


def known_vectors(database: sqlite3.Connection, keys: Iterable[str]) -> dict[str, Vector]:
    """The vectors kept under these keys."""
    found: dict[str, Vector] = {}
    for key in keys:
        row = database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        if row:
            found[key] = array("f", row[0])
    return found
