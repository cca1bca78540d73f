"""Versioned writes through `_bulk`: split by size, with every item's outcome read and overloaded items retried."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import RecordId
from commonplace.search.opensearch.client import (
    OVERLOADED,
    WRITE_SECONDS,
    OpenSearchClient,
    Refused,
    item_failure,
)
from commonplace.search.opensearch.mapping import document_key

logger = logging.getLogger(__name__)

REQUEST_BYTES = 4_500_000
"""Below what the smallest domains take in one request (10 MB), with room for one large record on top."""

RETRY_DELAYS = (0.5, 1.0, 2.0)

Refresh = Literal["true", "wait_for", "false"]


class Vanished(Exception):
    """An index that was to be written is not there any more."""


@dataclass(frozen=True, slots=True)
class Write:
    """One document with its external version. `source` is JSON already: it goes to several indexes."""

    record: RecordId
    version: int
    source: bytes

    def lines(self, index: str) -> tuple[dict[str, Any], bytes]:
        """Return what `_bulk` is to do with it in this index, and the document."""
        action = {
            "_index": write_alias(index),
            "_id": document_key(self.record),
            "version": self.version,
            "version_type": "external",
            "require_alias": True,
        }
        return {"index": action}, self.source


@dataclass(slots=True)
class Outcome:
    """The outcome of the items of a request. A stale one counts as stored: something newer is there."""

    stored: int = 0
    stale: int = 0
    again: list[int] = field(default_factory=list)
    refused: list[Unavailable] = field(default_factory=list)
    vanished: bool = False

    def take_in(self, part: "Outcome") -> None:
        """Counts what is settled of a part."""
        self.stored += part.stored
        self.stale += part.stale
        self.refused += part.refused


def send(client: OpenSearchClient, index: str, writes: Sequence[Write], refresh: Refresh) -> Outcome:
    """Writes all of them to one index. Raises Vanished, and Unavailable when some could not be written."""
    whole = Outcome()
    for batch in _batches(index, writes):
        whole.take_in(_send_batch(client, index, batch, refresh))
    if whole.refused:
        # The others are written: one record that cannot be does not keep them out.
        first = whole.refused[0]
        raise Unavailable(
            f"OpenSearch did not take {len(whole.refused)} of {len(writes)} records: {first}",
            hint="The first reason is given; the index is as it was for those records.",
        )
    if whole.stale and refresh != "false":
        # Another writer's, which perhaps no search finds yet: a request of which every item is stale refreshes nothing.
        refresh_index(client, index)
    return whole


def write_alias(index: str) -> str:
    """An alias of this one index. Writes go through it with `require_alias`: no write makes a lost index anew."""
    return f"{index}-writes"


def refresh_index(client: OpenSearchClient, index: str) -> None:
    """Makes every write visible. A collection has no such request: there writes become visible in their own time."""
    try:
        client.indices.refresh(index=index, request_timeout=WRITE_SECONDS)
    except Refused:
        if not client.serverless:
            raise


def outcome_of(answer: Mapping[str, Any]) -> Outcome:
    """Reads the answer of `_bulk`, which is 200 even when every item failed."""
    outcome = Outcome()
    for position, item in enumerate(answer["items"]):
        ((_, result),) = item.items()
        status = int(result["status"])
        if status < 300:
            outcome.stored += 1
        elif status == 409:
            outcome.stale += 1
        elif status == 404:
            outcome.vanished = True
        elif status in OVERLOADED:
            outcome.again.append(position)
        else:
            outcome.refused.append(item_failure(result.get("error"), status))
    return outcome


def _send_batch(client: OpenSearchClient, index: str, batch: Sequence[Write], refresh: Refresh) -> Outcome:
    whole = Outcome()
    for delay in (*RETRY_DELAYS, None):
        lines = [line for write in batch for line in write.lines(index)]
        answer = client.bulk(body=lines, refresh=None if refresh == "false" else refresh, request_timeout=WRITE_SECONDS)
        outcome = outcome_of(answer)
        if outcome.vanished:
            raise Vanished(index)
        whole.take_in(outcome)
        if not outcome.again:
            return whole
        if delay is None or not client.transport.budget.spend():
            raise Unavailable(f"OpenSearch is too busy for {len(outcome.again)} writes.", retry_after_seconds=10)
        batch = [batch[position] for position in outcome.again]
        logger.info("writes are tried again", extra={"writes": len(batch), "after_seconds": delay})
        client.transport.sleep(delay)
    return whole


def _batches(index: str, writes: Iterable[Write]) -> Iterator[list[Write]]:
    batch: list[Write] = []
    size = 0
    for write in writes:
        length = len(write.source) + len(index) + len(write.record) + 150
        if batch and size + length > REQUEST_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(write)
        size += length
    if batch:
        yield batch
