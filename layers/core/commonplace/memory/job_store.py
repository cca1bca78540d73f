"""Long work and query counts on DynamoDB, table `records`.

The stream of the table announces each write of a job, which makes the index function continue it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.records import is_id
from commonplace.kernel.table import Table
from commonplace.memory.model import PHASES, ROLES, Job, Phase, Role
from commonplace.memory.records import room

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord


logger = logging.getLogger(__name__)

JOB_SECONDS = 7 * 86_400
"""A job is kept so long after its last write."""
PIECE_SECONDS = 8 * 86_400
"""No longer than its job is kept: an entry's text is not kept for nothing."""
MAX_PIECE_BYTES = 300_000
"""An item has 400 KB."""

_KNOWN: Mapping[str, tuple[str, Role]] = {
    f"{phase}#{role}": (phase, role) for phase in (*PHASES, "none") for role in ROLES
}


def _job_key(organisation: str, id: str) -> Item:
    return key(room(organisation, "jobs"), id)


def _piece_key(organisation: str, id: str, number: int) -> Item:
    return key(room(organisation, f"pieces#{id}"), f"{number:05d}")


class DynamoJobs:
    """Work that takes longer than one call. Each write of a job is an event that has it carried on."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        activity: str,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` gives epoch seconds."""
        self._table = Table(client, records, sleep=sleep)
        self._activity = activity
        self._clock = clock

    def create(self, job: Job, pieces: Sequence[str] = (), audit: AuditRecord | None = None) -> None:
        """Store the job, and what it works on: texts of at most 300,000 bytes each."""
        if any(len(piece.encode()) > MAX_PIECE_BYTES for piece in pieces):
            raise ValueError("a piece is too large for an item")
        # Pieces first: whoever sees the job finds all of it, and pieces without a job expire.
        for number, piece in enumerate(pieces):
            where = _piece_key(job.organisation, job.id, number)
            self._table.write(self._table.put(where, {"text": piece} | self._expires(PIECE_SECONDS)))
        new = self._table.new(_job_key(job.organisation, job.id), self._kept(job))
        self._table.transact([new, *audit_writes(self._activity, [audit] if audit else [], MEMORY)])

    def job(self, organisation: str, id: str) -> Job | None:
        return self._read(organisation, self._table.get(_job_key(organisation, id))) if is_id(id) else None

    def piece(self, organisation: str, id: str, number: int) -> str | None:
        item = self._table.get(_piece_key(organisation, id, number)) if is_id(id) else None
        return item["text"] if self._lives(item) and item else None

    def advance(self, job: Job, was: Job) -> bool:
        """Put `job` in the place of `was`, if nobody else did meanwhile (`Job.step` shows it)."""
        if job.step <= was.step:
            raise ValueError("a job's step grows with each write")
        where = _job_key(job.organisation, job.id)
        put = self._table.put(where, self._kept(job), "#step = :step", step=was.step)
        return self._table.write(put) is not None

    def unfinished(self, organisation: str) -> Iterator[Job]:
        """Return those that are in progress."""
        going = {"status": "in_progress"}
        items = self._table.query(room(organisation, "jobs"), values=going, filter="#status = :status")
        return (job for item in items if (job := self._read(organisation, item)))

    def _read(self, organisation: str, item: Item | None) -> Job | None:
        job = decoded(Job, item) if self._lives(item) else None
        return job if job and job.organisation == organisation else None

    def _lives(self, item: Item | None) -> bool:
        return item is not None and item["expiresAt"] > self._clock()

    def _kept(self, job: Job) -> Item:
        return encode(job) | self._expires(JOB_SECONDS)

    def _expires(self, seconds: int) -> Item:
        return {"expiresAt": int(self._clock()) + seconds}


class DynamoQueryCounts:
    """How often the memory was searched: one item a phase and role, so every addition is atomic."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        *,
        hasty: DynamoDBClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`hasty` counts, where nobody is to wait for that; `client` reads. `clock` gives epoch seconds."""
        self._table = Table(client, records)
        self._counting = Table(hasty or client, records, attempts=1)
        self._clock = clock

    def count(self, organisation: str, phase: Phase | None, role: Role) -> None:
        """Count a search. Never fails its caller."""
        where = key(room(organisation, "queries"), f"{phase or 'none'}#{role}")
        count = self._counting.update(where, "SET #at = :now ADD #n :one", now=int(self._clock()), one=1)
        try:
            self._counting.write(count)
        except Unavailable:
            logger.warning("a query could not be counted")

    def counts(self, organisation: str) -> Mapping[tuple[str, Role], int]:
        """Return the counts by (phase, or `none`, and role). Raises Unavailable."""
        items = self._table.query(room(organisation, "queries"))
        found = ((_KNOWN.get(item["sk"]), item["n"]) for item in items)
        return {asked: n for asked, n in found if asked}
