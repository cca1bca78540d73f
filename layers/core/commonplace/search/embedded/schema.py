"""The tables of the one-file index, and the facts it was built under."""

import sqlite3

from commonplace.search.chunks import CHUNKER_VERSION
from commonplace.search.model import IndexMismatch

SCHEMA_VERSION = "3"

LEXICAL_ONLY = "none"
"""What stands for the model in an index without vectors."""

# Stems ("govern" finds "governance") and ignores accents. Measured on judged queries: see the README of this folder.
_TOKENIZER = "porter unicode61 remove_diacritics 2"

# Words as they are written, one row a record: what a misspelt word is compared with.
_UNSTEMMED = "unicode61 remove_diacritics 2"

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
    rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, deleted INTEGER NOT NULL,
    embedded INTEGER NOT NULL, content_type TEXT, group_name TEXT, release TEXT, status TEXT, date TEXT, path TEXT,
    fingerprint TEXT, organisation TEXT, confidence REAL, buried REAL, fields TEXT NOT NULL
);
CREATE TABLE record_tags (tag TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (tag, record)) WITHOUT ROWID;
CREATE INDEX record_tags_by_record ON record_tags (record);
CREATE TABLE record_roles (role TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (role, record)) WITHOUT ROWID;
CREATE INDEX record_roles_by_record ON record_roles (record);
CREATE TABLE names (record INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, is_title INTEGER NOT NULL);
CREATE INDEX names_by_key ON names (key);
CREATE INDEX names_by_record ON names (record);
CREATE TABLE chunks (
    rowid INTEGER PRIMARY KEY, record INTEGER NOT NULL, ordinal INTEGER NOT NULL, heading TEXT NOT NULL,
    text TEXT NOT NULL, headings TEXT NOT NULL, words TEXT NOT NULL, vector INTEGER, UNIQUE (record, ordinal)
);
CREATE INDEX chunks_by_vector ON chunks (vector);
CREATE TABLE vectors (rowid INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE labels USING fts5 (title, aliases, description, tags, tokenize = '{_TOKENIZER}');
CREATE VIRTUAL TABLE passages USING fts5 (
    headings, words, content = 'chunks', content_rowid = 'rowid', tokenize = '{_TOKENIZER}'
);
CREATE VIRTUAL TABLE spellings USING fts5 (
    words, content = '', tokenize = '{_UNSTEMMED}', detail = none, columnsize = 0
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (spellings, row);
"""

_OWN = (
    *("meta", "records", "record_tags", "record_roles", "names", "chunks", "vectors"),
    *("labels", "passages", "vocabulary", "spellings"),
)

REBUILD = 'Invoke the index function with {"source": "commonplace.operator", "rebuild": true}.'


def create(database: sqlite3.Connection, model: str) -> None:
    """Makes the tables, in the transaction that is open."""
    for statement in TABLES.split(";"):
        if statement.strip():
            database.execute(statement)
    facts = {"schema": SCHEMA_VERSION, "chunker": CHUNKER_VERSION, "model": model}
    database.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())


def forget_removed_words(database: sqlite3.Connection) -> None:
    """Merges the word lists: until then they still hold the words of what was taken out."""
    for words in ("labels", "passages", "spellings"):
        database.execute(f"INSERT INTO {words} ({words}) VALUES ('optimize')")  # noqa: S608


def drop(database: sqlite3.Connection) -> None:
    """Removes every table of any version of this schema."""
    for name in _OWN:
        database.execute(f"DROP TABLE IF EXISTS {name}")


def facts(database: sqlite3.Connection) -> dict[str, str]:
    """What the file says of itself; nothing when it is new."""
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
    if found["chunker"] != CHUNKER_VERSION:
        raise IndexMismatch("The search index holds text cut by another version of the chunker.", hint=REBUILD)
    if found["model"] != model:
        raise IndexMismatch(
            f"The search index was built with the embedding model {found['model']}, not with {model}.", hint=REBUILD
        )
