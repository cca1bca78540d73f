"""Children whose parent is gone: they read as having none at once, and lose it for good here."""

from collections.abc import Collection

from commonplace.memory.entries import EntryId
from commonplace.memory.ports import EntryStore


def sweep_orphans(store: EntryStore, organisation: str) -> int:
    """Takes parents that are gone out of the entries that name them; says how many entries that concerned.

    A parent is looked up once more before that: it may be newer than the list. Raises Unavailable.
    """
    children: dict[EntryId, list[EntryId]] = {}
    ids: set[EntryId] = set()
    for card in store.cards(organisation):
        ids.add(card.id)
        if card.parent_id is not None:
            children.setdefault(card.parent_id, []).append(card.id)
    gone = _gone(store, organisation, children.keys() - ids)
    for parent in gone:
        store.forget_parent(organisation, children[parent], parent)
    return sum(len(children[parent]) for parent in gone)


def _gone(store: EntryStore, organisation: str, ids: Collection[EntryId]) -> list[EntryId]:
    found = store.get_many(organisation, sorted(ids)) if ids else {}
    return [id for id in sorted(ids) if id not in found]
