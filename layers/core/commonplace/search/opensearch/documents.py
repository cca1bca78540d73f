"""From a record to the document OpenSearch keeps, and from an answer back to what is shown."""

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from commonplace.search.model import Chunk, IndexedRecord, Record, Tombstone, Vector
from commonplace.search.names import name_key
from commonplace.search.opensearch.mapping import CHUNK_RULES, RECORD_RULES, SHOWN_FIELDS
from commonplace.search.opensearch.wire import Numbers
from commonplace.search.text import plain, words

logger = logging.getLogger(__name__)

BURIED, LIVE, EMBEDDED = 0, 1, 3
"""The last two bits of an external version: writes are ordered by (version, live after removed, with vectors after)."""

MOST_CHUNKS = 10_000
"""Nested objects that a document may have (`index.mapping.nested_objects.limit`)."""

MOST_DISTINCT_WORDS = 20_000
LONGEST_NAME = 2_000
"""Characters of a name that a query can be compared with; no query is as long."""

_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)


def searchable(text: str) -> str:
    """The folded words of a text, a space between them: nothing is left that an analyser could take differently."""
    return " ".join(words(_POSSESSIVE.sub("", text)))


def external_version(version: int, code: int) -> int:
    return version * 4 + code


def live_version(told: int) -> int | None:
    """The record's version in an external one; None for a tombstone."""
    return None if told % 4 == BURIED else told // 4


def check_vectors(indexed: IndexedRecord) -> None:
    """Raises ValueError when there are vectors, and not one for each chunk."""
    if indexed.vectors and len(indexed.vectors) != len(indexed.record.chunks):
        raise ValueError(f"{len(indexed.vectors)} vectors for {len(indexed.record.chunks)} chunks")


def written(indexed: IndexedRecord, *, with_vectors: bool) -> tuple[int, dict[str, Any]]:
    """The external version and the source of a live record. In an index without vectors every record is just live."""
    record = indexed.record
    embedded = with_vectors and len(indexed.vectors) == len(record.chunks)
    vectors: Sequence[Vector | None] = indexed.vectors if embedded else [None] * len(record.chunks)
    names = [("t", record.title)] if record.title else []
    names += [("a", alias) for alias in record.aliases]
    source = {name: getattr(record, name) for name in SHOWN_FIELDS}
    source |= {
        "deleted": False,
        "embedded": embedded or not with_vectors,
        "names": list(dict.fromkeys(name_key(name) for _, name in names)),
        "named": [kind + name for kind, name in names if len(name) <= LONGEST_NAME],
        "labels": {
            rule.words[0]: _words_of(getattr(record, name)) for name, rule in RECORD_RULES.items() if rule.words
        },
        "chunks": _chunks(record, vectors),
    }
    source["spelling"] = " ".join(_vocabulary(source))
    kept = {name: value for name, value in source.items() if value is not None}
    return external_version(record.version, EMBEDDED if embedded else LIVE), kept


def buried(gone: Tombstone, now_ms: int) -> tuple[int, dict[str, Any]]:
    """The external version and the source of a tombstone: without words, names and vectors nothing finds it."""
    source = {"id": gone.id, "version": gone.version, "deleted": True, "buried": now_ms}
    return external_version(gone.version, BURIED), source


def usable(vector: Vector) -> bool:
    """Whether it has a direction: OpenSearch refuses zero vectors and those with a number that is none."""
    length = math.fsum(value * value for value in vector)
    return 0.0 < length < math.inf


def record_of(source: Mapping[str, Any]) -> Record:
    """The record as it was written, without body and chunks."""
    told: dict[str, Any] = {name: source.get(name) for name in SHOWN_FIELDS}
    told |= {name: tuple(told[name] or ()) for name in ("tags", "aliases", "roles")} | {"body": "", "chunks": ()}
    return Record(**told)


def chunk_of(source: Mapping[str, Any]) -> Chunk:
    return Chunk(source["ordinal"], tuple(source["heading_path"]), source["text"])


def _chunks(record: Record, vectors: Sequence[Vector | None]) -> list[dict[str, Any]]:
    if len(record.chunks) > MOST_CHUNKS:
        logger.warning("a record is indexed without its last chunks", extra={"record": record.id})
    return [
        _chunk(chunk, vector) for chunk, vector in zip(record.chunks[:MOST_CHUNKS], vectors[:MOST_CHUNKS], strict=True)
    ]


def _chunk(chunk: Chunk, vector: Vector | None) -> dict[str, Any]:
    told: dict[str, Any] = {name: getattr(chunk, name) for name, rule in CHUNK_RULES.items() if rule.kept is not None}
    told |= {"headings": _words_of(chunk.heading_path), "words": searchable(plain(chunk.text))}
    if vector is not None and usable(vector):
        told["vector"] = Numbers(vector)
    return told


def _words_of(value: str | Sequence[str] | None) -> str:
    return searchable(value if isinstance(value, str) else "\n".join(value or ()))


def _vocabulary(source: Mapping[str, Any]) -> Iterable[str]:
    """Every different word of the record, for proposing corrections."""
    found: dict[str, None] = dict.fromkeys(word for label in source["labels"].values() for word in label.split())
    for word in _chunk_words(source["chunks"]):
        found[word] = None
        if len(found) >= MOST_DISTINCT_WORDS:
            break
    return found


def _chunk_words(chunks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (word for chunk in chunks for text in (chunk["headings"], chunk["words"]) for word in text.split())
