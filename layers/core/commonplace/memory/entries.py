"""The memory of a team: what is done with its entries, by the tools, the API and the console alike (seed 001, "Tools").

What is read without a search comes from the store, so it is consistent at once, and what is read is what is returned:
keys of a facet, and counts (`memory.facets`).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from operator import mul
from typing import Any, cast

from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound
from commonplace.memory import facets, search
from commonplace.memory.facets import ALL, BY_CHANGE, CONFIDENCE_UNITS, LAST, Key
from commonplace.memory.index_source import record_of, subject
from commonplace.memory.job_store import DynamoQueryCounts
from commonplace.memory.model import (
    DEFAULT_RELATED,
    ENTRY_TYPES,
    MAX_RELEVANCE,
    ROLES,
    Added,
    Asked,
    Changes,
    Entry,
    EntryId,
    ListAnswer,
    Listing,
    Mean,
    Metrics,
    Near,
    NewEntry,
    Related,
    Relation,
    SearchAnswer,
    Stats,
    Updated,
    Vote,
    content_hash,
    merged_metadata,
)
from commonplace.memory.parts import Parts, unknown
from commonplace.memory.records import KEYS_PER_PAGE, Once
from commonplace.memory.search import OVER_FETCH, MemorySearch, beginning
from commonplace.memory.store import Replayed, Stale, Taken
from commonplace.memory.usage import RECURRENCES
from commonplace.search.model import QueryVector
from commonplace.search.source import FOR_EVER

KEYS_KEPT = timedelta(days=2)
"""How long an idempotency key is remembered."""

MOST_NEAR, NEAR_CHARACTERS = 3, 160
"""Entries with a similar text that an answer names, and how much of each."""

MAX_ABOVE = 20
"""Entries above one that gets a parent: its transaction checks each, so that no circle comes of two such changes."""

ATTEMPTS = 10
"""How often a change is made again on top of somebody else's before it is a conflict."""

SHARED_TAGS = 2
"""Entries are related by tags when they have this many in common."""
COMMON_SHARE, COMMON_FLOOR = 0.1, 25
"""A tag on more than this share of the entries relates none, unless it is on no more than so many."""
RELATIVES, NEWEST = 200, 50
"""So many siblings and children are looked at, and so many entries of each tag, the newest."""
FEW = 200
"""So many keys are counted, and so many entries read and sorted rather than looked for among all in their order."""
MOST = 5
"""Lessons that are named as learned again most often, and entries as rated lowest."""
LISTS_REMEMBERED, MARK_EVERY = 64, 100
"""Lists whose positions a process remembers, and the entries between two of them."""

Marks = MutableMapping[int, str]
"""The positions of a list by how many entries come before them."""


@dataclass(slots=True, kw_only=True)
class Memory(Parts):
    """Every operation on entries. Arguments come from `memory.validation`.

    Every method concerns the author's own organisation, and raises Unavailable when the store does not answer.
    """

    counts: DynamoQueryCounts
    search_index: MemorySearch = field(repr=False)
    _marks: Any = field(init=False, default_factory=lambda: lru_cache(maxsize=LISTS_REMEMBERED)(lambda *_list: {0: ""}))

    def search(self, author: Author, asked: Asked) -> SearchAnswer:
        """Return the entries that answer best, and count the query. Raises Unavailable without an index."""
        self.counts.count(author.organisation, asked.phase, asked.role or "all")
        return self.search_index.search(author.organisation, asked)

    def get(self, author: Author, id: EntryId) -> Entry:
        """Return the entry as it is now. Raises NotFound."""
        entry = self.store.get(author.organisation, id)
        if entry is None and self.store.deleted(author.organisation, id):
            raise NotFound(f"The entry {id} was deleted.", hint="kb_delete with undo=true brings it back.")
        if entry is None:
            raise unknown(id)
        return search.without_lost_parents(self.store, author.organisation, [entry])[0]

    def history(self, author: Author, id: EntryId) -> tuple[Entry, ...]:
        """Return the stored versions of the entry, the oldest first; the last is what it is now. Raises NotFound."""
        now = self.get(author, id)
        return *(one for one in self.store.versions(author.organisation, id) if one.version < now.version), now

    def as_of(self, author: Author, id: EntryId, moment: str) -> Entry:
        """Return the entry as it was at the end of a day, or at a time. Raises NotFound."""
        versions = self.history(author, id)
        then = [one for one in versions if one.updated_at[: len(moment)] <= moment]
        if not then:
            hint = f"The oldest version that is kept is {versions[0].version}, of {versions[0].updated_at}."
            raise NotFound(f"There is no version of {id} of that time.", hint=hint)
        return then[-1]

    def related(self, author: Author, id: EntryId, limit: int = DEFAULT_RELATED) -> tuple[Related, ...]:
        """Return siblings, then the parent, then children, then entries with two or more of its tags.

        Each group is ordered by how many tags are shared, the newest first among equals. Raises NotFound.
        """
        organisation = author.organisation
        own = self.store.get(organisation, id)
        if own is None:
            raise unknown(id)
        tags = {facets.facet("tag", tag) for tag in own.tags}
        relations: dict[EntryId, Relation] = {}
        # What comes first is enough: tags are read only where relatives leave room.
        for relation, members in self._relatives(organisation, own):
            for key in sorted(members, key=lambda key: -len(tags.intersection(key.facets))):
                if key.id != id:
                    relations.setdefault(key.id, relation)
            if len(relations) >= limit:
                break
        nearest = list(relations)[:limit]
        entries = search.in_order(nearest, self.store.get_many(organisation, nearest) if nearest else {})
        shown = search.without_lost_parents(self.store, organisation, entries)
        return tuple(
            Related(entry, relations[entry.id], tuple(tag for tag in own.tags if tag in entry.tags)) for entry in shown
        )

    def _relatives(self, organisation: str, own: Entry) -> Iterator[tuple[Relation, Iterable[Key]]]:
        """Yield each kind of relation with its entries, the newest first."""
        parent = self.store.get(organisation, own.parent_id) if own.parent_id else None
        if parent:
            yield "sibling", self._newest(organisation, facets.parent_facet(parent.id), RELATIVES)
            yield "parent", [facets.key(parent)]
        yield "child", self._newest(organisation, facets.parent_facet(own.id), RELATIVES)
        everything = facets.number(self.store.counts(organisation, ALL))
        most = max(COMMON_FLOOR, COMMON_SHARE * everything)
        named = [facets.facet("tag", tag) for tag in own.tags] if len(own.tags) >= SHARED_TAGS else []
        telling = {name for name in named if facets.number(self.store.counts(organisation, name)) <= most}
        if len(telling) >= SHARED_TAGS:
            members = {key.id: key for name in sorted(telling) for key in self._newest(organisation, name, NEWEST)}
            close = [key for key in members.values() if len(telling.intersection(key.facets)) >= SHARED_TAGS]
            close.sort(key=lambda key: (key.created_at, key.id), reverse=True)
            yield "tags", sorted(close, key=lambda key: -len(telling.intersection(key.facets)))

    def _newest(self, organisation: str, facet: str, most: int) -> tuple[Key, ...]:
        return tuple(islice(self.store.keys(organisation, facet, page=most), most))

    def list(self, author: Author, listing: Listing) -> ListAnswer:
        """Return a page of those that pass the filters, ties by id, and how many pass them.

        The number is that of the counts where one of them is of just these filters; otherwise the `FEW` first keys of
        the rarest facet are counted, once for all pages, and there may be more.
        """
        organisation = author.organisation
        wanted = facets.wanted(listing)
        sizes, known = self._sizes(organisation, listing, wanted)
        rarest = min(sizes, key=lambda name: sizes[name])
        marks, passed, listing = self._marked(organisation, listing, sizes)
        by_time, most = listing.order_by == "created_at", listing.offset + listing.limit + 1
        total, whole = (listing.total, listing.whole) if known is None else (known, True)
        first: Sequence[Key] = ()
        exhausted = False
        if total is None or (whole and not by_time and min(sizes[rarest], total) <= FEW):
            keys = [*islice(self._keys(organisation, listing, rarest, page=FEW + 1), FEW + 1)]
            first = [key for key in keys[:FEW] if _passes(key, listing, wanted)]
            exhausted = len(keys) <= FEW
        if total is None:
            total, whole = len(first), exhausted

        if exhausted and not by_time:
            # Few entries, in the order that the caller chose.
            entries = self.store.get_many(organisation, [key.id for key in first]) if first else {}
            at_each = ((facets.position(entry, listing.order_by), entry.id) for entry in entries.values())
            behind_after = (one for one in at_each if _is_behind(one[0], listing))
            places = sorted(behind_after, reverse=listing.order == "desc")
        elif by_time and (exhausted or (len(first) >= most and not listing.after)):
            places = [(key.position, key.id) for key in first if _is_behind(key.position, listing)]
        else:
            facet = rarest if by_time else f"by={listing.order_by}"
            size = sizes.get(facet, sizes[ALL])
            # The key at `after` is read as well.
            page = most * (size if whole else min(size, FEW)) // max(total, 1) + bool(listing.after)
            keys_of = (
                self._keys(organisation, listing, facet, after=listing.after, page=page) if total or not whole else ()
            )
            behind = (key for key in keys_of if _passes(key, listing, wanted) and _is_behind(key.position, listing))
            places = [(key.position, key.id) for key in islice(behind, most)]
            if not whole and (marks or not listing.after):
                total, whole = max(total, passed + len(places)), len(places) < most
        at = {id: place for place, id in places[listing.offset : most - 1]}
        for mark in (*range(MARK_EVERY, len(places), MARK_EVERY), listing.offset + len(at)) if marks and at else ():
            marks[passed + mark] = places[mark - 1][0]
        found = search.in_order([*at], self.store.get_many(organisation, [*at]) if at else {})
        passing = [entry for entry in found if set(wanted) <= set(facets.facets(entry))]
        return ListAnswer(
            search.without_lost_parents(self.store, organisation, passing),
            total,
            whole=whole,
            places=tuple(at[entry.id] for entry in passing),
            last=[*at.values()][-1] if at else listing.after,
            more=len(places) >= most,
        )

    def _marked(self, organisation: str, listing: Listing, sizes: dict[str, int]) -> tuple[Marks, int, Listing]:
        """Return the known positions of a list, how many entries the nearest one passes over, and the list from there.

        A write moves the newest change, or the sizes: then an offset counts the entries of the moment anew.
        """
        if not listing.offset or listing.after:
            return {}, 0, listing
        newest = next(self.store.keys(organisation, BY_CHANGE, page=1), None)
        question = replace(listing, limit=0, offset=0)
        marks = cast(Marks, self._marks(organisation, question, newest and newest.position, tuple(sizes.items())))
        passed = max(mark for mark in [*marks] if mark <= listing.offset)
        return marks, passed, replace(listing, after=marks[passed], offset=listing.offset - passed)

    def _sizes(self, organisation: str, listing: Listing, wanted: Sequence[str]) -> tuple[dict[str, int], int | None]:
        """Return how many entries each facet has, and how many pass the filters, where the counts know that."""
        counted = [name for name in wanted if name.startswith(facets.COUNTED)]
        counts = {name: self.store.counts(organisation, name) for name in (ALL, *counted)}
        sizes = {name: facets.number(cells) for name, cells in counts.items()}
        sizes |= {name: facets.number_of(counts[ALL], name) for name in wanted if name not in counts}
        if len(counted) > 1 or listing.since or listing.until:
            return sizes, None
        return sizes, facets.number(counts[[*counts][-1]], listing.role, listing.entry_type)

    def _keys(
        self, organisation: str, listing: Listing, facet: str, *, after: str = "", page: int = KEYS_PER_PAGE
    ) -> Iterator[Key]:
        """Return the keys of a facet in the list's order, of its time where that orders them, from `after` on."""
        newest_first = listing.order == "desc"
        low, high = ("", LAST) if facet.startswith("by=") else _span(listing)
        low, high = (low, min(after or high, high)) if newest_first else (max(after, low), high)
        return self.store.keys(organisation, facet, newest_first=newest_first, low=low, high=high, page=page)

    def stats(self, author: Author) -> Stats:
        """Return figures of all entries. An entry with two roles counts for both."""
        organisation = author.organisation
        cells = self.store.counts(organisation, ALL)
        total = facets.number(cells)
        newest = next(self.store.keys(organisation, BY_CHANGE, page=1), None)
        return Stats(
            total_entries=total,
            by_type={each: facets.number(cells, None, each) for each in ENTRY_TYPES},
            by_role={role: cells.get(f"is_{role}", 0) for role in ROLES},
            avg_confidence=round(cells.get("confidence", 0) / CONFIDENCE_UNITS / total, 4) if total else 0.0,
            last_updated=newest.position.rpartition("#")[0] if newest else None,
            cache_size=self.caches.size(organisation),
            queries=self.counts.counts(organisation),
            recurrences=self.usage.totals(organisation).get(RECURRENCES, 0),
        )

    def add(
        self, author: Author, new: NewEntry, *, idempotency_key: str | None = None, recurs_of: EntryId | None = None
    ) -> Added:
        """Add an entry, unless its content is there already, and note a story that learned again what another had.

        Its vectors are made first, so that the index finds them in the cache; without a model it is added all the same.
        `recurs_of` is an entry that says the same in other words. Raises InvalidInput when its parent, what it
        supersedes, or that entry is not there, and Conflict when the key was used for another request.
        """
        if recurs_of and not new.source_story:
            hint = "Say in which story it was learned again."
            raise InvalidInput("`recurs_of` goes with `source_story`.", hint=hint)
        if recurs_of and self.store.get(author.organisation, recurs_of) is None:
            hint = "Take it from kb_search, or leave it out."
            raise InvalidInput("`recurs_of` names no entry.", hint=hint)
        entry = self.entry(author, new, EntryId(self.new_id()), new.parent_id)
        holder = self.store.holders(author.organisation, [entry.content_hash]).get(entry.content_hash)
        if new.supersedes and self.store.get(author.organisation, new.supersedes) is None:
            raise InvalidInput("`supersedes` names no entry.", hint="Take ids from kb_search or kb_list.")
        added = self._added(author, entry, holder, idempotency_key, new)
        if new.supersedes:
            self._supersede(author, new.supersedes, added.id)
        self.note_story(author, new)
        # Also when replayed: the request before may have been lost between the entry and the note.
        again = recurs_of or (added.id if added.duplicate or added.replayed else None)
        return replace(added, recurrence=self.recur(author, again, new.source_story) if again else None)

    def _added(self, author: Author, entry: Entry, holder: EntryId | None, key: str | None, new: NewEntry) -> Added:
        organisation = author.organisation
        if holder is not None and key is None:
            return Added(holder, duplicate=True)
        if holder is None and new.parent_id is not None and self.store.get(organisation, new.parent_id) is None:
            raise _no_parent()
        embedded, nearest = (True, ()) if holder else self._embed(entry)
        audit = self._audit(author, "memory.add", entry)
        if key is None:
            stored: EntryId | Replayed = self.store.add(organisation, [entry], audit)[entry.content_hash]
        else:
            # The same request, however it was written.
            text = json.dumps(asdict(new), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            request = hashlib.sha256(text.encode()).hexdigest()
            expires = int((self.clock() + KEYS_KEPT).timestamp())
            once = Once(hashlib.sha256(key.encode()).hexdigest(), request, expires)
            stored = self.store.add_once(organisation, entry, audit, once)
            if isinstance(stored, Replayed) and stored.request != request:
                raise Conflict(
                    f"This idempotency_key was used for another request, which made the entry {stored.id}.",
                    hint="Send the same request again, or another key with another one.",
                    id=stored.id,
                )
        if isinstance(stored, Replayed):
            return Added(stored.id, replayed=True)
        if stored != entry.id:
            return Added(stored, duplicate=True)
        return Added(entry.id, embedded=embedded, nearest=nearest)

    def _embed(self, entry: Entry) -> tuple[bool, tuple[Near, ...]]:
        """Return whether the entry has vectors now, and the entries with the nearest texts.

        Those of facts are compared once more without the subject they share.
        """
        if self.embedder is None:
            return True, ()
        organisation = entry.organisation
        alone = record_of(replace(entry, metadata={}))
        vectors = self.vectors.firsts(organisation, [record_of(entry), alone])
        if not vectors:
            return False, ()
        own: QueryVector = vectors[1]
        found = self.search_index.nearest(organisation, own, OVER_FETCH * MOST_NEAR)
        facts = [one for one, _ in found if subject(one)]
        bare = self.vectors.firsts(organisation, [record_of(replace(one, metadata={})) for one in facts])
        likeness = {one.id: sum(map(mul, own.values, its.values)) for one, its in zip(facts, bare, strict=False)}
        near = [
            Near(one.id, round(likeness.get(one.id, score), 4), beginning(one.content, NEAR_CHARACTERS))
            for one, score in found
        ]
        return True, tuple(sorted(near, key=lambda one: -one.similarity)[:MOST_NEAR])

    def _supersede(self, author: Author, id: EntryId, by: EntryId) -> None:
        """Mark an entry as superseded. One that is gone meanwhile needs no mark."""
        for _ in range(ATTEMPTS):
            was = self.store.get(author.organisation, id)
            if was is None or by in (id, was.superseded_by):
                return None
            entry = self._next(replace(was, superseded_by=by), was)
            with suppress(Stale):
                audit = self._audit(author, "memory.supersede", entry)
                return self.store.replace(author.organisation, entry, was, audit)
        raise Conflict("Others change this entry at the same time.", hint="Send the request again.")

    def update(self, author: Author, id: EntryId, changes: Changes, *, expected_version: int | None = None) -> Updated:
        """Change the entry, on top of what others have changed meanwhile unless a version is expected.

        Raises NotFound, Conflict when another version, or another entry's content, stands in the way, and InvalidInput
        for a parent that is not there or stands below the entry, or a replacement that is not there.
        """
        organisation = author.organisation
        embedded: bool | None = None
        for _ in range(ATTEMPTS):
            was = self.store.get(organisation, id)
            if was is None:
                raise unknown(id)
            if expected_version not in (None, was.version):
                hint = "Read it with kb_get, and change it as it is now."
                message = f"The entry is in version {was.version}, not {expected_version}."
                raise Conflict(message, hint=hint, version=was.version)
            entry = self._changed(was, changes)
            if entry is None:
                return Updated(was, re_embedded=False)
            above = self._above(entry) if entry.parent_id not in (None, was.parent_id) else ()
            if entry.superseded_by not in (None, was.superseded_by) and (
                entry.superseded_by == id or self.store.get(organisation, entry.superseded_by) is None
            ):
                raise InvalidInput("`superseded_by` names no other entry.", hint="Take ids from kb_search or kb_list.")
            indexed = record_of(entry)
            changed = indexed.chunks != record_of(was).chunks
            if changed and embedded is None:
                # Before a model is called: the store decides again when it writes.
                holder = self.store.holders(organisation, [entry.content_hash]).get(entry.content_hash)
                if holder not in (None, id):
                    raise _taken(holder)
                embedded = bool(self.vectors.firsts(organisation, [indexed]))
            try:
                self.store.replace(organisation, entry, was, self._audit(author, "memory.update", entry), above)
            except Taken as taken:
                raise _taken(taken.id) from None
            except Stale:
                continue
            self.note_story(author, entry)
            return Updated(entry, re_embedded=bool(embedded) and changed)
        raise Conflict("Others change this entry at the same time.", hint="Read it again, then change it.")

    def _changed(self, was: Entry, changes: Changes) -> Entry | None:
        """Return the entry after the change; None when it is that already."""
        given = {one.name: getattr(changes, one.name) for one in fields(Changes)}
        new = {name: value for name, value in given.items() if value is not None}
        removable = ("source_file", "source_story", "parent_id", "superseded_by")
        new |= {name: new[name] or None for name in removable if name in new}
        if changes.metadata is not None:
            new["metadata"] = merged_metadata(was.metadata, changes.metadata)
        entry = replace(was, **new, content_hash=content_hash(new.get("content", was.content)))
        return None if entry == was else self._next(entry, was)

    def _above(self, entry: Entry) -> tuple[Entry, ...]:
        """Return its parent, the parent's, and so on. Raises InvalidInput."""
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
            one = self.store.get(entry.organisation, id)
            if one is None:
                break
            above[id], id = one, one.parent_id
        if not above:
            raise _no_parent()
        return tuple(above.values())

    def delete(self, author: Author, id: EntryId) -> None:
        """Remove the entry, for 30 days in a way that can be undone; its children have no parent from then on.

        Raises NotFound.
        """
        if not self.store.delete(author.organisation, id, self.record(author, "memory.delete", entry=id)):
            raise unknown(id)

    def deleted(self, author: Author, id: EntryId) -> Entry | None:
        """Return an entry that was deleted in the last 30 days."""
        return self.store.deleted(author.organisation, id)

    def undelete(self, author: Author, id: EntryId) -> Entry:
        """Bring a deleted entry back as it was. Raises NotFound, and Conflict when another has its content by now."""
        was = self.store.deleted(author.organisation, id)
        if was is None:
            if now := self.store.get(author.organisation, id):
                return now
            raise NotFound(f"There is no deleted entry {id}.", hint="A deletion can be undone for 30 days.")
        # Above the tombstone that the index may have of it.
        entry = replace(was, revision=max(was.revision, FOR_EVER) + 2)
        try:
            self.store.restore(author.organisation, entry, was, self._audit(author, "memory.undelete", entry))
        except Taken as taken:
            raise _taken(taken.id) from None
        except Stale:
            return self.undelete(author, id)
        return entry

    def served(self, author: Author, story: str | None, tokens: int) -> None:
        """Count a search of a story, and the tokens of its answer. Never fails."""
        if story:
            self.usage.searched(author.organisation, story, tokens)

    def rate(self, author: Author, id: EntryId, relevance: int, story: str | None = None) -> Mean:
        """Store the author's vote on a hit of that story, 0 to 5, in place of an earlier one; return the mean of all.

        Raises NotFound.
        """
        if self.store.get(author.organisation, id) is None:
            raise unknown(id)
        if not 0 <= relevance <= MAX_RELEVANCE:
            raise ValueError(relevance)
        return self.usage.vote(author.organisation, Vote(id, story or "", author.account, relevance)).mean

    def relevance(self, author: Author, id: EntryId) -> Mean:
        """Return the mean of the votes on one entry."""
        return self.usage.rating(author.organisation, id).mean

    def metrics(self, author: Author) -> Metrics:
        """Return the four of seed 001, "Success Metrics", of all that was ever noted."""
        organisation = author.organisation
        totals = Counter(self.usage.totals(organisation))
        votes = {vote: n for vote in range(MAX_RELEVANCE + 1) if (n := totals[f"rated_{vote}"])}
        return Metrics(
            tokens_with_searches=Mean.of(totals["searching_told"], totals["searching_tokens"]),
            tokens_without=Mean.of(totals["other_told"], totals["other_tokens"]),
            answer_tokens=Mean.of(totals["searching"], totals["answer_tokens"]),
            recurrences=totals[RECURRENCES],
            most=tuple(self.usage.recurring(organisation, MOST)),
            relevance=Mean.of(sum(votes.values()), sum(vote * n for vote, n in votes.items())),
            votes=votes,
            lowest=tuple(self.usage.lowest(organisation, MOST)),
            searches=Mean.of(totals["stories"], totals["searches"]),
            stories_that_searched=totals["searching"],
        )

    def _next(self, entry: Entry, was: Entry) -> Entry:
        return replace(entry, version=was.version + 1, revision=was.revision + 1, updated_at=self.now())

    def _audit(self, author: Author, event: str, entry: Entry) -> Any:
        return self.record(author, event, entry=entry.id, type=entry.entry_type)


def _span(listing: Listing) -> tuple[str, str]:
    return listing.since or "", f"{listing.until or ''}{LAST}"


def _passes(key: Key, listing: Listing, wanted: Sequence[str]) -> bool:
    since, until = _span(listing)
    return since <= key.created_at <= until and set(wanted) <= set(key.facets)


def _is_behind(position: str, listing: Listing) -> bool:
    """Not on the page before."""
    return not listing.after or (position < listing.after if listing.order == "desc" else position > listing.after)


def _no_parent() -> InvalidInput:
    hint = "Add the parent first and take its id, or leave `parent_id` out."
    return InvalidInput("`parent_id` names no entry.", hint=hint)


def _taken(id: EntryId | None) -> Conflict:
    hint = "Change that entry, or delete one of the two."
    return Conflict(f"The entry {id} has this content already.", hint=hint, id=id)
