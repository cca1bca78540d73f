"""The memory of a team: the operations of its tools (seed 001, "MCP Tools"), each for one organisation."""

from collections.abc import Callable, Sequence
from datetime import datetime

from commonplace.kernel.audit import Author
from commonplace.memory.bulk_import import LargeImports, no_job, progress
from commonplace.memory.lookup import Reading
from commonplace.memory.model import (
    BATCH,
    DEFAULT_RELATED,
    Added,
    Asked,
    Changes,
    Entry,
    EntryId,
    Import,
    Imported,
    ListAnswer,
    Listing,
    Mean,
    Metrics,
    NewEntry,
    Rebuilt,
    Related,
    SearchAnswer,
    Stats,
    Updated,
)
from commonplace.memory.ports import EntryStore, JobStore, Parts, QueryCounts, UsageStore, VectorCaches
from commonplace.memory.rebuild import Rebuilding
from commonplace.memory.search import MemorySearch
from commonplace.memory.usage import Usage
from commonplace.memory.validation import Refused
from commonplace.memory.writes import Recording
from commonplace.search.indexer import Enough
from commonplace.search.model import EmbeddingProvider


class Memory:
    """Every operation of the memory. Arguments come from `memory.validation`.

    Every method concerns the author's own organisation, and raises Unavailable when the store does not answer.
    `embedder` is the model whose vectors new entries get; None is a deployment that compares words only.
    `clock` returns the time in UTC, `new_id` makes UUIDs, `batch` says how many texts are embedded in one call.
    """

    def __init__(
        self,
        *,
        store: EntryStore,
        jobs: JobStore,
        counts: QueryCounts,
        caches: VectorCaches,
        usage: UsageStore,
        search: MemorySearch,
        embedder: EmbeddingProvider | None,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        batch: int = BATCH,
    ) -> None:
        parts = Parts(
            store=store,
            jobs=jobs,
            caches=caches,
            usage=usage,
            embedder=embedder,
            clock=clock,
            new_id=new_id,
            batch=batch,
        )
        self._jobs = jobs
        self._counts = counts
        self._search = search
        self._reading = Reading(store, counts, caches, usage)
        self._recording = Recording(parts, search)
        self._imports = LargeImports(parts)
        self._rebuilding = Rebuilding(parts)
        self._usage = Usage(parts)

    def search(self, author: Author, asked: Asked) -> SearchAnswer:
        """The entries that answer best, and counts the question. Raises Unavailable without an index."""
        self._counts.count(author.organisation, asked.phase, asked.role or "all")
        return self._search.search(author.organisation, asked)

    def get(self, author: Author, id: EntryId) -> Entry:
        """The entry as it is now. Raises NotFound."""
        return self._reading.get(author.organisation, id)

    def as_of(self, author: Author, id: EntryId, moment: str) -> Entry:
        """The entry as it was at the end of a day, or at a time. Raises NotFound."""
        return self._reading.as_of(author.organisation, id, moment)

    def history(self, author: Author, id: EntryId) -> tuple[Entry, ...]:
        """The last versions of an entry, the oldest first; the last is what it is now. Raises NotFound."""
        return self._reading.history(author.organisation, id)

    def related(self, author: Author, id: EntryId, limit: int = DEFAULT_RELATED) -> tuple[Related, ...]:
        """Siblings, then parent and children, then entries with two or more of its tags. Raises NotFound."""
        return self._reading.related(author.organisation, id, limit)

    def list(self, author: Author, listing: Listing) -> ListAnswer:
        """A page of the entries that pass the filters, and how many pass them."""
        return self._reading.list(author.organisation, listing)

    def add(
        self, author: Author, new: NewEntry, *, idempotency_key: str | None = None, recurs_of: EntryId | None = None
    ) -> Added:
        """Keeps an entry, unless its content is there already, and notes a story that learned again what another had.

        `recurs_of` is an entry that says the same in other words.
        Raises InvalidInput when its parent, or that entry, is not there, Conflict when the key was used for another
        request.
        """
        return self._recording.add(author, new, idempotency_key, recurs_of)

    def update(self, author: Author, id: EntryId, changes: Changes, *, expected_version: int | None = None) -> Updated:
        """Changes an entry. Raises NotFound, and Conflict when another version or another entry stands in the way."""
        return self._recording.update(author, id, changes, expected_version)

    def delete(self, author: Author, id: EntryId) -> None:
        """Removes an entry; its children have no parent from then on. Raises NotFound."""
        self._recording.delete(author, id)

    def undelete(self, author: Author, id: EntryId) -> Entry:
        """Brings back what was deleted in the last 30 days. Raises NotFound, and Conflict when its content is there."""
        return self._recording.undelete(author, id)

    def bulk_import(
        self, author: Author, items: Sequence[Import | Refused], *, skip_existing: bool, enough: Enough
    ) -> Imported:
        """Keeps many entries, until there is `enough`: what is left then goes on by itself, under a handle."""
        return self._imports.start(author, items, skip_existing, enough)

    def import_progress(self, author: Author, handle: str) -> Imported:
        """How far an import has come. Raises NotFound."""
        job = self._jobs.job(author.organisation, handle)
        if job is None or job.kind != "import":
            raise no_job(handle)
        return progress(job)

    def rebuild(self, author: Author, *, batch_size: int, clear_cache: bool, enough: Enough) -> Rebuilt:
        """Makes all vectors anew, until there is `enough`: what is left then goes on by itself, under a handle.

        Raises Conflict where there is no model, Unavailable when it does not answer.
        """
        return self._rebuilding.start(author, batch_size, clear_cache, enough)

    def rebuild_progress(self, author: Author, handle: str) -> Rebuilt:
        """How far a rebuild has come. Raises NotFound."""
        return self._rebuilding.progress(author, handle)

    def stats(self, author: Author) -> Stats:
        """Figures of the organisation's memory."""
        return self._reading.stats(author.organisation)

    def metrics(self, author: Author) -> Metrics:
        """The four of seed 001, "Success Metrics"."""
        return self._usage.metrics(author.organisation)

    def rate(self, author: Author, id: EntryId, relevance: int, story: str | None = None) -> Mean:
        """Keeps a vote on a hit of a story, 0 to 5, one of each account. Raises NotFound."""
        return self._usage.rate(author, id, relevance, story)

    def relevance(self, author: Author, id: EntryId) -> Mean:
        """Of the votes on one entry."""
        return self._usage.relevance(author.organisation, id)

    def served(self, author: Author, story: str | None, tokens: int) -> None:
        """Counts a search made for a story, and the tokens of its answer. Never fails."""
        self._usage.served(author, story, tokens)
