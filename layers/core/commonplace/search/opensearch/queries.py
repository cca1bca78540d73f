"""Queries in the OpenSearch DSL. Filters go inside every leg: around one they lose hits.

A tombstone has no words, no names and no vectors. So only lists have to leave it out by a condition of their own.
"""

from collections.abc import Sequence
from typing import Any

from commonplace.search.filters import Filters
from commonplace.search.model import Position, RecordId
from commonplace.search.names import query_keys
from commonplace.search.opensearch.client import Numbers
from commonplace.search.opensearch.mapping import (
    CHUNK_FIELDS,
    LABEL_FIELDS,
    SHOWN_CHUNK_FIELDS,
    SHOWN_FIELDS,
    document_key,
)
from commonplace.search.query import Query as QueryTerms

Query = dict[str, Any]

MOST_NAMED = 200

IDS_ONLY: Query = {"stored_fields": "_none_", "_source": False}
LIVE: Query = {"term": {"deleted": False}}
FIRST: Query = {"term": {"chunks.ordinal": 0}}

BARELY = 1e-9
"""The score of a first chunk that is shown because none has the words."""


def conditions(filters: Filters) -> list[Query]:
    """`Filters` as clauses that all have to hold."""
    alternatives = (
        ("content_type", filters.content_types),
        ("group", filters.groups),
        ("release", filters.releases),
        ("status", filters.statuses),
        ("authors", filters.authors),
        ("alias", filters.aliases),
        ("within", filters.tags_any),
        ("roles", filters.roles_any),
    )
    found: list[Query] = [{"terms": {name: list(values)}} for name, values in alternatives if values]
    owners: list[Query] = [{"term": {"organisation": filters.organisation}}] if filters.organisation is not None else []
    owners += [{"term": {"public": True}}] if filters.or_public else []
    if owners:
        found.append(owners[0] if len(owners) == 1 else {"bool": {"should": owners, "minimum_should_match": 1}})
    if filters.valid_at is not None:
        bounds = (("valid_from", "gt"), ("valid_until", "lte"))
        outside = [{"range": {name: {beyond: filters.valid_at}}} for name, beyond in bounds]
        found.append({"bool": {"must_not": outside}})  # a record without the bound is in no range
    found += [{"term": {"within": tag}} for tag in dict.fromkeys(filters.tags_all)]
    if filters.min_confidence is not None:
        found.append({"range": {"confidence": {"gte": filters.min_confidence}}})
    ranges = (("date", filters.date_from, filters.date_to), ("created_at", filters.created_from, filters.created_to))
    for name, begin, end in ranges:
        if begin:
            found.append({"range": {name: {"gte": begin}}})
        if end:
            # Text order: a day, month or year given as the end is meant whole, so whatever begins with it is before it.
            found.append({"range": {name: {"lte": end + "\U0010ffff"}}})
    if prefix := (filters.path_prefix or "").strip("/"):
        inside = [{"term": {"path": prefix}}, {"prefix": {"path": prefix + "/"}}]
        found.append({"bool": {"should": inside, "minimum_should_match": 1}})
    return found


def lexical(terms: Sequence[str], where: Sequence[Query]) -> Query:
    """Records with one of the words: labels as one text, and the best chunk on top of it."""
    labels = _as_one_text(terms, LABEL_FIELDS)
    return {
        "bool": {
            "filter": list(where),
            "should": [labels, _chunks(_as_one_text(terms, CHUNK_FIELDS))],
            "minimum_should_match": 1,
        }
    }


def nearest(vector: Numbers, where: Sequence[Query], k: int, ef_search: int) -> Query:
    """Records by their nearest chunk. `k` counts records; the score is (1 + cosine) / 2."""
    return _chunks(_knn(vector, where, k, ef_search))


def named(query: QueryTerms, where: Sequence[Query]) -> Query:
    """Records whose title or an alias may be the query, or its subject, or that have an identifier of it; those with
    more of its words before others."""
    keys = {"terms": {"names": list(query_keys(query))}}
    words = lexical(query.terms, ()) if query.terms else {"match_all": {}}
    return {"bool": {"filter": [keys, *where], "should": [words]}}


def ranked(query: Query, size: int, *, counted: bool, after: Position | None = None) -> Query:
    """The body of a leg: scores, ids, fingerprints and versions as sort values, which cost no look at a document."""
    body: Query = {
        **IDS_ONLY,
        "size": size,
        "query": query,
        "track_total_hits": counted,
        "sort": [
            {"_score": "desc"},
            {"id": "asc"},
            {"fingerprint": {"order": "asc", "missing": "_first"}},
            {"version": "asc"},
        ],
    }
    # The last hit itself compares equal in score and id: no fingerprint, which is hexadecimal, comes after this value.
    return body | ({"search_after": [after.score, after.id, "g", 0]} if after else {})


def names_of(query: Query) -> Query:
    """The body of the leg of names: ids, versions, fingerprints, and the names as they are written."""
    carried = ["id", "version", "fingerprint", "named"]
    return {**IDS_ONLY, "size": MOST_NAMED, "query": query, "docvalue_fields": carried}


def tokens_of(ids: Sequence[RecordId]) -> Query:
    """The body that reads the token ids of these records, as doc values: the source has all their vectors."""
    mine = {"bool": {"filter": [these(ids)]}}
    return {**IDS_ONLY, "size": len(ids), "query": mine, "docvalue_fields": ["id", "version", "tokens"]}


def counted(query: Query, *, least: float | None = None) -> Query:
    """The body that counts what scores at least so much."""
    body: Query = {"size": 0, "track_total_hits": True, "query": query}
    return body | ({"min_score": least} if least is not None else {})


def these(ids: Sequence[RecordId]) -> Query:
    """The records of these ids."""
    return {"ids": {"values": [document_key(record) for record in ids]}}


def details(ids: Sequence[RecordId], query: QueryTerms, vector: Numbers | None, ef_search: int) -> Query:
    """The body that reads what is shown of these records: each with its best chunk for the words, and its nearest to
    the vector. Without a vector a record without the words comes with its first chunk.
    """
    mine = these(ids)
    clauses: list[Query] = []
    if query.terms:
        chunk = _as_one_text(query.terms, CHUNK_FIELDS)
        # With a vector the nearest chunk is shown where no chunk has the words.
        first = {"constant_score": {"filter": FIRST, "boost": BARELY}}
        clauses.append(_shown(chunk if vector else {"bool": {"should": [chunk, first]}}, "words"))
    if vector:
        clauses.append(_shown(_knn(vector, [mine], len(ids), ef_search), "vector"))
    if not query.terms and not vector:
        clauses.append(_shown(FIRST, "words"))
    return {"size": len(ids), "_source": SHOWN_FIELDS, "query": {"bool": {"filter": [mine, LIVE], "should": clauses}}}


def _as_one_text(terms: Sequence[str], fields: Sequence[str]) -> Query:
    return {"combined_fields": {"query": " ".join(terms), "fields": list(fields)}}


def _knn(vector: Numbers, where: Sequence[Query], k: int, ef_search: int) -> Query:
    near: Query = {"vector": vector, "k": k, "method_parameters": {"ef_search": max(ef_search, k)}}
    if where:
        near["filter"] = {"bool": {"filter": list(where)}}
    return {"knn": {"chunks.vector": near}}


def _chunks(query: Query) -> Query:
    return {"nested": {"path": "chunks", "score_mode": "max", "query": query}}


def _shown(query: Query, name: str) -> Query:
    shown: Query = {"name": name, "size": 1, "_source": SHOWN_CHUNK_FIELDS}
    return {"nested": {"path": "chunks", "score_mode": "max", "query": query, "inner_hits": shown}}
