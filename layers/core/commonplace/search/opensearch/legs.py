"""Asking several questions of one index in one request, and reading rankings out of the answers."""

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from commonplace.search.model import LegHit, RecordId
from commonplace.search.names import grade
from commonplace.search.opensearch import wire
from commonplace.search.opensearch.connection import Connection, item_failure
from commonplace.search.opensearch.queries import Query

# What of an answer is read: the rest is not sent.
_READ = {
    "filter_path": (
        "responses.hits.total.value,responses.hits.hits.sort,responses.hits.hits.fields,"
        "responses.suggest,responses.error,responses.status"
    )
}


def preference(text: str) -> str:
    """Sends a query to the same copies of the index each time: copies score a little differently."""
    return f"query-{crc32(text.encode('utf-8', 'replace')):08x}"


def ask(connection: Connection, index: str, bodies: Sequence[Query], text: str) -> list[dict[str, Any]]:
    """The answers to all of them, in order. An error of one of them is raised: `_msearch` itself answers 200."""
    header = {"index": index, "preference": preference(text), "allow_partial_search_results": False}
    request = wire.lines(part for body in bodies for part in (header, body))
    answers: list[dict[str, Any]] = connection.call("POST", "/_msearch", request, params=_READ)["responses"]
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
        score, record, fingerprint = hit["sort"]
        cosine = cosine_of(score)
        if cosine < floor:
            break
        found.append(LegHit(record, cosine, None, fingerprint))
    return found


def named(answer: Mapping[str, Any], text: str) -> list[LegHit]:
    """The hits of `queries.names_of`, graded by how exactly the query names each."""
    found: list[LegHit] = []
    for hit in answer.get("hits", {}).get("hits", ()):
        fields = hit["fields"]
        grades = [grade(text, name[1:], is_title=name[0] == "t") for name in fields.get("named", ())]
        if best := max(grades, default=0.0):
            found.append(LegHit(RecordId(fields["id"][0]), best, None, _first(fields.get("fingerprint"))))
    return sorted(found, key=lambda hit: (-hit.score, hit.id))


def total(answer: Mapping[str, Any]) -> int:
    """How many records match, exactly."""
    return int(answer["hits"]["total"]["value"])


def cosine_of(score: float) -> float:
    """From OpenSearch's score of `cosinesimil`, which is (1 + cosine) / 2."""
    return 2.0 * score - 1.0


def _first(values: Sequence[str] | None) -> str | None:
    return values[0] if values else None
