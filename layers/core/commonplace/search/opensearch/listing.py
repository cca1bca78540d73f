"""Every record of an index, of any size, from one state of it."""

from collections.abc import Iterator, Sequence
from typing import Any

from commonplace.search.model import RecordId
from commonplace.search.opensearch import names
from commonplace.search.opensearch.connection import WRITE_SECONDS, Connection, Refused
from commonplace.search.opensearch.documents import live_version
from commonplace.search.opensearch.queries import IDS_ONLY, LIVE, Query

PAGE = 5_000
KEPT_OPEN = "2m"
MOST_AT_ONCE = 1_000


def refresh(connection: Connection, index: str) -> None:
    """Makes every write visible. A collection has no such request: there writes become visible in their own time."""
    try:
        connection.call("POST", f"/{index}/_refresh", timeout=WRITE_SECONDS)
    except Refused:
        if not connection.serverless:
            raise


def live(
    connection: Connection, index: str, *, waiting: bool = False, page: int = PAGE
) -> Iterator[tuple[RecordId, int]]:
    """Ids and versions of the live records by id; with `waiting` of those without vectors."""
    refresh(connection, index)
    only: list[Query] = [LIVE] + ([{"term": {"embedded": False}}] if waiting else [])
    opened = connection.call("POST", f"/{index}/_search/point_in_time", params={"keep_alive": KEPT_OPEN})
    pit = opened["pit_id"]
    body: dict[str, Any] = {
        **IDS_ONLY,
        "size": page,
        "query": {"bool": {"filter": only}},
        "sort": [{"id": "asc"}, {"version": "asc"}],
        "track_total_hits": False,
        "pit": {"id": pit, "keep_alive": KEPT_OPEN},
    }
    try:
        while hits := _page(connection, body):
            yield from ((RecordId(hit["sort"][0]), hit["sort"][1]) for hit in hits)
            if len(hits) < page:
                return
            body["search_after"] = hits[-1]["sort"]
    finally:
        connection.call("DELETE", "/_search/point_in_time", {"pit_id": [pit]})


def held(connection: Connection, index: str, ids: Sequence[RecordId]) -> dict[RecordId, int]:
    """Versions of those of the ids that are live. Of now: a write that no search finds yet is told."""
    found: dict[RecordId, int] = {}
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), MOST_AT_ONCE):
        part = distinct[start : start + MOST_AT_ONCE]
        wanted = {"ids": [names.document_key(record) for record in part]}
        answer = connection.call("POST", f"/{index}/_mget", wanted, params={"_source": "false"})
        for record, told in zip(part, answer["docs"], strict=True):
            version = live_version(told["_version"]) if told.get("found") else None
            if version is not None:
                found[record] = version
    return found


def count(connection: Connection, index: str) -> int:
    """Live records that searches find."""
    return int(connection.call("POST", f"/{index}/_count", {"query": LIVE})["count"])


def _page(connection: Connection, body: Query) -> list[dict[str, Any]]:
    params = {"filter_path": "hits.hits.sort", "allow_partial_search_results": "false"}
    answer = connection.call("POST", "/_search", body, timeout=WRITE_SECONDS, params=params)
    hits: list[dict[str, Any]] = answer.get("hits", {}).get("hits", [])
    return hits
