"""Look-ups without a search: one entry, its relations, lists and figures.

Source: seed 001, `kb_get`, `kb_get_related`, `kb_list`, `kb_stats`. All come from the store,
so they are consistent at once. What they read is what they answer: keys of a facet, and counts (`memory.facets`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from commonplace.kernel.errors import NotFound
from commonplace.memory import facets, search
from commonplace.memory.facets import ALL, BY_CHANGE, CONFIDENCE_UNITS, LAST, Key
from commonplace.memory.model import (
    ENTRY_TYPES,
    ROLES,
    Entry,
    EntryId,
    ListAnswer,
    Listing,
    Related,
    Relation,
    Stats,
)
from commonplace.memory.ports import KEYS_PER_PAGE, EntryStore, QueryCounts, UsageStore, VectorCaches, deleted, unknown
from commonplace.memory.usage import RECURRENCES

SHARED_TAGS = 2
"""Entries are related by tags when they have this many in common."""
COMMON_SHARE, COMMON_FLOOR = 0.1, 25
"""A tag on more than this share of the entries relates none, unless it is on no more than so many."""
RELATIVES, NEWEST = 200, 50
"""So many siblings and children are looked at, and so many entries of each tag, the newest."""
FEW = 200
"""So many keys are counted, and so many entries read and sorted rather than looked for among all in their order."""


LISTS_REMEMBERED, MARK_EVERY = 64, 100
"""Lists whose positions a process remembers, and the entries between two of them."""


class Reading:
    """Reads one organisation's entries at a time."""

    def __init__(self, store: EntryStore, counts: QueryCounts, caches: VectorCaches, usage: UsageStore) -> None:
        self._store = store
        self._counts = counts
        self._usage = usage
        self._caches = caches
        self._marks = lru_cache(maxsize=LISTS_REMEMBERED)(lambda *_question: {0: ""})

    def get(self, organisation: str, id: EntryId) -> Entry:
        """The entry as it is now. Raises NotFound."""
        entry = self._store.get(organisation, id)
        if entry is None:
            raise deleted(id) if self._store.deleted(organisation, id) else unknown(id)
        return search.without_lost_parents(self._store, organisation, [entry])[0]

    def history(self, organisation: str, id: EntryId) -> tuple[Entry, ...]:
        """The versions of the entry that are kept, the oldest first, and then as it is now. Raises NotFound."""
        now = self.get(organisation, id)
        return *(one for one in self._store.versions(organisation, id) if one.version < now.version), now

    def as_of(self, organisation: str, id: EntryId, moment: str) -> Entry:
        """The entry as it was at the end of a day, or at a time. Raises NotFound."""
        kept = self.history(organisation, id)
        then = [one for one in kept if one.updated_at[: len(moment)] <= moment]
        if not then:
            hint = f"The oldest version that is kept is {kept[0].version}, of {kept[0].updated_at}."
            raise NotFound(f"There is no version of {id} of that time.", hint=hint)
        return then[-1]

    def related(self, organisation: str, id: EntryId, limit: int) -> tuple[Related, ...]:
        """Siblings, then the parent, then children, then entries with two or more of its tags; each group by how many
        tags are shared, the newest first among equals. Raises NotFound."""
        own = self._store.get(organisation, id)
        if own is None:
            raise unknown(id)
        relations: dict[EntryId, Relation] = {}
        # What comes first is enough: tags are read only where relatives leave room.
        for relation, members in self._relatives(organisation, own):
            for key in sorted(members, key=lambda key: -_shared(own, key)):
                if key.id != id:
                    relations.setdefault(key.id, relation)
            if len(relations) >= limit:
                break
        nearest = list(relations)[:limit]
        entries = search.in_order(nearest, self._store.get_many(organisation, nearest) if nearest else {})
        shown = search.without_lost_parents(self._store, organisation, entries)
        return tuple(
            Related(entry, relations[entry.id], tuple(tag for tag in own.tags if tag in entry.tags)) for entry in shown
        )

    def list(self, organisation: str, listing: Listing) -> ListAnswer:
        """A page of those that pass the filters, ties by id, and how many pass them.

        The number is that of the counts where one of them is of just these filters; otherwise the `FEW` first keys of
        the rarest facet are counted, once for all pages, and there may be more.
        """
        wanted = facets.wanted(listing)
        sizes, known = self._sizes(organisation, listing, wanted)
        rarest = min(sizes, key=lambda name: sizes[name])
        marks, passed = dict[int, str](), 0
        if listing.offset and not listing.after:
            # A write moves the newest change, or the sizes: then an offset counts the entries of the moment anew.
            newest = next(self._store.keys(organisation, BY_CHANGE, page=1), None)
            question = replace(listing, limit=0, offset=0)
            marks = self._marks(organisation, question, newest and newest.position, tuple(sizes.items()))
            passed = max(mark for mark in [*marks] if mark <= listing.offset)
            listing = replace(listing, after=marks[passed], offset=listing.offset - passed)
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
            places = self._sorted(organisation, listing, first)
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
        found = search.in_order([*at], self._store.get_many(organisation, [*at]) if at else {})
        passing = [entry for entry in found if set(wanted) <= set(facets.facets(entry))]
        return ListAnswer(
            search.without_lost_parents(self._store, organisation, passing),
            total,
            whole=whole,
            places=tuple(at[entry.id] for entry in passing),
            last=[*at.values()][-1] if at else listing.after,
            more=len(places) >= most,
        )

    def _sizes(self, organisation: str, listing: Listing, wanted: Sequence[str]) -> tuple[dict[str, int], int | None]:
        """How many entries each facet has, and how many pass the filters, where the counts know that."""
        counted = [name for name in wanted if name.startswith(facets.COUNTED)]
        counts = {name: self._store.counts(organisation, name) for name in (ALL, *counted)}
        sizes = {name: facets.number(cells) for name, cells in counts.items()}
        sizes |= {name: facets.number_of(counts[ALL], name) for name in wanted if name not in counts}
        if len(counted) > 1 or listing.since or listing.until:
            return sizes, None
        return sizes, facets.number(counts[[*counts][-1]], listing.role, listing.entry_type)

    def _sorted(self, organisation: str, listing: Listing, few: Sequence[Key]) -> Sequence[tuple[str, EntryId]]:
        """Few entries in the order that is asked for, behind the page before."""
        entries = self._store.get_many(organisation, [key.id for key in few]) if few else {}
        places = ((facets.position(entry, listing.order_by), entry.id) for entry in entries.values())
        return sorted((one for one in places if _is_behind(one[0], listing)), reverse=listing.order == "desc")

    def stats(self, organisation: str) -> Stats:
        """Figures of all entries. An entry with two roles counts for both."""
        cells = self._store.counts(organisation, ALL)
        total = facets.number(cells)
        newest = next(self._store.keys(organisation, BY_CHANGE, page=1), None)
        return Stats(
            total_entries=total,
            by_type={each: facets.number(cells, None, each) for each in ENTRY_TYPES},
            by_role={role: cells.get(f"is_{role}", 0) for role in ROLES},
            avg_confidence=round(cells.get("confidence", 0) / CONFIDENCE_UNITS / total, 4) if total else 0.0,
            last_updated=newest.position.rpartition("#")[0] if newest else None,
            cache_size=self._caches.size(organisation),
            queries=self._counts.counts(organisation),
            recurrences=self._usage.totals(organisation).get(RECURRENCES, 0),
        )

    def _relatives(self, organisation: str, own: Entry) -> Iterator[tuple[Relation, Iterable[Key]]]:
        """Each kind of relation with its entries, the newest first."""
        parent = self._store.get(organisation, own.parent_id) if own.parent_id else None
        if parent:
            yield "sibling", self._newest(organisation, facets.parent_facet(parent.id), RELATIVES)
            yield "parent", [facets.key(parent)]
        yield "child", self._newest(organisation, facets.parent_facet(own.id), RELATIVES)
        yield "tags", self._alike(organisation, own)

    def _alike(self, organisation: str, own: Entry) -> Iterable[Key]:
        """Entries that share enough of the tags that relate."""
        everything = facets.number(self._store.counts(organisation, ALL))
        most = max(COMMON_FLOOR, COMMON_SHARE * everything)
        named = [facets.facet("tag", tag) for tag in own.tags] if len(own.tags) >= SHARED_TAGS else []
        telling = {name for name in named if facets.number(self._store.counts(organisation, name)) <= most}
        if len(telling) < SHARED_TAGS:
            return []
        members = {key.id: key for name in sorted(telling) for key in self._newest(organisation, name, NEWEST)}
        close = [key for key in members.values() if len(telling.intersection(key.facets)) >= SHARED_TAGS]
        close.sort(key=lambda key: (key.created_at, key.id), reverse=True)
        return sorted(close, key=lambda key: -len(telling.intersection(key.facets)))

    def _newest(self, organisation: str, facet: str, most: int) -> tuple[Key, ...]:
        return tuple(islice(self._store.keys(organisation, facet, page=most), most))

    def _keys(
        self, organisation: str, listing: Listing, facet: str, *, after: str = "", page: int = KEYS_PER_PAGE
    ) -> Iterator[Key]:
        """The keys of a facet in the order that is asked for, of the time that is asked for where that orders them,
        beginning where `after` is."""
        newest_first = listing.order == "desc"
        low, high = ("", LAST) if facet.startswith("by=") else _span(listing)
        low, high = (low, min(after or high, high)) if newest_first else (max(after, low), high)
        return self._store.keys(organisation, facet, newest_first=newest_first, low=low, high=high, page=page)


def _span(listing: Listing) -> tuple[str, str]:
    return listing.since or "", f"{listing.until or ''}{LAST}"


def _passes(key: Key, listing: Listing, wanted: Sequence[str]) -> bool:
    since, until = _span(listing)
    return since <= key.created_at <= until and set(wanted) <= set(key.facets)


def _is_behind(position: str, listing: Listing) -> bool:
    """Not on the page before."""
    return not listing.after or (position < listing.after if listing.order == "desc" else position > listing.after)


def _shared(own: Entry, key: Key) -> int:
    return len({facets.facet("tag", tag) for tag in own.tags}.intersection(key.facets))
