"""Mapping and documents of an index, generated from `Record` and `Chunk`, and the facts that identify an index."""

import hashlib
import json
import logging
import math
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.search.analysis import ANALYSIS_VERSION, plain_terms, terms
from commonplace.search.chunks import CHUNKER_VERSION
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.migration import Facts
from commonplace.search.model import (
    Chunk,
    EmbeddingProvider,
    IndexedRecord,
    Record,
    RecordId,
    Tombstone,
    Vector,
)
from commonplace.search.models.tokens import TOKENS_VERSION
from commonplace.search.names import name_keys, names_of
from commonplace.search.opensearch.client import Numbers
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.text import plain, words

logger = logging.getLogger(__name__)

SCHEMA_VERSION = f"9, {ANALYSIS_VERSION}, {TOKENS_VERSION}"
"""Of the fields and of the queries over them: an index of another one cannot be read."""

LEXICAL_ONLY = "none"
"""What stands for the model in an index without vectors."""

LONGEST_KEYWORD = 8_191
"""Characters of an exact value. A longer one would be refused with its whole document (32,766 bytes): it is shown, and
no filter finds it."""

Property = Mapping[str, Any]

# Kept in `_source` and not looked at: any text of any length.
_SHOWN: Property = {"type": "object", "enabled": False}
_EXACT: Property = {"type": "keyword", "ignore_above": LONGEST_KEYWORD}
_CARRIED: Property = {"type": "keyword", "index": False, "doc_values": True, "ignore_above": LONGEST_KEYWORD}
_WORDS: Property = {"type": "text", "analyzer": "indexed", "search_analyzer": "asked"}

MAX_ID_BYTES = 512

BURIED, LIVE, EMBEDDED = 0, 1, 3
"""The last two bits of an external version: writes are ordered by (version, live after removed, with vectors after)."""

MOST_CHUNKS = 10_000
"""Nested objects that a document may have (`index.mapping.nested_objects.limit`)."""

MOST_DISTINCT_WORDS = 20_000
LONGEST_NAME = 2_000
"""Characters of a name that a query can be compared with; no query is as long."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The mapping rule of a field. `words` names the analysed copy of it and its weight among its kind."""

    kept: Property | None
    words: tuple[str, float] | None = None


RECORD_RULES: Mapping[str, Rule] = {
    "id": Rule(_EXACT),
    "version": Rule({"type": "long"}),
    "content_type": Rule(_EXACT, ("kind", 1)),
    "document_id": Rule(_SHOWN),
    "title": Rule(_SHOWN, ("title", 3)),
    "description": Rule(_SHOWN, ("description", 1)),
    "path": Rule(_EXACT),
    "url": Rule(_SHOWN),
    "source_url": Rule(_SHOWN),
    "group": Rule(_EXACT),
    "release": Rule(_EXACT),
    "status": Rule(_EXACT),
    "tags": Rule(_EXACT, ("tags", 1)),
    "aliases": Rule(_SHOWN, ("aliases", 3)),
    "date": Rule(_EXACT),  # compared as text: a date may be a year or a month
    "updated_at": Rule(_SHOWN),
    "created_at": Rule(_EXACT),  # compared as text
    "body": Rule(None),  # its chunks hold it
    "chunks": Rule(None),  # nested, by CHUNK_RULES
    "fingerprint": Rule(_CARRIED),
    "organisation": Rule(_EXACT),
    "roles": Rule(_EXACT),
    "confidence": Rule({"type": "double"}),
    "authors": Rule(_EXACT, ("authors", 1)),
    "identifiers": Rule(None),  # `names` holds them
    "tag_parents": Rule(None),  # `within` holds them
    "public": Rule({"type": "boolean"}),
    "valid_from": Rule(_EXACT),  # compared as text
    "valid_until": Rule(_EXACT),
}
"""One for each field of `Record`."""

CHUNK_RULES: Mapping[str, Rule] = {
    "ordinal": Rule({"type": "integer"}),
    "heading_path": Rule(_SHOWN, ("headings", 2)),
    "text": Rule(_SHOWN, ("words", 1)),
}
"""One for each field of `Chunk`."""

LABEL_FIELDS = [f"labels.{rule.words[0]}^{rule.words[1]:g}" for rule in RECORD_RULES.values() if rule.words]
CHUNK_FIELDS = [f"chunks.{rule.words[0]}^{rule.words[1]:g}" for rule in CHUNK_RULES.values() if rule.words]

SHOWN_FIELDS = [name for name, rule in RECORD_RULES.items() if rule.kept is not None]
SHOWN_CHUNK_FIELDS = [f"chunks.{name}" for name, rule in CHUNK_RULES.items() if rule.kept is not None]


def facts(provider: EmbeddingProvider | None, parameters: IndexParameters, *, serverless: bool = False) -> Facts:
    """Return what an index of this model under these parameters is known by."""
    model = model_fingerprint(provider) if provider else LEXICAL_ONLY
    dimension = provider.dimension if provider else None
    hashed = [_mappings(dimension, parameters, serverless), _analysis(parameters), parameters.shards]
    digest = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()
    return Facts(SCHEMA_VERSION, CHUNKER_VERSION, model, digest[:16])


def index_body(
    provider: EmbeddingProvider | None, parameters: IndexParameters, *, serverless: bool = False, building: bool = False
) -> dict[str, Any]:
    """Return what an index is created with. One that is being built makes nothing visible until it is settled."""
    known = facts(provider, parameters, serverless=serverless)
    dimension = provider.dimension if provider else None
    kept = {"schema": known.schema, "chunker": known.chunker, "model": known.model, "mapping": known.mapping}
    index: dict[str, Any] = {"knn": True} if provider else {}
    if not serverless:
        index |= {"number_of_shards": parameters.shards}
        index |= {"number_of_replicas": 0, "refresh_interval": "-1"} if building else serving_settings(parameters)
    return {
        "settings": {"index": index, "analysis": _analysis(parameters)},
        "mappings": {
            **_mappings(dimension, parameters, serverless),
            "_meta": {"commonplace": kept, "dimension": dimension},
        },
    }


def serving_settings(parameters: IndexParameters) -> dict[str, Any]:
    """The settings of an index that answers, and that can change while it does."""
    return {"number_of_replicas": parameters.replicas, "refresh_interval": parameters.refresh_interval}


def _analysis(parameters: IndexParameters) -> dict[str, Any]:
    """Text comes as terms, or as folded words (`search.analysis`), with spaces between."""
    synonyms = [analysed_rule(rule) for rule in parameters.synonyms]
    filters: dict[str, Any] = {}
    if synonyms:
        filters["synonyms"] = {"type": "synonym_graph", "lenient": True, "synonyms": synonyms}
    alike = ["synonyms"] if synonyms else []
    return {
        "filter": filters,
        "analyzer": {
            "indexed": {"type": "custom", "tokenizer": "whitespace"},
            "asked": {"type": "custom", "tokenizer": "whitespace", "filter": alike},
        },
    }


def analysed_rule(rule: str) -> str:
    """A rule in the terms of the index: `DAO, Café => coffee house` as `dao, cafe => coffe hous`."""
    sides = [", ".join(" ".join(plain_terms(name)) for name in side.split(",")) for side in rule.split("=>")]
    return " => ".join(sides)


def _mappings(dimension: int | None, parameters: IndexParameters, serverless: bool) -> dict[str, Any]:
    chunk: dict[str, Any] = {name: rule.kept for name, rule in CHUNK_RULES.items() if rule.kept is not None}
    chunk |= {rule.words[0]: _WORDS for rule in CHUNK_RULES.values() if rule.words}
    if dimension is not None:
        # HNSW by cosine. Experimental on serverless (NextGen): it chooses the engine itself and compresses by default.
        field: dict[str, Any] = {"type": "knn_vector", "dimension": dimension}
        if serverless:
            field |= {"space_type": "cosinesimil", "compression_level": "1x"}
        else:
            graph = {"m": parameters.m, "ef_construction": parameters.ef_construction}
            method = {"name": "hnsw", "engine": parameters.engine, "space_type": "cosinesimil", "parameters": graph}
            field |= {"method": method}
        chunk["vector"] = field
    properties: dict[str, Any] = {name: rule.kept for name, rule in RECORD_RULES.items() if rule.kept is not None}
    properties |= {
        "deleted": {"type": "boolean"},
        "buried": {"type": "date", "format": "epoch_millis"},
        "embedded": {"type": "boolean"},
        "alias": _EXACT,
        "within": _EXACT,  # the tags and all that they lie in
        "tokens": {"type": "binary", "doc_values": True},  # of fifty at once: as keywords it takes ten times as long
        "names": _EXACT,  # keys of every name (`search.names`), for whoever types one
        "named": _CARRIED,  # the same names as they are written, each after its kind
        "spelling": {"type": "text", "analyzer": "indexed", "norms": False, "index_options": "docs"},
        "labels": {"properties": {rule.words[0]: _WORDS for rule in RECORD_RULES.values() if rule.words}},
        "chunks": {"type": "nested", "properties": chunk},
    }
    # What is only searched is not kept: answers are read from a smaller source.
    unread = ["alias", "within", "names", "named", "spelling", "labels", "tokens", "chunks.headings"]
    return {"dynamic": "strict", "_source": {"excludes": unread}, "properties": properties}


def document_key(record: RecordId) -> str:
    """The `_id` of a record: its id, or a hash of it when it is longer than OpenSearch takes."""
    encoded = record.encode("utf-8", "replace")
    return record if 0 < len(encoded) <= MAX_ID_BYTES else "sha256-" + hashlib.sha256(encoded).hexdigest()


def external_version(version: int, code: int) -> int:
    return version * 4 + code


def live_version(external: int) -> int | None:
    """The record's version in an external one; None for a tombstone."""
    return None if external % 4 == BURIED else external // 4


def check_vectors(indexed: IndexedRecord) -> None:
    """Raises ValueError when there are vectors, and not one for each chunk."""
    if indexed.vectors and len(indexed.vectors) != len(indexed.record.chunks):
        raise ValueError(f"{len(indexed.vectors)} vectors for {len(indexed.record.chunks)} chunks")


def written(indexed: IndexedRecord, *, with_vectors: bool) -> tuple[int, dict[str, Any]]:
    """The external version and the source of a live record. In an index without vectors every record is just live."""
    record = indexed.record
    embedded = with_vectors and len(indexed.vectors) == len(record.chunks)
    vectors: Sequence[Vector | None] = indexed.vectors if embedded else [None] * len(record.chunks)
    names = list(names_of(record))
    packed = b"".join(struct.pack("<I", len(part)) + part for part in indexed.tokens[:MOST_CHUNKS])
    source = {name: getattr(record, name) for name in SHOWN_FIELDS}
    if len(record.chunks) > MOST_CHUNKS:
        logger.warning("a record is indexed without its last chunks", extra={"record": record.id})
    chunks: list[dict[str, Any]] = []
    for chunk, vector in zip(record.chunks[:MOST_CHUNKS], vectors[:MOST_CHUNKS], strict=True):
        chunks.append({name: getattr(chunk, name) for name, rule in CHUNK_RULES.items() if rule.kept is not None})
        chunks[-1] |= {"headings": _words_of(chunk.heading_path), "words": " ".join(terms(plain(chunk.text)))}
        chunks[-1] |= {"vector": Numbers(vector)} if vector is not None and usable(vector) else {}
    found: dict[str, None] = {}
    for text in _texts(record):
        found |= dict.fromkeys(words(text))
        if len(found) >= MOST_DISTINCT_WORDS:
            break
    source |= {
        "deleted": False,
        "embedded": embedded or not with_vectors,
        "names": list(dict.fromkeys(key for kind, name in names for key in name_keys(name, kind))),
        "named": [kind + name for kind, name in names if len(name) <= LONGEST_NAME],
        "labels": {
            rule.words[0]: _words_of(getattr(record, name)) for name, rule in RECORD_RULES.items() if rule.words
        },
        "chunks": chunks,
        "alias": record.aliases,
        "within": [*record.tags, *record.tag_parents],
        "tokens": b64encode(packed).decode("ascii") if packed else None,
        "spelling": " ".join(list(found)[:MOST_DISTINCT_WORDS]),
    }
    kept = {name: value for name, value in source.items() if value is not None}
    return external_version(record.version, EMBEDDED if embedded else LIVE), kept


def buried(gone: Tombstone, now_ms: int) -> tuple[int, dict[str, Any]]:
    """The external version and the source of a tombstone: without words, names and vectors nothing finds it."""
    source = {"id": gone.id, "version": gone.version, "deleted": True, "buried": now_ms}
    return external_version(gone.version, BURIED), source


def usable(vector: Vector) -> bool:
    """Return whether it has a direction: OpenSearch refuses zero vectors and those with a number that is none."""
    length = math.fsum(value * value for value in vector)
    return 0.0 < length < math.inf


def record_of(source: Mapping[str, Any]) -> Record:
    """The record as it was written, without body and chunks."""
    values: dict[str, Any] = {name: source.get(name) for name in SHOWN_FIELDS}
    values |= {name: tuple(values[name] or ()) for name in ("tags", "aliases", "roles", "authors")} | {
        "body": "",
        "chunks": (),
    }
    return Record(**values)


def chunk_of(source: Mapping[str, Any]) -> Chunk:
    return Chunk(source["ordinal"], tuple(source["heading_path"]), source["text"])


def unpacked(value: str) -> tuple[bytes, ...]:
    """Return what is kept of the tokens of each chunk, out of a doc value: base64 of parts, each after its length."""
    whole, at, parts = b64decode(value + "=="), 0, []  # it comes without padding
    while at < len(whole):
        (length,) = struct.unpack_from("<I", whole, at)
        parts.append(whole[at + 4 : at + 4 + length])
        at += 4 + length
    return tuple(parts)


def _words_of(value: str | Sequence[str] | None) -> str:
    return " ".join(terms(value if isinstance(value, str) else "\n".join(value or ())))


def _texts(record: Record) -> Iterator[str]:
    yield from (record.title, record.description or "", *record.aliases, *record.tags, *record.authors)
    for chunk in record.chunks[:MOST_CHUNKS]:
        yield from (*chunk.heading_path, plain(chunk.text))
