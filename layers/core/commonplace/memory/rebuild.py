"""New vectors for all entries of an organisation, in batches (seed 001, `kb_rebuild_embeddings`).

A batch is embedded, its vectors are cached, and only then are its entries touched: the index writes them again and
finds the vectors. Until then it answers with the old ones, so searches are not disturbed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, Unavailable
from commonplace.memory.bulk_import import Tally, new_job, no_job, write
from commonplace.memory.facets import ALL, number
from commonplace.memory.index_source import record_of
from commonplace.memory.model import EntryId, Job, Rebuilt
from commonplace.memory.ports import Parts
from commonplace.memory.writes import Vectors
from commonplace.search.indexer import Enough


@dataclass(frozen=True, slots=True)
class _Stretch:
    """How many entries were done, the id of the last one, and whether none is left."""

    entries: int
    position: str
    whole: bool


class Rebuilding:
    """One organisation's rebuild at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._vectors = Vectors(parts.embedder, parts.caches)

    def start(self, author: Author, batch_size: int, clear_cache: bool, enough: Enough) -> Rebuilt:
        """Makes vectors anew until there is `enough`; the rest becomes a job. One in progress is reported.

        The cache is cleared once the model has answered for the first batch: while it is away nothing is lost.
        Raises Conflict where there is no model, and Unavailable when it does not answer.
        """
        if self._parts.embedder is None:
            hint = "Searches compare words. Name a model in EMBEDDING_PROVIDER to compare meaning as well."
            raise Conflict("This deployment has no embedding model.", hint=hint)
        organisation = author.organisation
        going_on = next((job for job in self._parts.jobs.unfinished(organisation) if job.kind == "rebuild"), None)
        if going_on is not None:
            return progress(going_on)
        job = replace(new_job(self._parts, author, "rebuild"), batch_size=batch_size)
        total = number(self._parts.store.counts(organisation, ALL))
        done = self._run(organisation, "", batch_size, enough, clear_first=clear_cache)
        if clear_cache and not done.entries:
            self._parts.caches.clear(organisation)
        job = replace(
            job,
            total=done.entries if done.whole else max(total, done.entries),
            processed=done.entries,
            position=done.position,
            status="complete" if done.whole else "in_progress",
        )
        record = self._parts.record(author, "memory.rebuild", handle=job.id, entries=str(job.total))
        self._parts.jobs.create(job, (), record)
        return progress(job)

    def carry_on(self, job: Job, enough: Enough) -> Job | None:
        """Goes on after the last entry that is done. Raises Unavailable when not one batch could be done."""
        done = self._run(job.organisation, job.position, job.batch_size, enough)
        processed = job.processed + done.entries
        return write(
            self._parts,
            job,
            Tally(processed),
            position=done.position,
            total=processed if done.whole else max(job.total, processed),
            status="complete" if done.whole else "in_progress",
        )

    def progress(self, author: Author, handle: str) -> Rebuilt:
        """How far the rebuild has come. Raises NotFound."""
        job = self._parts.jobs.job(author.organisation, handle)
        if job is None or job.kind != "rebuild":
            raise no_job(handle)
        return progress(job)

    def _run(self, organisation: str, after: str, size: int, enough: Enough, *, clear_first: bool = False) -> _Stretch:
        """What was done behind this id. Once one batch is, a model that goes away only ends this stretch."""
        done, position = 0, after
        ids = (card.id for card in self._parts.store.cards(organisation, after=after))
        while batch := list(islice(ids, size)):
            if done and enough():
                return _Stretch(done, position, whole=False)
            try:
                self._make(organisation, batch, clear=clear_first and not done)
            except Unavailable:
                if not done:
                    raise
                return _Stretch(done, position, whole=False)
            done, position = done + len(batch), batch[-1]
        return _Stretch(done, position, whole=True)

    def _make(self, organisation: str, ids: Sequence[EntryId], *, clear: bool) -> None:
        entries = self._parts.store.get_many(organisation, ids)
        records = [record_of(entry) for entry in entries.values()]
        texts = {key: text for record in records for key, text in self._vectors.texts(record).items()}
        wanted = texts.keys() if clear else self._vectors.missing(organisation, texts)
        made = self._vectors.make({key: text for key, text in texts.items() if key in wanted})
        if clear:
            self._parts.caches.clear(organisation)
        if made:
            self._parts.caches.of(organisation).remember(made)
        self._parts.store.touch(organisation, list(entries))


def progress(job: Job) -> Rebuilt:
    """How far the job has come."""
    going_on = job.status == "in_progress"
    return Rebuilt(total=job.total, processed=job.processed, status=job.status, handle=job.id if going_on else None)
