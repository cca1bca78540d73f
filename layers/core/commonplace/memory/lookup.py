"""Look-ups without a search: one entry, its relations, lists and figures.

Source: seed 001, `kb_get`, `kb_get_related`, `kb_list`, `kb_stats`. All come from the store,
so they are consistent at once.
"""

from collections.abc import Iterable, Mapping

from commonplace.memory import search
from commonplace.memory.model import (
    ENTRY_TYPES,
    ROLES,
    Card,
    Entry,
    EntryId,
    ListAnswer,
    Listing,
    Related,
    Relation,
    Stats,
)
from commonplace.memory.ports import EntryStore, QueryCounts, VectorCaches, unknown

SHARED_TAGS = 2
"""Entries are related by tags when they have this many in common."""


class Reading:
    """Reads one organisation's entries at a time."""

    def __init__(self, store: EntryStore, counts: QueryCounts, caches: VectorCaches) -> None:
        self._store = store
        self._counts = counts
        self._caches = caches

    def get(self, organisation: str, id: EntryId) -> Entry:
        """The entry as it is now. Raises NotFound."""
        entry = self._store.get(organisation, id)
        if entry is None:
            raise unknown(id)
        return search.without_lost_parents(self._store, organisation, [entry])[0]

    def related(self, organisation: str, id: EntryId, limit: int) -> tuple[Related, ...]:
        """Siblings, then the parent, then children, then entries with two or more of its tags; each group by how many
        tags are shared, the newest first among equals. Raises NotFound."""
        cards = {card.id: card for card in self._store.cards(organisation)}
        own = cards.get(id)
        if own is None:
            raise unknown(id)
        relations = _relations(own, cards)
        entries = self._store.get_many(organisation, list(relations)[:limit])
        shown = search.orphaned(search.in_order(list(relations)[:limit], entries), cards.keys())
        return tuple(Related(entry, relations[entry.id], _shared(own, entry)) for entry in shown)

    def list(self, organisation: str, listing: Listing) -> ListAnswer:
        """A page of those that pass the filters, ties by id, and how many pass them."""
        cards = {card.id: card for card in self._store.cards(organisation)}
        passing = [card for card in cards.values() if search.listed(listing, card)]
        passing.sort(key=lambda card: (getattr(card, listing.order_by), card.id), reverse=listing.order == "desc")
        page = [card.id for card in passing[listing.offset : listing.offset + listing.limit]]
        entries = search.in_order(page, self._store.get_many(organisation, page) if page else {})
        return ListAnswer(search.orphaned(entries, cards.keys()), len(passing))

    def stats(self, organisation: str) -> Stats:
        """Figures of all entries. An entry with two roles counts for both."""
        by_type, by_role = dict.fromkeys(ENTRY_TYPES, 0), dict.fromkeys(ROLES, 0)
        total, confidence, last = 0, 0.0, ""
        for card in self._store.cards(organisation):
            total += 1
            confidence += card.confidence
            last = max(last, card.updated_at)
            by_type[card.entry_type] += 1
            for role in card.roles:
                by_role[role] += 1
        return Stats(
            total_entries=total,
            by_type=by_type,
            by_role=by_role,
            avg_confidence=round(confidence / total, 4) if total else 0.0,
            last_updated=last or None,
            cache_size=self._caches.size(organisation),
            queries=self._counts.counts(organisation),
        )


def _relations(own: Card, cards: Mapping[EntryId, Card]) -> dict[EntryId, Relation]:
    """Every related entry with its nearest relation, the nearest first."""
    parent = cards.get(own.parent_id) if own.parent_id else None
    others = [card for card in cards.values() if card.id != own.id]
    groups: tuple[tuple[Relation, Iterable[Card]], ...] = (
        ("sibling", [card for card in others if parent and card.parent_id == parent.id]),
        ("parent", [parent] if parent else []),
        ("child", [card for card in others if card.parent_id == own.id]),
        ("tags", [card for card in others if len(_shared(own, card)) >= SHARED_TAGS]),
    )
    found: dict[EntryId, Relation] = {}
    for relation, members in groups:
        newest_first = sorted(members, key=lambda card: (card.created_at, card.id), reverse=True)
        for card in sorted(newest_first, key=lambda card: -len(_shared(own, card))):
            found.setdefault(card.id, relation)
    return found


def _shared(own: Card, other: Card | Entry) -> tuple[str, ...]:
    return tuple(tag for tag in own.tags if tag in other.tags)
