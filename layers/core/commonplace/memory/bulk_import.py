"""Importing many entries: check, skip what is there, embed what is new in few calls, keep it (seed 001,
`kb_bulk_import`).

Every step may be done again: what is there already is known by its content, and an entry that a worker has kept before
it was stopped is known by its id. So an import that was killed goes on where it was, and counts nothing twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.memory.entries import Author, Entry, EntryId
from commonplace.memory.parts import Parts
from commonplace.memory.planning import Planned
from commonplace.memory.records import record_of
from commonplace.memory.vectors import Vectors
from commonplace.search.indexer import Enough

LOOKED_UP = 100
"""Entries whose hashes are looked up together."""

MAX_ERRORS, MAX_ERROR_CHARACTERS = 200, 300
"""Of an import's answer: the rest is told as a number."""


@dataclass(slots=True)
class Tally:
    """How far an import has come."""

    processed: int = 0
    imported: int = 0
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    ids: dict[str, EntryId] = field(default_factory=dict)

    def refuse(self, place: int, sentence: str) -> None:
        """Counts an entry that cannot be imported."""
        self.processed += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(f"entries[{place}]: {sentence}"[:MAX_ERROR_CHARACTERS])

    def keep(self, one: Planned, id: EntryId) -> None:
        """Counts an entry that was kept."""
        self.processed += 1
        self.imported += 1
        self.ids[one.name] = id

    def skip(self, one: Planned, id: EntryId, *, allowed: bool) -> None:
        """Counts an entry whose content is there already."""
        if not allowed:
            self.refuse(one.place, f"The entry {id} has this content already. Leave it out, or set skip_existing.")
            return
        self.processed += 1
        self.skipped += 1
        self.ids[one.name] = id


@dataclass(slots=True)
class _Batch:
    entries: list[tuple[Planned, Entry | None]] = field(default_factory=list)
    """Each with the entry it becomes; None where its content is known to be there."""
    texts: dict[str, str] = field(default_factory=dict)
    """What is embedded for them in one call."""


class Importer:
    """Takes planned entries, in their order. One for each run: it remembers what it has seen.

    `ids` are those that the entries get, by place.
    """

    def __init__(
        self, parts: Parts, author: Author, ids: Mapping[int, EntryId], tally: Tally, *, skip_existing: bool
    ) -> None:
        self._parts = parts
        self._author = author
        self._ids = ids
        self._tally = tally
        self._skip_existing = skip_existing
        self._vectors = Vectors(parts.embedder, parts.caches)
        self._holders: dict[str, EntryId] = {}
        """Who has which content, as far as this run knows."""

    def run(self, planned: Sequence[Planned], enough: Enough) -> int:
        """Takes entries until there is `enough`, and says how many were done. Raises Unavailable."""
        done = 0
        for batch in self._batches(planned):
            if done and enough():
                break
            self._take(batch)
            done += len(batch.entries)
        return done

    def _batches(self, planned: Sequence[Planned]) -> Iterator[_Batch]:
        """Stretches of which as many texts are new to the cache as one call of the model takes, or fewer."""
        batch = _Batch()
        for start in range(0, len(planned), LOOKED_UP):
            for one, entry, texts in self._looked_up(planned[start : start + LOOKED_UP]):
                full = len(batch.texts.keys() | texts.keys()) > self._parts.batch
                if batch.entries and (full or len(batch.entries) >= 2 * LOOKED_UP):
                    yield batch
                    batch = _Batch()
                batch.entries.append((one, entry))
                batch.texts |= texts
        if batch.entries:
            yield batch

    def _looked_up(self, planned: Sequence[Planned]) -> list[tuple[Planned, Entry | None, dict[str, str]]]:
        """Each with what it becomes, and with its texts that are to be embedded."""
        organisation = self._author.organisation
        self._holders |= self._parts.store.holders(organisation, [one.hash for one in planned])
        new = {one.place: self._entry(one) for one in planned if one.hash not in self._holders}
        texts = {place: self._vectors.texts(record_of(entry)) for place, entry in new.items()}
        missing = self._vectors.missing(
            organisation, {key: text for each in texts.values() for key, text in each.items()}
        )
        return [
            (
                one,
                new.get(one.place),
                {key: text for key, text in texts.get(one.place, {}).items() if key in missing},
            )
            for one in planned
        ]

    def _entry(self, one: Planned) -> Entry:
        return self._parts.entry(self._author, one.entry, self._ids[one.place], one.entry.parent_id)

    def _take(self, batch: _Batch) -> None:
        if batch.texts:
            self._vectors.warm(self._author.organisation, batch.texts)
        new, copies = self._new(batch)
        waiting = self._with_parents(new)
        while waiting:
            wave = [one for one in waiting if one.parent_hash is None or one.parent_hash in self._holders]
            if not wave:
                break
            self._keep(wave)
            taken = {one.place for one in wave}
            waiting = [one for one in waiting if one.place not in taken]
        for one in waiting:
            self._tally.refuse(one.place, "Its parent was not imported.")
        for one in copies:
            self._skip_copy(one)

    def _new(self, batch: _Batch) -> tuple[list[Planned], list[Planned]]:
        """Those whose content nobody has, each content once; and their copies. What is there is counted on the way."""
        first: dict[str, Planned] = {}
        copies: list[Planned] = []
        for one, _ in batch.entries:
            holder = self._holders.get(one.hash)
            if holder is None and first.setdefault(one.hash, one) is not one:
                copies.append(one)
            elif holder is None:
                continue
            elif holder == self._ids[one.place]:
                self._tally.keep(one, holder)
            else:
                self._tally.skip(one, holder, allowed=self._skip_existing)
        return list(first.values()), copies

    def _with_parents(self, new: Sequence[Planned]) -> list[Planned]:
        """Those whose parents, where they name one by its id, are there. Parents in the import may come yet."""
        organisation, store = self._author.organisation, self._parts.store
        hashes = {one.parent_hash for one in new if one.parent_hash} - self._holders.keys()
        if hashes:
            self._holders |= store.holders(organisation, sorted(hashes))
        named = sorted({one.entry.parent_id for one in new if one.entry.parent_id})
        there = store.get_many(organisation, named).keys() if named else set()
        lost = {one.place for one in new if one.entry.parent_id and one.entry.parent_id not in there}
        for place in sorted(lost):
            self._tally.refuse(place, "`parent_id` names no entry. Import the parent as well, with a `ref`.")
        return [one for one in new if one.place not in lost]

    def _keep(self, wave: Sequence[Planned]) -> None:
        entries = [
            self._parts.entry(
                self._author,
                one.entry,
                self._ids[one.place],
                self._holders[one.parent_hash] if one.parent_hash else one.entry.parent_id,
            )
            for one in wave
        ]
        record = self._parts.record(self._author, "memory.import")
        self._holders |= self._parts.store.add(self._author.organisation, entries, record)
        for one in wave:
            holder = self._holders[one.hash]
            if holder == self._ids[one.place]:
                self._tally.keep(one, holder)
            else:
                self._tally.skip(one, holder, allowed=self._skip_existing)

    def _skip_copy(self, one: Planned) -> None:
        holder = self._holders.get(one.hash)
        if holder is None:
            self._tally.refuse(one.place, "An entry before it has the same content and was not imported.")
        else:
            self._tally.skip(one, holder, allowed=self._skip_existing)
