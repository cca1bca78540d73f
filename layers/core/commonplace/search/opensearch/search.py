"""Reads of an index: several queries in one request, hits, suggestions, ranks, and every record."""

import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any
from zlib import crc32

from commonplace.search.analysis import terms
from commonplace.search.model import Found, LegHit, Record, RecordId
from commonplace.search.names import grade
from commonplace.search.opensearch import queries
from commonplace.search.opensearch.bulk import refresh_index
from commonplace.search.opensearch.client import WRITE_SECONDS, Numbers, OpenSearchClient, Refused, item_failure
from commonplace.search.opensearch.mapping import (
    SHOWN_CHUNK_FIELDS,
    SHOWN_FIELDS,
    chunk_of,
    document_key,
    live_version,
    record_of,
    unpacked,
)
from commonplace.search.opensearch.queries import IDS_ONLY, LIVE
from commonplace.search.opensearch.queries import Query as Body
from commonplace.search.query import Query
from commonplace.search.spelling import MOST_WORDS, SHORTEST_WORD, TRIED, correctable, suggest

# What of an answer is read: the rest is not sent.
_RANKED = (
    "responses.hits.total.value,responses.hits.hits.sort,responses.hits.hits.fields,"
    "responses.suggest,responses.error,responses.status"
)

_SHOWN = "hits.hits._source,hits.hits.inner_hits.*.hits.hits._source"
MOST_SHOWN = 100

PROPOSALS = 2 * TRIED
"""For each word, most alike first: some of them are words of what the caller cannot find."""

Proposals = Mapping[str, Mapping[str, int]]
"""For each word that is nowhere in the index what may be meant, and how many records have it."""

MOST_NEIGHBOURS = 10_000
"""As many records OpenSearch compares with a vector: a rank beyond them is reported as the one after them."""

PAGE = 5_000
KEPT_OPEN = "2m"
MOST_KEYS = 1_000


def multi_search(client: OpenSearchClient, index: str, bodies: Sequence[Body], text: str) -> list[dict[str, Any]]:
    """The answers to all of them, in order. An error of one of them is raised: `_msearch` itself answers 200."""
    # The same query goes to the same copies of the index each time: copies score a little differently.
    preference = f"query-{crc32(text.encode('utf-8', 'replace')):08x}"
    header = {"index": index, "preference": preference, "allow_partial_search_results": False}
    lines = [part for body in bodies for part in (header, body)]
    answers: list[dict[str, Any]] = client.msearch(body=lines, filter_path=_RANKED)["responses"]
    for answer in answers:
        if "error" in answer:
            raise item_failure(answer["error"], int(answer.get("status", 500)))
    return answers


def hits(answer: Mapping[str, Any]) -> list[LegHit]:
    """The hits of `queries.ranked`, with the scores of the engine."""
    found = answer.get("hits", {}).get("hits", ())
    return [LegHit(hit["sort"][1], hit["sort"][0], None, hit["sort"][2]) for hit in found]


def similar(answer: Mapping[str, Any], floor: float) -> list[LegHit]:
    """The hits of a vector leg with their cosines, without those below the floor."""
    found: list[LegHit] = []
    for hit in answer.get("hits", {}).get("hits", ()):
        score, record, fingerprint, _ = hit["sort"]
        cosine = cosine_of(score)
        if cosine < floor:
            break
        found.append(LegHit(record, cosine, None, fingerprint))
    return found


def named(answer: Mapping[str, Any], query: Query) -> list[LegHit]:
    """The hits of `queries.names_of`, graded by how exactly the query names each."""
    found: list[LegHit] = []
    for hit in answer.get("hits", {}).get("hits", ()):
        fields = hit["fields"]
        if best := grade(query, [(name[0], name[1:]) for name in fields.get("named", ())]):
            fingerprint = next(iter(fields.get("fingerprint", ())), None)
            found.append(LegHit(RecordId(fields["id"][0]), best, None, fingerprint))
    return sorted(found, key=lambda hit: -hit.score)


def versions(answers: Sequence[Mapping[str, Any]]) -> list[tuple[RecordId, int]]:
    """Return the versions of all hits of `queries.ranked` and `queries.names_of`."""
    hits = [hit for answer in answers for hit in answer.get("hits", {}).get("hits", ())]
    return [
        (hit["sort"][1], hit["sort"][3]) if "sort" in hit else (hit["fields"]["id"][0], hit["fields"]["version"][0])
        for hit in hits
    ]


def total(answer: Mapping[str, Any]) -> int:
    """Return how many records match, exactly."""
    return int(answer["hits"]["total"]["value"])


def cosine_of(score: float) -> float:
    """Return the cosine of OpenSearch's score of `cosinesimil`, which is (1 + cosine) / 2."""
    return 2.0 * score - 1.0


def fetch(
    client: OpenSearchClient,
    index: str,
    wanted: Sequence[RecordId],
    *,
    query: Query,
    vector: Numbers | None,
    ef_search: int,
) -> dict[RecordId, Found]:
    """Those of the wanted records that are there, each with its best chunk. Raises Refused when the index is gone."""
    found: dict[RecordId, Found] = {}
    for start in range(0, len(wanted), MOST_SHOWN):
        body = queries.details(wanted[start : start + MOST_SHOWN], query, vector, ef_search)
        answer = client.search(index=index, body=body, filter_path=_SHOWN)
        for hit in answer.get("hits", {}).get("hits", ()):
            record, inner = record_of(hit["_source"]), hit["inner_hits"]
            # The best chunk for the words, else the nearest.
            best = [part for leg in ("words", "vector") for part in inner.get(leg, {}).get("hits", {}).get("hits", ())]
            found[record.id] = Found(record, chunk_of(best[0]["_source"]) if best else None)
    return found


def sources(client: OpenSearchClient, index: str, ids: Sequence[RecordId]) -> dict[RecordId, Record]:
    """Those of the records that are there, with their chunks. Raises Refused when the index is gone."""
    found: dict[RecordId, Record] = {}
    for start in range(0, len(ids), MOST_SHOWN):
        part = ids[start : start + MOST_SHOWN]
        query = {"bool": {"filter": [queries.these(part), LIVE]}}
        body = {"size": len(part), "_source": [*SHOWN_FIELDS, *SHOWN_CHUNK_FIELDS], "query": query}
        answer = client.search(index=index, body=body, filter_path="hits.hits._source")
        for hit in answer.get("hits", {}).get("hits", ()):
            source = hit["_source"]
            chunks = tuple(map(chunk_of, source.get("chunks", ())))
            found[RecordId(source["id"])] = replace(record_of(source), chunks=chunks)
    return found


def shown(source: Record, ordinal: int) -> Found:
    """The record without its chunks, and the one of this ordinal, else the first."""
    chunk = next((chunk for chunk in source.chunks if chunk.ordinal == ordinal), next(iter(source.chunks), None))
    return Found(replace(source, chunks=()), chunk)


def tokens(
    client: OpenSearchClient, index: str, ids: Sequence[RecordId]
) -> dict[RecordId, tuple[int, tuple[bytes, ...]]]:
    """Version, and token ids of the chunks, of those of the records that are there and have them."""
    answer = client.search(index=index, body=queries.tokens_of(ids), filter_path="hits.hits.fields")
    hits = [hit["fields"] for hit in answer.get("hits", {}).get("hits", ())]
    return {
        RecordId(fields["id"][0]): (fields["version"][0], unpacked(fields["tokens"][0]))
        for fields in hits
        if "tokens" in fields
    }


def suggester(query: Query) -> Body:
    """The part of a body that asks for proposals; empty when no word is worth it.

    The suggester reads the dictionary of the whole index, where words of removed and of filtered-out records stay. So
    `suggestions` looks for each proposed word under the request's own filters; and a word that is found in another form
    (`governs`, where texts say `governing`) is not misspelt.
    """
    checked = [word for word in query.words if correctable(word)]
    if not checked:
        return {}
    near = {"field": "spelling", "suggest_mode": "missing", "size": PROPOSALS, "min_word_length": SHORTEST_WORD}
    near["prefix_length"] = 0  # the first letter may be wrong, too
    return {"suggest": {"text": " ".join(checked), "near": {"term": near}}}


def proposals(answer: Mapping[str, Any]) -> Proposals:
    """Return what the suggester said of each word."""
    entries = answer.get("suggest", {}).get("near", ())
    return {
        item["text"]: {option["text"]: option["freq"] for option in item["options"]}
        for item in entries
        if item.get("options")
    }


def suggestions(
    client: OpenSearchClient, index: str, query: Query, proposed: Proposals, where: Sequence[Body]
) -> tuple[str, ...]:
    """The query with its misspelt words put right, best first; one request, and none without proposals."""
    if not 0 < len(proposed) <= MOST_WORDS:
        return ()
    options = list(dict.fromkeys(option for near in proposed.values() for option in near))
    bodies = [_any(queries.lexical(terms(word), ())) for word in proposed]
    bodies += [_any({"bool": {"filter": [{"term": {"spelling": word}}, *where]}}) for word in options]
    answers = multi_search(client, index, bodies, " ".join(proposed))
    found = [total(answer) > 0 for answer in answers]
    misspelt = [word for word, there in zip(proposed, found, strict=False) if there]
    reachable = [word for word, there in zip(options, found[len(proposed) :], strict=True) if there]
    return suggest(query, _Checked(proposed, frozenset(misspelt), frozenset(reachable)))


@dataclass(frozen=True, slots=True)
class _Checked:
    """`search.spelling.Vocabulary` for the words of one query, all of them looked for at once."""

    proposed: Proposals
    in_other_forms: frozenset[str]
    reachable: frozenset[str]

    def known(self, word: str) -> bool:
        return word not in self.proposed or word in self.in_other_forms

    def near(self, word: str, *, anywhere: bool = False) -> Iterable[tuple[str, int]]:
        proposed = self.proposed[word].items()
        return proposed if anywhere else [(near, records) for near, records in proposed if near[0] in word[:2]]

    def findable(self, word: str) -> bool:
        return word in self.reachable


def _any(query: Body) -> Body:
    return {"size": 0, "track_total_hits": 1, "query": query}


def admitted(client: OpenSearchClient, index: str, record: RecordId, where: Sequence[Body]) -> bool:
    """Return whether the filters let the record through."""
    query = {"bool": {"filter": [queries.these([record]), queries.LIVE, *where]}}
    (answer,) = multi_search(client, index, [queries.counted(query)], record)
    return total(answer) > 0


def rank_by_words(
    client: OpenSearchClient, index: str, record: RecordId, query: Query, where: Sequence[Body]
) -> tuple[int, float] | None:
    """Rank from 1 and score among all records with the words; ties stand in the order of their ids."""
    alone = queries.lexical(query.terms, [queries.these([record]), *where])
    return _rank(client, index, record, queries.lexical(query.terms, where), alone)


def rank_by_vector(
    client: OpenSearchClient, index: str, record: RecordId, vector: Numbers, where: Sequence[Body]
) -> tuple[int, float] | None:
    """Rank from 1 and cosine among the nearest records, of which at most `MOST_NEIGHBOURS` are compared."""
    query = queries.nearest(vector, where, MOST_NEIGHBOURS, MOST_NEIGHBOURS)
    alone = queries.nearest(vector, [queries.these([record]), *where], 1, 1)
    found = _rank(client, index, record, query, alone)
    return (found[0], cosine_of(found[1])) if found else None


def _rank(client: OpenSearchClient, index: str, record: RecordId, query: Body, alone: Body) -> tuple[int, float] | None:
    """Return one more than what scores higher, or the same under an earlier id, and the record's score in `alone`."""
    (answer,) = multi_search(client, index, [queries.ranked(alone, 1, counted=False)], record)
    if not (found := hits(answer)):
        return None
    score = found[0].score
    earlier = {"bool": {"must": [query], "filter": [{"range": {"id": {"lt": record}}}]}}
    above = _next_above(score)
    bodies = [
        queries.counted(query, least=above),
        queries.counted(earlier, least=score),
        queries.counted(earlier, least=above),
    ]
    higher, earlier_or_higher, earlier_and_higher = map(total, multi_search(client, index, bodies, record))
    return 1 + higher + earlier_or_higher - earlier_and_higher, score


def _next_above(score: float) -> float:
    """The next 32-bit number: scores are such, and are returned as decimals that only just distinguish them."""
    if not math.isfinite(score) or score < 0:
        return score
    (bits,) = struct.unpack("<I", struct.pack("<f", score))
    (above,) = struct.unpack("<f", struct.pack("<I", bits + 1))
    return float(above)


def live(
    client: OpenSearchClient, index: str, *, waiting: bool = False, page: int = PAGE
) -> Iterator[tuple[RecordId, int]]:
    """Ids and versions of the live records by id; with `waiting` of those without vectors."""
    refresh_index(client, index)
    only: list[Body] = [LIVE] + ([{"term": {"embedded": False}}] if waiting else [])
    pit = client.create_pit(index=index, keep_alive=KEPT_OPEN)["pit_id"]
    body: dict[str, Any] = {
        **IDS_ONLY,
        "size": page,
        "query": {"bool": {"filter": only}},
        "sort": [{"id": "asc"}, {"version": "asc"}],
        "track_total_hits": False,
        "pit": {"id": pit, "keep_alive": KEPT_OPEN},
    }
    try:
        while True:
            answer = client.search(
                body=body,
                filter_path="hits.hits.sort",
                allow_partial_search_results=False,
                request_timeout=WRITE_SECONDS,
            )
            found = answer.get("hits", {}).get("hits", ())
            yield from ((RecordId(hit["sort"][0]), hit["sort"][1]) for hit in found)
            if len(found) < page:
                return
            body["search_after"] = found[-1]["sort"]
    finally:
        client.delete_pit(body={"pit_id": [pit]})


def held(client: OpenSearchClient, index: str, ids: Sequence[RecordId]) -> dict[RecordId, int]:
    """Versions of those of the ids that are live. Of now: a write that no search finds yet is included."""
    found: dict[RecordId, int] = {}
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), MOST_KEYS):
        part = distinct[start : start + MOST_KEYS]
        wanted = {"ids": [document_key(record) for record in part]}
        answer = client.mget(index=index, body=wanted, _source=False)
        for record, document in zip(part, answer["docs"], strict=True):
            version = live_version(document["_version"]) if document.get("found") else None
            if version is not None:
                found[record] = version
    return found


_COUNTS = (
    "indices.*.shards.*.routing.node,indices.*.shards.*.seq_no.max_seq_no,indices.*.shards.*.refresh.external_total"
)


def counts(client: OpenSearchClient, index: str) -> str | None:
    """Writes and refreshes of every copy of every shard, as text; None when the index is gone.

    A write is not found before its shard is refreshed, and an idle shard is refreshed only when it is searched.
    """
    try:
        told = client.indices.stats(index=index, metric="refresh", level="shards", filter_path=_COUNTS)
    except Refused as refused:
        if not refused.is_gone:
            raise
        return None
    return blake2b(f"{index}{json.dumps(told, sort_keys=True)}".encode(), digest_size=16).hexdigest()


def count(client: OpenSearchClient, index: str) -> int:
    """Live records that searches find."""
    return int(client.count(index=index, body={"query": LIVE})["count"])
