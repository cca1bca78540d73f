"""Writes of one entry: add, update, delete (seed 001, "Write Tools"), and its vectors through the organisation's cache.

The vectors cached here are the ones that the index reads later.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from operator import mul
from typing import Any

from commonplace.kernel.audit import AuditRecord, Author
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from commonplace.kernel.telemetry import count
from commonplace.memory import validation
from commonplace.memory.index_source import record_of, subject
from commonplace.memory.model import Added, Changes, Entry, EntryId, Near, NewEntry, Updated, content_hash
from commonplace.memory.ports import Once, Parts, Replayed, Stale, Taken, VectorCaches, unknown
from commonplace.memory.search import OVER_FETCH, MemorySearch, beginning
from commonplace.memory.usage import Usage
from commonplace.search.embeddings import embedding_text, model_fingerprint, vector_key
from commonplace.search.model import EmbeddingProvider, QueryVector, Record, Vector
from commonplace.search.source import FOR_EVER

logger = logging.getLogger(__name__)

Texts = Mapping[str, str]
"""By the keys of their vectors."""

KEYS_KEPT = timedelta(days=2)
"""How long an idempotency key is remembered."""

MOST_NEAR, NEAR_CHARACTERS = 3, 160
"""Entries with a similar text that an answer names, and how much of each."""

MAX_ABOVE = 20
"""Entries above one that gets a parent: its transaction checks each, so that no circle comes of two such changes."""

ATTEMPTS = 10
"""How often a change is made again on top of somebody else's before it is a conflict."""


class Vectors:
    """Makes vectors and remembers them. Without a model there are none, and none are missing."""

    def __init__(self, embedder: EmbeddingProvider | None, caches: VectorCaches) -> None:
        self._embedder = embedder
        self._caches = caches

    def texts(self, record: Record) -> dict[str, str]:
        """What is embedded of a record, in the order of its chunks."""
        if self._embedder is None:
            return {}
        fingerprint = model_fingerprint(self._embedder)
        texts = (embedding_text(record, chunk) for chunk in record.chunks)
        return {vector_key(fingerprint, text): text for text in texts}

    def missing(self, organisation: str, texts: Texts) -> set[str]:
        """The keys whose vectors are not remembered."""
        return texts.keys() - self._caches.of(organisation).known(list(texts)).keys() if texts else set()

    def make(self, texts: Texts) -> dict[str, Vector]:
        """The vectors of these texts, by one call of the model. Raises Unavailable."""
        if self._embedder is None or not texts:
            return {}
        return dict(zip(texts, self._embedder.embed(list(texts.values())), strict=True))

    def warm(self, organisation: str, texts: Texts) -> bool:
        """Makes and remembers these vectors; False when the model does not answer: the index makes them later."""
        return self._made(organisation, texts) is not None

    def firsts(self, organisation: str, records: Sequence[Record]) -> list[QueryVector]:
        """The vector of each record's beginning, all of their vectors being warmed; none when they cannot be had."""
        texts = [self.texts(record) for record in records]
        wanted = {key: text for each in texts for key, text in each.items()}
        if self._embedder is None or not wanted:
            return []
        known = dict(self._caches.of(organisation).known(list(wanted)))
        made = self._made(organisation, {key: text for key, text in wanted.items() if key not in known})
        if made is None:
            return []
        return [QueryVector(model_fingerprint(self._embedder), (known | made)[next(iter(each))]) for each in texts]

    def _made(self, organisation: str, texts: Texts) -> dict[str, Vector] | None:
        """Made and remembered; None when the model does not answer."""
        try:
            made = self.make(texts)
        except Unavailable as error:
            count("ModelFallbacks")
            logger.warning("entries are kept without vectors", extra={"texts": len(texts), "reason": error.message})
            return None
        if made:
            self._caches.of(organisation).remember(made)
        return made


class Recording:
    """Writes one organisation's entries, one at a time."""

    def __init__(self, parts: Parts, search: MemorySearch) -> None:
        self._parts = parts
        self._store = parts.store
        self._vectors = Vectors(parts.embedder, parts.caches)
        self._usage = Usage(parts)
        self._search = search

    def add(self, author: Author, new: NewEntry, key: str | None, recurs_of: EntryId | None = None) -> Added:
        """As `_add`, and notes the story: that it left a summary, and what it learned again."""
        if recurs_of and not new.source_story:
            hint = "Say in which story it was learned again."
            raise InvalidInput("`recurs_of` goes with `source_story`.", hint=hint)
        if recurs_of and self._store.get(author.organisation, recurs_of) is None:
            hint = "Take it from kb_search, or leave it out."
            raise InvalidInput("`recurs_of` names no entry.", hint=hint)
        added = self._add(author, new, key)
        self._usage.record(author, new)
        # Also when replayed: the request before may have been lost between the entry and the note.
        again = recurs_of or (added.id if added.duplicate or added.replayed else None)
        return replace(added, recurrence=self._usage.recur(author, again, new.source_story) if again else None)

    def _add(self, author: Author, new: NewEntry, key: str | None) -> Added:
        """Keeps the entry, unless its content is there already.

        Its vectors are made first, so that the index finds them in the cache; without a model it is kept all the same.
        Raises InvalidInput when its parent is not there, and Conflict when the key was used for another request.
        """
        entry = self._parts.entry(author, new, EntryId(self._parts.new_id()), new.parent_id)
        holder = self._store.holders(author.organisation, [entry.content_hash]).get(entry.content_hash)
        if new.supersedes and self._store.get(author.organisation, new.supersedes) is None:
            raise InvalidInput("`supersedes` names no entry.", hint="Take ids from kb_search or kb_list.")
        added = self._added(author, entry, holder, key, new)
        if new.supersedes:
            self._supersede(author, new.supersedes, added.id)
        return added

    def _added(self, author: Author, entry: Entry, holder: EntryId | None, key: str | None, new: NewEntry) -> Added:
        if holder is not None and key is None:
            return Added(holder, duplicate=True)
        if holder is None:
            self._check_parent(author, new)
        embedded, nearest = (True, ()) if holder else self._embed(entry)
        kept = self._keep(author, entry, key, new)
        if isinstance(kept, Replayed):
            return self._replayed(kept, new)
        if kept != entry.id:
            return Added(kept, duplicate=True)
        return Added(entry.id, embedded=embedded, nearest=nearest)

    def update(self, author: Author, id: EntryId, changes: Changes, expected_version: int | None) -> Updated:
        """Changes the entry, on top of what others have changed meanwhile unless a version is expected.

        Raises NotFound, Conflict when another version, or another entry's content, stands in the way, and InvalidInput
        for a parent that is not there or stands below the entry.
        """
        embedded: bool | None = None
        for _ in range(ATTEMPTS):
            was = self._store.get(author.organisation, id)
            if was is None:
                raise unknown(id)
            if expected_version not in (None, was.version):
                raise _newer(was, expected_version)
            entry = self._changed(was, changes)
            if entry is None:
                return Updated(was, re_embedded=False)
            above = self._above(entry) if entry.parent_id not in (None, was.parent_id) else ()
            indexed = record_of(entry)
            changed = indexed.chunks != record_of(was).chunks
            if changed and embedded is None:
                self._check_free(entry)
                embedded = bool(self._vectors.firsts(author.organisation, [indexed]))
            try:
                record = self._record(author, "memory.update", entry)
                self._store.replace(author.organisation, entry, was, record, above)
            except Taken as taken:
                raise _taken(taken.id) from None
            except Stale:
                continue
            self._usage.record(author, entry)
            return Updated(entry, re_embedded=bool(embedded) and changed)
        raise Conflict("Others change this entry at the same time.", hint="Read it again, then change it.")

    def delete(self, author: Author, id: EntryId) -> None:
        """Removes the entry, for 30 days in a way that can be undone. Raises NotFound."""
        record = self._parts.record(author, "memory.delete", entry=id)
        if not self._store.delete(author.organisation, id, record):
            raise unknown(id)

    def undelete(self, author: Author, id: EntryId) -> Entry:
        """Brings a deleted entry back as it was. Raises NotFound, and Conflict when another has its content by now."""
        was = self._store.deleted(author.organisation, id)
        if was is None:
            if now := self._store.get(author.organisation, id):
                return now
            raise NotFound(f"There is no deleted entry {id}.", hint="A deletion can be undone for 30 days.")
        # Above the tombstone that the index may have of it.
        entry = replace(was, revision=max(was.revision, FOR_EVER) + 2)
        try:
            self._store.restore(author.organisation, entry, was, self._record(author, "memory.undelete", entry))
        except Taken as taken:
            raise _taken(taken.id) from None
        except Stale:
            return self.undelete(author, id)
        return entry

    def _supersede(self, author: Author, id: EntryId, by: EntryId) -> None:
        """Marks an entry as superseded. One that is gone meanwhile needs no mark."""
        for _ in range(ATTEMPTS):
            was = self._store.get(author.organisation, id)
            if was is None or by in (id, was.superseded_by):
                return None
            entry = self._next(replace(was, superseded_by=by), was)
            with suppress(Stale):
                return self._store.replace(
                    author.organisation, entry, was, self._record(author, "memory.supersede", entry)
                )
        raise Conflict("Others change this entry at the same time.", hint="Send the request again.")

    def _keep(self, author: Author, entry: Entry, key: str | None, new: NewEntry) -> EntryId | Replayed:
        record = self._record(author, "memory.add", entry)
        if key is None:
            return self._store.add(author.organisation, [entry], record)[entry.content_hash]
        expires = int((self._parts.clock() + KEYS_KEPT).timestamp())
        once = Once(hashlib.sha256(key.encode()).hexdigest(), _request(new), expires)
        return self._store.add_once(author.organisation, entry, record, once)

    @staticmethod
    def _replayed(kept: Replayed, new: NewEntry) -> Added:
        if kept.request != _request(new):
            raise Conflict(
                f"This idempotency_key was used for another request, which made the entry {kept.id}.",
                hint="Send the same request again, or another key with another one.",
                id=kept.id,
            )
        return Added(kept.id, replayed=True)

    def _check_parent(self, author: Author, new: NewEntry) -> None:
        if new.parent_id is not None and self._store.get(author.organisation, new.parent_id) is None:
            raise _no_parent()

    def _above(self, entry: Entry) -> tuple[Entry, ...]:
        """Its parent, the parent's, and so on. Raises InvalidInput."""
        above: dict[EntryId, Entry] = {}
        id = entry.parent_id
        while id is not None and id not in above:
            if id == entry.id:
                hint = "Take the parent from that one first, or choose another."
                raise InvalidInput("`parent_id` names the entry itself, or one below it.", hint=hint)
            if len(above) == MAX_ABOVE:
                raise InvalidInput(
                    f"`parent_id` has more than {MAX_ABOVE} entries above it.", hint="Choose one of those."
                )
            one = self._store.get(entry.organisation, id)
            if one is None:
                break
            above[id], id = one, one.parent_id
        if not above:
            raise _no_parent()
        return tuple(above.values())

    def _check_free(self, entry: Entry) -> None:
        """Before a model is called: the store decides again when it writes."""
        holder = self._store.holders(entry.organisation, [entry.content_hash]).get(entry.content_hash)
        if holder not in (None, entry.id):
            raise _taken(holder)

    def _embed(self, entry: Entry) -> tuple[bool, tuple[Near, ...]]:
        if self._parts.embedder is None:
            return True, ()
        alone = record_of(replace(entry, metadata={}))
        vectors = self._vectors.firsts(entry.organisation, [record_of(entry), alone])
        if not vectors:
            return False, ()
        return True, self._near(entry.organisation, vectors[1])

    def _near(self, organisation: str, vector: QueryVector) -> tuple[Near, ...]:
        """The entries with the nearest texts: those of facts are compared once more without the subject they share."""
        found = self._search.nearest(organisation, vector, OVER_FETCH * MOST_NEAR)
        facts = [one for one, _ in found if subject(one)]
        alone = self._vectors.firsts(organisation, [record_of(replace(one, metadata={})) for one in facts])
        likeness = {one.id: sum(map(mul, vector.values, its.values)) for one, its in zip(facts, alone, strict=False)}
        near = [
            Near(one.id, round(likeness.get(one.id, score), 4), beginning(one.content, NEAR_CHARACTERS))
            for one, score in found
        ]
        return tuple(sorted(near, key=lambda one: -one.similarity)[:MOST_NEAR])

    def _changed(self, was: Entry, changes: Changes) -> Entry | None:
        """The entry after the change; None when it is that already."""
        content = was.content if changes.content is None else changes.content
        entry = replace(
            was,
            content=content,
            content_hash=content_hash(content),
            entry_type=changes.entry_type or was.entry_type,
            roles=was.roles if changes.roles is None else changes.roles,
            tags=was.tags if changes.tags is None else changes.tags,
            confidence=was.confidence if changes.confidence is None else changes.confidence,
            source_file=was.source_file if changes.source_file is None else changes.source_file or None,
            source_story=was.source_story if changes.source_story is None else changes.source_story or None,
            parent_id=was.parent_id if changes.parent_id is None else changes.parent_id or None,
            metadata=was.metadata if changes.metadata is None else merged(was.metadata, changes.metadata),
        )
        return None if entry == was else self._next(entry, was)

    def _next(self, entry: Entry, was: Entry) -> Entry:
        return replace(entry, version=was.version + 1, revision=was.revision + 1, updated_at=self._parts.now())

    def _record(self, author: Author, event: str, entry: Entry) -> AuditRecord:
        return self._parts.record(author, event, entry=entry.id, type=entry.entry_type)


def merged(metadata: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata with these keys in their new values; a null removes its key. Raises TooLarge."""
    result = {key: value for key, value in {**metadata, **changes}.items() if value is not None}
    validation.check_metadata_size(result)
    return result


def _request(new: NewEntry) -> str:
    """SHA-256 of the request, the same however it was written."""
    told = json.dumps(asdict(new), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(told.encode()).hexdigest()


def _no_parent() -> InvalidInput:
    hint = "Add the parent first and take its id, or leave `parent_id` out."
    return InvalidInput("`parent_id` names no entry.", hint=hint)


def _newer(entry: Entry, expected: int | None) -> Conflict:
    hint = "Read it with kb_get, and change it as it is now."
    return Conflict(f"The entry is in version {entry.version}, not {expected}.", hint=hint, version=entry.version)


def _taken(id: EntryId | None) -> Conflict:
    hint = "Change that entry, or delete one of the two."
    return Conflict(f"The entry {id} has this content already.", hint=hint, id=id)
