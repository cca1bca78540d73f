"""An import from its first call to its last entry: what one call does, what is left as a job, and carrying that on."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from commonplace.kernel.errors import NotFound
from commonplace.memory.bulk_import import MAX_ERRORS, Importer, Tally
from commonplace.memory.checking import Refused
from commonplace.memory.entries import Author, EntryId, NewEntry
from commonplace.memory.jobs import Job, Kind
from commonplace.memory.model import Import, Imported
from commonplace.memory.parts import Parts
from commonplace.memory.planning import Planned, plan
from commonplace.search.indexer import Enough, never

PIECE_BYTES = 250_000
"""Of what a job keeps in one item: with the largest entry on top it stays below 300,000."""

_LOST = "A part of this import is gone. Send it again: what is there already is skipped."


class LargeImports:
    """Imports of any size."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def start(self, author: Author, items: Sequence[Import | Refused], skip_existing: bool, enough: Enough) -> Imported:
        """Imports until there is `enough`; the rest becomes a job. After Unavailable the same may be sent again."""
        planned = plan(items)
        tally = Tally()
        for place, sentence in planned.problems:
            tally.refuse(place, sentence)
        ids = {one.place: EntryId(self._parts.new_id()) for one in planned.order}
        importer = Importer(self._parts, author, ids, tally, skip_existing=skip_existing)
        done = importer.run(planned.order, enough)
        rest = planned.order[done:]
        if not rest:
            return _answer(len(items), tally)
        pieces = list(_pieces(rest, ids, self._parts.batch))
        return progress(self._leave(author, pieces, tally, len(items), skip_existing))

    def carry_on(self, job: Job, enough: Enough) -> Job | None:
        """Takes the next pieces of the job."""
        tally = Tally(job.processed, job.imported, job.skipped, list(job.errors))
        position, status = int(job.position or 0), job.status
        while status == "in_progress":
            piece = self._parts.jobs.piece(job.organisation, job.id, position)
            if piece is None:
                status = "failed"
                tally.errors.append(_LOST)
                break
            self._take(job, piece, tally)
            position += 1
            if tally.processed >= job.total:
                status = "complete"
            elif enough():
                break
        return write(self._parts, job, tally, position=str(position), status=status)

    def _take(self, job: Job, piece: str, tally: Tally) -> None:
        planned = [_unpacked(one) for one in json.loads(piece)]
        ids = {one.place: id for one, id in planned}
        importer = Importer(self._parts, author_of(job), ids, tally, skip_existing=job.skip_existing)
        importer.run([one for one, _ in planned], never)

    def _leave(self, author: Author, pieces: Sequence[str], tally: Tally, total: int, skip_existing: bool) -> Job:
        job = replace(
            new_job(self._parts, author, "import"),
            total=total,
            skip_existing=skip_existing,
            processed=tally.processed,
            imported=tally.imported,
            skipped=tally.skipped,
            errors=tuple(tally.errors),
        )
        record = self._parts.record(author, "memory.import", handle=job.id, waiting=str(total - tally.processed))
        self._parts.jobs.create(job, pieces, record)
        return job


def progress(job: Job) -> Imported:
    """How far the job has come."""
    tally = Tally(job.processed, job.imported, job.skipped, list(job.errors))
    going_on = job.status == "in_progress"
    return replace(_answer(job.total, tally), status=job.status, handle=job.id if going_on else None, ids=None)


def new_job(parts: Parts, author: Author, kind: Kind) -> Job:
    """A job of this author's, which has done nothing yet."""
    now = parts.now()
    return Job(
        organisation=author.organisation,
        id=parts.new_id(),
        kind=kind,
        created_at=now,
        updated_at=now,
        batch_size=parts.batch,
        account=author.account,
        client=author.client,
        grant=author.grant,
        network=author.network,
    )


def author_of(job: Job) -> Author:
    """On whose behalf a job works."""
    return Author(
        organisation=job.organisation, account=job.account, client=job.client, grant=job.grant, network=job.network
    )


def write(parts: Parts, was: Job, tally: Tally, **changes: Any) -> Job | None:
    """The job as it has come on; as somebody else has brought it on, where that was faster."""
    job = replace(
        was,
        step=was.step + 1,
        updated_at=parts.now(),
        processed=tally.processed,
        imported=tally.imported,
        skipped=tally.skipped,
        errors=tuple(tally.errors),
        **changes,
    )
    return job if parts.jobs.advance(job, was) else parts.jobs.job(was.organisation, was.id)


def no_job(handle: str) -> NotFound:
    """Nobody's, another organisation's, of another kind, or forgotten."""
    hint = "Handles are kept for a week. Importing the same again skips what is there."
    return NotFound(f"There is no work under the handle {handle}.", hint=hint)


def _answer(total: int, tally: Tally) -> Imported:
    refused = tally.processed - tally.imported - tally.skipped
    more = refused - min(refused, MAX_ERRORS)
    errors = (*tally.errors, f"And {more} more.") if more else tuple(tally.errors)
    return Imported(
        total=total,
        processed=tally.processed,
        imported=tally.imported,
        skipped=tally.skipped,
        errors=errors,
        ids=dict(tally.ids),
    )


def _pieces(planned: Sequence[Planned], ids: dict[int, EntryId], most: int) -> Iterator[str]:
    """JSON of as many entries as are embedded together, or of fewer where they are large."""
    piece: list[str] = []
    size = 0
    for one in planned:
        text = json.dumps(_packed(one, ids[one.place]), ensure_ascii=False, separators=(",", ":"))
        if piece and (len(piece) == most or size + len(text.encode()) > PIECE_BYTES):
            yield f"[{','.join(piece)}]"
            piece, size = [], 0
        piece.append(text)
        size += len(text.encode()) + 1
    if piece:
        yield f"[{','.join(piece)}]"


def _packed(one: Planned, id: EntryId) -> dict[str, Any]:
    return {**asdict(one), "id": id}


def _unpacked(packed: dict[str, Any]) -> tuple[Planned, EntryId]:
    told = dict(packed)
    id = EntryId(told.pop("id"))
    entry = dict(told.pop("entry"))
    entry |= {name: tuple(entry[name]) for name in ("roles", "tags")}
    return Planned(entry=NewEntry(**entry), **told), id
