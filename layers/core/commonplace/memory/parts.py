"""The parts of a memory: stores, model, clock, and the vectors of texts, cached for each organisation.

The vectors cached here are the ones that the index reads later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from commonplace.kernel.errors import NotFound, Unavailable
from commonplace.kernel.telemetry import count
from commonplace.memory.model import BATCH, Entry, EntryId, NewEntry, Recurrence, content_hash
from commonplace.search.embeddings import embedding_text, model_fingerprint, vector_key
from commonplace.search.model import QueryVector, Record, Vector

if TYPE_CHECKING:
    from commonplace.kernel.audit import AuditRecord, Author
    from commonplace.memory.job_store import DynamoJobs
    from commonplace.memory.store import DynamoEntries
    from commonplace.memory.usage import DynamoUsage
    from commonplace.search.model import EmbeddingProvider
    from commonplace.search.store import DynamoVectorCaches

logger = logging.getLogger(__name__)

TOKENS_USED = "tokens_used"
"""In the metadata of a story's summary: what the whole story took."""

Texts = Mapping[str, str]
"""By the keys of their vectors."""


@dataclass(slots=True, kw_only=True)
class Parts:
    """`embedder` is the model whose vectors new entries get; None is a deployment that compares words only.

    `clock` returns the time with its zone, `new_id` makes UUIDs, `batch` says how many texts are embedded in one call.
    """

    store: DynamoEntries
    jobs: DynamoJobs
    caches: DynamoVectorCaches
    usage: DynamoUsage
    embedder: EmbeddingProvider | None
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    batch: int = BATCH

    @property
    def vectors(self) -> Vectors:
        return Vectors(self.embedder, self.caches)

    def now(self) -> str:
        """Return the time as entries and jobs have it."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def record(self, author: Author, event: str, **details: str) -> AuditRecord:
        """Return what was done on whose behalf. `details` are names and figures, never text."""
        return author.record(event, self.clock().timestamp(), **details)

    def recur(self, author: Author, id: EntryId, story: str | None) -> Recurrence | None:
        """Note that this story learned the entry again, once; None where it learned it first. Raises Unavailable."""
        if not story:
            return None
        record = self.record(author, "memory.recur", entry=id)
        return self.usage.recur(author.organisation, id, story, self.now(), record)

    def note_story(self, author: Author, new: NewEntry | Entry) -> None:
        """Note the story of a summary, and what it took. Never fails."""
        if new.entry_type == "summary" and new.source_story:
            took = new.metadata.get(TOKENS_USED)
            whole = took if isinstance(took, int) and not isinstance(took, bool) and took >= 0 else None
            self.usage.recorded(author.organisation, new.source_story, whole)

    def entry(self, author: Author, new: NewEntry, id: EntryId, parent: EntryId | None) -> Entry:
        """Return the entry that is to be, as of now."""
        now = self.now()
        own = {one.name: getattr(new, one.name) for one in fields(NewEntry)} | {"parent_id": parent}
        return Entry(
            organisation=author.organisation,
            id=id,
            content_hash=content_hash(new.content),
            created_at=now,
            updated_at=now,
            **own,
        )


class Vectors:
    """Makes vectors and caches them. Without a model there are none, and none are missing."""

    def __init__(self, embedder: EmbeddingProvider | None, caches: DynamoVectorCaches) -> None:
        self._embedder = embedder
        self._caches = caches

    def texts(self, record: Record) -> dict[str, str]:
        """Return what is embedded of a record, in the order of its chunks."""
        if self._embedder is None:
            return {}
        fingerprint = model_fingerprint(self._embedder)
        texts = (embedding_text(record, chunk) for chunk in record.chunks)
        return {vector_key(fingerprint, text): text for text in texts}

    def missing(self, organisation: str, texts: Texts) -> set[str]:
        """Return the keys whose vectors are not cached."""
        return texts.keys() - self._caches.of(organisation).known(list(texts)).keys() if texts else set()

    def make(self, texts: Texts) -> dict[str, Vector]:
        """Return the vectors of these texts, by one call of the model. Raises Unavailable."""
        if self._embedder is None or not texts:
            return {}
        return dict(zip(texts, self._embedder.embed(list(texts.values())), strict=True))

    def warm(self, organisation: str, texts: Texts) -> dict[str, Vector] | None:
        """Make and cache these vectors; None when the model does not answer: the index makes them later."""
        try:
            made = self.make(texts)
        except Unavailable as error:
            count("ModelFallbacks")
            logger.warning("entries are kept without vectors", extra={"texts": len(texts), "reason": error.message})
            return None
        if made:
            self._caches.of(organisation).remember(made)
        return made

    def firsts(self, organisation: str, records: Sequence[Record]) -> list[QueryVector]:
        """Return the vector of each record's beginning, all of their vectors being warmed; none when there are none."""
        texts = [self.texts(record) for record in records]
        wanted = {key: text for each in texts for key, text in each.items()}
        if self._embedder is None or not wanted:
            return []
        known = dict(self._caches.of(organisation).known(list(wanted)))
        made = self.warm(organisation, {key: text for key, text in wanted.items() if key not in known})
        if made is None:
            return []
        return [QueryVector(model_fingerprint(self._embedder), (known | made)[next(iter(each))]) for each in texts]


def unknown(id: str) -> NotFound:
    """An entry that was never there, or another organisation's: an answer never says which."""
    return NotFound(f"There is no entry {id}.", hint="Take ids from kb_search or kb_list; this one may be deleted.")
