"""Where one record stands in the legs of a query, however deep: for explaining a search."""

import math
import struct
from collections.abc import Sequence

from commonplace.search.model import RecordId
from commonplace.search.opensearch import legs, queries
from commonplace.search.opensearch.connection import Connection
from commonplace.search.opensearch.queries import Query, Words
from commonplace.search.opensearch.wire import Numbers

MOST_NEIGHBOURS = 10_000
"""As many records OpenSearch compares with a vector: a rank beyond them is told as the one after them."""


def admitted(connection: Connection, index: str, record: RecordId, where: Sequence[Query]) -> bool:
    """Whether the filters let the record through."""
    query = {"bool": {"filter": [queries.these([record]), queries.LIVE, *where]}}
    (answer,) = legs.ask(connection, index, [queries.counted(query)], record)
    return legs.total(answer) > 0


def in_words(
    connection: Connection, index: str, record: RecordId, words: Words, where: Sequence[Query]
) -> tuple[int, float] | None:
    """Rank from 1 and score among all records with the words; ties stand in the order of their ids."""
    query = queries.lexical(words, where)
    score = _score(connection, index, record, queries.lexical(words, [queries.these([record]), *where]))
    if score is None:
        return None
    return _rank(connection, index, record, query, score), score


def in_meaning(
    connection: Connection, index: str, record: RecordId, vector: Numbers, where: Sequence[Query]
) -> tuple[int, float] | None:
    """Rank from 1 and cosine among the nearest records, of which at most `MOST_NEIGHBOURS` are compared."""
    query = queries.nearest(vector, where, MOST_NEIGHBOURS, MOST_NEIGHBOURS)
    alone = queries.nearest(vector, [queries.these([record]), *where], 1, 1)
    score = _score(connection, index, record, alone)
    if score is None:
        return None
    return _rank(connection, index, record, query, score), legs.cosine_of(score)


def _score(connection: Connection, index: str, record: RecordId, query: Query) -> float | None:
    (answer,) = legs.ask(connection, index, [queries.ranked(query, 1, counted=False)], record)
    found = legs.hits(answer)
    return found[0].score if found else None


def _rank(connection: Connection, index: str, record: RecordId, query: Query, score: float) -> int:
    """One more than what scores higher, or the same under an earlier id."""
    earlier = {"bool": {"must": [query], "filter": [{"range": {"id": {"lt": record}}}]}}
    above = _next_above(score)
    bodies = [
        queries.counted(query, least=above),
        queries.counted(earlier, least=score),
        queries.counted(earlier, least=above),
    ]
    higher, earlier_or_higher, earlier_and_higher = map(legs.total, legs.ask(connection, index, bodies, record))
    return 1 + higher + earlier_or_higher - earlier_and_higher


def _next_above(score: float) -> float:
    """The next 32-bit number: scores are such, and are told as decimals that only just tell them apart."""
    if not math.isfinite(score) or score < 0:
        return score
    (bits,) = struct.unpack("<I", struct.pack("<f", score))
    (above,) = struct.unpack("<f", struct.pack("<I", bits + 1))
    return float(above)
