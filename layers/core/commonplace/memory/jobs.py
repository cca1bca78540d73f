"""Work of any size, continued as jobs: bulk imports, and new vectors for all entries (seed 001).

Parents come before their children, everything else stays in order. Entries are checked, skipped where they exist,
embedded in few calls, and stored. Every step may be repeated: what exists is recognised by its content, and an entry
that was stored just before an interruption by its id. So an interrupted import continues where it was and counts
nothing twice.

Of new vectors a batch is embedded, its vectors are cached, and only then are its entries touched: the index writes them
again and finds the vectors. Until then it answers with the old ones, so searches are not disturbed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, NotFound, Unavailable
from commonplace.memory.facets import ALL, number
from commonplace.memory.index_source import record_of
from commonplace.memory.model import (
    Entry,
    EntryId,
    Former,
    Import,
    Imported,
    Job,
    Kind,
    NewEntry,
    Rebuilt,
    Recurrence,
    content_hash,
)
from commonplace.memory.parts import Parts
from commonplace.memory.validation import Refused
from commonplace.search.indexer import Enough, never

_LOST_PARENT = "Its parent cannot be imported. Mend that entry first."
_NO_PARENT = "`parent_ref` names no entry of this import. Give the `ref` of one, or `parent_id`."
_NO_REPLACEMENT = "`superseded_by_ref` names no other entry of this import that can be imported."
_CIRCLE = "It is its own ancestor by `parent_ref`. Leave one of these out."

LOOKED_UP = 100
"""Entries whose hashes are looked up together."""

MAX_ERRORS, MAX_ERROR_CHARACTERS = 200, 300
"""Of an import's answer: the rest is counted."""

PIECE_BYTES = 250_000
"""Of what a job keeps in one item: with the largest entry on top it stays below 300,000."""

_LOST = "A part of this import is gone. Send it again: what is there already is skipped."


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One entry of an import on its way."""

    place: int
    name: str
    """Its `ref`, or its place as text: the key of its id in the answer."""
    entry: NewEntry
    hash: str
    former: Former | None = None
    parent_hash: str | None = None
    """The content hash of a parent within the import: whoever has that content becomes the parent."""
    superseded_by: EntryId | None = None
    """The replacement within the import, once the ids of its entries are chosen."""


@dataclass(frozen=True, slots=True)
class Plan:
    order: tuple[Planned, ...]
    problems: tuple[tuple[int, str], ...]
    """Places that cannot be imported, and why in a sentence; in order of places."""
    links: Mapping[int, int] = field(default_factory=dict)
    """Places of entries that are superseded, with those of their replacements."""


def plan(items: Sequence[Import | Refused]) -> Plan:
    """Return which entries may be imported, in which order. Linear in their number, whatever refers to what."""
    problems = {place: item.sentence for place, item in enumerate(items) if isinstance(item, Refused)}
    taken = {place: item for place, item in enumerate(items) if isinstance(item, Import)}
    refs: dict[str, int] = {}
    for place, item in taken.items():
        if item.ref is not None and refs.setdefault(item.ref, place) != place:
            problems[place] = f"Its `ref` is that of entries[{refs[item.ref]}] already. Give each a `ref` of its own."
    parents = {place: refs.get(item.parent_ref) for place, item in taken.items() if item.parent_ref is not None}
    problems |= {place: _NO_PARENT for place, parent in parents.items() if parent is None}
    links = {place: refs.get(ref) for place, item in taken.items() if (ref := item.superseded_by_ref) is not None}
    problems |= {
        place: _NO_REPLACEMENT
        for place, by in links.items()
        if by is None or by in problems or place in (by, links.get(by))
    }
    order = _parents_first(taken, {place: parent for place, parent in parents.items() if parent is not None}, problems)
    hashes = {place: content_hash(item.entry.content) for place, item in taken.items()}
    planned = tuple(
        Planned(
            place=place,
            name=taken[place].ref or str(place),
            entry=taken[place].entry,
            hash=hashes[place],
            former=taken[place].former,
            parent_hash=None if (parent := parents.get(place)) is None else hashes[parent],
        )
        for place in order
    )
    kept = {place: by for place, by in links.items() if by is not None and not {place, by} & problems.keys()}
    return Plan(planned, tuple(sorted(problems.items())), kept)


def _parents_first(places: Iterable[int], parents: dict[int, int], problems: dict[int, str]) -> list[int]:
    """Return every place without a problem, after its parent; those whose parent has one get one of their own."""
    order: dict[int, None] = {}
    for start in places:
        way: dict[int, None] = {}
        place: int | None = start
        while place is not None and place not in order and place not in problems and place not in way:
            way[place] = None
            place = parents.get(place)
        if place is not None and place in way:
            circle = list(way)[list(way).index(place) :]
            problems.update(dict.fromkeys(circle, _CIRCLE))
        for one in reversed(way):
            if one in problems:
                continue
            if parents.get(one) in problems:
                problems[one] = _LOST_PARENT
            else:
                order[one] = None
    return list(order)


@dataclass(slots=True)
class Tally:
    """The progress of an import."""

    processed: int = 0
    imported: int = 0
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    ids: dict[str, EntryId] = field(default_factory=dict)
    recurrences: list[Recurrence] = field(default_factory=list)

    def refuse(self, place: int, sentence: str) -> None:
        """Count an entry that cannot be imported."""
        self.processed += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(f"entries[{place}]: {sentence}"[:MAX_ERROR_CHARACTERS])

    def keep(self, one: Planned, id: EntryId) -> None:
        """Count an entry that was added."""
        self.processed += 1
        self.imported += 1
        self.ids[one.name] = id

    def skip(self, one: Planned, id: EntryId, *, allowed: bool) -> None:
        """Count an entry whose content is there already."""
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
        self._vectors = parts.vectors
        self._holders: dict[str, EntryId] = {}
        """Who has which content, as far as this run knows."""

    def run(self, planned: Sequence[Planned], enough: Enough) -> int:
        """Take entries until there is `enough`, and return how many were done. Raises Unavailable."""
        done = 0
        for batch in self._batches(planned):
            if done and enough():
                break
            self._take(batch)
            done += len(batch.entries)
        return done

    def _batches(self, planned: Sequence[Planned]) -> Iterator[_Batch]:
        """Yield stretches of which as many texts are new to the cache as one call of the model takes, or fewer."""
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
        """Return each with what it becomes, and with its texts that are to be embedded."""
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
        holder = self._holders.get(one.parent_hash or "")
        entry = self._parts.entry(self._author, one.entry, self._ids[one.place], holder or one.entry.parent_id)
        if one.former is None:
            return replace(entry, superseded_by=one.superseded_by)
        # Above every revision that an entry of this id ever had: they grow by one with a change.
        revision = int(self._parts.clock().timestamp())
        # The stories that learned it again are noted one by one.
        seen = max(one.former.seen - len(one.former.seen_in), 0)
        return replace(entry, **asdict(replace(one.former, seen=seen, seen_in=())), revision=revision)

    def _take(self, batch: _Batch) -> None:
        if batch.texts:
            self._vectors.warm(self._author.organisation, batch.texts)
        new, copies = self._new(batch)
        waiting = self._with_parents(new)
        while waiting:
            wave = [one for one in waiting if one.parent_hash is None or one.parent_hash in self._holders]
            if not wave:
                break
            entries = [self._entry(one) for one in wave]
            record = self._parts.record(self._author, "memory.import")
            self._holders |= self._parts.store.add(self._author.organisation, entries, record)
            for one in wave:
                id = self._holders[one.hash]
                if id == self._ids[one.place]:
                    self._tally.keep(one, id)
                else:
                    self._tally.skip(one, id, allowed=self._skip_existing)
            taken = {one.place for one in wave}
            waiting = [one for one in waiting if one.place not in taken]
        for one in waiting:
            self._tally.refuse(one.place, "Its parent was not imported.")
        for one in copies:
            if (holder := self._holders.get(one.hash)) is None:
                self._tally.refuse(one.place, "An entry before it has the same content and was not imported.")
            else:
                self._tally.skip(one, holder, allowed=self._skip_existing)
        self._note([one for one, _ in batch.entries])

    def _note(self, batch: Sequence[Planned]) -> None:
        """Note the stories of the batch, and what they learned again."""
        held = {one.place: id for one in batch if one.entry.source_story and (id := self._holders.get(one.hash))}
        others = sorted({id for place, id in held.items() if id != self._ids[place]})
        there = self._parts.store.get_many(self._author.organisation, others) if others else {}
        for one in batch:
            if one.place in held:
                self._parts.note_story(self._author, one.entry)
            if one.former and held.get(one.place) == one.former.id:
                for story in one.former.seen_in:
                    self._parts.recur(self._author, one.former.id, story)
            holder = there.get(held.get(one.place, EntryId("")))
            # What is refused, or brought back as it was, was not learned.
            if holder and self._skip_existing and not one.former and one.entry.source_story != holder.source_story:
                found = self._parts.recur(self._author, holder.id, one.entry.source_story)
                self._tally.recurrences += [found] if found else []

    def _new(self, batch: _Batch) -> tuple[list[Planned], list[Planned]]:
        """Return those whose content nobody has, each content once, and their copies. What is there is counted here."""
        first: dict[str, Planned] = {}
        copies: list[Planned] = []
        for one, _ in batch.entries:
            holder = self._holders.get(one.hash)
            if holder is None and first.setdefault(one.hash, one) is not one:
                copies.append(one)
            elif holder is None:
                continue
            elif holder == self._ids[one.place] and one.former is None:
                self._tally.keep(one, holder)
            else:
                self._tally.skip(one, holder, allowed=self._skip_existing)
        return list(first.values()), copies

    def _with_parents(self, new: Sequence[Planned]) -> list[Planned]:
        """Return those whose parents, where they name one by its id, are there. Parents in the import may come yet."""
        organisation, store = self._author.organisation, self._parts.store
        hashes = {one.parent_hash for one in new if one.parent_hash} - self._holders.keys()
        if hashes:
            self._holders |= store.holders(organisation, sorted(hashes))
        named = sorted({one.entry.parent_id for one in new if one.entry.parent_id})
        there = store.get_many(organisation, named).keys() if named else set()
        lost = {one.place for one in new if one.entry.parent_id and one.entry.parent_id not in there}
        for place in sorted(lost):
            self._tally.refuse(place, "`parent_id` names no entry. Import the parent as well, with a `ref`.")
        former = [one.former.id for one in new if one.former]
        changed = store.get_many(organisation, former).keys() if former else set()
        for one in new:
            if one.former and one.former.id in changed and one.place not in lost:
                self._tally.refuse(
                    one.place, f"The entry {one.former.id} is there with another content. Keep one of them."
                )
                lost.add(one.place)
        return [one for one in new if one.place not in lost]


class LargeImports:
    """Imports of any size."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def start(self, author: Author, items: Sequence[Import | Refused], skip_existing: bool, enough: Enough) -> Imported:
        """Import until there is `enough`; the rest becomes a job. After Unavailable the same may be sent again."""
        planned = plan(items)
        tally = Tally()
        for place, sentence in planned.problems:
            tally.refuse(place, sentence)
        ids = {one.place: one.former.id if one.former else EntryId(self._parts.new_id()) for one in planned.order}
        importer = Importer(self._parts, author, ids, tally, skip_existing=skip_existing)
        hashes = {one.place: one.hash for one in planned.order}
        wanted = sorted({hashes[by] for by in planned.links.values()})
        there = self._parts.store.holders(author.organisation, wanted) if wanted else {}
        by = {place: there.get(hashes[other], ids[other]) for place, other in planned.links.items()}
        order = [replace(one, superseded_by=by.get(one.place)) for one in planned.order]
        done = importer.run(order, enough)
        rest = order[done:]
        total = len(items)
        if not rest:
            return _answer(total, tally)
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
        self._parts.jobs.create(job, list(_pieces(rest, ids, self._parts.batch)), record)
        return _progress(job)

    def progress(self, author: Author, handle: str) -> Imported:
        """Return how far an import has come. Raises NotFound."""
        return _progress(_job(self._parts, author, handle, "import"))

    def carry_on(self, job: Job, enough: Enough) -> Job | None:
        """Take the next pieces of the job."""
        tally = Tally(job.processed, job.imported, job.skipped, list(job.errors))
        position, status = int(job.position or 0), job.status
        while status == "in_progress":
            piece = self._parts.jobs.piece(job.organisation, job.id, position)
            if piece is None:
                status = "failed"
                tally.errors.append(_LOST)
                break
            planned = [_unpacked(one) for one in json.loads(piece)]
            ids = {one.place: id for one, id in planned}
            author = Author(
                organisation=job.organisation,
                account=job.account,
                client=job.client,
                grant=job.grant,
                network=job.network,
            )
            importer = Importer(self._parts, author, ids, tally, skip_existing=job.skip_existing)
            importer.run([one for one, _ in planned], never)
            position += 1
            if tally.processed >= job.total:
                status = "complete"
            elif enough():
                break
        return write(self._parts, job, tally, position=str(position), status=status)


def _progress(job: Job) -> Imported:
    tally = Tally(job.processed, job.imported, job.skipped, list(job.errors))
    going_on = job.status == "in_progress"
    return replace(_answer(job.total, tally), status=job.status, handle=job.id if going_on else None, ids=None)


def new_job(parts: Parts, author: Author, kind: Kind) -> Job:
    """Return a job of this author's, which has done nothing yet."""
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


def write(parts: Parts, was: Job, tally: Tally, **changes: Any) -> Job | None:
    """Return the job as it has come on, or as somebody else has brought it on where that was faster."""
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


def _job(parts: Parts, author: Author, handle: str, kind: Kind) -> Job:
    """Raises NotFound: it is not there, another organisation's, of another kind, or forgotten."""
    job = parts.jobs.job(author.organisation, handle)
    if job is None or job.kind != kind:
        hint = "Handles are kept for a week. Importing the same again skips what is there."
        raise NotFound(f"There is no work under the handle {handle}.", hint=hint)
    return job


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
        recurrences=tuple(tally.recurrences),
    )


def _pieces(planned: Sequence[Planned], ids: dict[int, EntryId], most: int) -> Iterator[str]:
    """Yield JSON of as many entries as are embedded together, or of fewer where they are large."""
    piece: list[str] = []
    size = 0
    for one in planned:
        text = json.dumps({**asdict(one), "id": ids[one.place]}, ensure_ascii=False, separators=(",", ":"))
        if piece and (len(piece) == most or size + len(text.encode()) > PIECE_BYTES):
            yield f"[{','.join(piece)}]"
            piece, size = [], 0
        piece.append(text)
        size += len(text.encode()) + 1
    if piece:
        yield f"[{','.join(piece)}]"


def _unpacked(packed: dict[str, Any]) -> tuple[Planned, EntryId]:
    rest = dict(packed)
    id = EntryId(rest.pop("id"))
    entry = dict(rest.pop("entry"))
    entry |= {name: tuple(entry[name]) for name in ("roles", "tags")}
    former = rest.pop("former")
    if former:
        former |= {"seen_in": tuple(former["seen_in"])}
    return Planned(entry=NewEntry(**entry), former=Former(**former) if former else None, **rest), id


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
        self._vectors = parts.vectors

    def start(self, author: Author, batch_size: int, clear_cache: bool, enough: Enough) -> Rebuilt:
        """Rebuild embeddings until there is `enough`; the rest becomes a job. One in progress is reported.

        The cache is cleared once the model has answered for the first batch: while it is away nothing is lost.
        Raises Conflict where there is no model, and Unavailable when it does not answer.
        """
        if self._parts.embedder is None:
            hint = "Searches compare words. Name a model in EMBEDDING_PROVIDER to compare meaning as well."
            raise Conflict("This deployment has no embedding model.", hint=hint)
        organisation = author.organisation
        going_on = next((job for job in self._parts.jobs.unfinished(organisation) if job.kind == "rebuild"), None)
        if going_on is not None:
            return _rebuilt(going_on)
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
        return _rebuilt(job)

    def carry_on(self, job: Job, enough: Enough) -> Job | None:
        """Go on after the last entry that is done. Raises Unavailable when not one batch could be done."""
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
        """Return how far the rebuild has come. Raises NotFound."""
        return _rebuilt(_job(self._parts, author, handle, "rebuild"))

    def _run(self, organisation: str, after: str, size: int, enough: Enough, *, clear_first: bool = False) -> _Stretch:
        """Return what was done behind this id. Once one batch is, a model that goes away only ends this stretch."""
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


def _rebuilt(job: Job) -> Rebuilt:
    going_on = job.status == "in_progress"
    return Rebuilt(total=job.total, processed=job.processed, status=job.status, handle=job.id if going_on else None)
