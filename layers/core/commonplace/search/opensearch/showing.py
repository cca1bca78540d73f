"""What is shown of a hit: the record without its body, its matched chunk, and which words matched there."""

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.search.model import Chunk, Found, RecordId
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.connection import Connection
from commonplace.search.opensearch.documents import chunk_of, record_of
from commonplace.search.opensearch.queries import Words
from commonplace.search.opensearch.wire import Numbers

_READ = "hits.hits._source,hits.hits.inner_hits.*.hits.hits._source,hits.hits.inner_hits.*.hits.hits.highlight"
MOST_AT_ONCE = 100


def show(
    connection: Connection,
    index: str,
    wanted: Sequence[tuple[RecordId, int | None]],
    *,
    words: Words | None,
    vector: Numbers | None,
    ef_search: int,
) -> dict[RecordId, Found]:
    """Those of the wanted records that are there. Raises Refused when the index is gone."""
    found: dict[RecordId, Found] = {}
    for start in range(0, len(wanted), MOST_AT_ONCE):
        part = dict(wanted[start : start + MOST_AT_ONCE])
        ordinals = sorted({ordinal for ordinal in part.values() if ordinal is not None})
        body = queries.details(list(part), words, vector, ordinals, ef_search)
        answer = connection.call("POST", f"/{index}/_search", body, params={"filter_path": _READ})
        for hit in answer.get("hits", {}).get("hits", ()):
            record = record_of(hit["_source"])
            found[record.id] = Found(record, *_chunk(hit["inner_hits"], part.get(record.id)))
    return found


def _chunk(inner: Mapping[str, Any], ordinal: int | None) -> tuple[Chunk | None, tuple[str, ...]]:
    """The chunk of the wanted ordinal, else the best for the words, else the nearest."""
    for name in (f"at-{ordinal}", "words", "vector"):
        for hit in inner.get(name, {}).get("hits", {}).get("hits", ()):
            return chunk_of(hit["_source"]), _matched(hit)
    return None, ()


def _matched(hit: Mapping[str, Any]) -> tuple[str, ...]:
    fragments = hit.get("highlight", {}).get("chunks.words", ())
    return tuple(dict.fromkeys(word for fragment in fragments for word in _marked(fragment)))


def _marked(fragment: str) -> list[str]:
    return [part.split(queries.UNMARK)[0] for part in fragment.split(queries.MARK)[1:]]
