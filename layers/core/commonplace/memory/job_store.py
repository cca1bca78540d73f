"""Work that takes longer than one call, on DynamoDB, table `records`: `commonplace.memory.ports.JobStore`.

The stream of the table announces each write of a job, and so has it carried on.

How often the memory was asked, on DynamoDB, table `records`: `commonplace.memory.ports.QueryCounts`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonplace.kernel.audit_store import MEMORY, audit_writes
from commonplace.kernel.items import Item, decoded, encode, key, names, typed
from commonplace.kernel.table import Writes, answering, get, holds, query, transact
from commonplace.memory.model import PHASES, ROLES, Job, Phase, Role
from commonplace.memory.store import is_id, job_key, piece_key, room

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.kernel.audit import AuditRecord


JOB_SECONDS = 7 * 86_400
"""A job is kept so long after its last write."""
PIECE_SECONDS = 8 * 86_400
"""No longer than its job can be asked about: an entry's text is not kept for nothing."""
MAX_PIECE_BYTES = 300_000
"""An item has 400 KB."""


class DynamoJobs:
    """Jobs, and the texts they work on."""

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
        self._client = client
        self._table = records
        self._activity = activity
        self._clock = clock
        self._sleep = sleep
        self._to = Writes(records)

    def create(self, job: Job, pieces: Sequence[str] = (), audit: AuditRecord | None = None) -> None:
        if any(len(piece.encode()) > MAX_PIECE_BYTES for piece in pieces):
            raise ValueError("a piece is too large for an item")
        # Pieces first: whoever sees the job finds all of it, and pieces without a job expire.
        for number, piece in enumerate(pieces):
            item = {"text": {"S": piece}} | self._expires(PIECE_SECONDS) | piece_key(job.organisation, job.id, number)
            with answering(self._table):
                self._client.put_item(TableName=self._table, Item=item)
        new = self._to.new(job_key(job.organisation, job.id), self._kept(job))
        told = [new, *audit_writes(self._activity, [audit] if audit else [], MEMORY)]
        transact(self._client, self._table, told, sleep=self._sleep)

    def job(self, organisation: str, id: str) -> Job | None:
        return self._read(organisation, self._item(job_key(organisation, id))) if is_id(id) else None

    def piece(self, organisation: str, id: str, number: int) -> str | None:
        item = self._item(piece_key(organisation, id, number)) if is_id(id) else None
        return item["text"]["S"] if self._lives(item) and item else None

    def advance(self, job: Job, was: Job) -> bool:
        if job.step <= was.step:
            raise ValueError("a job's step grows with each write")
        where = job_key(job.organisation, job.id)
        put: Any = self._to.put(where, self._kept(job), "#step = :step", step=was.step)["Put"]
        return holds(self._table, lambda: self._client.put_item(**put), sleep=self._sleep)

    def unfinished(self, organisation: str) -> Iterator[Job]:
        pk = room(organisation, "jobs")
        going = {":pk": {"S": pk}, ":status": typed("in_progress")}
        items = query(
            self._client,
            self._table,
            pk,
            FilterExpression="#status = :status",
            ExpressionAttributeNames=names("status"),
            ExpressionAttributeValues=going,
        )
        return (job for item in items if (job := self._read(organisation, item)))

    def _read(self, organisation: str, item: Item | None) -> Job | None:
        job = decoded(Job, item) if self._lives(item) else None
        return job if job and job.organisation == organisation else None

    def _lives(self, item: Item | None) -> bool:
        return item is not None and int(item["expiresAt"]["N"]) > self._clock()

    def _kept(self, job: Job) -> Item:
        return encode(job) | self._expires(JOB_SECONDS)

    def _expires(self, seconds: int) -> Item:
        return {"expiresAt": {"N": str(int(self._clock()) + seconds)}}

    def _item(self, where: Item) -> Item | None:
        return get(self._client, self._table, where["pk"]["S"], where["sk"]["S"])


logger = logging.getLogger(__name__)

_KNOWN: Mapping[str, tuple[str, Role]] = {
    f"{phase}#{role}": (phase, role) for phase in (*PHASES, "none") for role in ROLES
}


class DynamoQueryCounts:
    """One item a phase and role: every addition is atomic."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        *,
        hasty: DynamoDBClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`hasty` counts, where nobody is to wait for that; `client` reads. `clock` gives epoch seconds."""
        self._client = client
        self._hasty = hasty or client
        self._table = records
        self._clock = clock

    def count(self, organisation: str, phase: Phase | None, role: Role) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._hasty.update_item(
                TableName=self._table,
                Key=key(room(organisation, "queries"), f"{phase or 'none'}#{role}"),
                UpdateExpression="SET #at = :now ADD #n :one",
                ExpressionAttributeNames={"#at": "at", "#n": "n"},
                ExpressionAttributeValues={":now": {"N": str(int(self._clock()))}, ":one": {"N": "1"}},
            )
        except (ClientError, BotoCoreError) as error:
            logger.warning("a query could not be counted", extra={"error": type(error).__name__})

    def counts(self, organisation: str) -> Mapping[tuple[str, Role], int]:
        items = query(self._client, self._table, room(organisation, "queries"))
        found = ((_KNOWN.get(item["sk"]["S"]), int(item["n"]["N"])) for item in items)
        return {asked: n for asked, n in found if asked}
