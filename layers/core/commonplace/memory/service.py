"""The memory of a team: what its ten tools do (seed 001, "MCP Tools"), each on behalf of one organisation."""

from collections.abc import Callable, Sequence
from datetime import datetime

from commonplace.memory.checking import Refused
from commonplace.memory.entries import Author, Changes, Entry, EntryId, NewEntry
from commonplace.memory.ports import EntryStore, JobStore, QueryCounts, VectorCaches
from commonplace.memory.results import (
    BATCH,
    DEFAULT_RELATED,
    Added,
    Asked,
    Import,
    Imported,
    ListAnswer,
    Listing,
    Rebuilt,
    Related,
    SearchAnswer,
    Stats,
    Updated,
)
from commonplace.memory.searching import MemorySearch
from commonplace.search.model import EmbeddingProvider

Enough = Callable[[], bool]
"""Whether the time given is used up. Asked between two batches; one batch is always done."""


class Memory:
    """Everything that can be asked of the memory. Arguments come from `memory.checking`.

    Every method concerns the author's own organisation, and raises Unavailable when the store does not answer.
    `embedder` is the model whose vectors new entries get; None is a deployment that compares words only.
    `clock` tells the time in UTC, `new_id` makes UUIDs, `batch` says how many texts are embedded in one call.
    """

    def __init__(
        self,
        *,
        store: EntryStore,
        jobs: JobStore,
        counts: QueryCounts,
        caches: VectorCaches,
        search: MemorySearch,
        embedder: EmbeddingProvider | None,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        batch: int = BATCH,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._counts = counts
        self._caches = caches
        self._search = search
        self._embedder = embedder
        self._clock = clock
        self._new_id = new_id
        self._batch = batch

    def search(self, author: Author, asked: Asked) -> SearchAnswer:
        """The entries that answer best, and counts the question. Raises Unavailable without an index."""
        raise NotImplementedError

    def get(self, author: Author, id: EntryId) -> Entry:
        """The entry as it is now. Raises NotFound."""
        raise NotImplementedError

    def related(self, author: Author, id: EntryId, limit: int = DEFAULT_RELATED) -> tuple[Related, ...]:
        """Siblings, then parent and children, then entries with two or more of its tags. Raises NotFound."""
        raise NotImplementedError

    def list(self, author: Author, listing: Listing) -> ListAnswer:
        """A page of the entries that pass the filters, and how many pass them."""
        raise NotImplementedError

    def add(self, author: Author, new: NewEntry, *, idempotency_key: str | None = None) -> Added:
        """Keeps an entry, unless its content is there already.

        Raises InvalidInput when its parent is not there, Conflict when the key was used for another request.
        """
        raise NotImplementedError

    def update(self, author: Author, id: EntryId, changes: Changes, *, expected_version: int | None = None) -> Updated:
        """Changes an entry. Raises NotFound, and Conflict when another version or another entry stands in the way."""
        raise NotImplementedError

    def delete(self, author: Author, id: EntryId) -> None:
        """Forgets an entry; its children have no parent from then on. Raises NotFound."""
        raise NotImplementedError

    def bulk_import(
        self, author: Author, items: Sequence[Import | Refused], *, skip_existing: bool, enough: Enough
    ) -> Imported:
        """Keeps many entries, until there is `enough`: what is left then goes on by itself, under a handle."""
        raise NotImplementedError

    def import_progress(self, author: Author, handle: str) -> Imported:
        """How far an import has come. Raises NotFound."""
        raise NotImplementedError

    def rebuild(self, author: Author, *, batch_size: int, clear_cache: bool, enough: Enough) -> Rebuilt:
        """Makes all vectors anew, until there is `enough`: what is left then goes on by itself, under a handle.

        Raises Conflict where there is no model, Unavailable when it does not answer.
        """
        raise NotImplementedError

    def rebuild_progress(self, author: Author, handle: str) -> Rebuilt:
        """How far a rebuild has come. Raises NotFound."""
        raise NotImplementedError

    def stats(self, author: Author) -> Stats:
        """Figures of the organisation's memory."""
        raise NotImplementedError
