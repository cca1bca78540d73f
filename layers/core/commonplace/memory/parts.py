"""What the memory's work is done with, in the tools and in the index function alike."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import NotFound
from commonplace.memory.entries import Author, Entry, EntryId, NewEntry, content_hash
from commonplace.memory.model import BATCH
from commonplace.memory.ports import EntryStore, JobStore, VectorCaches
from commonplace.search.model import EmbeddingProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Stores, model, clock. `embedder` None is a deployment that compares words only.

    `clock` tells the time with its zone, `new_id` makes UUIDs, `batch` says how many texts are embedded in one call.
    """

    store: EntryStore
    jobs: JobStore
    caches: VectorCaches
    embedder: EmbeddingProvider | None
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    batch: int = BATCH

    def now(self) -> str:
        """The time as entries and jobs have it."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def record(self, author: Author, event: str, **details: str) -> AuditRecord:
        """What was done on whose behalf. `details` are names and figures, never text."""
        return AuditRecord(
            event=event,
            outcome="ok",
            at=self.clock().timestamp(),
            organisation=author.organisation,
            subject=author.account,
            client=author.client,
            grant=author.grant,
            network=author.network,
            details=details,
        )

    def entry(self, author: Author, new: NewEntry, id: EntryId, parent: EntryId | None) -> Entry:
        """The entry that is to be, as of now."""
        now = self.now()
        return Entry(
            organisation=author.organisation,
            id=id,
            content=new.content,
            content_hash=content_hash(new.content),
            entry_type=new.entry_type,
            roles=new.roles,
            tags=new.tags,
            confidence=new.confidence,
            created_at=now,
            updated_at=now,
            parent_id=parent,
            source_file=new.source_file,
            source_story=new.source_story,
            metadata=new.metadata,
        )


def unknown(id: str) -> NotFound:
    """Nobody's entry, or another organisation's: an answer never tells which."""
    return NotFound(f"There is no entry {id}.", hint="Take ids from kb_search or kb_list; this one may be deleted.")
