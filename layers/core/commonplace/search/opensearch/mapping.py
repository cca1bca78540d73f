"""The index as OpenSearch is told of it, made from the fields of `Record` and `Chunk`, and the facts it is known by."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.search.chunks import CHUNKER_VERSION
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.generations import Facts
from commonplace.search.model import EmbeddingProvider
from commonplace.search.opensearch.parameters import IndexParameters, folded_rule
from commonplace.search.text import STOP_WORDS

SCHEMA_VERSION = "2"
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


@dataclass(frozen=True, slots=True)
class Rule:
    """How a field is kept. `words` names the analysed copy of it and its weight among its kind."""

    kept: Property | None
    words: tuple[str, float] | None = None


RECORD_RULES: Mapping[str, Rule] = {
    "id": Rule(_EXACT),
    "version": Rule({"type": "long"}),
    "content_type": Rule(_EXACT),
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
    "body": Rule(None),  # its chunks hold it
    "chunks": Rule(None),  # nested, by CHUNK_RULES
    "fingerprint": Rule(_CARRIED),
    "organisation": Rule(_EXACT),
    "roles": Rule(_EXACT),
    "confidence": Rule({"type": "double"}),
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
    """What an index of this model under these parameters is known by."""
    model = model_fingerprint(provider) if provider else LEXICAL_ONLY
    dimension = provider.dimension if provider else None
    told = [_mappings(dimension, parameters, serverless), _analysis(parameters), parameters.shards]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return Facts(SCHEMA_VERSION, CHUNKER_VERSION, model, digest[:16])


def index_body(
    provider: EmbeddingProvider | None, parameters: IndexParameters, *, serverless: bool = False, building: bool = False
) -> dict[str, Any]:
    """What an index is created with. One that is being built makes nothing visible until it is settled."""
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
    """English, spelled out. Text comes folded and without punctuation (`documents.searchable`), so tokens are words.

    Stop words are indexed, and taken out of a query unless it has nothing else: `asked_plainly` keeps them.
    """
    synonyms = [folded_rule(rule) for rule in parameters.synonyms]
    filters: dict[str, Any] = {
        "stem": {"type": "stemmer", "language": "english"},
        "telling": {"type": "stop", "stopwords": sorted(STOP_WORDS)},
    }
    if synonyms:
        filters["synonyms"] = {"type": "synonym_graph", "lenient": True, "synonyms": synonyms}
    alike = ["synonyms"] if synonyms else []
    return {
        "filter": filters,
        "analyzer": {
            "indexed": {"type": "custom", "tokenizer": "standard", "filter": ["stem"]},
            "asked": {"type": "custom", "tokenizer": "standard", "filter": [*alike, "telling", "stem"]},
            "asked_plainly": {"type": "custom", "tokenizer": "standard", "filter": [*alike, "stem"]},
            "spelt": {"type": "custom", "tokenizer": "standard", "filter": []},
        },
    }


def _mappings(dimension: int | None, parameters: IndexParameters, serverless: bool) -> dict[str, Any]:
    chunk: dict[str, Any] = {name: rule.kept for name, rule in CHUNK_RULES.items() if rule.kept is not None}
    chunk |= {rule.words[0]: _WORDS for rule in CHUNK_RULES.values() if rule.words}
    if dimension is not None:
        chunk["vector"] = _vector(dimension, parameters, serverless)
    properties: dict[str, Any] = {name: rule.kept for name, rule in RECORD_RULES.items() if rule.kept is not None}
    properties |= {
        "deleted": {"type": "boolean"},
        "buried": {"type": "date", "format": "epoch_millis"},
        "embedded": {"type": "boolean"},
        "names": _EXACT,  # keys of the title and the aliases, for whoever types a name
        "named": _CARRIED,  # the same names as they are written, each after `t` (title) or `a` (alias)
        "spelling": {"type": "text", "analyzer": "spelt", "norms": False, "index_options": "docs"},
        "labels": {"properties": {rule.words[0]: _WORDS for rule in RECORD_RULES.values() if rule.words}},
        "chunks": {"type": "nested", "properties": chunk},
    }
    # What is only searched is not kept: answers are read from a smaller source.
    unread = ["names", "named", "spelling", "labels", "chunks.headings"]
    return {"dynamic": "strict", "_source": {"excludes": unread}, "properties": properties}


def _vector(dimension: int, parameters: IndexParameters, serverless: bool) -> dict[str, Any]:
    """HNSW by cosine. Experimental on serverless (NextGen): it chooses the engine itself and compresses unless told."""
    field: dict[str, Any] = {"type": "knn_vector", "dimension": dimension}
    if serverless:
        return field | {"space_type": "cosinesimil", "compression_level": "1x"}
    graph = {"m": parameters.m, "ef_construction": parameters.ef_construction}
    return field | {
        "method": {
            "name": "hnsw",
            "engine": parameters.engine,
            "space_type": "cosinesimil",
            "parameters": graph,
        }
    }
