"""The memory's stores in memory. They pass the adapters' contract (tests/contracts/test_memory_stores.py)."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable
from commonplace.memory.facets import AllCounts, Counts, Key, Place, Tally, counts, keys
from commonplace.memory.job_store import (
    JOB_SECONDS,
    MAX_PIECE_BYTES,
    PIECE_SECONDS,
    DynamoJobs,
    DynamoQueryCounts,
)
from commonplace.memory.model import (
    MAX_SEEN_IN,
    Card,
    Entry,
    EntryId,
    Job,
    Phase,
    Rating,
    Recurrence,
    Role,
    StoryUse,
    Vote,
)
from commonplace.memory.records import KEYS_PER_PAGE, MAX_VERSIONS, Once
from commonplace.memory.store import KEPT_SECONDS, DynamoEntries, Replayed, Stale, Taken
from commonplace.memory.usage import RECURRENCES, DynamoUsage, of_story, of_vote
from commonplace.search.model import Vector, VectorMemory
from commonplace.search.store import DynamoVectorCaches
from tests.fakes.identity_stores import Clock, MemoryAudit

V = TypeVar("V")

MAX_TOGETHER = 8
"""Entries of one transaction."""


def known(organisation: str) -> None:
    """Raises ValueError for what cannot name an organisation."""
    if not is_organisation(organisation):
        raise ValueError("no organisation, no memory")


class Answers:
    """What all of them share: one call at a time, and none while `down`."""

    def __init__(self) -> None:
        self.down = False
        self.lock = threading.RLock()

    @contextmanager
    def answering(self) -> Iterator[None]:
        with self.lock:
            if self.down:
                raise Unavailable("The memory cannot reach its store just now.", retry_after_seconds=2)
            yield


@dataclass
class Kept:
    """One organisation's entries."""

    entries: dict[EntryId, Entry] = field(default_factory=dict)
    hashes: dict[str, EntryId] = field(default_factory=dict)
    once: dict[str, tuple[EntryId, Once]] = field(default_factory=dict)
    versions: dict[EntryId, list[Entry]] = field(default_factory=dict)
    deleted: dict[EntryId, tuple[Entry, float]] = field(default_factory=dict)


class MemoryEntries(Answers, DynamoEntries):
    """`announced` are the events that the table's stream would bring."""

    def __init__(self, clock: Callable[[], float] | None = None, audit: MemoryAudit | None = None) -> None:
        super().__init__()
        self.clock = clock or Clock()
        self.audit = audit or MemoryAudit()
        self.kept: dict[str, Kept] = {}
        self.announced: list[dict[str, str]] = []

    def get(self, organisation: str, id: EntryId) -> Entry | None:
        with self.answering():
            return self._of(organisation).entries.get(id)

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:
        with self.answering():
            entries = self._of(organisation).entries
            return {id: entries[id] for id in ids if id in entries}

    def holders(self, organisation: str, hashes: Sequence[str]) -> dict[str, EntryId]:
        with self.answering():
            held = self._of(organisation).hashes
            return {one: held[one] for one in hashes if one in held}

    def add(self, organisation: str, entries: Sequence[Entry], audit: AuditRecord) -> dict[str, EntryId]:
        with self.answering():
            kept = self._own(organisation)
            first: dict[str, Entry] = {}
            for entry in entries:
                first.setdefault(entry.content_hash, entry)
            new = [entry for entry in first.values() if entry.content_hash not in kept.hashes]
            for start in range(0, len(new), MAX_TOGETHER):
                part = new[start : start + MAX_TOGETHER]
                for entry in part:
                    self._put(organisation, entry)
                self._record(audit, len(part))
            return {one: kept.hashes[one] for one in first}

    def add_once(self, organisation: str, entry: Entry, audit: AuditRecord, once: Once) -> EntryId | Replayed:
        with self.answering():
            kept = self._own(organisation)
            known = kept.once.get(once.key)
            if known and known[1].expires_at > self.clock():
                return Replayed(known[0], known[1].request)
            holder = kept.hashes.get(entry.content_hash)
            if holder is None:
                self._put(organisation, entry)
                self._record(audit, 1)
            kept.once[once.key] = (holder or entry.id, once)
            return holder or entry.id

    def replace(
        self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord, above: Sequence[Entry] = ()
    ) -> None:
        with self.answering():
            if entry.id != was.id or entry.revision <= was.revision:
                raise ValueError("an entry keeps its id, and its revision grows")
            kept = self._of(organisation)
            stored = [(kept.entries.get(one.id), one) for one in (was, *above)]
            if any(now is None or now.revision != read.revision for now, read in stored):
                raise Stale
            holder = kept.hashes.get(entry.content_hash, entry.id)
            if holder != entry.id:
                raise Taken(holder)
            del kept.hashes[was.content_hash]
            if entry.version != was.version:
                former = kept.versions.setdefault(was.id, [])
                former.append(kept.entries[was.id])
                del former[:-MAX_VERSIONS]
            self._put(organisation, entry)
            self.audit.write(audit)

    def delete(self, organisation: str, id: EntryId, audit: AuditRecord) -> bool:
        with self.answering():
            kept = self._of(organisation)
            gone = kept.entries.pop(id, None)
            if gone is None:
                return False
            del kept.hashes[gone.content_hash]
            kept.deleted[id] = gone, self.clock() + KEPT_SECONDS
            self._announce(organisation, id)
            self.audit.write(audit)
            return True

    def deleted(self, organisation: str, id: EntryId) -> Entry | None:
        with self.answering():
            entry, until = self._of(organisation).deleted.get(id, (None, 0.0))
            return entry if until > self.clock() else None

    def restore(self, organisation: str, entry: Entry, was: Entry, audit: AuditRecord) -> None:
        with self.answering():
            if entry.id != was.id or entry.revision <= was.revision:
                raise ValueError("an entry keeps its id, and its revision grows")
            stored = self.deleted(organisation, was.id)
            if stored is None or stored.revision != was.revision:
                raise Stale
            kept = self._of(organisation)
            if holder := kept.hashes.get(entry.content_hash):
                raise Taken(holder)
            del kept.deleted[was.id]
            self._put(organisation, entry)
            self.audit.write(audit)

    def versions(self, organisation: str, id: EntryId) -> tuple[Entry, ...]:
        with self.answering():
            return tuple(self._of(organisation).versions.get(id, ()))

    def forget_parent(self, organisation: str, ids: Sequence[EntryId], parent: EntryId) -> None:
        with self.answering():
            for entry in self.get_many(organisation, ids).values():
                if entry.parent_id == parent:
                    self._put(organisation, replace(entry, parent_id=None, revision=entry.revision + 1))

    def touch(self, organisation: str, ids: Sequence[EntryId]) -> None:
        with self.answering():
            for entry in self.get_many(organisation, ids).values():
                self._put(organisation, replace(entry, revision=entry.revision + 1))

    def keys(
        self,
        organisation: str,
        facet: str,
        *,
        newest_first: bool = True,
        low: str = "",
        high: str = "",
        page: int = KEYS_PER_PAGE,
    ) -> Iterator[Key]:
        with self.answering():
            placed = (keys(entry) for entry in self._of(organisation).entries.values())
            found = [key for each in placed for (name, _), key in each.items() if name == facet]
        within = [key for key in found if key.position >= low and (not high or key.position <= high)]
        yield from sorted(within, key=lambda key: key.position, reverse=newest_first)

    def counts(self, organisation: str, facet: str) -> Counts:
        total: Counter[str] = Counter()
        with self.answering():
            for entry in self._of(organisation).entries.values():
                total.update(counts(entry).get(facet, {}))
        return {cell: amount for cell, amount in total.items() if amount}

    def tally(self, organisation: str) -> Tally:
        """Counts are made of the entries when they are asked for, so none ever drift."""
        with self.answering():
            entries = self._of(organisation).entries.values()
            names = sorted({name for entry in entries for name in counts(entry)})
            return Tally(counts={name: self.counts(organisation, name) for name in names}, writes=0, repairs=0)

    def correct(self, organisation: str, drift: AllCounts, tally: Tally) -> None:
        raise AssertionError("these counts cannot drift")

    def place(self, organisation: str, id: EntryId, places: Sequence[Place]) -> None:
        raise AssertionError("these keys cannot be wrong")

    def cards(self, organisation: str, *, after: str = "") -> Iterator[Card]:
        with self.answering():
            entries = self._of(organisation).entries
            found = [entries[id].card for id in sorted(entries) if id > after]
        yield from found

    def organisations(self) -> Iterator[str]:
        with self.answering():
            found = sorted(self.kept)
        yield from found

    def dump(self, organisation: str | None = None) -> str:
        """Everything that is kept, or all of one organisation's, as text."""
        return repr((self.kept if organisation is None else self._of(organisation), self.audit.records))

    def _of(self, organisation: str) -> Kept:
        known(organisation)
        return self.kept.get(organisation, Kept())

    def _own(self, organisation: str) -> Kept:
        known(organisation)
        return self.kept.setdefault(organisation, Kept())

    def _put(self, organisation: str, entry: Entry) -> None:
        kept = self._own(organisation)
        kept.entries[entry.id] = replace(entry, organisation=organisation)
        kept.hashes[entry.content_hash] = entry.id
        self._announce(organisation, entry.id)

    def _announce(self, organisation: str, id: str) -> None:
        self.announced.append({"table": "records", "pk": f"{organisation}#memory#entries", "sk": id})

    def _record(self, audit: AuditRecord, entries: int) -> None:
        details = {**audit.details, "entries": str(entries)}
        self.audit.write(replace(audit, id=f"{audit.id}-{len(self.audit.records)}", details=details))


class MemoryJobs(Answers, DynamoJobs):
    """`announced` as in `MemoryEntries`."""

    def __init__(self, clock: Callable[[], float] | None = None, audit: MemoryAudit | None = None) -> None:
        super().__init__()
        self.clock = clock or Clock()
        self.audit = audit or MemoryAudit()
        self.kept: dict[tuple[str, str], tuple[Job, float]] = {}
        self.pieces: dict[tuple[str, str, int], tuple[str, float]] = {}
        self.announced: list[dict[str, str]] = []

    def create(self, job: Job, pieces: Sequence[str] = (), audit: AuditRecord | None = None) -> None:
        with self.answering():
            known(job.organisation)
            if (job.organisation, job.id) in self.kept:
                raise ValueError("a job has an id of its own")
            for number, piece in enumerate(pieces):
                if len(piece.encode()) > MAX_PIECE_BYTES:
                    raise ValueError("a piece is too large for an item")
                self.pieces[job.organisation, job.id, number] = piece, self.clock() + PIECE_SECONDS
            self._put(job)
            if audit:
                self.audit.write(audit)

    def job(self, organisation: str, id: str) -> Job | None:
        with self.answering():
            known(organisation)
            found = self.kept.get((organisation, id))
            return found[0] if found and found[1] > self.clock() else None

    def piece(self, organisation: str, id: str, number: int) -> str | None:
        with self.answering():
            text, until = self.pieces.get((organisation, id, number), (None, 0.0))
            return text if until > self.clock() else None

    def advance(self, job: Job, was: Job) -> bool:
        with self.answering():
            if job.step <= was.step:
                raise ValueError("a job's step grows with each write")
            stored = self.kept.get((job.organisation, job.id))
            if stored is None or stored[0].step != was.step:
                return False
            self._put(job)
            return True

    def unfinished(self, organisation: str) -> Iterator[Job]:
        with self.answering():
            known(organisation)
            jobs = [job for (owner, _), (job, until) in sorted(self.kept.items()) if owner == organisation]
            found = [job for job in jobs if job.status == "in_progress" and self.job(organisation, job.id)]
        yield from found

    def _put(self, job: Job) -> None:
        self.kept[job.organisation, job.id] = job, self.clock() + JOB_SECONDS
        self.announced.append({"table": "records", "pk": f"{job.organisation}#memory#jobs", "sk": job.id})


class MemoryCounts(Answers, DynamoQueryCounts):
    def __init__(self) -> None:
        super().__init__()
        self.kept: Counter[tuple[str, str, Role]] = Counter()

    def count(self, organisation: str, phase: Phase | None, role: Role) -> None:
        known(organisation)
        if not self.down:
            self.kept[organisation, phase or "none", role] += 1

    def counts(self, organisation: str) -> Mapping[tuple[str, Role], int]:
        with self.answering():
            known(organisation)
            return {(phase, role): n for (owner, phase, role), n in self.kept.items() if owner == organisation}


class MemoryVectors:
    """`commonplace.search.model.VectorMemory`."""

    def __init__(self) -> None:
        self.kept: dict[str, Vector] = {}

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        self.kept.update(vectors)


class MemoryCaches(Answers, DynamoVectorCaches):
    def __init__(self) -> None:
        super().__init__()
        self.caches: dict[str, MemoryVectors] = {}

    def of(self, organisation: str) -> VectorMemory:  # type: ignore[override]
        return self.caches.setdefault(organisation, MemoryVectors())

    def clear(self, organisation: str) -> int:
        with self.answering():
            gone, self.caches[organisation].kept = len(self._kept(organisation)), {}
            return gone

    def size(self, organisation: str) -> int:
        with self.answering():
            return len(self._kept(organisation))

    def _kept(self, organisation: str) -> dict[str, Vector]:
        return self.caches.setdefault(organisation, MemoryVectors()).kept


class MemoryUsage(Answers, DynamoUsage):
    """Over the entries that it notes recurrences in."""

    def __init__(self, entries: MemoryEntries) -> None:
        super().__init__()
        self._entries = entries
        self._uses: dict[tuple[str, str], StoryUse] = {}
        self._votes: dict[tuple[str, EntryId, str, str], Vote] = {}
        self._recurrences: dict[tuple[str, EntryId, str], Recurrence] = {}

    def recur(self, organisation: str, id: EntryId, story: str, at: str, audit: AuditRecord) -> Recurrence | None:
        with self.answering(), self._entries.lock:
            entry = self._entries.get(organisation, id)
            if entry is None or story in ("", entry.source_story):
                return None
            if noted := self._recurrences.get((organisation, id, story)):
                return noted
            found = Recurrence(id, entry.source_story or "", story, at, entry.seen + 1)
            kept = self._entries.kept[organisation]
            seen_in = (*entry.seen_in, story)[-MAX_SEEN_IN:]
            kept.entries[id] = replace(entry, seen=found.seen, seen_in=seen_in, revision=entry.revision + 1)
            self._recurrences[organisation, id, story] = found
            self._entries.audit.write(audit)
            return found

    def searched(self, organisation: str, story: str, tokens: int) -> None:
        use = self._use(organisation, story)
        self._uses[organisation, story] = replace(
            use, searches=use.searches + 1, answer_tokens=use.answer_tokens + tokens
        )

    def recorded(self, organisation: str, story: str, tokens_used: int | None) -> None:
        use = self._use(organisation, story)
        took = use.tokens_used if tokens_used is None else tokens_used
        self._uses[organisation, story] = replace(use, tokens_used=took)

    def vote(self, organisation: str, vote: Vote) -> Rating:
        with self.answering():
            self._votes[organisation, vote.id, vote.story, vote.voter] = vote
        return self.rating(organisation, vote.id)

    def rating(self, organisation: str, id: EntryId) -> Rating:
        with self.answering():
            votes = [vote.relevance for vote in self._of(organisation, self._votes) if vote.id == id]
        return Rating(id, len(votes), sum(votes))

    def lowest(self, organisation: str, most: int) -> Sequence[Rating]:
        rated = [self.rating(organisation, id) for id in {vote.id for vote in self._of(organisation, self._votes)}]
        return sorted(rated, key=lambda one: (one.total / one.votes, -one.votes, one.id))[:most]

    def recurring(self, organisation: str, most: int) -> Sequence[Recurrence]:
        last: dict[EntryId, Recurrence] = {}
        for one in self._of(organisation, self._recurrences):
            last[one.id] = max(one, last.get(one.id, one), key=lambda one: one.seen)
        return sorted(last.values(), key=lambda one: (-one.seen, one.id))[:most]

    def totals(self, organisation: str) -> Mapping[str, int]:
        cells = Counter({RECURRENCES: len(self._of(organisation, self._recurrences))})
        for use in self._of(organisation, self._uses):
            cells += of_story(use)
        for vote in self._of(organisation, self._votes):
            cells += of_vote(vote)
        return cells

    @staticmethod
    def _of(organisation: str, kept: Mapping[Any, V]) -> list[V]:
        return [value for (owner, *_), value in sorted(kept.items()) if owner == organisation]

    def _use(self, organisation: str, story: str) -> StoryUse:
        return self._uses.get((organisation, story), StoryUse(story))
