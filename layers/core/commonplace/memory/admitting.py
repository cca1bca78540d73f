"""Which entries pass the conditions of a search or a list: what the store says decides, the index only hints."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from commonplace.memory.entries import Card, Entry, EntryId, Role
from commonplace.memory.model import Asked, Listing
from commonplace.memory.ports import EntryStore
from commonplace.search.filters import Filters


def roles_meant(role: Role | None) -> tuple[Role, ...]:
    """Which roles an entry may have for a question of this role; empty is no condition."""
    return () if role in (None, "all") else (role, "all")


def filters(organisation: str, asked: Asked) -> Filters:
    """The conditions as the index takes them. The organisation always stands among them."""
    return Filters(
        content_types=(asked.entry_type,) if asked.entry_type else (),
        tags_any=asked.tags,
        organisation=organisation,
        roles_any=roles_meant(asked.role),
        min_confidence=asked.min_confidence,
    )


def found(asked: Asked, entry: Entry) -> bool:
    """Whether a search may show the entry: any of the tags is enough."""
    return (
        _fits(asked, entry)
        and entry.confidence >= asked.min_confidence
        and (not asked.tags or not set(asked.tags).isdisjoint(entry.tags))
    )


def listed(listing: Listing, card: Card) -> bool:
    """Whether a list shows the entry: it needs all of the tags."""
    return _fits(listing, card) and set(listing.tags) <= set(card.tags)


def _fits(asked: Asked | Listing, entry: Entry | Card) -> bool:
    roles = roles_meant(asked.role)
    return asked.entry_type in (None, entry.entry_type) and (not roles or not set(roles).isdisjoint(entry.roles))


def without_lost_parents(store: EntryStore, organisation: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, with no parent where that is gone: at once, before it is swept."""
    parents = list({entry.parent_id for entry in entries if entry.parent_id})
    return orphaned(entries, store.get_many(organisation, parents).keys() if parents else set())


def orphaned(entries: Sequence[Entry], there: Set[EntryId]) -> tuple[Entry, ...]:
    """The entries, with no parent where that is not among those that are there."""
    return tuple(
        entry if entry.parent_id is None or entry.parent_id in there else replace(entry, parent_id=None)
        for entry in entries
    )


def in_order(ids: Sequence[EntryId], entries: Mapping[EntryId, Entry]) -> tuple[Entry, ...]:
    """Those that are there, in this order."""
    return tuple(entries[id] for id in ids if id in entries)
